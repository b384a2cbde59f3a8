/* SPDX-License-Identifier: Apache-2.0 */
/* test_softfile.c - made once, opened only when it is what it should be, rotated, and opened by version. */
#include "keys_test.h"
#include <fcntl.h>
#include "keys/provider.h"

static char dir[] = "/tmp/falaj-softfile-XXXXXX";
static char path[128], other[128];

static enum errc open_at(const char *file, bool is_init, bool is_rotate, void **ret)
{
    struct provider_config c = { .zone = ZONE, .path = file, .is_init = is_init, .is_rotate = is_rotate };
    return provider_softfile.open(&c, ret, NULL);
}

static void fresh(void)
{
    void *p = NULL;
    unlink(path);
    unlink(other);
    OK(open_at(path, true, false, &p));
    provider_softfile.close(p);
}

static void test_made_once(void **state)
{
    void *p = NULL, *q = NULL;
    uint8_t a[32], b[32];
    struct stat st;
    (void)state;
    unlink(path);
    assert_int_equal(open_at(path, false, false, &p), ERR_NOT_FOUND);
    fresh();
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
    OK(open_at(path, true, false, &p));                          /* --init again keeps the keys */
    OK(open_at(path, false, false, &q));
    OK(provider_softfile.public_key(p, a, NULL));
    OK(provider_softfile.public_key(q, b, NULL));
    assert_memory_equal(a, b, 32);
    OK(provider_softfile.health(p, NULL));
    provider_softfile.close(p);
    provider_softfile.close(q);
    assert_ptr_equal(provider_by_name("softfile"), &provider_softfile);
    assert_null(provider_by_name("x"));
}

static void test_refused_files(void **state)
{
    void *p = NULL;
    (void)state;
    fresh();
    for (unsigned mode = 0601; mode < 0700; mode++) {
        if ((mode & 077) == 0)
            continue;
        chmod(path, mode);
        assert_int_equal(open_at(path, false, false, &p), ERR_FORBIDDEN);
    }
    chmod(path, 0600);
    assert_int_equal(symlink(path, other), 0);
    assert_int_equal(open_at(other, false, false, &p), ERR_FORBIDDEN);
    assert_int_equal(open_at(other, true, false, &p), ERR_FORBIDDEN);
    unlink(other);
    assert_int_equal(link(path, other), 0);
    assert_int_equal(open_at(path, false, false, &p), ERR_FORBIDDEN);
    unlink(other);
    assert_int_equal(open_at(dir, false, false, &p), ERR_FORBIDDEN);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(open_at(other, false, false, &p), ERR_FORBIDDEN);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 0), 0);
        assert_int_equal(open_at(path, false, false, &p), ERR_FORBIDDEN);
        assert_int_equal(chown(path, 0, 0), 0);
    }
    struct provider_config c = { .zone = STR("ae-auh-1"), .path = path };
    assert_int_equal(provider_softfile.open(&c, &p, NULL), ERR_INVALID);
    OK(open_at(path, false, false, &p));
    provider_softfile.close(p);
}

static void test_damaged_files(void **state)
{
    struct stat st;
    void *p = NULL;
    (void)state;
    fresh();
    assert_int_equal(stat(path, &st), 0);
    for (off_t n = 0; n < st.st_size; n += 13) {                 /* one byte changed */
        uint8_t b;
        int fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, &b, 1, n), 1);
        b ^= 0x20;
        assert_int_equal(pwrite(fd, &b, 1, n), 1);
        assert_int_equal(open_at(path, false, false, &p), ERR_DAMAGED);
        b ^= 0x20;
        assert_int_equal(pwrite(fd, &b, 1, n), 1);
        close(fd);
    }
    assert_int_equal(truncate(path, st.st_size + 1), 0);
    assert_int_equal(open_at(path, false, false, &p), ERR_DAMAGED);
    for (off_t n = st.st_size - 1; n >= 0; n -= 11) {
        assert_int_equal(truncate(path, n), 0);
        assert_int_equal(open_at(path, false, false, &p), ERR_DAMAGED);
    }
}

static void test_rotation(void **state)
{
    void *p = NULL;
    struct aad aad;
    struct key_blob old, new;
    struct blob_head head = { .zone = zone_tag(ZONE), .tenant = uuid_v7(1) }, seen;
    struct secret32 key = { { 1, 2, 3 } }, out;
    struct root_info info;
    (void)state;
    fresh();
    aad_init(&aad, "x");
    OK(open_at(path, false, false, &p));
    OK(provider_softfile.wrap(p, head, &aad, &key, &old, NULL));
    provider_softfile.close(p);
    OK(open_at(path, false, true, &p));
    OK(provider_softfile.root_info(p, &info, NULL));
    assert_int_equal(info.current_version, 2);
    OK(provider_softfile.wrap(p, head, &aad, &key, &new, NULL));
    OK(blob_parse(new.b, new.n, &seen, NULL));
    assert_int_equal(seen.version, 2);
    OK(provider_softfile.unwrap(p, head, &aad, &old, &out, NULL));
    assert_memory_equal(out.b, key.b, 32);
    OK(provider_softfile.unwrap(p, head, &aad, &new, &out, NULL));
    old.b[26] = 2;                                               /* version 1's blob under version 2's name */
    assert_int_equal(provider_softfile.unwrap(p, head, &aad, &old, &out, NULL), ERR_DAMAGED);
    old.b[26] = 9;
    assert_int_equal(provider_softfile.unwrap(p, head, &aad, &old, &out, NULL), ERR_DAMAGED);
    provider_softfile.close(p);
}

