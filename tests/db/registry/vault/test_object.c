/* SPDX-License-Identifier: Apache-2.0 */
/* test_object.c - what is stored comes back, or is called damaged; nobody else sees it; the quota is exact; a tear shows nothing. */
#include "tests/db/registry/fixture.h"
#include "core/crypto/stream.h"
#include "registry/vault/orphan.h"

static const struct object_new DATASET = { .kind = "dataset", .data_class = { "internal", 8 } };

static struct object put(int tenant, size_t n)
{
    struct work w = begin(tenant);
    struct object o;
    char *plain = arena_alloc(arena, n + 1);
    for (size_t i = 0; i < n; i++)
        plain[i] = (char)('a' + i * 7 % 23);
    OK(object_put(&w, &DATASET, str_n(plain, n), &o, &e));
    end(&w);
    return o;
}

static enum errc read_back(int tenant, struct uuid id, struct buf *ret)
{
    struct work w = begin(tenant);
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    enum errc rc = object_open(&w, id, "dataset", &r, &e);
    db_rollback(w.tx);
    return rc == ERR_OK ? object_read_all(r, ret, &e) : rc;
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 5000, STREAM_CHUNK, 3 * STREAM_CHUNK + 17 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct object o = put(0, sizes[k]);
        CLEANUP(buf_releasep) struct buf b = BUF(8 << 20);
        OK(read_back(0, o.object_id, &b));
        assert_int_equal(b.len, sizes[k]);
        for (size_t i = 0; i < b.len; i++)
            assert_int_equal(b.ptr[i], 'a' + i * 7 % 23);
        assert_int_equal(o.stored_bytes, (int64_t)stream_sealed_size(sizes[k]));
        assert_true(str_eq_c(o.state, "COMMITTED"));
    }
}

static void test_stored_is_not_plain(void **state)
{
    (void)state;
    struct object o = put(0, 4000);
    char path[256], bytes[4200];
    blob_path(people[0]->tenant_id, o.object_id, path);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_int_equal(n, stream_sealed_size(4000));
    assert_null(memmem(bytes, n, "ahov", 4));
}

