/* SPDX-License-Identifier: Apache-2.0 */
/* test_principal_load.c - what authn_principal prints of a user's roles is what a principal holds, and nothing wrong becomes a power. */
#include "tests/db/tenants/fixture.h"
#include "tenants/access/cidr.h"
#include "tenants/access/principal_load.h"

static struct uuid tenant, project, user;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { principal_stmts, NULL };
    world_new(lists, 2);
    tenant = new_id();
    project = new_id();
    tenant_make(tenant, "amana");
    user = user_make(tenant, "layla", NULL);
    sql("INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', 'red', '%s')", hex(tenant), hex(project), hex(user));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static void bind(struct uuid t, struct uuid u, const char *role, const char *columns, const char *values)
{
    sql("INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by%s) VALUES ('%s', '%s', '%s', '%s', '%s'%s)", columns, hex(t),
        hex(new_id()), hex(u), role, hex(u), values);
}

static struct principal *load(struct uuid t, struct uuid u)
{
    struct principal_row row;
    struct principal *p = NULL;
    struct work *w = unit_open(t, NULL);
    OK(principal_find(w->tx, t, u, &row, &e));
    OK(principal_check(&row, &e));
    OK(principal_make(&row, AUTH_SESSION, (struct slice){ 0 }, w->arena, &p, &e));
    unit_drop(w);
    return p;
}

static void places_and_conditions_arrive(void **state)
{
    (void)state;
    struct uuid u = user_make(tenant, "omar", "viewer");
    char values[256];
    snprintf(values, sizeof values, ", 'project', '%s', to_timestamp(1700000000), to_timestamp(1800000000.000001), 900, '{192.0.2.0/24,2001:db8::/32}',"
             " '{ae-dxb-1}'", hex(project));
    bind(tenant, u, "ml-engineer", ", place, project_id, valid_from, valid_until, mfa_age_s, cidrs, in_zones", values);
    struct principal *p = load(tenant, u);
    assert_int_equal(p->bindings.n, 2);
    const struct binding *b = p->bindings.items;
    assert_int_equal(b[0].role, ROLE_ML_ENGINEER);
    assert_int_equal(b[0].place, BOUND_PROJECT);
    assert_true(uuid_eq(b[0].project_id, project));
    assert_int_equal(b[0].valid_from_us, INT64_C(1700000000000000));
    assert_int_equal(b[0].valid_until_us, INT64_C(1800000000000001));
    assert_int_equal(b[0].mfa_age_s, 900);
    assert_int_equal(b[0].cidrs.n, 2);
    assert_true(cidr_has((struct cidr *)b[0].cidrs.items + 1, STR("2001:db8::7")));
    assert_true(str_eq_c(*(struct str *)b[0].in_zones.items, "ae-dxb-1"));
    assert_false(binding_is_conditional(&b[1]));
    assert_true(p->always == role_permissions(ROLE_VIEWER));
    assert_int_equal(p->projects.n, 0);
    assert_true(str_eq_c(p->home_zone, "ae-dxb-1"));
    principal_unref(p);
}

static void only_projects(void **state)
{
    (void)state;
    struct uuid u = user_make(tenant, "noor", NULL);
    char values[80];
    snprintf(values, sizeof values, ", 'project', '%s'", hex(project));
    bind(tenant, u, "viewer", ", place, project_id", values);
    bind(tenant, u, "ml-engineer", ", place, project_id", values);
    struct principal *p = load(tenant, u);
    assert_int_equal(p->projects.n, 1);
    principal_unref(p);
    p = load(tenant, user);
    assert_int_equal(p->bindings.n, 0);
    assert_true(!p->permissions);
    principal_unref(p);
}

static void the_platform_is_a_place_of_its_own(void **state)
{
    (void)state;
    struct uuid u = user_make(UUID_NIL, "root", "platform-admin");        /* written without a place */
    bind(UUID_NIL, u, "zone-operator", ", place, zone", ", 'zone', 'ae-dxb-1'");
    struct principal *p = load(UUID_NIL, u);
    const struct binding *b = p->bindings.items;
    assert_int_equal(p->bindings.n, 2);
    assert_int_equal(b[0].place, BOUND_PLATFORM);
    assert_int_equal(b[1].place, BOUND_ZONE);
    assert_true(str_eq_c(b[1].zone, "ae-dxb-1"));
    principal_unref(p);
}

static void what_does_not_fit_gives_nothing(void **state)
{
    (void)state;
    struct uuid u = user_make(tenant, "odd", "platform-admin");
    bind(tenant, u, "worker", "", "");
    bind(tenant, u, "made-up", "", "");
    bind(tenant, u, "zone-operator", ", place, zone", ", 'zone', 'ae-dxb-1'");
    struct principal *p = load(tenant, u);
    assert_int_equal(p->bindings.n, 0);
    assert_true(!p->permissions && !p->roles);
    principal_unref(p);
    u = user_make(tenant, "two-hats", "tenant-admin");
    bind(tenant, u, "compliance-officer", "", "");
    p = load(tenant, u);
    assert_int_equal(p->roles, ROLES(COMPLIANCE_OFFICER));
    principal_unref(p);
}

static void states_are_checked(void **state)
{
    (void)state;
    struct principal_row row = { .user_state = STR("ACTIVE"), .tenant_state = STR("ACTIVE") };
    OK(principal_check(&row, &e));
    row.tenant_state = STR("SUSPENDED");
    REFUSED(principal_check(&row, &e), TENANT_SUSPENDED);
    row.tenant_state = STR("DELETING");
    REFUSED(principal_check(&row, &e), TENANT_SUSPENDED);
    row.user_state = STR("DISABLED");
    REFUSED(principal_check(&row, &e), UNAUTHENTICATED);
    struct work *w = unit_open(tenant, NULL);
    REFUSED(principal_find(w->tx, tenant, new_id(), &row, &e), NOT_FOUND);
    unit_drop(w);
}

static void the_most_bindings_that_count(void **state)
{
    (void)state;
    struct uuid u = user_make(tenant, "many", NULL);
    sql("INSERT INTO project (tenant_id, project_id, name, created_by) SELECT '%s', gen_random_uuid(), 'p' || i, '%s' FROM generate_series(1, 400) i",
        hex(tenant), hex(u));
    sql("INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by, place, project_id, cidrs, in_zones)"
        " SELECT tenant_id, gen_random_uuid(), '%s', 'viewer', '%s', 'project', project_id,"
        " (SELECT array_agg(('2001:db8:' || i || '::/48')::cidr) FROM generate_series(1, 16) i), array_fill('ae-dxb-1'::text, '{16}')"
        " FROM project WHERE name LIKE 'p%%'", hex(u), hex(u));
    struct principal *p = load(tenant, u);
    assert_int_equal(p->bindings.n, BINDINGS_MAX);
    assert_int_equal(p->projects.n, BINDINGS_MAX);
    principal_unref(p);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(places_and_conditions_arrive), T(only_projects), T(the_platform_is_a_place_of_its_own), T(what_does_not_fit_gives_nothing),
        T(states_are_checked), T(the_most_bindings_that_count),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
