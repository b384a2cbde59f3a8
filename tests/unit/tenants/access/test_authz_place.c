/* SPDX-License-Identifier: Apache-2.0 */
/* test_authz_place.c - roles at places and under conditions: judged at each use, and never more than they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tenants/access/authz.h"
#include "tenants/access/cidr.h"
#include "tenants/access/principal_load.h"

#define P(name) PERM_BIT(PERM_##name)
#define NOW INT64_C(1700000000000000)
#define S INT64_C(1000000)

static const struct uuid tenant = { { 1 } }, red = { { 2 } }, blue = { { 3 } };
static const struct authz_context here = { .now_us = NOW, .source_ip = { "192.0.2.9", 9 }, .zone = { "ae-dxb-1", 8 } };

static struct principal *holding(struct uuid where, const struct binding *b, size_t n)
{
    struct principal *p = principal_new();
    p->tenant_id = where;
    p->scopes = ~(perm_set)0;
    struct binding *copy = ARENA_ARRAY(p->arena, struct binding, n);
    memcpy(copy, b, n * sizeof *b);
    p->bindings = (struct slice){ copy, n };
    principal_settle(p);
    return p;
}

static bool may(struct binding b, enum permission perm, struct authz_context ctx)
{
    struct principal *p = holding(b.place == BOUND_PLATFORM || b.place == BOUND_ZONE ? UUID_NIL : tenant, &b, 1);
    bool allowed = authz_decide(p, perm, &ctx).allowed;
    principal_unref(p);
    return allowed;
}

static void time_is_judged_at_each_use(void **state)
{
    (void)state;
    struct binding b = { .role = ROLE_VIEWER, .place = BOUND_TENANT, .valid_from_us = NOW, .valid_until_us = NOW + 10 * S };
    struct authz_context c = here;
    c.now_us = NOW - 1;
    assert_false(may(b, PERM_JOB_READ, c));
    c.now_us = NOW;
    assert_true(may(b, PERM_JOB_READ, c));
    c.now_us = NOW + 10 * S - 1;
    assert_true(may(b, PERM_JOB_READ, c));
    c.now_us = NOW + 10 * S;
    assert_false(may(b, PERM_JOB_READ, c));
}

static void a_second_factor_ages(void **state)
{
    (void)state;
    struct binding b = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT, .mfa_age_s = 600 };
    struct principal *p = holding(tenant, &b, 1);
    p->method = AUTH_SESSION;
    struct decision d = authz_decide(p, PERM_JOB_SUBMIT, &here);
    assert_false(d.allowed);
    assert_true(d.needs_mfa);
    struct err e;
    assert_int_equal(authz_refuse(&d, PERM_JOB_SUBMIT, &e), ERR_MFA_REQUIRED);
    p->mfa_us = NOW - 600 * S;
    assert_true(authz_decide(p, PERM_JOB_SUBMIT, &here).allowed);
    p->mfa_us--;
    assert_false(authz_decide(p, PERM_JOB_SUBMIT, &here).allowed);
    p->method = AUTH_TOKEN;             /* a program cannot be asked */
    d = authz_decide(p, PERM_JOB_SUBMIT, &here);
    assert_false(d.needs_mfa);
    assert_int_equal(authz_refuse(&d, PERM_JOB_SUBMIT, &e), ERR_FORBIDDEN);
    assert_non_null(strstr(e.msg, "job:submit"));
    principal_unref(p);
}

static void an_address_that_is_not_known_passes_nothing(void **state)
{
    (void)state;
    struct cidr net;
    assert_true(cidr_parse(STR("192.0.2.0/24"), &net));
    struct binding b = { .role = ROLE_VIEWER, .place = BOUND_TENANT, .cidrs = { &net, 1 } };
    struct authz_context c = here;
    assert_true(may(b, PERM_JOB_READ, c));
    c.source_ip = STR("198.51.100.1");
    assert_false(may(b, PERM_JOB_READ, c));
    c.source_ip = STR_NULL;
    assert_false(may(b, PERM_JOB_READ, c));
}

