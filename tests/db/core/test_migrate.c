/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations apply once, in order and whole; what was changed, skipped or half done is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/clock.h"
#include "core/db/session.h"
#include "migrations/migrate.h"
#include "tests/db/harness.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SUM_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SUM_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct pg_harness *pg;
static struct err e;
static char said[4000];

static void say(void *ctx, const char *line)
{
    (void)ctx;
    strncat(said, line, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
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
    return migrate_run(pg_harness_conninfo(pg, NULL, "m"), list, n, mode, say, NULL, applied, &e);
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
    assert_int_equal(n, 1);
    assert_non_null(strstr(e.detail, "0002_b.sql"));
    pg_harness_exec(pg, "m", "DO $$ BEGIN ASSERT to_regclass('b') IS NULL AND (SELECT count(*) FROM schema_migration) = 1; END $$");
    assert_int_equal(migrate(ends, 2, MIGRATE_APPLY, &n), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "must not end its transaction"));
}

static void *run_one(void *arg)
{
    static const struct migration list[] = { { 1, "0001_a.sql", "SELECT pg_sleep(0.2); CREATE TABLE a (x int)", SUM_A } };
    struct err why;
    int *ret = arg;
    if (migrate_run(pg_harness_conninfo(pg, NULL, "m"), list, 1, MIGRATE_APPLY, say, NULL, ret, &why) != ERR_OK)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_apply_once_in_order, fresh), cmocka_unit_test_setup(test_changed_and_late_ones_are_refused, fresh),
        cmocka_unit_test_setup(test_failure_leaves_nothing, fresh), cmocka_unit_test_setup(test_two_at_once_do_it_once, fresh),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
