/* SPDX-License-Identifier: Apache-2.0 */
/* test_stmts.c - every statement of falaj-api is understood by the database as it ships, under the login that runs it, and no
 * name is given twice: a prepared statement is found by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/stmts.h"
#include "core/db/pool.h"
#include "tests/db/harness.h"

static struct pg_harness *pg;

static void is_understood(const char *login, const struct stmt *const *const *lists)
{
    struct err e = { 0 };
    struct db_pool *pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, login, "falaj"), .size = 1,
                                                               .app_name = "test", .lists = lists });
    if (db_pool_check(pool, &e) != ERR_OK)
        fail_msg("%s: %s: %s", login, e.msg, e.detail);
    db_pool_free(pool);
}

static void no_name_twice(const struct stmt *const *const *lists)
{
    size_t n = 0;
    for (const struct stmt *const *const *l = lists; *l; l++)
        for (const struct stmt *const *s = *l; *s; s++, n++)
            for (const struct stmt *const *const *k = lists; k <= l; k++)
                for (const struct stmt *const *t = *k; *t && t != s; t++)
                    if (*t != *s && !strcmp((*t)->name, (*s)->name))
                        fail_msg("two statements are named %s", (*s)->name);
    assert_true(n > 20);
}

static void people_s_statements(void **state)
{
    (void)state;
    no_name_twice(api_stmts);
    is_understood("falaj_app", api_stmts);
}

static void machines_statements(void **state)
{
    (void)state;
    no_name_twice(api_node_stmts);
    is_understood("falaj_worker_api", api_node_stmts);
}

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_migrate(pg, "falaj");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(people_s_statements), cmocka_unit_test(machines_statements) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