static void a_zone_is_asked_for(void **state)
{
    (void)state;
    struct binding b = { .role = ROLE_ZONE_OPERATOR, .place = BOUND_ZONE, .zone = STR("ae-dxb-1") };
    struct authz_context c = here;
    assert_true(may(b, PERM_NODE_MANAGE, c));
    c.zone = STR("ae-auh-1");
    assert_false(may(b, PERM_NODE_MANAGE, c));
    c.zone = STR_NULL;
    assert_false(may(b, PERM_NODE_MANAGE, c));                  /* fails closed */
    assert_true(may(b, PERM_TOKEN_OWN, c));
    c.zone_later = true;
    struct principal *p = holding(UUID_NIL, &b, 1);
    struct decision d = authz_decide(p, PERM_NODE_MANAGE, &c);
    assert_true(d.allowed && d.zone_later);                     /* the pipeline asks again */
    assert_false(authz_decide(p, PERM_SYSTEM_INSPECT, &c).allowed);     /* not of a zone */
    assert_false(authz_decide(p, PERM_AUDIT_READ, &c).allowed);
    principal_unref(p);
}

static void zones_of_resources(void **state)
{
    (void)state;
    struct str zones[] = { STR("ae-auh-1"), STR("ae-dxb-1") };
    struct binding b = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT, .in_zones = { zones, 1 } };
    assert_false(may(b, PERM_JOB_SUBMIT, here));
    b.in_zones.n = 2;
    assert_true(may(b, PERM_JOB_SUBMIT, here));
}

static void a_project_gives_its_own_rows_only(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct binding b[] = { { .role = ROLE_ML_ENGINEER, .place = BOUND_PROJECT, .project_id = red },
                           { .role = ROLE_VIEWER, .place = BOUND_PROJECT, .project_id = blue } };
    struct principal *p = holding(tenant, b, 2);
    assert_int_equal(p->projects.n, 2);
    struct decision d = authz_decide(p, PERM_JOB_SUBMIT, &here);
    assert_true(d.allowed && d.in_projects);
    struct slice in = authz_projects(p, PERM_JOB_SUBMIT, &here, a);
    assert_int_equal(in.n, 1);
    assert_true(uuid_eq(*(struct uuid *)in.items, red));
    assert_int_equal(authz_projects(p, PERM_JOB_READ, &here, a).n, 2);
    struct authz_context c = here;
    c.project_id = blue;
    assert_false(authz_decide(p, PERM_JOB_SUBMIT, &c).allowed);
    assert_true(authz_decide(p, PERM_JOB_READ, &c).allowed);
    principal_unref(p);
    /* Wide somewhere, at a project elsewhere: wide where it is wide, and limited where it is not. */
    b[1].place = BOUND_TENANT;
    p = holding(tenant, b, 2);
    assert_int_equal(p->projects.n, 0);
    d = authz_decide(p, PERM_JOB_READ, &here);
    assert_true(d.allowed && !d.in_projects);
    d = authz_decide(p, PERM_JOB_SUBMIT, &here);
    assert_true(d.allowed && d.in_projects);
    principal_unref(p);
    /* A tenant's administrator of one project administers no people, keys or sign-on. */
    struct binding boss = { .role = ROLE_TENANT_ADMIN, .place = BOUND_PROJECT, .project_id = red };
    assert_false(may(boss, PERM_USER_MANAGE, here) || may(boss, PERM_KEY_DESTROY, here) || may(boss, PERM_IDENTITY_MANAGE, here) ||
                 may(boss, PERM_TOKEN_MANAGE, here) || may(boss, PERM_AUDIT_READ, here) || may(boss, PERM_PROJECT_MANAGE, here));
    arena_free(a);
}

