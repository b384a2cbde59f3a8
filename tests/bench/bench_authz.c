/* SPDX-License-Identifier: Apache-2.0 */
/* bench_authz.c - what a request pays for being decided: the decision alone, by one AND and by bindings, and an explanation over ten
 * thousand bindings. Prints one line each. Built on demand: ninja bench_authz. */
#include "core/base/clock.h"
#include "tenants/authz.h"
#include "tenants/explain.h"
#include "tenants/principal_load.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 2000000, MANY = 10000 };

static struct principal *holding(const struct binding *b, size_t n)
{
    struct principal *p = principal_new();
    p->tenant_id = (struct uuid){ { 1 } };
    p->scopes = ~(perm_set)0;
    struct binding *copy = ARENA_ARRAY(p->arena, struct binding, n);
    memcpy(copy, b, n * sizeof *b);
    p->bindings = (struct slice){ copy, n };
    principal_settle(p);
    return p;
}

static void decide(const char *what, const struct principal *p, int rounds)
{
    struct authz_context ctx = { .now_us = 1, .source_ip = STR("192.0.2.9") };
    int allowed = 0;
    int64_t began = clock_mono_us(&clock_system);
    for (int i = 0; i < rounds; i++)
        allowed += authz_decide(p, PERM_JOB_SUBMIT, &ctx).allowed;
    double us = (double)(clock_mono_us(&clock_system) - began) / rounds;
    printf("%-44s %8.3f us  (%d allowed)\n", what, us, allowed == rounds);
}

int main(void)
{
    struct binding plain = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT };
    static struct binding many[BINDINGS_MAX], all[MANY];
    static struct explain_holder holders[MANY];
    for (int i = 0; i < BINDINGS_MAX; i++)
        many[i] = (struct binding){ .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT, .valid_until_us = i + 1 < BINDINGS_MAX ? 1 : 2 };
    struct principal *p = holding(&plain, 1);
    decide("unconditional role", p, ROUNDS);
    principal_unref(p);
    p = holding(many, BINDINGS_MAX);
    decide("256 conditional bindings, the last applies", p, ROUNDS / 100);
    principal_unref(p);
    for (int i = 0; i < MANY; i++) {
        all[i] = many[i % (BINDINGS_MAX - 1)];
        holders[i] = (struct explain_holder){ { { (uint8_t)i, (uint8_t)(i >> 8) } }, STR("x"), all[i] };
    }
    struct arena *a = arena_new(64 << 20);
    struct explain_question q = { PERM_JOB_SUBMIT, { .now_us = 1 }, 0 };
    int64_t began = clock_mono_us(&clock_system);
    for (int i = 0; i < 100; i++) {
        struct explanation x = { 0 };
        explain_bindings(&q, (struct slice){ all, MANY }, a, &x);
        explain_who(&q, (struct slice){ holders, MANY }, a, &x);
        arena_reset(a);
    }
    printf("%-44s %8.3f us\n", "explanation over 10,000 bindings, twice", (double)(clock_mono_us(&clock_system) - began) / 100);
    arena_free(a);
    return 0;
}
