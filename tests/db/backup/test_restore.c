/* SPDX-License-Identifier: Apache-2.0 */
/* test_restore.c - a restore goes into an empty place, under its name at the end only, and says where database and folder
 * disagree. */
#include "tests/db/backup/kit.h"

static const char *value(const char *database, const char *sql)
{
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    struct db_text_rows rows;
    OK(db_session_new(pg_harness_conninfo(pg, NULL, database), "test", 0, &s, &e));
    OK(db_session_query(s, sql, NULL, 0, fx_arena, &rows, &e));
    return rows.nrows ? str_z(fx_arena, rows.cells[0]) : "";
}

static const char *journal_path(void)
{
    return fx_path("erasures/falaj-erasures.jsonl");
}
/* The journal of erasures is what `want` says, or nothing; then it is away. */
static void journal(const char *want)
{
    struct str text;
    if (want) {
        OK(file_get(fx_arena, journal_path(), 100, &text, &e));
        assert_true(str_eq_c(text, want));
    }
    unlink(journal_path());
}

static void nothing_stands_before_it_is_whole(void **state)
{
    (void)state;
    run(backup_init, ERR_OK, 0);
    for (int i = 1; i <= 3; i++)
        add_object(i);
    set_to("audit.erasure_dir", fx_path("erasures"));
    assert_int_equal(mkdir(fx_path("erasures"), 0700), 0);
    OK(file_put(journal_path(), STR("one\n"), &e));
    run(backup_create, ERR_OK, 0);
    journal("one\n");
    says(run(backup_restore, ERR_CONFLICT, 0), "not empty");
    set_to("blob.dir", fx_path("restored"));
    pg_harness_exec(pg, NULL, "CREATE DATABASE again");
    pg_harness_exec(pg, "again", "CREATE TABLE mine (x int)");
    says(run(backup_restore, ERR_CONFLICT, 0), "has tables");
    assert_int_equal(access(fx_path("restored"), F_OK), -1);
    pg_harness_exec(pg, NULL, "DROP DATABASE again");
    pg_harness_exec(pg, NULL, "CREATE DATABASE again_restoring");      /* left by one that broke off */
    assert_int_equal(mkdir(fx_path("restored.restoring"), 0700), 0);
    says(run(backup_restore, ERR_OK, 0), "3 objects in the database, 3 in the folder: 0 missing, 0 orphans");
    journal("one\n");
    assert_string_equal(value("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'again%'"), "1");
    assert_string_equal(value("again", "SELECT count(*) FROM object"), "3");
    assert_string_equal(value("again", "SELECT has_database_privilege('falaj_app', 'again', 'connect')"), "t");
    assert_int_equal(access(fx_path("restored.restoring"), F_OK), -1);
    says(run(backup_restore, ERR_CONFLICT, 0), "not empty");
}

/* What is missing stops it, unless that was said to be well. */
static void what_is_missing_is_said(void **state)
{
    (void)state;
    set_to("blob.dir", fx_path("blobs"));
    add_object(4);
    drop_blob(4);
    OK(file_put(journal_path(), STR("one\n"), &e));
    run(backup_create, ERR_OK, 1);
    journal("one\n");
    OK(file_put(journal_path(), STR("on"), &e));         /* a part of it: what a crash left */
    set_to("blob.dir", fx_path("less"));
    pg_harness_exec(pg, NULL, "DROP DATABASE again");
    const char *said = run(backup_restore, ERR_OK, 1);
    says(said, "4 objects in the database, 3 in the folder: 1 missing, 0 orphans");
    says(said, "obj_00000000-0000-0000-0000-000000000004 of tenant 00000000-0000-0000-0000-0000000000aa has a row and no bytes");
    journal("one\n");
}

static void the_journal_that_goes_further_stays(void **state)
{
    (void)state;
    struct str text;
    journal(NULL);
    OK(file_put(journal_path(), STR("one\ntwo\n"), &e));
    set_to("blob.dir", fx_path("once more"));
    pg_harness_exec(pg, NULL, "DROP DATABASE again");
    says(run(backup_restore, ERR_OK, 1), "goes further");
    OK(file_get(fx_arena, journal_path(), 100, &text, &e));
    assert_true(str_eq_c(text, "one\ntwo\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_stands_before_it_is_whole),
                                       cmocka_unit_test(what_is_missing_is_said),
                                        cmocka_unit_test(the_journal_that_goes_further_stays) };
    return cmocka_run_group_tests_name("backup_restore", tests, kit_setup, kit_teardown);
}
