/* SPDX-License-Identifier: Apache-2.0 */
/* test_binding.c - what is stored opens where it was stored and nowhere else: more than 10,000 single bytes changed, blobs moved to
 * another zone, tenant, purpose, version, object or key id, old ones replayed, chunks of objects swapped and cut. Tenant keys by the
 * soft store and by SoftHSM, data keys under both and under a sovereign key, all by both mechanisms. Every one must be refused. */
#include "softhsm_test.h"
#include "core/base/cleanup.h"
#include "core/crypto/stream.h"

static struct hsm hsm;
static long refused, tried;

static void must_refuse(enum errc rc)
{
    tried++;
    refused += rc == ERR_DAMAGED || rc == ERR_INVALID || rc == ERR_NOT_FOUND;
    if (rc == ERR_OK)
        fail_msg("attempt %ld opened", tried);
}

struct under_test {
    const struct key_provider *f;
    void *p;
    const struct key_object *object;
};

static const struct uuid tenant = { { 1, 2, 3 } }, other_tenant = { { 1, 2, 4 } };

static struct tkek_ref the_tkek(void)
{
    return (struct tkek_ref){ ZONE, tenant, STR("data"), 3 };
}

static struct dek_ref the_dek(void)
{
    return (struct dek_ref){ ZONE, tenant, STR("dataset"), { { 7 } }, 2, { { 8 } } };
}

static enum errc open_tkek(const struct under_test *u, const struct tkek_ref *t, const struct key_blob *b)
{
    struct aad aad;
    struct secret32 out;
    tkek_aad(t, &aad);
    return u->f->unwrap(u->p, tkek_head(t, 0), &aad, b, &out, NULL);
}

static enum errc open_dek(const struct under_test *u, const struct secret32 *tkek, const struct tkek_ref *t, const struct dek_ref *d,
                          const struct key_blob *b)
{
    struct aad aad;
    struct secret32 out;
    if (!u->object)
        return dek_unwrap(tkek, t, d, b, &out, NULL);
    dek_aad(d, &aad);
    return u->f->object_unwrap(u->p, u->object, dek_head(d, t->version), &aad, b, &out, NULL);
}

/* Every byte by several masks, every shorter length. */
static void flips_tkek(const struct under_test *u, const struct tkek_ref *t, const struct key_blob *good, int masks)
{
    struct key_blob b = *good;
    for (int m = 0; m < masks; m++)
        for (size_t i = 0; i < b.n; i++) {
            b.b[i] ^= (uint8_t)(1 << m);
            must_refuse(open_tkek(u, t, &b));
            b.b[i] ^= (uint8_t)(1 << m);
        }
    for (b.n = 0; b.n < good->n; b.n++)
        must_refuse(open_tkek(u, t, &b));
}

static void tkeks(const struct under_test *u, int masks)
{
    struct tkek_ref t = the_tkek(), elsewhere;
    struct aad aad;
    const struct secret32 key = { { 9 } };
    struct key_blob blob, foreign;
    tkek_aad(&t, &aad);
    assert_int_equal(u->f->wrap(u->p, tkek_head(&t, 0), &aad, &key, &blob, NULL), ERR_OK);
    assert_int_equal(open_tkek(u, &t, &blob), ERR_OK);
    flips_tkek(u, &t, &blob, masks);
    const struct tkek_ref places[] = { { STR("ae-auh-1"), tenant, STR("data"), 3 }, { ZONE, other_tenant, STR("data"), 3 },
                                       { ZONE, tenant, STR("pii"), 3 },             { ZONE, tenant, STR("data"), 2 },
                                       { ZONE, UUID_NIL, STR("data"), 3 },          { STR("ae-dxb-"), tenant, STR("1data"), 3 } };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        must_refuse(open_tkek(u, &places[i], &blob));
        elsewhere = places[i];
        tkek_aad(&elsewhere, &aad);
        assert_int_equal(u->f->wrap(u->p, tkek_head(&elsewhere, 0), &aad, &key, &foreign, NULL), ERR_OK);
        must_refuse(open_tkek(u, &t, &foreign));                /* and theirs, replayed here */
    }
    assert_int_equal(open_tkek(u, &t, &blob), ERR_OK);
}

static void deks(const struct under_test *u, int masks)
{
    struct tkek_ref t = the_tkek(), older = t;
    struct dek_ref d = the_dek();
    const struct secret32 tkek = { { 5 } }, key = { { 9 } };
    struct key_blob blob, b;
    struct aad aad;
    dek_aad(&d, &aad);
    if (u->object)
        assert_int_equal(u->f->object_wrap(u->p, u->object, dek_head(&d, t.version), &aad, &key, &blob, NULL), ERR_OK);
    else
        assert_int_equal(dek_wrap(&tkek, &t, &d, &key, &blob, NULL), ERR_OK);
    assert_int_equal(open_dek(u, &tkek, &t, &d, &blob), ERR_OK);
    b = blob;
    for (int m = 0; m < masks; m++)
        for (size_t i = 0; i < b.n; i++) {
            b.b[i] ^= (uint8_t)(1 << m);
            must_refuse(open_dek(u, &tkek, &t, &d, &b));
            b.b[i] ^= (uint8_t)(1 << m);
        }
    for (b.n = 0; b.n < blob.n; b.n++)
        must_refuse(open_dek(u, &tkek, &t, &d, &b));
    for (int i = 0; i < 6; i++) {
        struct dek_ref e = d;
        struct tkek_ref et = t;
        e.tenant = et.tenant = i == 0 ? other_tenant : tenant;
        e.zone = et.zone = i == 1 ? STR("ae-auh-1") : ZONE;
        e.object_kind = i == 2 ? STR("model") : d.object_kind;
        e.object_id.b[15] = i == 3;
        e.object_version = i == 4 ? 1 : 2;
        e.dek_id.b[15] = i == 5;
        must_refuse(open_dek(u, &tkek, &et, &e, &blob));
    }
    older.version = 2;
    must_refuse(open_dek(u, &tkek, &older, &d, &blob));
}

