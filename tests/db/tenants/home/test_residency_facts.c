/* SPDX-License-Identifier: Apache-2.0 */
/* test_residency_facts.c - facts read from the database, remembered and given up in time; and the database's own judge against the judge
 * in C over random laws, tenants and policies: the same rows, two programs, one answer. */
#include "tests/db/tenants/fixture.h"
#include "tenants/home/residency_facts.h"

static const struct stmt *const *const lists[] = { residency_stmts, NULL };
static struct uuid t;

static int setup(void **state)
{
    (void)state;
    world_new(lists, 4);
    t = new_id();
    tenant_make(t, "amana");
    sql("INSERT INTO zone (code, name, country, data_classes) VALUES ('de-fra-1', 'Frankfurt', 'DE', data_classes())");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static struct work unit(struct arena *a)
{
    return (struct work){ .app = &app, .arena = a, .tenant_id = t, .now_us = clock_wall_us(&clock_system) };
}

static bool may(struct work *w, int data_class, const char *zone)
{
    struct residency_question q = { .data_class = data_class, .zone = str_c(zone) };
    struct residency_verdict v;
    enum errc rc = residency_check(w, RACT_PLACE, &q, false, &v, &e);
    if (rc != ERR_OK && rc != ERR_RESIDENCY)
        fail_msg("%s (%s)", e.msg, e.detail);
    assert_int_equal(rc == ERR_OK, v.allowed);
    return v.allowed;
}

static bool is_sure(struct work *w, const char *zone)
{
    struct residency_question q = { .data_class = DC_INTERNAL, .zone = str_c(zone) };
    return residency_is_sure(w, &q);
}

static int64_t mono_us = 1000000;

static int64_t by_hand(void *ctx)
{
    (void)ctx;
    return mono_us;
}

static void facts_are_remembered_and_given_up_in_time(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    struct work w = unit(a);
    const struct clock turned = { clock_system.wall_us, by_hand, NULL };
    app.clock = &turned;
    assert_false(is_sure(&w, "ae-dxb-1"));
    app.residency = residency_cache_new();
    assert_false(is_sure(&w, "ae-dxb-1"));                          /* nothing is known yet */
    assert_true(may(&w, DC_INTERNAL, "ae-dxb-1"));
    assert_true(is_sure(&w, "ae-dxb-1"));
    assert_false(is_sure(&w, "de-fra-1"));
    assert_false(may(&w, DC_INTERNAL, "de-fra-1"));
    sql("UPDATE tenant SET allowed_zones = '{ae-dxb-1,de-fra-1}' WHERE name = 'amana'");
    assert_false(may(&w, DC_INTERNAL, "de-fra-1"));                 /* still the old value, for a few seconds */
    mono_us += RESIDENCY_FRESH_US - 1;
    assert_false(may(&w, DC_INTERNAL, "de-fra-1"));
    residency_cache_forget(app.residency);
    assert_true(may(&w, DC_INTERNAL, "de-fra-1"));
    sql("UPDATE tenant SET allowed_zones = '{ae-dxb-1}' WHERE name = 'amana'");
    assert_true(may(&w, DC_INTERNAL, "de-fra-1"));
    assert_true(is_sure(&w, "de-fra-1"));
    mono_us += RESIDENCY_FRESH_US;
    assert_false(is_sure(&w, "ae-dxb-1"));                          /* a look is due, by somebody else */
    assert_false(may(&w, DC_INTERNAL, "de-fra-1"));                 /* nobody told it, and yet it counts */
    residency_cache_free(app.residency);
    app.residency = NULL;
    assert_false(may(&w, DC_INTERNAL, "de-fra-1"));
    app.clock = &clock_system;
    arena_free(a);
}

static void an_expiry_counts_at_once(void **state)
{
    (void)state;
    struct arena *a = arena_new(64 << 20);
    struct work w = unit(a);
    char id[UUID_TEXT];
    uuid_text(t, id);
    app.residency = residency_cache_new();
    sql("INSERT INTO transfer_policy (tenant_id, policy_id, from_zone, to_zone, data_class, purpose, legal_basis, document_sha256, assessment_ref, state,"
        " valid_from, valid_until, approval_id, proposed_by) VALUES ('%s', '%s', 'ae-dxb-1', 'de-fra-1', 'personal', 'any', 'contract', sha256('x'),"
        " 'TIA-1', 'ACTIVE', now(), now() + interval '10 seconds', '%s', '%s')", id, id, id, id);
    w.now_us = clock_wall_us(&clock_system);
    assert_true(may(&w, DC_PERSONAL, "de-fra-1"));
    assert_false(may(&w, DC_SENSITIVE, "de-fra-1"));
    w.now_us += 11000000;
    assert_false(may(&w, DC_PERSONAL, "de-fra-1"));
    residency_cache_free(app.residency);
    app.residency = NULL;
    sql("DELETE FROM transfer_policy");
    arena_free(a);
}

/* Random worlds, written by SQL itself from a seed; then every class and zone of every tenant is asked of both. */
static void the_database_and_the_judge_agree(void **state)
{
    (void)state;
    struct arena *a = arena_new(256 << 20);
    int64_t asked = 0, allowed = 0;
    sql("INSERT INTO zone (code, name, country, data_classes) SELECT 'z' || i, 'x', (ARRAY['AE','SA','DE'])[1 + i %% 3],"
        " (SELECT array_agg(c) FROM unnest(data_classes()) WITH ORDINALITY AS x(c, n) WHERE (n * 7 + i * 5) %% 6 > 0) FROM generate_series(10, 16) i");
    sql("SELECT setseed(0.42);"
        "INSERT INTO zone_rule (zone, version, n, regime, data_class, may_leave, countries, source_text, valid_from, valid_to)"
        " SELECT 'z' || (10 + floor(random() * 7)), 1, i, 'law', (data_classes())[1 + floor(random() * 7)],"
        " (ARRAY['never','with_basis','free'])[1 + floor(random() * 3)], (ARRAY['{}','{AE}','{AE,SA}'])[1 + floor(random() * 3)]::text[], 's',"
        " now() + (random() - 0.8) * interval '10 days', CASE WHEN random() < 0.5 THEN now() + interval '20 days' END FROM generate_series(1, 30) i");
    sql("INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) SELECT gen_random_uuid(), 'r' || i, 'x', 'z' || (10 + i %% 7),"
        " ARRAY['z' || (10 + i %% 7), 'z' || (10 + (i * 3) %% 7), 'z' || (10 + (i * 5) %% 7)] FROM generate_series(1, 25) i;"
        "INSERT INTO tenant_zone SELECT tenant_id, (data_classes())[1 + floor(random() * 7)], 'z' || (10 + floor(random() * 7)) FROM tenant"
        " WHERE name LIKE 'r%%' AND random() < 0.5;"
        "INSERT INTO transfer_policy (tenant_id, policy_id, from_zone, to_zone, data_class, purpose, legal_basis, document_sha256, assessment_ref,"
        " exception_ref, state, valid_from, valid_until, approval_id, proposed_by, revoked_at)"
        " SELECT tenant_id, gen_random_uuid(), home_zone, z, c, p, 'contract', sha256('x'), 'T', CASE WHEN n > 4 OR random() < 0.3 THEN 'E-1' ELSE '' END,"
        "  s, now() + (random() - 0.8) * interval '10 days', now() + (random() - 0.2) * interval '10 days', tenant_id, tenant_id,"
        "  CASE s WHEN 'REVOKED' THEN now() END"
        "  FROM tenant, unnest(data_classes()) WITH ORDINALITY AS x(c, n), unnest('{z10,z11,z12,z13,z14,z15,z16}'::text[]) z,"
        "       unnest('{any,training}'::text[]) p, LATERAL (SELECT CASE WHEN random() < 0.8 THEN 'ACTIVE' ELSE 'REVOKED' END AS s) y"
        " WHERE name LIKE 'r%%' AND z <> home_zone AND random() < 0.08");
    struct db_text_rows r = rows_of("SELECT t.tenant_id, c, z.code, p, residency_zone_ok(t.tenant_id, c, z.code, nullif(p, ''))::text, t.name FROM tenant t,"
                                    " unnest(data_classes() || '{nonsense}'::text[]) c, zone z, unnest('{\"\",training,serving}'::text[]) p WHERE t.name LIKE 'r%%'"
                                    " ORDER BY 1, 2, 3, 4");
    struct uuid last = UUID_NIL;
    const struct residency_facts *f = NULL;
    for (size_t i = 0; i < r.nrows; i++) {
        const struct str *c = &r.cells[i * r.ncols];
        struct uuid id;
        assert_true(uuid_parse(c[0], &id));
        if (!uuid_eq(id, last)) {
            t = last = id;
            struct work w = unit(a);
            OK(residency_facts_of(&w, &f, &e));
        }
        struct residency_question q = { .data_class = data_class_of(c[1]), .zone = c[2], .purpose = c[3].len ? c[3] : STR_NULL,
                                        .now_us = clock_wall_us(&clock_system) };
        struct residency_verdict v = residency_allows(f, &q);
        if (v.allowed != str_eq_c(c[4], "true"))
            fail_msg("%.*s %.*s in %.*s for '%.*s': the database says %.*s, the judge %s", STR_ARG(c[5]), STR_ARG(c[1]), STR_ARG(c[2]), STR_ARG(c[3]),
                     STR_ARG(c[4]), v.text);
        asked++;
        allowed += v.allowed;
    }
    print_message("%ld questions, %ld allowed\n", (long)asked, (long)allowed);
    assert_true(asked > 5000 && allowed > asked / 20 && allowed < asked / 2);
    arena_free(a);
}

static void the_law_is_written_by_the_platform_only(void **state)
{
    (void)state;
    struct db_session *s = NULL;
    OK(db_session_new(pg_harness_conninfo(pg, "falaj_app", DB), "test", 30000, &s, &e));
    assert_int_not_equal(db_session_exec_script(s, "BEGIN; SET LOCAL app.tenant = '00000000-0000-0000-0000-000000000001';"
                                                   "UPDATE zone SET data_classes = '{}'; COMMIT", &e), ERR_OK);
    OK(db_session_exec_script(s, "ROLLBACK; BEGIN; SET LOCAL app.tenant = '00000000-0000-0000-0000-000000000000';"
                                 "UPDATE zone SET data_classes = data_classes; COMMIT", &e));
    db_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_remembered_and_given_up_in_time), cmocka_unit_test(an_expiry_counts_at_once),
        cmocka_unit_test(the_law_is_written_by_the_platform_only), cmocka_unit_test(the_database_and_the_judge_agree),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