static void test_destroyed_root(void **state)
{
    void *p = NULL;
    struct aad aad;
    struct key_blob blob[4];
    struct blob_head head = { .zone = zone_tag(ZONE), .tenant = uuid_v7(1) };
    struct secret32 key = { { 1, 2, 3 } }, out;
    struct root_info info;
    uint32_t version = 0;
    bool was_there = false;
    (void)state;
    fresh();
    aad_init(&aad, "x");
    OK(open_at(path, false, false, &p));
    for (uint32_t i = 1; i < 4; i++) {
        OK(provider_softfile.wrap(p, head, &aad, &key, &blob[i], NULL));
        OK(provider_softfile.root_new(p, &version, NULL));
        assert_int_equal(version, i + 1);
    }
    assert_int_equal(provider_softfile.root_destroy(p, 4, &was_there, NULL), ERR_CONFLICT);
    assert_int_equal(provider_softfile.root_destroy(p, 5, &was_there, NULL), ERR_NOT_FOUND);
    assert_int_equal(provider_softfile.root_destroy(p, 0, &was_there, NULL), ERR_NOT_FOUND);
    OK(provider_softfile.root_destroy(p, 2, &was_there, NULL));
    assert_true(was_there);
    OK(provider_softfile.root_destroy(p, 2, &was_there, NULL));
    assert_false(was_there);
    for (int reopened = 0; reopened < 2; reopened++) {
        OK(provider_softfile.unwrap(p, head, &aad, &blob[1], &out, NULL));
        assert_int_equal(provider_softfile.unwrap(p, head, &aad, &blob[2], &out, NULL), ERR_DAMAGED);
        OK(provider_softfile.unwrap(p, head, &aad, &blob[3], &out, NULL));
        OK(provider_softfile.root_info(p, &info, NULL));
        assert_int_equal(info.current_version, 4);
        assert_int_equal(info.oldest_version, 1);
        provider_softfile.close(p);
        OK(open_at(path, false, false, &p));
    }
    OK(provider_softfile.root_destroy(p, 1, &was_there, NULL));
    OK(provider_softfile.root_info(p, &info, NULL));
    assert_int_equal(info.oldest_version, 3);
    provider_softfile.close(p);
}

/* Both mechanisms open in either setting. */
static void test_mechanisms(void **state)
{
    struct provider_config c = { .zone = ZONE, .path = path, .mechanism = WRAP_KWP };
    void *gcm = NULL, *kwp = NULL;
    struct aad aad, aside;
    struct key_blob a, b;
    struct blob_head head = { .zone = zone_tag(ZONE), .tenant = uuid_v7(1) };
    struct secret32 key = { { 1, 2, 3 } }, out;
    (void)state;
    fresh();
    aad_init(&aad, "x");
    aad_init(&aside, "y");
    OK(open_at(path, false, false, &gcm));
    OK(provider_softfile.open(&c, &kwp, NULL));
    OK(provider_softfile.wrap(gcm, head, &aad, &key, &a, NULL));
    OK(provider_softfile.wrap(kwp, head, &aad, &key, &b, NULL));
    assert_int_not_equal(a.n, b.n);
    OK(provider_softfile.unwrap(kwp, head, &aad, &a, &out, NULL));
    OK(provider_softfile.unwrap(gcm, head, &aad, &b, &out, NULL));
    assert_memory_equal(out.b, key.b, 32);
    assert_int_equal(provider_softfile.unwrap(gcm, head, &aside, &a, &out, NULL), ERR_DAMAGED);
    assert_int_equal(provider_softfile.unwrap(gcm, head, &aside, &b, &out, NULL), ERR_DAMAGED);
    for (size_t i = 0; i < b.n; i++) {
        b.b[i] ^= 1;
        assert_int_equal(provider_softfile.unwrap(gcm, head, &aad, &b, &out, NULL), ERR_DAMAGED);
        b.b[i] ^= 1;
    }
    provider_softfile.close(gcm);
    provider_softfile.close(kwp);
}

static void test_import(void **state)
{
    void *p = NULL;
    uint8_t point[P256_POINT], ephemeral[P256_POINT], sealed[IMPORT_SEALED];
    struct aad aad;
    struct secret32 key = { { 1, 2, 3 } }, out;
    static struct attest a;
    (void)state;
    fresh();
    OK(open_at(path, false, false, &p));
    OK(provider_softfile.import_public(p, point, NULL));
    import_aad(ZONE, uuid_v7(1), &aad);
    OK(import_seal(point, &aad, &key, ephemeral, sealed, NULL));
    OK(provider_softfile.import_open(p, ephemeral, sealed, &aad, &out, NULL));
    assert_memory_equal(out.b, key.b, 32);
    ephemeral[1] ^= 1;
    assert_int_equal(provider_softfile.import_open(p, ephemeral, sealed, &aad, &out, NULL), ERR_INVALID);
    OK(provider_softfile.attest(p, &a, NULL));
    assert_int_equal(a.n_roots, 1);
    assert_false(a.is_hardware || a.has_objects || a.roots[0].is_never_extractable);
    provider_softfile.close(p);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/root.key", dir);
    snprintf(other, sizeof other, "%s/other", dir);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_made_once), cmocka_unit_test(test_refused_files),
                                        cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_rotation),
                                        cmocka_unit_test(test_destroyed_root), cmocka_unit_test(test_mechanisms), cmocka_unit_test(test_import) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    unlink(other);
    rmdir(dir);
    return rc;
}
