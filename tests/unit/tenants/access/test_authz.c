/* SPDX-License-Identifier: Apache-2.0 */
/* test_authz.c - properties of the whole role matrix, and decisions that explain themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/access/authz.h"

#define P(name) PERM_BIT(PERM_##name)
#define R(name) (UINT32_C(1) << ROLE_##name)

/* What a tenant has made: to read it, to change it, to use it. */
static const perm_set content = P(DATASET_CONTENT) | P(MODEL_CONTENT) | P(INFER) | P(DATASET_READ) | P(MODEL_READ) | P(JOB_READ) |
                                P(DEPLOY_READ) | P(DATASET_WRITE) | P(MODEL_WRITE) | P(JOB_SUBMIT) | P(JOB_CANCEL) | P(DEPLOY_WRITE);
static const perm_set writes = P(ZONE_CREATE) | P(TENANT_CREATE) | P(QUOTA_SET) | P(USER_MANAGE) | P(ROLE_GRANT) | P(TOKEN_MANAGE) |
                               P(DATASET_WRITE) | P(JOB_SUBMIT) | P(JOB_CANCEL) | P(MODEL_WRITE) | P(DEPLOY_WRITE) | P(NODE_SELF);

static struct principal holding(uint32_t roles)
{
    return (struct principal){ .roles = roles, .permissions = roles_permissions(roles) };
}

static const struct authz_context here = { .now_us = 1000000000 };

static struct decision decide(const struct principal *p, enum permission perm)
{
    return authz_decide(p, perm, &here);
}

static bool may_grant(const struct principal *p, enum role r, enum permission *ret_missing)
{
    struct binding wanted = { .role = r, .place = role_fits(r, false) ? BOUND_TENANT : BOUND_PLATFORM };
    return authz_may_grant(p, &wanted, &here, ret_missing);
}

static void nobody_outside_a_tenant_sees_its_content(void **state)
{
    (void)state;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (role_fits((enum role)r, true))
            assert_true(!(role_permissions((enum role)r) & content));
    assert_true(!(role_permissions(ROLE_COMPLIANCE_OFFICER) & (content | writes)));
    assert_true(!(role_permissions(ROLE_VIEWER) & (writes | P(DATASET_CONTENT) | P(MODEL_CONTENT))));
    assert_true(role_permissions(ROLE_WORKER) == P(NODE_SELF));
    for (int r = 0; r < ROLE_COUNT; r++)
        if (r != ROLE_WORKER)
            assert_true(!(role_permissions((enum role)r) & P(NODE_SELF)));
}

static void platform_powers_stay_at_the_platform(void **state)
{
    (void)state;
    perm_set powers = P(ZONE_CREATE) | P(TENANT_CREATE) | P(TENANT_READ) | P(QUOTA_SET) | P(QUOTA_READ_ANY) | P(SYSTEM_INSPECT);
    for (int r = 0; r < ROLE_COUNT; r++)
        if (role_fits((enum role)r, false)) {
            /* An officer may be bound at either place; reading directories in a tenant's scope shows that tenant alone. */
            perm_set reads = r == ROLE_COMPLIANCE_OFFICER ? P(TENANT_READ) | P(QUOTA_READ_ANY) : 0;
            assert_true(!(role_permissions((enum role)r) & powers & ~reads));
        }
}

static void every_permission_is_held_by_somebody(void **state)
{
    (void)state;
    perm_set all = 0;
    for (int r = 0; r < ROLE_COUNT; r++) {
        assert_true(!(role_permissions((enum role)r) & 7));        /* NONE, PUBLIC and SIGNED_IN are nobody's */
        assert_true(role_permissions((enum role)r) != 0);
        all |= role_permissions((enum role)r);
    }
    for (int p = PERM_SIGNED_IN + 1; p < PERM_COUNT; p++)
        assert_true((all & PERM_BIT(p)) != 0);         /* a set of 128 bits is no truth value of 64 */
}

