/* SPDX-License-Identifier: Apache-2.0 */
/* test_repo.c - a folder of backups begins empty, is opened by its head, and is written by one at a time. */
#include "tests/unit/backup/fixture.h"

static const uint8_t recovery[32] = { 7 }, signer[32] = { 8 };

static void it_begins_empty_and_is_one(void **state)
{
    (void)state;
    struct repo r;
    FAILS(repo_open(fx_arena, fx_path("none"), &r, &e), INVALID, "no folder of backups");
    FAILS(repo_open(fx_arena, "", &r, &e), INVALID, "names no folder");
    OK(repo_make(fx_path("repo"), recovery, signer, &e));
    OK(repo_open(fx_arena, fx_path("repo"), &r, &e));
    assert_memory_equal(r.recovery, recovery, 32);
    assert_memory_equal(r.signer, signer, 32);
    FAILS(repo_make(fx_path("repo"), recovery, signer, &e), INVALID, "not empty");
    assert_int_equal(truncate(fx_path("repo/falaj-backup.json"), 5), 0);
    assert_int_not_equal(repo_open(fx_arena, fx_path("repo"), &r, &e), ERR_OK);
}

static void one_writes_at_a_time(void **state)
{
    (void)state;
    struct repo a, b;
    OK(repo_make(fx_path("locked"), recovery, signer, &e));
    OK(repo_open(fx_arena, fx_path("locked"), &a, &e));
    OK(repo_open(fx_arena, fx_path("locked"), &b, &e));
    OK(repo_lock(&a, &e));
    FAILS(repo_lock(&b, &e), CONFLICT, "another backup");
    repo_close(&b);
    repo_close(&a);
    OK(repo_lock(&b, &e));
    repo_close(&b);
}

static void unfinished_ones_go_and_others_stay(void **state)
{
    (void)state;
    struct repo r;
    struct str *names;
    size_t n;
    OK(repo_make(fx_path("sets"), recovery, signer, &e));
    OK(repo_open(fx_arena, fx_path("sets"), &r, &e));
    static const char *const made[] = { "sets/sets/b", "sets/sets/a", "sets/sets/c.partial", "sets/sets/c.partial/below" };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mkdir(fx_path(made[i]), 0700), 0);
    OK(file_put(fx_path("sets/sets/c.partial/below/file"), STR("x"), &e));
    repo_drop_partials(fx_arena, &r);
    OK(repo_sets(fx_arena, &r, &names, &n, &e));
    assert_int_equal(n, 2);
    assert_true(str_eq_c(names[0], "a") && str_eq_c(names[1], "b"));
}

static void files_are_whole_and_bounded(void **state)
{
    (void)state;
    struct str text;
    OK(file_put(fx_path("small"), STR("four"), &e));
    FAILS(file_put(fx_path("small"), STR("five"), &e), INVALID, "there already");
    OK(file_get(fx_arena, fx_path("small"), 4, &text, &e));
    assert_true(str_eq_c(text, "four"));
    FAILS(file_get(fx_arena, fx_path("small"), 3, &text, &e), LIMIT, "4 bytes");
    FAILS(file_get(fx_arena, fx_path("absent"), 3, &text, &e), NOT_FOUND, "missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_empty_and_is_one), cmocka_unit_test(one_writes_at_a_time),
        cmocka_unit_test(unfinished_ones_go_and_others_stay), cmocka_unit_test(files_are_whole_and_bounded),
    };
    return cmocka_run_group_tests_name("backup_repo", tests, fx_setup, fx_teardown);
}