static void alter(struct object o, long at, int truncate_to)
{
    char path[256];
    blob_path(people[0]->tenant_id, o.object_id, path);
    if (truncate_to >= 0) {
        assert_int_equal(truncate(path, truncate_to), 0);
        return;
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
}

static void test_damage(void **state)
{
    (void)state;
    static const long places[] = { 0, 5, 10, 30, STREAM_HEAD, STREAM_HEAD + 100, STREAM_HEAD + STREAM_CHUNK + STREAM_TAG + 3 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct object o = put(0, STREAM_CHUNK + 100);
        alter(o, places[i], -1);
        CLEANUP(buf_releasep) struct buf b = BUF(8 << 20);
        assert_int_equal(read_back(0, o.object_id, &b), ERR_DAMAGED);
        assert_int_equal(b.len, 0);
        assert_non_null(strstr(e.msg, "obj_"));
        if (places[i] > STREAM_HEAD + STREAM_CHUNK)
            assert_non_null(strstr(e.msg, "chunk 1"));
    }
    struct object o = put(0, 2000);
    alter(o, 0, 1500);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    assert_int_equal(read_back(0, o.object_id, &b), ERR_DAMAGED);
    char path[256];
    blob_path(people[0]->tenant_id, o.object_id, path);
    unlink(path);
    assert_int_equal(read_back(0, o.object_id, &b), ERR_DAMAGED);
}

/* The good chunks before a bad one flow in a streamed read; nothing of the bad one does. */
static void test_streamed_damage(void **state)
{
    (void)state;
    struct object o = put(0, STREAM_CHUNK + 100);
    alter(o, STREAM_HEAD + STREAM_CHUNK + STREAM_TAG + 3, -1);
    struct work w = begin(0);
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    OK(object_open(&w, o.object_id, NULL, &r, &e));
    db_rollback(w.tx);
    static char part[100000];
    size_t n = 0;
    ssize_t k;
    while ((k = object_read(r, part, sizeof part)) > 0)
        n += (size_t)k;
    assert_int_equal(k, -1);
    assert_int_equal(n, STREAM_CHUNK);
    assert_int_equal(object_reader_error(r)->code, ERR_DAMAGED);
}

static void test_other_tenant(void **state)
{
    (void)state;
    struct object o = put(0, 100);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    assert_int_equal(read_back(1, o.object_id, &b), ERR_NOT_FOUND);
    /* The row of one tenant with the blob of another does not open either: the place is in the sealed bytes. */
    struct object mine = put(1, 100);
    char from[256], to[256];
    blob_path(people[0]->tenant_id, o.object_id, from);
    blob_path(people[1]->tenant_id, mine.object_id, to);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(read_back(1, mine.object_id, &b), ERR_DAMAGED);
}

static void test_quota_exact(void **state)
{
    (void)state;
    int64_t bytes = used(1, "stored_bytes"), objects = used(1, "objects");
    put(1, 1000);
    assert_int_equal(used(1, "stored_bytes"), bytes + (int64_t)stream_sealed_size(1000));
    assert_int_equal(used(1, "objects"), objects + 1);
    bytes = used(1, "stored_bytes");
    struct work w = begin(1);
    struct object o;
    char *plain = arena_alloc(arena, 9000000);
    assert_int_equal(object_put(&w, &DATASET, str_n(plain, 9000000), &o, &e), ERR_QUOTA);
    db_rollback(w.tx);
    assert_int_equal(used(1, "stored_bytes"), bytes);
    assert_int_equal(used(1, "objects"), objects + 1);
    struct object_new there = { { "de-fra-1", 8 }, "dataset", STR("internal") };
    w = begin(1);
    assert_int_equal(object_put(&w, &there, STR("x"), &o, &e), ERR_RESIDENCY);
    db_rollback(w.tx);
    int64_t removed = -1;
    OK(orphan_sweep(&app, arena, -5, &removed, &e));
    assert_int_equal(removed, 0);                       /* the refused upload took its blob along */
}

static void sql_count(const char *what, int want)
{
    char sql[2048];
    snprintf(sql, sizeof sql, "DO $$ BEGIN IF (SELECT count(*) FROM %s) <> %d THEN RAISE EXCEPTION 'there are %%', (SELECT count(*) FROM %s); END IF; END $$",
             what, want, what);
    pg_harness_exec(pg, DB, sql);
}

/* The process dies between blob and commit. */
static void test_torn_write(void **state)
{
    (void)state;
    int64_t bytes = used(0, "stored_bytes"), removed = 0;
    struct work w = begin(0);
    struct object o;
    OK(object_put(&w, &DATASET, STR("never committed"), &o, &e));
    db_rollback(w.tx);
    char path[256];
    blob_path(people[0]->tenant_id, o.object_id, path);
    assert_int_equal(access(path, F_OK), 0);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    assert_int_equal(read_back(0, o.object_id, &b), ERR_NOT_FOUND);
    assert_int_equal(used(0, "stored_bytes"), bytes);
    OK(orphan_sweep(&app, arena, 3600, &removed, &e));
    assert_int_equal(removed, 0);
    struct object kept = put(0, 10);
    OK(orphan_sweep(&app, arena, -5, &removed, &e));
    assert_int_equal(removed, 1);
    assert_int_equal(access(path, F_OK), -1);
    OK(read_back(0, kept.object_id, &b));
}

static void test_keys_are_counted(void **state)
{
    (void)state;
    put(1, 1);
    sql_count("tenant_key k WHERE zone = 'ae-dxb-1' AND state = 'PRIMARY' AND wraps = (SELECT count(*) FROM dek d WHERE d.tenant_id = k.tenant_id)", 2);
    pg_harness_exec(pg, DB, "UPDATE tenant_key SET wraps = 4294967295 - 1000");
    struct work w = begin(0);
    struct object o;
    assert_int_equal(object_put(&w, &DATASET, STR("x"), &o, &e), ERR_LIMIT);
    db_rollback(w.tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_stored_is_not_plain), cmocka_unit_test(test_quota_exact),
        cmocka_unit_test(test_torn_write), cmocka_unit_test(test_damage), cmocka_unit_test(test_streamed_damage),
        cmocka_unit_test(test_other_tenant), cmocka_unit_test(test_keys_are_counted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
