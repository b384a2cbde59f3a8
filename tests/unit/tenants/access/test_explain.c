/* SPDX-License-Identifier: Apache-2.0 */
/* test_explain.c - an explanation says what a decision would be, why, and who may; ten thousand bindings in no time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "tenants/access/explain.h"

#define NOW INT64_C(1700000000000000)

static struct arena *a;
static const struct uuid red = { { 2 } }, blue = { { 3 } };

static int setup(void **state)
{
    (void)state;
    a = arena_new(64 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

static struct explanation ask(enum permission perm, struct binding *b, size_t n, struct authz_context ctx, int64_t mfa_us)
{
    struct explain_question q = { perm, ctx, mfa_us };
    struct explanation x = { 0 };
    ctx.now_us = NOW;
    q.ctx.now_us = NOW;
    explain_bindings(&q, (struct slice){ b, n }, a, &x);
    return x;
}

static const char *verdict(const struct explanation *x, size_t i)
{
    return ((struct explained_binding *)x->bindings.items)[i].verdict.ptr;
}

static void each_binding_says_why(void **state)
{
    (void)state;
    struct binding b[] = {
        { .role = ROLE_VIEWER, .place = BOUND_TENANT },
        { .role = ROLE_ML_ENGINEER, .place = BOUND_PROJECT, .project_id = red },
        { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT, .valid_until_us = NOW },
        { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT, .mfa_age_s = 60 },
    };
    struct explanation x = ask(PERM_JOB_SUBMIT, b, 4, (struct authz_context){ .project_id = blue }, 0);
    assert_false(x.allowed);
    assert_string_equal(verdict(&x, 0), "lacks");
    assert_string_equal(verdict(&x, 1), "project");
    assert_string_equal(verdict(&x, 2), "ended");
    assert_string_equal(verdict(&x, 3), "mfa");
    assert_int_equal(x.missing.n, 3);
    x = ask(PERM_JOB_SUBMIT, b, 4, (struct authz_context){ .project_id = red }, 0);
    assert_true(x.allowed && str_eq_c(x.rule, "role:ml-engineer"));
    x = ask(PERM_JOB_SUBMIT, b, 4, (struct authz_context){ 0 }, NOW - 1000000);
    assert_true(x.allowed);
    assert_string_equal(verdict(&x, 3), "applies");
    x = ask(PERM_TENANT_CREATE, b, 1, (struct authz_context){ 0 }, 0);
    assert_true(str_eq_c(x.rule, "missing:tenant:create"));
    assert_non_null(strstr(((struct str *)x.missing.items)->ptr, "platform-admin"));
}

/* Over every permission and a mixture of bindings: explained as decided. */
static void explained_as_decided(void **state)
{
    (void)state;
    for (int r = 0; r < ROLE_COUNT; r++)
        for (int place = BOUND_PLATFORM; place <= BOUND_PROJECT; place++)
            for (int mask = 0; mask < 4; mask++) {
                struct binding b = { .role = (enum role)r, .place = (enum binding_place)place, .zone = STR("ae-dxb-1"), .project_id = red,
                                     .valid_until_us = mask & 1 ? NOW : 0, .mfa_age_s = mask & 2 ? 60 : 0 };
                struct principal p = { .bindings = { &b, 1 }, .permissions = binding_permissions(&b), .roles = UINT32_C(1) << r };
                p.always = mask ? 0 : binding_always(&b);
                struct authz_context ctx = { .now_us = NOW };
                for (int perm = PERM_SIGNED_IN + 1; perm < PERM_COUNT; perm++) {
                    struct explanation x = ask((enum permission)perm, &b, 1, ctx, 0);
                    assert_int_equal(x.allowed, authz_decide(&p, (enum permission)perm, &ctx).allowed);
                    assert_true(x.allowed || x.missing.n);
                }
            }
}

/* What n bindings of n / 2 people cost this thread, in microseconds; the least of three. */
static int64_t cost_of(int n, struct explanation *x)
{
    struct explain_holder *h = ARENA_ARRAY(a, struct explain_holder, n);
    struct binding *b = ARENA_ARRAY(a, struct binding, n);
    for (int i = 0; i < n; i++) {
        h[i] = (struct explain_holder){ { { (uint8_t)(i / 2), (uint8_t)(i / 512) } }, STR("x"),
                                        { .role = i % 2 ? ROLE_ML_ENGINEER : ROLE_VIEWER, .place = BOUND_TENANT,
                                          .valid_until_us = i < n / 2 ? NOW : 0 } };
        b[i] = h[i].binding;
    }
    struct explain_question q = { PERM_JOB_SUBMIT, { .now_us = NOW }, 0 };
    int64_t least = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        struct timespec t0, t1;
        *x = (struct explanation){ 0 };
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
        explain_bindings(&q, (struct slice){ b, n }, a, x);
        explain_who(&q, (struct slice){ h, n }, a, x);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
        int64_t took = (int64_t)(t1.tv_sec - t0.tv_sec) * 1000000 + (t1.tv_nsec - t0.tv_nsec) / 1000;
        least = took < least ? took : least;
    }
    return least;
}

static void who_may_are_different_people(void **state)
{
    (void)state;
    enum { N = 10000 };
    struct explanation x, few;
    int64_t small = cost_of(N / 10, &few), large = cost_of(N, &x);
    assert_true(x.allowed);
    assert_int_equal(x.who_may.n, EXPLAIN_WHO_MAX);
    const struct explained_user *u = x.who_may.items;
    for (int i = 0; i < EXPLAIN_WHO_MAX; i++)
        for (int k = 0; k < i; k++)
            assert_false(uuid_eq(u[i].user_id, u[k].user_id));
    /* The bench says how fast; here only that ten times as many cost nowhere near a hundred times as much. */
    if (large > 40 * (small + 20))
        fail_msg("%ld us for %d bindings, %ld us for a tenth of them", (long)large, N, (long)small);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_binding_says_why), cmocka_unit_test(explained_as_decided),
                                        cmocka_unit_test(who_may_are_different_people) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