/* All pairs: a role is given away only by who holds its permissions; the two exceptions are appointments and named. */
static void nobody_grants_what_they_do_not_hold(void **state)
{
    (void)state;
    for (int g = 0; g < ROLE_COUNT; g++)
        for (int r = 0; r < ROLE_COUNT; r++) {
            struct principal p = holding(UINT32_C(1) << g);
            enum permission missing = PERM_NONE;
            bool may = may_grant(&p, (enum role)r, &missing);
            perm_set beyond = role_permissions((enum role)r) & ~p.permissions & ~P(TOKEN_OWN);
            bool appointed = (r == ROLE_COMPLIANCE_OFFICER && p.permissions & P(ROLE_GRANT)) ||
                             (r == ROLE_ZONE_OPERATOR && p.permissions & P(ZONE_CREATE));
            assert_int_equal(may, p.permissions & P(ROLE_GRANT) && (!beyond || appointed));
            if (!may) {
                assert_true(((beyond | P(ROLE_GRANT) | P(ZONE_CREATE)) & PERM_BIT(missing)) != 0);
                assert_string_not_equal(perm_row(missing)->wire, "none");
            }
            if (appointed)
                assert_int_equal(beyond & (content | writes), 0);       /* an appointment gives no power over content */
        }
    struct principal nobody = holding(0);
    enum permission missing;
    for (int r = 0; r < ROLE_COUNT; r++)
        assert_false(may_grant(&nobody, (enum role)r, &missing));
}

/* All pairs again: the exceptions for appointments do not make one act for whom one appoints. */
static void nobody_acts_as_who_may_more(void **state)
{
    (void)state;
    for (int g = 0; g < ROLE_COUNT; g++)
        for (int r = 0; r < ROLE_COUNT; r++) {
            struct principal p = holding(UINT32_C(1) << g);
            struct binding wanted = { .role = (enum role)r, .place = role_fits((enum role)r, false) ? BOUND_TENANT : BOUND_PLATFORM };
            enum permission missing = PERM_NONE;
            perm_set beyond = role_permissions((enum role)r) & ~p.permissions;
            assert_int_equal(authz_may_act_as(&p, &wanted, &here, &missing), !beyond);
            assert_true(!beyond || (beyond & PERM_BIT(missing)) != 0);
        }
    struct principal boss = holding(R(TENANT_ADMIN));
    struct binding officer = { .role = ROLE_COMPLIANCE_OFFICER, .place = BOUND_TENANT };
    enum permission missing;
    assert_true(authz_may_grant(&boss, &officer, &here, &missing));
    assert_false(authz_may_act_as(&boss, &officer, &here, &missing));
}

static void a_scoped_token_grants_no_more_than_its_scopes(void **state)
{
    (void)state;
    struct principal p = holding(R(TENANT_ADMIN));
    enum permission missing = PERM_NONE;
    assert_true(may_grant(&p, ROLE_TENANT_ADMIN, &missing));
    p.permissions = P(ROLE_GRANT) | P(JOB_READ);
    assert_false(may_grant(&p, ROLE_VIEWER, &missing));
    assert_true(role_permissions(ROLE_VIEWER) & PERM_BIT(missing));
}

static void decisions_explain_themselves(void **state)
{
    (void)state;
    struct principal p = holding(R(ML_ENGINEER));
    struct decision d = decide(&p, PERM_JOB_SUBMIT);
    assert_true(d.allowed);
    assert_string_equal(d.rule, "role:ml-engineer");
    d = decide(&p, PERM_TENANT_CREATE);
    assert_false(d.allowed);
    assert_string_equal(d.rule, "missing:tenant:create");
    p.permissions = P(JOB_READ);
    d = decide(&p, PERM_JOB_SUBMIT);
    assert_false(d.allowed);
    assert_string_equal(d.rule, "scope:job:submit");
    assert_true(decide(&p, PERM_JOB_READ).allowed);
    d = decide(NULL, PERM_JOB_READ);
    assert_false(d.allowed);
    assert_string_equal(d.rule, "missing:job:read");
}

static void open_and_signed_in(void **state)
{
    (void)state;
    struct principal p = holding(0);
    assert_true(decide(NULL, PERM_PUBLIC).allowed);
    assert_true(decide(&p, PERM_SIGNED_IN).allowed);
    assert_false(decide(NULL, PERM_SIGNED_IN).allowed);
    assert_false(decide(NULL, PERM_NONE).allowed);
    p.permissions = ~(perm_set)0;                 /* even then: a row without permission is for nobody */
    assert_false(decide(&p, PERM_NONE).allowed);
}

