/* SPDX-License-Identifier: Apache-2.0 */
/* test_trial.c - a drill reads the whole backup into a PostgreSQL of its own, says what it could not look at, and leaves nothing;
 * what only content shows, a dump that does not read in, fails it. Logs and keys: tests/e2e/backup.py. */
#include "tests/db/backup/kit.h"

static int folders(void)
{
    const char *argv[] = { "sh", "-c", arena_printf(fx_arena, "ls -d %s/falaj-drill-* 2>/dev/null | wc -l", fx_dir), NULL };
    struct child c;
    char got[8] = "";
    OK(child_start(fx_arena, argv, &(struct child_opts){ .has_out = true }, &c, &e));
    assert_true(read(c.out, got, sizeof got - 1) > 0);
    OK(child_wait(&c, &e));
    return (int)strtol(got, NULL, 10);
}

static void a_drill_measures_and_leaves_nothing(void **state)
{
    (void)state;
    run(backup_init, ERR_OK, 0);
    for (int i = 1; i <= 3; i++)
        add_object(i);
    run(backup_create, ERR_OK, 0);
    const char *said = run(backup_drill, ERR_OK, 0);
    says(said, "reads in whole");
    says(said, "database and 3 objects were back");
    says(said, "\"RPO\"");
    says(said, "the manifest names no key of a log");
    says(said, "keys.sockets is not set");
    assert_int_equal(folders(), 0);
}

/* Sealed, signed and whole, and yet no dump: only reading it in shows that. */
static void what_does_not_read_in_fails_it(void **state)
{
    (void)state;
    struct repo r;
    struct set s;
    struct secret32 seed;
    struct part_writer *w;
    OK(repo_open(fx_arena, cfg->backup_dir, &r, &e));
    OK(set_read(fx_arena, &r, STR_NULL, NULL, &s, &e));
    OK(signing_read(cfg->backup_sign_key, &seed, &e));
    s.name = STR("20991231T000000Z-00000000");
    s.is_partial = true;
    s.nparts = 1;
    s.parts[0].name = STR("database");
    assert_int_equal(mkdir(repo_set_path(fx_arena, &r, &s, ""), 0700), 0);
    OK(part_writer_new(repo_set_path(fx_arena, &r, &s, "database.fbk"), s.id, "database", r.recovery, &w, &e));
    OK(part_write(w, "not a dump", 10, &e));
    OK(part_finish(w, &s.parts[0].sum, &e));
    OK(file_put(repo_set_path(fx_arena, &r, &s, "objects"), STR(""), &e));
    OK(part_sum_of(repo_set_path(fx_arena, &r, &s, "objects"), &s.list, &e));
    s.objects = s.missing = s.gone = 0;
    OK(set_seal(fx_arena, &r, &s, &seed, &e));
    says(run(backup_drill, ERR_UNAVAILABLE, 0), "pg_restore failed");
    assert_int_equal(folders(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_drill_measures_and_leaves_nothing),
                                        cmocka_unit_test(what_does_not_read_in_fails_it) };
    return cmocka_run_group_tests_name("backup_trial", tests, kit_setup, kit_teardown);
}
