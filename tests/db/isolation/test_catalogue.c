/* SPDX-License-Identifier: Apache-2.0 */
/* test_catalogue.c - what the catalogue of the database says of the wall between tenants: keys, indexes, functions and roles.
 *
 * No row is needed: what would make a hole possible is refused, whether or not anybody goes through it (test_rls.c goes). */
#include "tests/db/tenants/fixture.h"

static const struct { const char *index, *reason; } wide_indexes[] = {
    { "api_token_hash_key", "a token is looked up before its tenant is known; the hash has 256 bits and tells nothing" },
    { "session_hash_key", "a cookie is looked up before its tenant is known; the hash has 256 bits and tells nothing" },
    { "invitation_hash_key", "so is an invitation's token" },
    { "issuer_issuer_audience_key", "a token finds its tenant by issuer and audience; a tenant has audiences of its own that no other may take" },
    { "tenant_name_key", "names of tenants are unique on the platform, and only the platform's scope may make them" },
};

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { NULL };
    world_new(lists, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

/* No row may come back; each is a breach and is printed. */
#define NOTHING(...)                                                                              \
    do {                                                                                          \
        struct db_text_rows r_ = rows_of(__VA_ARGS__);                                            \
        for (size_t i_ = 0; i_ < r_.nrows; i_++)                                                  \
            print_error("  %.*s\n", STR_ARG(r_.cells[i_ * r_.ncols]));                            \
        assert_int_equal(r_.nrows, 0);                                                            \
    } while (0)

static void keys_between_tenants_do_not_exist(void **state)
{
    (void)state;
    /* Between two tenant tables both sides of a foreign key hold tenant_id, paired with each other. */
    NOTHING("SELECT c.conrelid::regclass || '.' || c.conname FROM pg_constraint c"
            " WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace"
            "   AND EXISTS (SELECT FROM pg_attribute x WHERE x.attrelid = c.conrelid AND x.attname = 'tenant_id')"
            "   AND EXISTS (SELECT FROM pg_attribute x WHERE x.attrelid = c.confrelid AND x.attname = 'tenant_id')"
            "   AND NOT EXISTS (SELECT FROM unnest(c.conkey, c.confkey) AS k(mine, theirs)"
            "         JOIN pg_attribute m ON m.attrelid = c.conrelid AND m.attnum = k.mine"
            "         JOIN pg_attribute t ON t.attrelid = c.confrelid AND t.attnum = k.theirs"
            "        WHERE m.attname = 'tenant_id' AND t.attname = 'tenant_id')");
    /* Every primary key starts with the tenant. */
    NOTHING("SELECT i.indrelid::regclass FROM pg_index i JOIN pg_attribute x ON x.attrelid = i.indrelid AND x.attnum = i.indkey[0]"
            " WHERE i.indisprimary AND i.indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relrowsecurity)"
            "   AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = i.indrelid AND t.attname = 'tenant_id')"
            "   AND x.attname <> 'tenant_id'");
}

static void no_unique_index_tells_of_another_tenant(void **state)
{
    (void)state;
    struct db_text_rows r = rows_of(
        "SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND c.relrowsecurity"
        "   AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tenant_id')"
        "   AND NOT EXISTS (SELECT FROM pg_attribute x WHERE x.attrelid = i.indrelid AND x.attname = 'tenant_id' AND x.attnum = ANY (i.indkey))");
    size_t excused = 0;
    for (size_t i = 0; i < r.nrows; i++) {
        bool ok = false;
        for (size_t k = 0; k < sizeof wide_indexes / sizeof *wide_indexes; k++)
            ok |= str_eq_c(r.cells[i], wide_indexes[k].index);
        if (!ok)
            fail_msg("unique index %.*s spans tenants", STR_ARG(r.cells[i]));
        excused += ok;
    }
    assert_int_equal(excused, sizeof wide_indexes / sizeof *wide_indexes);      /* no stale excuse */
}

static void functions_that_see_more_are_held_short(void **state)
{
    (void)state;
    assert_true(NUMBER("SELECT count(*) FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace") >= 5);
    NOTHING("SELECT p.oid::regprocedure FROM pg_proc p WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace AND"
            " (p.proowner <> 'falaj_system'::regrole OR NOT coalesce('search_path=pg_catalog, public, pg_temp' = ANY (p.proconfig), false)"
            "  OR has_function_privilege('public', p.oid, 'EXECUTE'))");
    /* Nobody who serves requests may make a function or table that one of them would run into. */
    NOTHING("SELECT r.rolname FROM pg_roles r WHERE r.rolname LIKE 'falaj\\_%%' AND r.rolname NOT IN ('falaj_owner', 'falaj_migrate') AND"
            " has_schema_privilege(r.oid, 'public', 'CREATE')");
}

static void who_logs_in_has_no_power_over_the_wall(void **state)
{
    (void)state;
    NOTHING("SELECT rolname FROM pg_roles WHERE rolname LIKE 'falaj\\_%%' AND (rolsuper OR rolcreaterole OR"
            " rolcreatedb OR rolreplication OR (rolbypassrls AND rolname <> 'falaj_backup'))");
    /* Who makes backups reads over the wall, and can change nothing anywhere: no row, no sequence, no function that acts. */
    NOTHING("SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND ((c.relkind IN"
            " ('r', 'v', 'm', 'f', 'p') AND has_table_privilege('falaj_backup', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER'))"
            " OR CASE WHEN c.relkind = 'S' THEN has_sequence_privilege('falaj_backup', c.oid, 'USAGE, UPDATE') ELSE false END)");
    NOTHING("SELECT p.oid::regprocedure FROM pg_proc p WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace"
            " AND has_function_privilege('falaj_backup', p.oid, 'EXECUTE')");
    /* falaj_migrate may become the owner anyway; the lists of what it applied are its own. */
    NOTHING("SELECT r.rolname || ' owns ' || c.relname FROM pg_roles r JOIN pg_class c ON c.relowner = r.oid WHERE r.rolcanlogin AND"
            " r.rolname LIKE 'falaj\\_%%' AND r.rolname <> 'falaj_migrate'");
    NOTHING("SELECT c.relname FROM pg_class c WHERE c.relowner = 'falaj_migrate'::regrole AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND"
            " c.relname NOT IN ('schema_migration', 'schema_function')");
    /* Only falaj-migrate becomes the owner; nobody who logs in becomes falaj_system otherwise. */
    NOTHING("SELECT r.rolname FROM pg_roles r WHERE r.rolcanlogin AND r.rolname LIKE 'falaj\\_%%' AND r.rolname <> 'falaj_migrate'"
            " AND (pg_has_role(r.oid, 'falaj_owner', 'MEMBER') OR pg_has_role(r.oid, 'falaj_system', 'MEMBER'))");
    NOTHING("SELECT r.rolname || ' may truncate ' || c.relname FROM pg_roles r, pg_class c WHERE r.rolcanlogin AND r.rolname LIKE 'falaj\\_%%'"
            " AND r.rolname <> 'falaj_migrate' AND c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND has_table_privilege(r.oid, c.oid, 'TRUNCATE')");
    /* The audit log is written once: no role that logs in rewrites or deletes it. */
    NOTHING("SELECT r.rolname || ' may rewrite ' || t FROM pg_roles r, unnest('{audit_event,audit_seq,audit_head,job_event}'::text[]) t"
            " WHERE r.rolcanlogin AND r.rolname LIKE 'falaj\\_%%' AND r.rolname <> 'falaj_migrate'"
            " AND (has_table_privilege(r.oid, t, 'UPDATE') OR has_table_privilege(r.oid, t, 'DELETE'))");
}

static void the_pool_refuses_roles_with_power(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { NULL };
    static const char *const roles[] = { "postgres", "falaj_owner" };
    sql("ALTER ROLE falaj_owner LOGIN");
    for (size_t i = 0; i < 2; i++) {
        struct db_pool *p = pool_make(roles[i], 1, lists, 0);
        REFUSED(db_pool_check(p, &e), INTERNAL);
        db_pool_free(p);
    }
    sql("ALTER ROLE falaj_owner NOLOGIN");
    pg_harness_exec(pg, DB, "CREATE ROLE bypasser LOGIN BYPASSRLS");
    struct db_pool *p = pool_make("bypasser", 1, lists, 0);
    REFUSED(db_pool_check(p, &e), INTERNAL);
    db_pool_free(p);
    pg_harness_exec(pg, DB, "DROP ROLE bypasser");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_between_tenants_do_not_exist), cmocka_unit_test(no_unique_index_tells_of_another_tenant),
        cmocka_unit_test(functions_that_see_more_are_held_short), cmocka_unit_test(who_logs_in_has_no_power_over_the_wall),
        cmocka_unit_test(the_pool_refuses_roles_with_power),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