static void every_decision_is_the_matrix(void **state)
{
    (void)state;
    for (uint32_t roles = 0; roles < UINT32_C(1) << ROLE_COUNT; roles++)
        for (int perm = PERM_SIGNED_IN + 1; perm < PERM_COUNT; perm++) {
            struct principal p = holding(roles);
            bool held = false;
            for (int r = 0; r < ROLE_COUNT; r++)
                held |= (roles & UINT32_C(1) << r) && (role_permissions((enum role)r) & PERM_BIT(perm));
            struct decision d = decide(&p, (enum permission)perm);
            assert_int_equal(d.allowed, held);
            assert_int_equal(str_starts(str_c(d.rule), held ? "role:" : "missing:"), true);
        }
}

static void roles_are_bound_where_they_belong(void **state)
{
    (void)state;
    assert_true(role_fits(ROLE_PLATFORM_ADMIN, true) && !role_fits(ROLE_PLATFORM_ADMIN, false));
    assert_true(role_fits(ROLE_TENANT_ADMIN, false) && !role_fits(ROLE_TENANT_ADMIN, true));
    assert_true(role_fits(ROLE_COMPLIANCE_OFFICER, true) && role_fits(ROLE_COMPLIANCE_OFFICER, false));
    assert_false(role_fits(ROLE_WORKER, true) || role_fits(ROLE_WORKER, false));
    assert_true(roles_are_separate(R(COMPLIANCE_OFFICER)) && roles_are_separate(R(TENANT_ADMIN) | R(VIEWER)) && roles_are_separate(0));
    for (int r = 0; r < ROLE_COUNT; r++)
        if (r != ROLE_COMPLIANCE_OFFICER)
            assert_false(roles_are_separate(R(COMPLIANCE_OFFICER) | UINT32_C(1) << r));
}

static void names_lead_back(void **state)
{
    (void)state;
    for (int p = PERM_SIGNED_IN + 1; p < PERM_COUNT; p++)
        assert_int_equal(perm_by_wire(str_c(perm_row((enum permission)p)->wire)), p);
    for (int r = 0; r < ROLE_COUNT; r++)
        assert_int_equal(role_by_wire(str_c(role_row((enum role)r)->wire)), r);
    assert_int_equal(perm_by_wire(STR("public")), PERM_NONE);       /* no token may ask for what is not a permission */
    assert_int_equal(perm_by_wire(STR("signed-in")), PERM_NONE);
    assert_int_equal(perm_by_wire(STR("none")), PERM_NONE);
    assert_int_equal(perm_by_wire(STR("")), PERM_NONE);
    assert_int_equal(role_by_wire(STR("root")), -1);
    assert_string_equal(perm_row((enum permission)PERM_COUNT)->wire, "none");
}

static void the_printed_matrix_has_every_row(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    authz_print_markdown(&b);
    assert_false(b.overflow);
    for (int p = PERM_SIGNED_IN + 1; p < PERM_COUNT; p++)
        assert_non_null(strstr(b.ptr, perm_row((enum permission)p)->wire));
    for (int r = 0; r < ROLE_COUNT; r++)
        assert_non_null(strstr(b.ptr, role_row((enum role)r)->doc));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_outside_a_tenant_sees_its_content), cmocka_unit_test(platform_powers_stay_at_the_platform),
        cmocka_unit_test(every_permission_is_held_by_somebody), cmocka_unit_test(nobody_grants_what_they_do_not_hold),
        cmocka_unit_test(nobody_acts_as_who_may_more),
        cmocka_unit_test(a_scoped_token_grants_no_more_than_its_scopes), cmocka_unit_test(decisions_explain_themselves),
        cmocka_unit_test(open_and_signed_in), cmocka_unit_test(every_decision_is_the_matrix),
        cmocka_unit_test(roles_are_bound_where_they_belong), cmocka_unit_test(names_lead_back),
        cmocka_unit_test(the_printed_matrix_has_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
