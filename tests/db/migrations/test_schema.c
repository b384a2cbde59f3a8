/* SPDX-License-Identifier: Apache-2.0 */
/* The schema as a whole. docs/gen/schema.sql is what a fresh database has (`test_schema --write` refreshes it), and a database that was
 * brought up before functions/ existed comes out the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/base/str.h"
#include "migrations/migrate.h"
#include "tests/db/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/gen/schema.sql"
enum { SCHEMA_MAX = 4 << 20, LAST_WITHOUT_FUNCTIONS = 21 };

static struct pg_harness *pg;

static void say(void *ctx, const char *line)
{
    (void)ctx;
    (void)line;
}

static void bring_up(const char *dbname, const struct schema *schema)
{
    struct err e = { 0 };
    int n;
    if (migrate_run(pg_harness_conninfo(pg, "falaj_migrate", dbname), schema, MIGRATE_APPLY, say, NULL, &n, &e) != ERR_OK)
        fail_msg("%s: %s (%s)", dbname, e.msg, e.detail);
}

/* pg_dump's text without what depends on its version: comments but the objects' names, settings, its own commands, empty lines. With
 * is_page the bodies of functions go too: they stand in migrations/functions/. */
static void dump(const char *dbname, bool is_page, struct buf *ret)
{
    char command[300], line[65536];
    snprintf(command, sizeof command, "/usr/lib/postgresql/15/bin/pg_dump --schema-only -h %s -U postgres %s", pg_harness_socket_dir(pg), dbname);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    const char *tag = NULL;
    while (fgets(line, sizeof line, f)) {
        bool is_name = strncmp(line, "-- Name: ", 9) == 0;
        if (tag) {
            if (strstr(line, tag)) {
                buf_add_c(ret, "    -- the body: migrations\n");
                tag = NULL;
            }
            continue;
        }
        if (*line == '\n' || *line == '\\' || strncmp(line, "SET ", 4) == 0 || strncmp(line, "SELECT pg_catalog.set_config", 28) == 0 ||
            (strncmp(line, "--", 2) == 0 && !is_name))
            continue;
        if (is_page && strncmp(line, "    AS $", 8) == 0) {
            tag = strstr(line, "$_$") ? "$_$" : "$$";
            const char *rest = strstr(line, tag) + strlen(tag);
            if (strstr(rest, tag))
                tag = NULL;
            if (!tag)
                buf_add_c(ret, "    -- the body: migrations\n");
            continue;
        }
        buf_add_c(ret, is_name ? "\n" : "");
        buf_add_c(ret, line);
    }
    assert_int_equal(pclose(f), 0);
    assert_true(ret->len > 50000);
}

static void same(const char *want, const char *got, const char *what)
{
    size_t i = 0, line = 1;
    while (want[i] && want[i] == got[i])
        line += want[i++] == '\n';
    if (want[i] != got[i])
        fail_msg("%s, at line %zu:\n< %.*s\n> %.*s", what, line, (int)strcspn(want + i, "\n"), want + i, (int)strcspn(got + i, "\n"), got + i);
}

static void page(struct buf *ret)
{
    buf_add_c(ret, "-- SPDX-License-Identifier: Apache-2.0\n"
                   "-- Made by build/asan/tests/db_migrations_test_schema --write from a fresh database. Bodies of functions: migrations/functions/.\n");
    dump("fresh", true, ret);
}

static void the_page_shows_a_fresh_database(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf now = BUF(SCHEMA_MAX), then = BUF(SCHEMA_MAX);
    char part[65536];
    size_t n;
    page(&now);
    FILE *f = fopen(PAGE, "r");
    assert_non_null(f);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(&then, part, n);
    fclose(f);
    same(then.ptr, now.ptr, PAGE " is not what a fresh database has (build/asan/tests/db_migrations_test_schema --write)");
}

static void an_old_database_becomes_the_same(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf fresh = BUF(SCHEMA_MAX), old = BUF(SCHEMA_MAX);
    struct schema before = { .migrations = schema_embedded.migrations, .owner = schema_embedded.owner };
    while (before.migrations[before.nmigrations].version <= LAST_WITHOUT_FUNCTIONS)
        before.nmigrations++;
    pg_harness_exec(pg, NULL, "CREATE DATABASE old OWNER falaj_owner");
    bring_up("old", &before);
    pg_harness_exec(pg, "old", "DO $$ BEGIN ASSERT to_regprocedure('falaj_system_function(name, name[])') IS NULL; DROP TABLE schema_function; END $$");
    bring_up("old", &schema_embedded);
    dump("fresh", false, &fresh);
    dump("old", false, &old);
    same(fresh.ptr, old.ptr, "a database of 0021 does not become what a fresh one is");
}

/* Nobody made a function by hand, or by a file that gives it to the wrong role. */
static void every_function_has_its_owner(void **state)
{
    (void)state;
    pg_harness_exec(pg, "fresh", "DO $$ DECLARE f text; BEGIN\n"
        "  SELECT string_agg(p.oid::regprocedure::text, ' ') INTO f FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace\n"
        "     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e')\n"
        "     AND (pg_get_userbyid(p.proowner) <> CASE WHEN p.prosecdef THEN 'falaj_system' ELSE 'falaj_owner' END\n"
        "          OR p.prosecdef AND p.proacl::text ~ '[{,]=');\n"
        "  ASSERT f IS NULL, f; END $$");
}

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_migrate(pg, "fresh");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        CLEANUP(buf_releasep) struct buf text = BUF(SCHEMA_MAX);
        setup(NULL);
        page(&text);
        FILE *f = fopen(PAGE, "w");
        bool ok = f && fwrite(text.ptr, 1, text.len, f) == text.len && fclose(f) == 0;
        return teardown(NULL) + !ok;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_shows_a_fresh_database), cmocka_unit_test(an_old_database_becomes_the_same),
        cmocka_unit_test(every_function_has_its_owner),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
