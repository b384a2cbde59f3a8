/* SPDX-License-Identifier: Apache-2.0 */
/* test_binding.c - roles at places and under conditions as rows: what is refused, what is stored, who stays the last. */
#include "tests/db/tenants/fixture.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/user.h"

static struct uuid tenant, admin, worker, red, blue;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { user_stmts, binding_stmts, principal_stmts, NULL };
    world_new(lists, 4);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static struct uuid project_make(const char *name, const char *project_state)
{
    struct uuid id = new_id();
    sql("INSERT INTO project (tenant_id, project_id, name, state, created_by) VALUES ('%s', '%s', '%s', '%s', '%s')", hex(tenant), hex(id), name,
        project_state, hex(admin));
    return id;
}

static int fresh(void **state)
{
    (void)state;
    static int n;
    char name[32];
    snprintf(name, sizeof name, "amana-%d", n++);
    tenant = new_id();
    tenant_make(tenant, name);
    admin = user_make(tenant, "admin", "tenant-admin");
    worker = user_make(tenant, "worker", NULL);
    red = project_make("red", "ACTIVE");
    blue = project_make("blue", "ACTIVE");
    return 0;
}

/* A unit of work as the user is now, by what the database says of it. */
static struct work *as(struct uuid where, struct uuid user)
{
    struct principal_row row;
    struct principal *p;
    struct work *w = unit_open(where, NULL);
    OK(principal_find(w->tx, where, user, &row, &e));
    OK(principal_make(&row, AUTH_TOKEN, (struct slice){ 0 }, w->arena, &p, &e));
    w->principal = p;
    return w;
}

static void drop(struct work *w)
{
    principal_unref((struct principal *)(uintptr_t)w->principal);
    unit_drop(w);
}

static void keep(struct work *w)
{
    principal_unref((struct principal *)(uintptr_t)w->principal);
    unit_commit(w);
}

static enum errc give(struct work *w, struct binding_new b)
{
    struct role_binding made;
    if (uuid_is_nil(b.user_id))
        b.user_id = worker;
    return binding_grant(w, &b, &made, &e);
}

static void what_is_asked_is_stored(void **state)
{
    (void)state;
    struct str nets[] = { STR("192.0.2.0/24"), STR("2001:db8::/32") }, zones[] = { STR("ae-dxb-1") };
    struct work *w = as(tenant, admin);
    struct role_binding made;
    struct binding_new b = { .user_id = worker, .role = STR("ml-engineer"), .project_id = red, .valid_until = { w->now_us + 3600000000 },
                             .mfa_age_seconds = 600, .cidrs = { nets, 2 }, .in_zones = { zones, 1 } };
    OK(binding_grant(w, &b, &made, &e));
    assert_true(str_eq_c(made.place, "project") && uuid_eq(made.project_id, red) && made.mfa_age_seconds == 600);
    assert_true(str_eq_c(made.cidrs.text, "[\"192.0.2.0/24\", \"2001:db8::/32\"]") && str_eq_c(made.in_zones.text, "[\"ae-dxb-1\"]"));
    assert_int_equal(made.valid_until.us, b.valid_until.us);
    assert_true(str_eq_c(made.source, "direct") && uuid_eq(made.created_by, admin));
    REFUSED(binding_grant(w, &b, &made, &e), EXISTS);
    drop(w);
    w = as(tenant, admin);
    OK(binding_grant(w, &b, &made, &e));
    b.project_id = blue;                                        /* the same role elsewhere is another binding */
    OK(binding_grant(w, &b, &made, &e));
    keep(w);
    w = as(tenant, worker);
    assert_int_equal(w->principal->bindings.n, 2);
    assert_int_equal(w->principal->projects.n, 2);
    assert_true(!w->principal->always);
    drop(w);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct str bad[] = { STR("192.0.2.1/24") }, nowhere[] = { STR("xx-nowhere-1") };
    struct uuid closed = project_make("closed", "CLOSED");
    struct work *w = as(tenant, admin);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .cidrs = { bad, 1 } }), INVALID);
    assert_string_equal(e.field, "/cidrs/0");
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .valid_until = { w->now_us } }), INVALID);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .valid_from = { w->now_us + 5 }, .valid_until = { w->now_us + 5 } }), INVALID);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .in_zones = { nowhere, 1 } }), UNPROCESSABLE);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .place = BOUND_PROJECT, .has_place = true }), INVALID);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .place = BOUND_TENANT, .has_place = true, .project_id = red }), INVALID);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .project_id = new_id() }), NOT_FOUND);
    assert_string_equal(e.field, "/project_id");
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .project_id = closed }), NOT_FOUND);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer"), .zone = STR("ae-dxb-1") }), UNPROCESSABLE);
    REFUSED(give(w, (struct binding_new){ .role = STR("engineer") }), INVALID);
    assert_string_equal(e.field, "/role");
    assert_string_equal(e.msg, "There is no role engineer; there are compliance-officer, tenant-admin, ml-engineer, viewer, "
                               "service-account, provisioner");
    REFUSED(give(w, (struct binding_new){ .role = STR("platform-admin") }), UNPROCESSABLE);
    REFUSED(give(w, (struct binding_new){ .role = STR("compliance-officer"), .project_id = red }), UNPROCESSABLE);
    drop(w);
    sql("UPDATE app_user SET state = 'DISABLED' WHERE user_id = '%s'", hex(worker));
    w = as(tenant, admin);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer") }), CONFLICT);
    drop(w);
}

