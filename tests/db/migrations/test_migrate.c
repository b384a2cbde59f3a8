/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations apply once, in order and whole; what was changed, skipped or half done is refused. Helpers come before them, functions
 * behind the last one and again when their text changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/clock.h"
#include "core/db/session.h"
#include "migrations/migrate.h"
#include "tests/db/harness.h"
#include "tests/lib/wait.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SUM_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SUM_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct pg_harness *pg;
static struct err e;
static char said[4000];
static _Atomic bool is_waiting;

static void say(void *ctx, const char *line)
{
    (void)ctx;
    strncat(said, line, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
    is_waiting = is_waiting || strstr(line, "under way");
}

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_exec(pg, NULL, "CREATE ROLE weak");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    *said = 0;
    pg_harness_exec(pg, NULL, "DROP DATABASE IF EXISTS m");
    pg_harness_exec(pg, NULL, "CREATE DATABASE m");
    return 0;
}

static enum errc migrate(const struct migration *list, size_t n, enum migrate_mode mode, int *applied)
{
    e = (struct err){ 0 };
    const struct schema schema = { .migrations = list, .nmigrations = n };
    return migrate_run(pg_harness_conninfo(pg, NULL, "m"), &schema, mode, say, NULL, applied, &e);
}

static void test_apply_once_in_order(void **state)
{
    (void)state;
    const struct migration list[] = { { 1, "0001_a.sql", "CREATE TABLE a (x int); INSERT INTO a VALUES (1); SET LOCAL ROLE weak", SUM_A },
                                      { 2, "0002_b.sql", "UPDATE a SET x = x + 1; CREATE TABLE b (y int)", SUM_B } };
    int n = -1;
    assert_int_equal(migrate(list, 2, MIGRATE_DRY_RUN, &n), ERR_OK);
    assert_int_equal(n, 2);
    assert_non_null(strstr(said, "would apply 0002_b.sql"));
    assert_int_equal(migrate(list, 1, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(migrate(list, 2, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(migrate(list, 2, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(n, 0);
    *said = 0;
    assert_int_equal(migrate(list, 2, MIGRATE_STATUS, &n), ERR_OK);
    assert_non_null(strstr(said, "0002_b.sql  applied 20"));
    pg_harness_exec(pg, "m", "DO $$ BEGIN ASSERT (SELECT x FROM a) = 2; END $$");
    assert_int_equal(migrate(list, 1, MIGRATE_APPLY, &n), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "too old"));
}

static void test_changed_and_late_ones_are_refused(void **state)
{
    (void)state;
    const struct migration one = { 1, "0001_a.sql", "CREATE TABLE a (x int)", SUM_A }, changed = { 1, "0001_a.sql", "", SUM_B };
    const struct migration third = { 3, "0003_c.sql", "SELECT 1", SUM_B }, second = { 2, "0002_b.sql", "SELECT 1", SUM_B };
    const struct migration back[] = { third, one }, ahead[] = { one, third }, late[] = { one, second, third };
    int n;
    assert_int_equal(migrate(back, 2, MIGRATE_APPLY, &n), ERR_CONFLICT);
    assert_int_equal(migrate(&one, 1, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(migrate(&changed, 1, MIGRATE_APPLY, &n), ERR_CONFLICT);
    assert_true(strstr(e.msg, SUM_A) && strstr(e.msg, SUM_B));
    assert_int_equal(migrate(ahead, 2, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(migrate(late, 3, MIGRATE_APPLY, &n), ERR_CONFLICT);     /* what was passed over is never slipped in behind */
    assert_non_null(strstr(e.msg, "lacks migration 2"));
}

static void test_failure_leaves_nothing(void **state)
{
    (void)state;
    const struct migration bad[] = { { 1, "0001_a.sql", "CREATE TABLE a (x int)", SUM_A },
                                     { 2, "0002_b.sql", "CREATE TABLE b (x int); SELECT nonsense", SUM_B } };
    const struct migration ends[] = { bad[0], { 2, "0002_b.sql", "CREATE TABLE c (x int); COMMIT", SUM_B } };
    int n;
    assert_int_not_equal(migrate(bad, 2, MIGRATE_APPLY, &n), ERR_OK);
    assert_non_null(strstr(e.detail, "0002_b.sql"));
    pg_harness_exec(pg, "m", "DO $$ BEGIN ASSERT to_regclass('b') IS NULL AND (SELECT count(*) FROM schema_migration) = 1; END $$");
    assert_int_equal(migrate(ends, 2, MIGRATE_APPLY, &n), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "must not end its transaction"));
}

#define F(name, sum, body) { 0, "functions/" name ".sql", "CREATE OR REPLACE FUNCTION " name body, sum }

static enum errc bring_up(const struct schema *schema, int *applied)
{
    e = (struct err){ 0 };
    *said = 0;
    return migrate_run(pg_harness_conninfo(pg, NULL, "m"), schema, MIGRATE_APPLY, say, NULL, applied, &e);
}

/* The helper is there before the first migration; `a` calls `b`, which is applied after it. */
static void functions_follow_their_text(void **state)
{
    (void)state;
    const struct migration list[] = { { 1, "0001_a.sql", "CREATE TABLE t (x int); SELECT wall('t')", SUM_A } };
    const struct migration helper[] = { { 0, "helpers/wall.sql", "CREATE OR REPLACE FUNCTION wall(t regclass) RETURNS void LANGUAGE sql AS 'SELECT'", SUM_A } };
    struct migration files[] = { F("a", SUM_A, "() RETURNS int LANGUAGE sql AS 'SELECT b() FROM t'"), F("b", SUM_A, "() RETURNS int LANGUAGE sql AS 'SELECT 1'") };
    const struct schema s = { list, 1, helper, 1, files, 2, "weak" };
    int n;
    pg_harness_exec(pg, "m", "GRANT CREATE ON SCHEMA public TO weak");
    assert_int_equal(bring_up(&s, &n), ERR_OK);
    assert_int_equal(n, 4);
    assert_int_equal(bring_up(&s, &n), ERR_OK);
    assert_int_equal(n, 0);
    assert_non_null(strstr(said, "nothing to do"));
    files[1] = (struct migration)F("b", SUM_B, "() RETURNS int LANGUAGE sql AS 'SELECT 2'");
    assert_int_equal(bring_up(&s, &n), ERR_OK);
    assert_int_equal(n, 1);
    pg_harness_exec(pg, "m", "INSERT INTO t VALUES (1); DO $$ BEGIN ASSERT a() = 2; END $$");
    pg_harness_exec(pg, "m", "DO $$ BEGIN ASSERT (SELECT count(*) FROM schema_function WHERE checksum = repeat('b', 64)) = 1;\n"
                    "ASSERT (SELECT bool_and(pg_get_userbyid(proowner) = 'weak') FROM pg_proc WHERE proname IN ('a', 'b', 'wall')); END $$");
}

/* A migration and the functions that go with it are one transaction, and functions nobody touched are checked with it too. */
static void a_function_that_does_not_fit_takes_its_migration_back(void **state)
{
    (void)state;
    const struct migration list[] = { { 1, "0001_a.sql", "CREATE TABLE t (x int, y int)", SUM_A }, { 2, "0002_b.sql", "ALTER TABLE t DROP x", SUM_B } };
    struct migration files[] = { F("a", SUM_A, "() RETURNS int LANGUAGE sql AS 'SELECT x FROM t'") };
    const struct schema before = { .migrations = list, .nmigrations = 1, .functions = files, .nfunctions = 1 };
    const struct schema after = { .migrations = list, .nmigrations = 2, .functions = files, .nfunctions = 1 };
    int n;
    assert_int_equal(bring_up(&before, &n), ERR_OK);
    assert_int_not_equal(bring_up(&after, &n), ERR_OK);
    assert_non_null(strstr(e.detail, "function a() does not fit the schema"));
    pg_harness_exec(pg, "m", "DO $$ BEGIN ASSERT (SELECT count(x) FROM t) = 0 AND (SELECT count(*) FROM schema_migration) = 1; END $$");
    files[0] = (struct migration)F("a", SUM_B, "() RETURNS int LANGUAGE sql AS 'SELECT y FROM t'");
    assert_int_equal(bring_up(&after, &n), ERR_OK);
    assert_int_equal(n, 2);
    files[0] = (struct migration)F("a", SUM_A, "() RETURNS int LANGUAGE sql AS 'SELECT 1'; COMMIT");
    assert_int_equal(bring_up(&after, &n), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "must not end its transaction"));
}

static void *run_one(void *arg)
{
    static const struct migration list[] = { { 1, "0001_a.sql", "SELECT pg_sleep(0.2); CREATE TABLE a (x int)", SUM_A } };
    struct err why;
    int *ret = arg;
    static const struct schema schema = { .migrations = list, .nmigrations = 1 };
    if (migrate_run(pg_harness_conninfo(pg, NULL, "m"), &schema, MIGRATE_APPLY, say, NULL, ret, &why) != ERR_OK)
        *ret = -1;
    return NULL;
}

static void test_two_at_once_do_it_once(void **state)
{
    (void)state;
    pthread_t other;
    int a = 0, b = 0;
    pg_harness_conninfo(pg, NULL, "m");
    pthread_create(&other, NULL, run_one, &a);
    run_one(&b);
    pthread_join(other, NULL);
    assert_int_equal(a + b, 1);
}

static void *run_alter(void *arg)
{
    static const struct migration list[] = { { 1, "0001_a.sql", "CREATE TABLE a (x int)", SUM_A },
                                             { 2, "0002_b.sql", "ALTER TABLE a ADD COLUMN y int", SUM_B } };
    return migrate(list, 2, MIGRATE_APPLY, arg) == ERR_OK ? arg : NULL;
}

/* A transaction of a program that works on holds the table: the script is taken back, so that others need not wait behind it, and
 * comes again until it is through. */
static void a_table_in_use_is_waited_for(void **state)
{
    (void)state;
    const struct migration first = { 1, "0001_a.sql", "CREATE TABLE a (x int)", SUM_A };
    struct err why = { 0 };
    struct db_session *busy = NULL;
    pthread_t other;
    int n = 0;
    void *done = NULL;
    assert_int_equal(migrate(&first, 1, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(db_session_new(pg_harness_conninfo(pg, NULL, "m"), "busy", 0, &busy, &why), ERR_OK);
    assert_int_equal(db_session_exec_script(busy, "BEGIN; LOCK TABLE a IN ACCESS SHARE MODE", &why), ERR_OK);
    is_waiting = false;
    assert_int_equal(pthread_create(&other, NULL, run_alter, &n), 0);
    WAIT_WHILE(!is_waiting);
    assert_int_equal(db_session_exec_script(busy, "COMMIT", &why), ERR_OK);
    pthread_join(other, &done);
    assert_ptr_equal(done, &n);
    assert_int_equal(n, 1);
    assert_non_null(strstr(said, "0002_b.sql waits for calls that are under way"));
    pg_harness_exec(pg, "m", "SELECT y FROM a");
    db_session_free(busy);
}

/* Who waits and at what size, of what is pending alone; nothing is applied. And from a newer database there is no way down. */
static void test_preflight_reads_and_changes_nothing(void **state)
{
    (void)state;
    const struct migration list[] = {
        { 1, "0001_a.sql", "CREATE TABLE a (x int); INSERT INTO a SELECT 1 FROM generate_series(1, 90000)", SUM_A },
        { 2, "0002_b.sql", "ALTER TABLE a ADD CHECK (x > 0); CREATE TABLE b (y int); UPDATE later SET z = 1", SUM_B },
    };
    int n = -1;
    assert_int_equal(migrate(list, 1, MIGRATE_APPLY, &n), ERR_OK);
    pg_harness_exec(pg, "m", "ANALYZE a");
    *said = 0;
    assert_int_equal(migrate(list, 2, MIGRATE_PREFLIGHT, &n), ERR_OK);
    assert_int_equal(n, 1);
    assert_null(strstr(said, "0001_a.sql"));
    assert_non_null(strstr(said, "0002_b.sql: 2 tables"));
    assert_non_null(strstr(said, "everybody waits; 3 MiB, about 90000 rows; all rows, under a second"));
    assert_non_null(strstr(said, "rows alone; not there yet"));
    assert_non_null(strstr(said, "1 migrations pending: everybody waits at 1 tables, writers at 0, nobody at 1"));
    *said = 0;
    assert_int_equal(migrate(list, 2, MIGRATE_STATUS, &n), ERR_OK);
    assert_non_null(strstr(said, "0002_b.sql  pending"));
    pg_harness_exec(pg, "m", "CREATE TABLE later (z int)");
    assert_int_equal(migrate(list, 2, MIGRATE_APPLY, &n), ERR_OK);
    assert_int_equal(migrate(list, 1, MIGRATE_PREFLIGHT, &n), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "no way down"));
    assert_non_null(strstr(e.msg, "falaj-backup list"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_preflight_reads_and_changes_nothing, fresh),
        cmocka_unit_test_setup(test_apply_once_in_order, fresh), cmocka_unit_test_setup(test_changed_and_late_ones_are_refused, fresh),
        cmocka_unit_test_setup(test_failure_leaves_nothing, fresh), cmocka_unit_test_setup(test_two_at_once_do_it_once, fresh),
        cmocka_unit_test_setup(functions_follow_their_text, fresh), cmocka_unit_test_setup(a_table_in_use_is_waited_for, fresh),
        cmocka_unit_test_setup(a_function_that_does_not_fit_takes_its_migration_back, fresh),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