static void test_soft_store(void **state)
{
    struct provider_config c = { .zone = ZONE, .is_init = true };
    struct under_test u = { &provider_softfile, NULL, NULL };
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/soft", hsm.dir);
    c.path = path;
    for (int kwp = 0; kwp < 2; kwp++) {
        c.mechanism = kwp ? WRAP_KWP : WRAP_GCM;
        OK(provider_softfile.open(&c, &u.p, NULL));
        tkeks(&u, 8);
        provider_softfile.close(u.p);
    }
    deks(&u, 8);
}

static void test_token(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    struct key_object o = { .label = "falaj-tkek-test" };
    struct under_test u = { &provider_pkcs11, NULL, NULL };
    (void)state;
    for (int kwp = 0; kwp < 2; kwp++) {
        c.mechanism = kwp ? WRAP_KWP : WRAP_GCM;
        u.p = hsm_open(&c);
        u.object = NULL;
        tkeks(&u, 8);
        OK(provider_pkcs11.object_new(u.p, &o, NULL));
        u.object = &o;
        deks(&u, 8);
        provider_pkcs11.close(u.p);
    }
}

/* A reference names its place, and the object behind it its id. */
static void test_references(void **state)
{
    struct tkek_ref t = the_tkek(), e = t;
    struct key_blob ref;
    uint8_t id[SOVEREIGN_ID] = { 1 }, seen[SOVEREIGN_ID];
    (void)state;
    sovereign_make(&t, id, &ref);
    OK(sovereign_read(&t, &ref, seen, NULL));
    for (int m = 0; m < 8; m++)
        for (size_t i = 0; i < BLOB_HEAD; i++) {
            ref.b[i] ^= (uint8_t)(1 << m);
            must_refuse(sovereign_read(&t, &ref, seen, NULL));
            ref.b[i] ^= (uint8_t)(1 << m);
        }
    e.version = 4;
    must_refuse(sovereign_read(&e, &ref, seen, NULL));
    e = t;
    e.tenant = other_tenant;
    must_refuse(sovereign_read(&e, &ref, seen, NULL));
}

static enum errc keep(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)e;
    return buf_add(ctx, p, n) ? ERR_OK : ERR_LIMIT;
}

static void test_chunks(void **state)
{
    enum { PLAIN = 2 * STREAM_CHUNK + 1000, SEALED_CHUNK = STREAM_CHUNK + STREAM_TAG };
    const struct secret32 key = { { 5 } };
    struct stream_ref ref = { tenant, STR("dataset"), { { 7 } }, 2, { { 8 } } };
    CLEANUP(buf_releasep) struct buf sealed = BUF(PLAIN + 4096);
    CLEANUP(stream_sealer_freep) struct stream_sealer *s = NULL;
    CLEANUP(stream_reader_freep) struct stream_reader *r = NULL;
    static uint8_t plain[PLAIN], out[STREAM_CHUNK];
    size_t n = 0;
    (void)state;
    OK(stream_sealer_new(&key, &ref, keep, &sealed, &s, NULL));
    OK(stream_sealer_feed(s, plain, PLAIN, NULL));
    OK(stream_sealer_finish(s, NULL));
    uint8_t *b = (uint8_t *)sealed.ptr;
    OK(stream_reader_new(&key, &ref, b, sealed.len, &r, NULL));
    uint8_t *last = b + STREAM_HEAD + 2 * SEALED_CHUNK;
    size_t last_n = sealed.len - (size_t)(last - b);
    OK(stream_open_chunk(r, 2, last, last_n, out, &n, NULL));
    for (size_t i = 0; i < last_n; i++)
        for (int m = 0; m < 4; m++) {
            last[i] ^= (uint8_t)(1 << 2 * m);
            must_refuse(stream_open_chunk(r, 2, last, last_n, out, &n, NULL));
            last[i] ^= (uint8_t)(1 << 2 * m);
        }
    for (size_t i = 0; i < last_n; i += 7)
        must_refuse(stream_open_chunk(r, 2, last, i, out, &n, NULL));
    must_refuse(stream_open_chunk(r, 1, b + STREAM_HEAD, SEALED_CHUNK, out, &n, NULL));        /* the first in place of the second */
    must_refuse(stream_open_chunk(r, 0, b + STREAM_HEAD + SEALED_CHUNK, SEALED_CHUNK, out, &n, NULL));
    for (int i = 0; i < 40; i++) {
        b[STREAM_HEAD + i * 26003] ^= 4;
        must_refuse(stream_open_chunk(r, 0, b + STREAM_HEAD, SEALED_CHUNK, out, &n, NULL));
        b[STREAM_HEAD + i * 26003] ^= 4;
    }
    ref.object_version = 3;
    stream_reader_freep(&r);
    must_refuse(stream_reader_new(&key, &ref, b, sealed.len, &r, NULL));
}

static void test_the_sum(void **state)
{
    (void)state;
    print_message("%ld attempts, %ld refused\n", tried, refused);
    assert_true(tried >= 10000 && refused == tried);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    log_setup("test", LOG_ERROR + 1, LOGFMT, STDERR_FILENO);
    hsm_setup(&hsm);
    hsm_token(&hsm, "main");
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_soft_store), cmocka_unit_test(test_token), cmocka_unit_test(test_references),
                                        cmocka_unit_test(test_chunks), cmocka_unit_test(test_the_sum) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    hsm_teardown(&hsm);
    return rc;
}