/* The property of the matrix holds with every place and condition added: they only take away. */
static void no_place_and_no_condition_adds_a_permission(void **state)
{
    (void)state;
    const perm_set content = P(DATASET_CONTENT) | P(MODEL_CONTENT) | P(INFER) | P(DATASET_READ) | P(MODEL_READ) | P(JOB_READ) | P(DEPLOY_READ) |
                             P(DATASET_WRITE) | P(MODEL_WRITE) | P(JOB_SUBMIT) | P(JOB_CANCEL) | P(DEPLOY_WRITE);
    struct cidr net;
    assert_true(cidr_parse(STR("192.0.2.0/24"), &net));
    struct str zone = STR("ae-dxb-1");
    for (int r = 0; r < ROLE_COUNT; r++)
        for (int place = BOUND_PLATFORM; place <= BOUND_PROJECT; place++)
            for (int mask = 0; mask < 32; mask++) {
                struct binding b = { .role = (enum role)r, .place = (enum binding_place)place, .zone = zone, .project_id = red };
                b.valid_from_us = mask & 1 ? NOW : 0;
                b.valid_until_us = mask & 2 ? NOW + S : 0;
                b.mfa_age_s = mask & 4 ? 600 : 0;
                b.cidrs = mask & 8 ? (struct slice){ &net, 1 } : (struct slice){ 0 };
                b.in_zones = mask & 16 ? (struct slice){ &zone, 1 } : (struct slice){ 0 };
                bool at_platform = place == BOUND_PLATFORM || place == BOUND_ZONE;
                struct principal *p = holding(at_platform ? UUID_NIL : tenant, &b, 1);
                p->mfa_us = NOW;
                assert_true(!(p->permissions & ~role_permissions((enum role)r)));
                assert_true(!(p->always & ~p->permissions));
                assert_true(!mask || !p->always);
                bool is_blind = (at_platform && role_fits((enum role)r, true)) || r == ROLE_COMPLIANCE_OFFICER;
                for (int perm = PERM_SIGNED_IN + 1; perm < PERM_COUNT; perm++) {
                    bool allowed = authz_decide(p, (enum permission)perm, &here).allowed;
                    assert_int_equal(allowed, (p->permissions & PERM_BIT(perm)) != 0);     /* everything asked for is true here */
                    if (is_blind)
                        assert_false(allowed && content & PERM_BIT(perm));
                }
                principal_unref(p);
            }
}

static bool grants(struct binding own, struct binding wanted)
{
    enum permission missing;
    struct principal *p = holding(tenant, &own, 1);
    bool ok = authz_may_grant(p, &wanted, &here, &missing);
    principal_unref(p);
    return ok;
}

static void nobody_grants_wider_longer_or_elsewhere(void **state)
{
    (void)state;
    struct str zones[] = { STR("ae-dxb-1"), STR("ae-auh-1") };
    struct binding wide = { .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT };
    struct binding in_red = { .role = ROLE_TENANT_ADMIN, .place = BOUND_PROJECT, .project_id = red };
    struct binding brief = { .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT, .valid_until_us = NOW + 100 * S };
    struct binding zoned = { .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT, .in_zones = { zones, 1 } };
    struct binding want = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT };
    assert_true(grants(wide, want));
    assert_false(grants(in_red, want) || grants(brief, want) || grants(zoned, want));
    want = (struct binding){ .role = ROLE_ML_ENGINEER, .place = BOUND_PROJECT, .project_id = red };
    assert_true(grants(wide, want) && grants(in_red, want));
    want.project_id = blue;
    assert_true(grants(wide, want) && !grants(in_red, want));
    want = (struct binding){ .role = ROLE_VIEWER, .place = BOUND_TENANT, .valid_until_us = NOW + 100 * S };
    assert_true(grants(brief, want));
    want.valid_until_us++;
    assert_false(grants(brief, want));
    want = (struct binding){ .role = ROLE_VIEWER, .place = BOUND_TENANT, .in_zones = { zones, 1 } };
    assert_true(grants(zoned, want));
    want.in_zones.n = 2;
    assert_false(grants(zoned, want));
    struct binding two[] = { { .role = ROLE_TENANT_ADMIN, .place = BOUND_PROJECT, .project_id = red }, { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT } };
    struct principal *p = holding(tenant, two, 2);
    enum permission missing;
    struct binding engineer = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT };
    assert_false(authz_may_grant(p, &engineer, &here, &missing));       /* the power to grant is held in the project only */
    assert_int_equal(missing, PERM_ROLE_GRANT);
    principal_unref(p);
}

