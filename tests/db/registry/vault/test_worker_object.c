/* SPDX-License-Identifier: Apache-2.0 */
/* test_worker_object.c - a worker opens its input with the released key, writes an output that reads back, and gets nothing else. */
#include "tests/db/registry/vault/lease_kit.h"

static void test_input(void **state)
{
    (void)state;
    struct work w = node_work();
    struct worker_release r;
    struct release_key key;
    struct blob_reader *blob;
    int64_t size;
    char sealed[256];
    OK(worker_keys(&w, &lease, &input.object_id, 1, pub(), &r, &e));
    OK(worker_input_open(&w, &lease, input.object_id, &blob, &size, &e));
    end(&w);
    open_release(&r, &key);
    assert_int_equal(blob_read(blob, sealed, sizeof sealed), size);
    blob_reader_close(blob);
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    CLEANUP(stream_opener_freep) struct stream_opener *s = NULL;
    struct stream_ref ref = { people[0]->tenant_id, STR("dataset"), input.object_id, 1, key.dek_id };
    OK(stream_opener_new(&key.key, &ref, into_buf, &b, &s, &e));
    OK(stream_opener_feed(s, sealed, (size_t)size, &e));
    OK(stream_opener_finish(s, &e));
    assert_true(str_eq_c(buf_str(&b), "1,2,3"));
}

