/* SPDX-License-Identifier: Apache-2.0 */
/* test_preflight.c - what statements do to tables, by their text; words in comments, strings and bodies do nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "migrations/migrate.h"
#include "migrations/preflight.h"

/* "table:lock[*] …" with * where every row is read. */
static void expect(const char *sql, const char *want)
{
    static struct table_touch t[TOUCHES_MAX];
    static const char *const locks[] = { "rows", "writers", "all" };
    static char got[16384];
    got[0] = 0;
    size_t n = preflight_touches(sql, t, TOUCHES_MAX);
    for (size_t i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s:%s%s", i ? " " : "", t[i].table, locks[t[i].lock],
                 t[i].reads_all ? "*" : "");
    assert_string_equal(got, want);
}

static void statements_tell_their_locks(void **state)
{
    (void)state;
    expect("", "");
    expect("ALTER TABLE job ADD COLUMN x int", "job:all");
    expect("ALTER TABLE ONLY public.job ADD CHECK (x > 0)", "job:all*");
    expect("alter table \"job\" ALTER COLUMN x SET NOT NULL; ALTER TABLE job ALTER x SET DEFAULT 1", "job:all*");
    expect("ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES b", "a:all* b:writers");
    expect("CREATE UNIQUE INDEX IF NOT EXISTS i ON job (x)", "job:writers*");
    expect("CREATE INDEX CONCURRENTLY i ON job (x)", "job:rows*");
    expect("CREATE CONSTRAINT TRIGGER t AFTER UPDATE ON job FOR EACH ROW EXECUTE FUNCTION f()", "job:writers");
    expect("UPDATE job SET x = 1; ALTER TABLE job DROP COLUMN y", "job:all*");
    expect("ALTER TABLE job DROP COLUMN y; UPDATE job SET x = 1", "job:all*");
    expect("INSERT INTO quota SELECT 1; DELETE FROM event", "quota:rows* event:rows*");
    expect("DROP TABLE old; DROP POLICY p ON job; CREATE POLICY p ON job USING (true)", "old:all job:all");
    expect("GRANT SELECT ON job TO falaj_app; COMMENT ON TABLE job IS 'x'", "");
}

static void what_it_makes_is_not_told(void **state)
{
    (void)state;
    expect("CREATE TABLE fresh (x int REFERENCES job); CREATE INDEX ON fresh (x); ALTER TABLE fresh ADD CHECK (x > 0)",
           "job:writers");
}

static void words_that_do_nothing(void **state)
{
    (void)state;
    expect("-- ALTER TABLE a ADD CHECK\nSELECT 'UPDATE b SET x; DROP TABLE c'", "");
    expect("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ DROP TABLE a; SELECT 1 $$; UPDATE b SET x = 'it''s; fine'",
           "b:rows*");
    expect("DO $body$ BEGIN UPDATE a SET x = 1; END $body$", "");
    expect("CREATE FUNCTION f() AS $$ never ended", "");
}

/* Every migration that ships can be read, and some of them touch tables. */
static void all_that_ships_is_read(void **state)
{
    (void)state;
    static struct table_touch t[TOUCHES_MAX];
    size_t all = 0;
    for (size_t i = 0; i < schema_embedded.nmigrations; i++) {
        size_t n = preflight_touches(schema_embedded.migrations[i].sql, t, TOUCHES_MAX);
        assert_true(n < TOUCHES_MAX);
        all += n;
    }
    assert_true(all > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(statements_tell_their_locks),
                                        cmocka_unit_test(what_it_makes_is_not_told),
                                        cmocka_unit_test(words_that_do_nothing), cmocka_unit_test(all_that_ships_is_read) };
    return cmocka_run_group_tests_name("migrations_preflight", tests, NULL, NULL);
}