/* `wanted` would hold within the same period, so only what is asked of the granter at this moment decides. */
static bool grants_now(struct binding own, int64_t mfa_us, struct authz_context ctx)
{
    struct binding wanted = own;
    wanted.role = ROLE_VIEWER;
    wanted.mfa_age_s = 0;
    wanted.cidrs.n = 0;
    enum permission missing;
    struct principal *p = holding(tenant, &own, 1);
    p->mfa_us = mfa_us;
    bool ok = authz_may_grant(p, &wanted, &ctx, &missing);
    principal_unref(p);
    return ok;
}

static void who_grants_meets_their_own_conditions_now(void **state)
{
    (void)state;
    struct binding b = { .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT, .mfa_age_s = 600 };
    assert_false(grants_now(b, 0, here) || grants_now(b, NOW - 600 * S - 1, here));
    assert_true(grants_now(b, NOW - 600 * S, here) && grants_now(b, NOW, here));
    struct cidr net;
    assert_true(cidr_parse(STR("192.0.2.0/24"), &net));
    struct authz_context c = here;
    b = (struct binding){ .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT, .cidrs = { &net, 1 } };
    assert_true(grants_now(b, 0, c));
    c.source_ip = STR("198.51.100.1");
    assert_false(grants_now(b, 0, c));
    c.source_ip = STR_NULL;
    assert_false(grants_now(b, 0, c));
    b = (struct binding){ .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT, .valid_from_us = NOW, .valid_until_us = NOW + 10 * S };
    c = here;
    assert_true(grants_now(b, 0, c));
    c.now_us = NOW - 1;
    assert_false(grants_now(b, 0, c));
    c.now_us = NOW + 10 * S - 1;
    assert_true(grants_now(b, 0, c));
    c.now_us++;
    assert_false(grants_now(b, 0, c));
}

/* A token's scopes hold where a condition sends the judgement to the bindings, too: for its acts and for what it gives away. */
static void scopes_hold_under_conditions(void **state)
{
    (void)state;
    struct binding soon = { .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT, .valid_until_us = NOW + 10 * S };
    struct principal *p = holding(tenant, &soon, 1);
    assert_true(authz_decide(p, PERM_JOB_SUBMIT, &here).allowed);
    p->scopes = P(JOB_READ) | P(ROLE_GRANT);
    principal_settle(p);
    assert_true(authz_decide(p, PERM_JOB_READ, &here).allowed);
    struct decision d = authz_decide(p, PERM_JOB_SUBMIT, &here);
    assert_false(d.allowed);
    assert_string_equal(d.rule, "scope:job:submit");
    struct authz_context late = here;
    late.now_us = NOW + 10 * S;
    assert_false(authz_decide(p, PERM_JOB_READ, &late).allowed);        /* the condition holds within the scope */
    enum permission missing;
    struct binding engineer = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT, .valid_until_us = NOW + 10 * S };
    assert_false(authz_may_grant(p, &engineer, &here, &missing));       /* whatever its maker holds */
    assert_false(authz_may_act_as(p, &engineer, &here, &missing));
    principal_unref(p);
    struct binding in_red = { .role = ROLE_ML_ENGINEER, .place = BOUND_PROJECT, .project_id = red };
    p = holding(tenant, &in_red, 1);
    p->scopes = P(JOB_READ);
    principal_settle(p);
    assert_true(authz_decide(p, PERM_JOB_READ, &here).in_projects);
    assert_false(authz_decide(p, PERM_JOB_SUBMIT, &here).allowed);
    principal_unref(p);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(time_is_judged_at_each_use), T(a_second_factor_ages), T(an_address_that_is_not_known_passes_nothing),
        T(a_zone_is_asked_for),
        T(zones_of_resources), T(a_project_gives_its_own_rows_only), T(no_place_and_no_condition_adds_a_permission),
        T(nobody_grants_wider_longer_or_elsewhere), T(who_grants_meets_their_own_conditions_now),
        T(scopes_hold_under_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
