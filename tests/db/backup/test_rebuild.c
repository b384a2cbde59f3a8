/* SPDX-License-Identifier: Apache-2.0 */
/* test_rebuild.c - the steps of a restore: what is empty and what is not, and every n-th object with its own bytes. */
#include "tests/db/backup/kit.h"
#include "backup/rebuild.h"

#include <sys/stat.h>

static struct backup b;
static struct set set;

static int setup(void **state)
{
    struct recovery key CLEANUP(recovery_wipe) = { 0 };
    int rc = kit_setup(state);
    run(backup_init, ERR_OK, 0);
    for (int i = 1; i <= 5; i++)
        add_object(i);
    run(backup_create, ERR_OK, 0);
    b = (struct backup){ .cfg = cfg, .arena = fx_arena, .database = "again",
                         .admin = arena_printf(fx_arena, "host=%s user=postgres password=none", pg_harness_socket_dir(pg)) };
    OK(repo_open(fx_arena, cfg->backup_dir, &b.repo, &e));
    OK(recovery_read(fx_path("recovery"), &key, &e));
    OK(set_read(fx_arena, &b.repo, b.set, key.signer, &set, &e));
    return rc;
}

static int teardown(void **state)
{
    repo_close(&b.repo);
    return kit_teardown(state);
}

static void what_is_there_is_not_written_over(void **state)
{
    (void)state;
    struct account nobody = { 0 };
    OK(rebuild_is_empty(&b, &nobody, fx_path("nowhere"), &e));
    assert_int_equal(mkdir(fx_path("empty"), 0700), 0);
    OK(rebuild_is_empty(&b, &nobody, fx_path("empty"), &e));
    assert_int_equal(rebuild_is_empty(&b, &nobody, fx_path("blobs"), &e), ERR_CONFLICT);
    pg_harness_exec(pg, NULL, "CREATE DATABASE again");
    OK(rebuild_is_empty(&b, &nobody, fx_path("empty"), &e));
    pg_harness_exec(pg, "again", "CREATE TABLE mine (x int)");
    assert_int_equal(rebuild_is_empty(&b, &nobody, fx_path("empty"), &e), ERR_CONFLICT);
    pg_harness_exec(pg, NULL, "DROP DATABASE again");
}

static bool has(const char *dir, int i)
{
    struct blob_store *s;
    struct blob_reader *r;
    uint64_t size;
    char got[64];
    OK(blob_store_open_local(dir, &s, &e));
    bool is_there = blob_reader_open(s, uuid_of(TENANT), uuid_of(object_name(i)), &r, &size, &e) == ERR_OK;
    if (is_there) {
        const char *want = arena_printf(fx_arena, "sealed bytes of object %d", i);
        assert_int_equal(blob_read(r, got, sizeof got), strlen(want));
        assert_memory_equal(got, want, strlen(want));
        blob_reader_close(r);
    }
    blob_store_free(s);
    return is_there;
}

static void every_second_object(void **state)
{
    (void)state;
    int64_t n = 0;
    assert_int_equal(mkdir(fx_path("all"), 0700), 0);
    OK(rebuild_objects(&b, &set, fx_path("all"), 1, &n, &e));
    assert_int_equal(n, 5);
    for (int i = 1; i <= 5; i++)
        assert_true(has(fx_path("all"), i));
    assert_int_equal(mkdir(fx_path("half"), 0700), 0);
    OK(rebuild_objects(&b, &set, fx_path("half"), 2, &n, &e));
    assert_int_equal(n, 3);
    for (int i = 1; i <= 5; i++)
        assert_true(has(fx_path("half"), i) == (i % 2 == 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_there_is_not_written_over),
                                        cmocka_unit_test(every_second_object) };
    return cmocka_run_group_tests_name("backup_rebuild", tests, setup, teardown);
}