static const char *uuid_z(struct uuid u)
{
    char *text = arena_alloc(arena, UUID_TEXT);
    uuid_text(u, text);
    return text;
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct object_new OTHER = { .kind = "dataset", .data_class = { "internal", 8 } };
    struct work w = begin(0);
    struct object o;
    struct worker_release r;
    struct blob_reader *blob;
    int64_t size;
    OK(object_put(&w, &OTHER, STR("not an input"), &o, &e));
    end(&w);
    w = node_work();
    assert_int_equal(worker_keys(&w, &lease, &o.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_input_open(&w, &lease, o.object_id, &blob, &size, &e), ERR_NOT_FOUND);
    struct worker_lease elsewhere = lease;
    elsewhere.zone = STR("de-fra-1");
    assert_int_equal(worker_keys(&w, &elsewhere, &input.object_id, 1, pub(), &r, &e), ERR_RESIDENCY);
    assert_int_equal(worker_input_open(&w, &elsewhere, input.object_id, &blob, &size, &e), ERR_RESIDENCY);
    assert_int_equal(worker_keys(&w, &lease, &input.object_id, 1, STR("short"), &r, &e), ERR_INVALID);
    struct uuid ids[2] = { input.object_id, o.object_id };
    pg_harness_exec(pg, DB, arena_printf(arena,
        "INSERT INTO job (tenant_id, job_id, name, kind, state, spec, created_by, queued, fence, data_class)"
        " SELECT tenant_id, '00000000-0000-0000-0000-0000000000aa', 'other', kind, state, spec, created_by, queued, fence, data_class FROM job;"
        "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id)"
        " SELECT tenant_id, '00000000-0000-0000-0000-0000000000aa', 'input', 'dataset', object_id FROM object WHERE object_id = '%s'",
        uuid_z(o.object_id)));
    assert_int_equal(worker_keys(&w, &lease, &o.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND);   /* an input, but of another job of the tenant */
    assert_int_equal(worker_keys(&w, &lease, ids, 2, pub(), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_input_open(&w, &lease, o.object_id, &blob, &size, &e), ERR_NOT_FOUND);
    struct worker_lease its_own = lease;
    its_own.job_id = (struct uuid){ { [15] = 0xaa } };
    OK(worker_keys(&w, &its_own, &o.object_id, 1, pub(), &r, &e));
    w.tenant_id = people[1]->tenant_id;
    assert_int_equal(worker_keys(&w, &lease, &input.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
}

/* An image of the first tenant's, published to all; a job of the second's that names it, and has an input of its own. */
static void test_shared_image(void **state)
{
    (void)state;
    static const struct object_new PUBLIC = { .kind = "dataset", .data_class = { "public", 6 } };
    struct work w = begin(0);
    struct object image, own;
    struct worker_release r;
    struct release_key key;
    struct blob_reader *blob;
    int64_t size;
    OK(object_put(&w, &PUBLIC, STR("layers"), &image, &e));
    end(&w);
    w = begin(1);
    OK(object_put(&w, &PUBLIC, STR("mine"), &own, &e));
    end(&w);
    const struct uuid guest = { { [15] = 0xbb } }, stranger = { { [15] = 0xbc } };
    const char *b = uuid_z(people[1]->tenant_id), *g = uuid_z(guest),
               *digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";
    pg_harness_exec(pg, DB, arena_printf(arena,
        "INSERT INTO job (tenant_id, job_id, name, kind, state, spec, zone, created_by, queued, fence, data_class) VALUES"
        " ('%s', '%s', 'guest', 'run', 'RUNNING', '{\"environment\":\"shared/%s\"}', 'ae-dxb-1', '%s', false, 1, 'public'),"
        " ('%s', '%s', 'stranger', 'run', 'RUNNING', '{\"environment\":\"host\"}', 'ae-dxb-1', '%s', false, 1, 'public');"
        "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id) VALUES ('%s', '%s', 'input', 'mine', '%s')",
        b, g, digest, b, b, uuid_z(stranger), b, b, g, uuid_z(own.object_id)));
    w = node_work();
    w.tenant_id = people[1]->tenant_id;
    struct worker_lease of_guest = lease, of_stranger = lease;
    of_guest.job_id = guest;
    of_guest.kind = of_stranger.kind = STR("run");
    of_guest.data_class = of_stranger.data_class = STR("public");
    of_stranger.job_id = stranger;
    assert_int_equal(worker_keys(&w, &of_guest, &image.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND); /* not published */
    pg_harness_exec(pg, DB, arena_printf(arena,
        "INSERT INTO shared_environment (shared_id, zone, digest, name, owner_id, environment_id, object_id, data_class,"
        " size_bytes, unpacked_bytes, files, package_count, package_source, layers, packages, published_by) VALUES"
        " ('%s', 'ae-dxb-1', '%s', 'base', '%s', '%s', '%s', 'public', 6, 6, 1, 0, 'none', '[]', '[]', '%s')",
        g, digest, uuid_z(people[0]->tenant_id), g, uuid_z(image.object_id), g));
    OK(worker_keys_may(&w, &of_guest, &image.object_id, 1, &e));
    const struct uuid both[2] = { own.object_id, image.object_id }, turned[2] = { image.object_id, own.object_id },
                      more[2] = { image.object_id, input.object_id };
    assert_int_equal(worker_keys(&w, &of_guest, both, 2, pub(), &r, &e), ERR_INVALID);          /* of two tenants */
    assert_int_equal(worker_keys(&w, &of_guest, turned, 2, pub(), &r, &e), ERR_INVALID);
    OK(worker_keys(&w, &of_guest, &own.object_id, 1, pub(), &r, &e));
    OK(worker_keys(&w, &of_guest, &image.object_id, 1, pub(), &r, &e));
    OK(worker_input_open(&w, &of_guest, image.object_id, &blob, &size, &e));
    struct release_terms terms = { lease.zone, node, guest, 1, r.not_after_us, { 0 } };
    memcpy(terms.worker_key, public_key, X25519_BYTES);
    OK(release_open(secret, &terms, r.key_ids.items, 1, r.message.data.ptr, r.message.data.len, &key, &e));
    char sealed[256];
    assert_int_equal(blob_read(blob, sealed, sizeof sealed), size);
    blob_reader_close(blob);
    CLEANUP(buf_releasep) struct buf plain = BUF(4096);
    CLEANUP(stream_opener_freep) struct stream_opener *s = NULL;
    const struct stream_ref ref = { people[0]->tenant_id, STR("dataset"), image.object_id, 1, key.dek_id };
    OK(stream_opener_new(&key.key, &ref, into_buf, &plain, &s, &e));
    OK(stream_opener_feed(s, sealed, (size_t)size, &e));
    OK(stream_opener_finish(s, &e));
    assert_true(str_eq_c(buf_str(&plain), "layers"));
    assert_int_equal(worker_keys(&w, &of_guest, more, 2, pub(), &r, &e), ERR_INVALID);
    assert_int_equal(worker_keys(&w, &of_guest, &input.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_input_open(&w, &of_guest, input.object_id, &blob, &size, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_keys(&w, &of_stranger, &image.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_input_open(&w, &of_stranger, image.object_id, &blob, &size, &e), ERR_NOT_FOUND);
    of_guest.zone = STR("de-fra-1");                                                             /* a machine of another zone */
    assert_int_equal(worker_keys(&w, &of_guest, &image.object_id, 1, pub(), &r, &e), ERR_RESIDENCY);
    assert_int_equal(worker_input_open(&w, &of_guest, image.object_id, &blob, &size, &e), ERR_RESIDENCY);
    of_guest.zone = lease.zone;
    pg_harness_exec(pg, DB, "UPDATE shared_environment SET withdrawn_at = now(), withdrawn_by = owner_id");
    assert_int_equal(worker_keys(&w, &of_guest, &image.object_id, 1, pub(), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_keys_may(&w, &of_guest, &image.object_id, 1, &e), ERR_NOT_FOUND);
    assert_int_equal(worker_input_open(&w, &of_guest, image.object_id, &blob, &size, &e), ERR_NOT_FOUND);
    OK(worker_keys(&w, &of_guest, &own.object_id, 1, pub(), &r, &e));
    db_rollback(w.tx);
}

static void seal_into(const struct release_key *key, struct uuid object, struct str plain, struct buf *b)
{
    CLEANUP(stream_sealer_freep) struct stream_sealer *s = NULL;
    struct stream_ref ref = { people[0]->tenant_id, STR("model"), object, 1, key->dek_id };
    OK(stream_sealer_new(&key->key, &ref, into_buf, b, &s, &e));
    OK(stream_sealer_feed(s, plain.ptr, plain.len, &e));
    OK(stream_sealer_finish(s, &e));
}

static struct str seal(const struct release_key *key, struct uuid object, const char *plain)
{
    struct buf b = BUF(4096);
    seal_into(key, object, str_c(plain), &b);
    struct str ret = str_dup(arena, buf_str(&b));
    buf_release(&b);
    return ret;
}

static struct output_part part(struct uuid object, int64_t size, const uint8_t sha[32], struct str sealed, size_t from, size_t n)
{
    struct output_part p = { .object_id = object, .size_bytes = size, .offset = (int64_t)from, .sealed = str_n(sealed.ptr + from,
                                                                                                               n) };
    memcpy(p.sha256, sha, sizeof p.sha256);
    return p;
}

/* As the route does it. */
static enum errc send(const struct worker_lease *l, const struct output_part *p)
{
    struct work w = node_work();
    bool is_stored;
    uint8_t stored[32];
    enum errc rc = worker_output_expects(&w, l, p, &is_stored, &e);
    if (rc != ERR_OK || is_stored) {
        db_rollback(w.tx);
        return rc;
    }
    end(&w);
    rc = worker_output_stage(&w, p, stored, &e);
    if (rc != ERR_OK || !worker_output_ends(p))
        return rc;
    w = node_work();
    rc = worker_output_store(&w, l, p, stored, &e);
    if (rc != ERR_OK)
        db_rollback(w.tx);
    else
        end(&w);
    return rc;
}

static void test_output_in_parts(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20, STEP = 1000003 };
    struct worker_release r;
    struct release_key key;
    struct uuid object;
    int64_t version;
    uint8_t sha[32];
    CLEANUP(buf_releasep) struct buf plain = BUF(SIZE + 1), back = BUF(SIZE + 1);
    for (int i = 0; i < SIZE; i++)
        buf_add(&plain, &(char){ (char)(i * 31 >> 3) }, 1);
    sha256(plain.ptr, plain.len, sha);
    struct work w = node_work();
    OK(worker_output_new(&w, &lease, STR("large"), "model", pub(), &object, &version, &r, &e));
    end(&w);
    open_release(&r, &key);
    CLEANUP(buf_releasep) struct buf sealed = BUF(2 * SIZE);
    seal_into(&key, object, buf_str(&plain), &sealed);
    struct str all = buf_str(&sealed);
    struct output_part far = part(object, SIZE, sha, all, STEP, STEP), beyond = part(object, SIZE, sha, all, 0, STEP);
    assert_int_equal(send(&lease, &far), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "only 0 bytes have come"));
    beyond.offset = (int64_t)all.len - STEP + 1;
    assert_int_equal(send(&lease, &beyond), ERR_BAD_DATA);
    struct str longer = str_n(arena_alloc(arena, all.len + 1), all.len + 1);
    memset((char *)longer.ptr, 'x', longer.len);
    OK(blob_stage_put(app.blobs, object, 0, longer, &e));               /* begun before, with more bytes: it begins anew */
    for (size_t at = 0; at < all.len; at += STEP) {
        struct output_part p = part(object, SIZE, sha, all, at, all.len - at < STEP ? all.len - at : STEP);
        assert_int_equal(send(&lease, &p), ERR_OK);
        assert_int_equal(send(&lease, &p), ERR_OK);     /* its answer was lost */
    }
    struct output_part first = part(object, SIZE, sha, all, 0, STEP), spoilt = first;
    assert_int_equal(send(&lease, &first), ERR_OK);
    char *bad = arena_alloc(arena, STEP);
    memcpy(bad, all.ptr, STEP);
    bad[STEP - 1] ^= 1;
    spoilt.sealed = str_n(bad, STEP);
    assert_int_equal(send(&lease, &spoilt), ERR_CONFLICT);
    pg_harness_exec(pg, DB, "UPDATE object SET state = 'COMMITTED' WHERE state = 'WRITING'");
    w = begin(0);
    CLEANUP(object_reader_freep) struct object_reader *reader = NULL;
    OK(object_open(&w, object, "model", &reader, &e));
    OK(object_read_all(reader, &back, &e));
    assert_int_equal(back.len, plain.len);
    assert_memory_equal(back.ptr, plain.ptr, plain.len);
    end(&w);
}

static void test_output(void **state)
{
    (void)state;
    struct worker_release r;
    struct release_key key;
    struct uuid object, same;
    int64_t version;
    uint8_t sha[32];
    struct work w = node_work();
    OK(worker_output_new(&w, &lease, STR("model"), "model", pub(), &object, &version, &r, &e));
    end(&w);
    w = node_work();        /* the answer was lost: asked again */
    OK(worker_output_new(&w, &lease, STR("model"), "model", pub(), &same, &version, &r, &e));
    end(&w);
    assert_true(uuid_eq(object, same));
    open_release(&r, &key);
    struct str sealed = seal(&key, object, "weights");
    sha256("weights", 7, sha);
    struct output_part whole = part(object, 7, sha, sealed, 0, sealed.len), wrong = whole;
    wrong.size_bytes = 8;
    assert_int_equal(send(&lease, &wrong), ERR_OK);                     /* not all of what it announces: staged */
    wrong.size_bytes = 6;
    assert_int_equal(send(&lease, &wrong), ERR_BAD_DATA);
    struct worker_lease old = lease;
    old.fence = 2;
    assert_int_equal(send(&old, &whole), ERR_NOT_FOUND);
    w = node_work();
    uint8_t stored[32];
    OK(worker_output_stage(&w, &whole, stored, &e));
    OK(worker_output_store(&w, &lease, &whole, stored, &e));
    db_rollback(w.tx);      /* died between blob and rows */
    for (int i = 0; i < 2; i++)
        assert_int_equal(send(&lease, &whole), ERR_OK);
    struct output_part other = whole;
    other.sealed = seal(&key, object, "WEIGHTS");
    assert_int_equal(send(&lease, &other), ERR_CONFLICT);
    w = node_work();
    assert_int_equal(worker_output_new(&w, &lease, STR("model"), "model", pub(), &same, &version, &r, &e), ERR_CONFLICT);
    db_rollback(w.tx);
    w = begin(0);
    CLEANUP(object_reader_freep) struct object_reader *reader = NULL;
    assert_int_equal(object_open(&w, object, "model", &reader, &e), ERR_NOT_FOUND);     /* not before the lease succeeds */
    end(&w);
    pg_harness_exec(pg, DB, "UPDATE object SET state = 'COMMITTED' WHERE state = 'WRITING'");
    w = begin(0);
    OK(object_open(&w, object, "model", &reader, &e));
    assert_true(str_eq_c(object_reader_object(reader)->data_class, "health"));
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    OK(object_read_all(reader, &b, &e));
    assert_true(str_eq_c(buf_str(&b), "weights"));
    end(&w);
}

/* What is kept of an object and what is asked for it are judged alike, by the key's state of this moment. */
static enum errc may(const struct worker_lease *l)
{
    struct work w = node_work();
    struct worker_release r;
    enum errc rc = worker_keys_may(&w, l, &input.object_id, 1, &e);
    assert_int_equal(worker_keys(&w, l, &input.object_id, 1, pub(), &r, &e), rc);
    db_rollback(w.tx);
    return rc;
}

static void test_who_may_not_have_the_key_may_not_keep_the_content(void **state)
{
    (void)state;
    struct worker_lease elsewhere = lease, stranger = lease;
    elsewhere.zone = STR("de-fra-1");
    stranger.job_id = node;
    assert_int_equal(may(&lease), ERR_OK);
    assert_int_equal(may(&elsewhere), ERR_RESIDENCY);
    assert_int_equal(may(&stranger), ERR_NOT_FOUND);
    pg_harness_exec(pg, DB, "CREATE TABLE was AS SELECT * FROM tenant_key; UPDATE tenant_key SET state = 'DISABLED'");
    assert_int_equal(may(&lease), ERR_SEALED);
    pg_harness_exec(pg, DB, "ALTER TABLE tenant_key DISABLE TRIGGER USER;"
                            "UPDATE tenant_key SET state = 'DESTROYED', wrapped = NULL, destroyed_at = now()");
    assert_int_equal(may(&lease), ERR_KEY_DESTROYED);
    pg_harness_exec(pg, DB, "UPDATE tenant_key k SET state = was.state, wrapped = was.wrapped, destroyed_at = NULL FROM was "
                            "WHERE was.tenant_id = k.tenant_id AND was.zone = k.zone AND was.version = k.version; DROP TABLE was;"
                            "ALTER TABLE tenant_key ENABLE TRIGGER USER");
    assert_int_equal(may(&lease), ERR_OK);
    pg_harness_exec(pg, DB, "UPDATE object SET state = 'DELETED' WHERE kind = 'dataset'");
    assert_int_equal(may(&lease), ERR_NOT_FOUND);
    pg_harness_exec(pg, DB, "UPDATE object SET state = 'COMMITTED' WHERE kind = 'dataset'");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_input), cmocka_unit_test(test_refusals),
                                        cmocka_unit_test(test_shared_image),
                                        cmocka_unit_test(test_output),
                                         cmocka_unit_test(test_output_in_parts),
                                         cmocka_unit_test(test_who_may_not_have_the_key_may_not_keep_the_content) };
    return cmocka_run_group_tests(tests, make, undo);
}