static void an_administrator_of_a_project_grants_there_alone(void **state)
{
    (void)state;
    struct uuid chief = user_make(tenant, "chief", NULL);
    struct work *w = as(tenant, admin);
    OK(give(w, (struct binding_new){ .user_id = chief, .role = STR("tenant-admin"), .project_id = red }));
    OK(give(w, (struct binding_new){ .user_id = chief, .role = STR("viewer") }));
    keep(w);
    w = as(tenant, chief);
    OK(give(w, (struct binding_new){ .role = STR("ml-engineer"), .project_id = red }));
    REFUSED(give(w, (struct binding_new){ .role = STR("ml-engineer"), .project_id = blue }), FORBIDDEN);
    REFUSED(give(w, (struct binding_new){ .role = STR("viewer") }), FORBIDDEN);         /* held everywhere, but the power to grant is not */
    assert_non_null(strstr(e.msg, "role:grant"));
    REFUSED(give(w, (struct binding_new){ .role = STR("compliance-officer") }), FORBIDDEN);
    drop(w);
}

static void the_last_one_is_unconditional(void **state)
{
    (void)state;
    struct app_user u;
    struct uuid second = user_make(tenant, "second", NULL);
    struct work *w = as(tenant, admin);
    OK(give(w, (struct binding_new){ .user_id = second, .role = STR("tenant-admin"), .mfa_age_seconds = 600 }));
    keep(w);
    w = as(tenant, admin);
    REFUSED(user_deactivate(w, admin, &e), CONFLICT);                   /* the other one may never have a second factor */
    drop(w);
    w = as(tenant, admin);
    REFUSED(user_update(w, admin, STR_NULL, STR("DISABLED"), -1, &u, &e), CONFLICT);
    drop(w);
    struct uuid third = user_make(tenant, "third", "tenant-admin");
    w = as(tenant, third);
    OK(user_deactivate(w, admin, &e));
    keep(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE user_id = '%s'", hex(admin)), 0);
}

static void a_deactivated_user_is_ended_for_good(void **state)
{
    (void)state;
    char text[TOKEN_TEXT];
    struct app_user u;
    token_give(tenant, worker, "1 hour", "{}", text);
    struct work *w = as(tenant, admin);
    OK(user_update(w, worker, STR_NULL, STR("DISABLED"), 1, &u, &e));
    assert_int_equal(u.version, 2);
    REFUSED(user_update(w, worker, STR("x"), STR_NULL, 1, &u, &e), PRECONDITION);
    OK(user_update(w, worker, STR("renamed"), STR("ACTIVE"), 2, &u, &e));
    OK(user_deactivate(w, worker, &e));
    OK(user_deactivate(w, worker, &e));
    keep(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM api_token WHERE user_id = '%s' AND revoked_at IS NULL", hex(worker)), 0);
    w = as(tenant, admin);
    REFUSED(user_update(w, worker, STR_NULL, STR("ACTIVE"), -1, &u, &e), CONFLICT);
    REFUSED(user_deactivate(w, new_id(), &e), NOT_FOUND);
    struct slice page;
    OK(user_list(w, &(struct user_filter){ .state = STR("DEACTIVATED") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 1);
    drop(w);
}

static void lists_filter_and_sort_on_the_server(void **state)
{
    (void)state;
    struct slice page;
    struct app_user *u;
    user_make(tenant, "zed", "viewer");
    user_make(tenant, "bea", "viewer");
    user_make(tenant, "abe", "ml-engineer");
    struct work *w = as(tenant, admin);
    struct user_filter by_name = { .sort = STR("name") };
    struct uuid at = UUID_NIL;
    const char *expected[] = { "abe", "admin", "bea", "worker", "zed" };
    for (size_t i = 0; i < 5; i++) {
        OK(user_list(w, &by_name, at, 1, &page, &e));
        u = page.items;
        assert_true(str_eq_c(u->name, expected[i]));
        at = u->user_id;
    }
    OK(user_list(w, &by_name, at, 1, &page, &e));
    assert_int_equal(page.n, 0);
    by_name.sort = STR("-name");
    OK(user_list(w, &by_name, UUID_NIL, 2, &page, &e));
    u = page.items;
    assert_true(str_eq_c(u[0].name, "zed") && str_eq_c(u[1].name, "worker"));
    OK(user_list(w, &(struct user_filter){ .role = STR("viewer"), .sort = STR("created") }, UUID_NIL, 10, &page, &e));
    u = page.items;
    assert_int_equal(page.n, 2);
    assert_true(str_eq_c(u[0].name, "zed"));
    OK(user_list(w, &(struct user_filter){ .name = STR("a") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 2);
    OK(give(w, (struct binding_new){ .role = STR("viewer"), .project_id = red }));
    OK(role_binding_list(w, &(struct binding_filter){ .place = STR("project") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 1);
    OK(role_binding_list(w, &(struct binding_filter){ .role = STR("viewer") }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 3);
    OK(role_binding_list(w, &(struct binding_filter){ .user_id = admin, .project_id = red }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 0);
    drop(w);
}

static void at_the_platform(void **state)
{
    (void)state;
    struct uuid root = user_make(UUID_NIL, "root", "platform-admin"), op = user_make(UUID_NIL, "op", NULL);
    struct work *w = as(UUID_NIL, root);
    OK(give(w, (struct binding_new){ .user_id = op, .role = STR("zone-operator"), .zone = STR("ae-dxb-1") }));
    REFUSED(give(w, (struct binding_new){ .user_id = op, .role = STR("zone-operator"), .zone = STR("xx-nowhere-1") }), UNPROCESSABLE);
    REFUSED(give(w, (struct binding_new){ .user_id = op, .role = STR("tenant-admin") }), UNPROCESSABLE);     /* no tenant role here */
    REFUSED(give(w, (struct binding_new){ .user_id = op, .role = STR("ml-engineer") }), UNPROCESSABLE);
    keep(w);
    w = as(UUID_NIL, op);
    assert_int_equal(w->principal->bindings.n, 1);
    REFUSED(give(w, (struct binding_new){ .user_id = op, .role = STR("zone-operator") }), FORBIDDEN);
    drop(w);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, fresh)
    const struct CMUnitTest tests[] = {
        T(what_is_asked_is_stored), T(what_makes_no_sense_is_refused), T(an_administrator_of_a_project_grants_there_alone),
        T(the_last_one_is_unconditional), T(a_deactivated_user_is_ended_for_good), T(lists_filter_and_sort_on_the_server), T(at_the_platform),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
