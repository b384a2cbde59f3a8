/* SPDX-License-Identifier: Apache-2.0 */
/* test_create.c - a backup leaves nothing that looks like one when it fails, and is made by a role that writes nothing. */
#include "tests/db/backup/kit.h"

static void a_failure_leaves_no_backup(void **state)
{
    (void)state;
    struct repo r;
    struct str *names;
    size_t n, before;
    run(backup_init, ERR_OK, 0);
    add_object(1);
    add_object(2);
    run(backup_create, ERR_OK, 0);
    OK(repo_open(fx_arena, cfg->backup_dir, &r, &e));
    OK(repo_sets(fx_arena, &r, &names, &before, &e));
    set_to("backup.url", pg_harness_conninfo(pg, "falaj_backup", "postgres"));
    says(run(backup_create, ERR_INTERNAL, 0), "");
    OK(repo_sets(fx_arena, &r, &names, &n, &e));
    assert_true(n == before + 1 && str_ends(names[n - 1], ".partial"));
    set_to("backup.url", pg_harness_conninfo(pg, "falaj_backup", "falaj"));
    run(backup_create, ERR_OK, 0);
    OK(repo_sets(fx_arena, &r, &names, &n, &e));
    for (size_t i = 0; i < n; i++)
        assert_false(str_ends(names[i], ".partial"));
    OK(file_put(fx_path("another"), STR("0707070707070707070707070707070707070707070707070707070707070707\n"), &e));
    set_to("backup.sign_key", fx_path("another"));
    says(run(backup_create, ERR_INVALID, 0), "not the signing key");
    set_to("backup.sign_key", fx_path("signing"));
    set_to("backup.url", "");
    says(run(backup_create, ERR_INVALID, 0), "backup.url is not set");
}

/* The role reads all and writes nothing. */
static void the_role_cannot_write(void **state)
{
    (void)state;
    struct db_session *s;
    struct db_text_rows rows;
    OK(db_session_new(pg_harness_conninfo(pg, "falaj_backup", "falaj"), "test", 0, &s, &e));
    OK(db_session_query(s, "SELECT count(*) FROM object", NULL, 0, fx_arena, &rows, &e));
    assert_true(str_eq_c(rows.cells[0], "2"));
    assert_int_not_equal(db_session_exec_script(s, "BEGIN READ WRITE; DELETE FROM object", &e), ERR_OK);
    assert_non_null(strstr(e.detail, "permission denied"));
    db_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_failure_leaves_no_backup), cmocka_unit_test(the_role_cannot_write) };
    return cmocka_run_group_tests_name("backup_create", tests, kit_setup, kit_teardown);
}
