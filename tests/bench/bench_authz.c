/* SPDX-License-Identifier: Apache-2.0 */
/* bench_authz.c - what a request pays for being known and decided: the principal of a token found in memory, the decision alone, by one AND
 * and by bindings, both together, and an explanation over ten thousand bindings. Prints one line each, in CPU time of its thread. Starts a
 * PostgreSQL of its own, from which the memory is filled once. Built on demand: ninja bench_authz. */
#include "tests/db/tenants/fixture.h"
#include "core/base/clock.h"
#include "tenants/identity/authn.h"
#include "tenants/access/explain.h"
#include "tenants/access/principal_load.h"

#include <string.h>
#include <time.h>

enum { ROUNDS = 2000000, MANY = 10000 };

/* Stands still, so that what is in memory stays there. */
static int64_t still_mono(void *ctx) { (void)ctx; return 1000000; }
static int64_t real_wall(void *ctx) { (void)ctx; return clock_wall_us(&clock_system); }
static const struct clock still = { real_wall, still_mono, NULL };

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

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
    double began = cpu_us();
    for (int i = 0; i < rounds; i++)
        allowed += authz_decide(p, PERM_JOB_SUBMIT, &ctx).allowed;
    double us = (cpu_us() - began) / rounds;
    printf("%-64s %8.3f us  (%d allowed)\n", what, us, allowed == rounds);
}

/* A token of a user with `bindings` conditional bindings besides a plain one: known from memory, and known and decided. */
static void known(int bindings)
{
    static int n;
    char name[32], token[TOKEN_TEXT], what[64];
    struct uuid tenant = new_id();
    struct principal *p;
    struct authz_context ctx = { .now_us = clock_wall_us(&clock_system), .source_ip = STR("192.0.2.9") };
    snprintf(name, sizeof name, "bench-%d", n++);
    tenant_make(tenant, name);
    struct uuid user = user_make(tenant, "asks", bindings ? NULL : "ml-engineer");
    for (int i = 0; i < bindings; i++) {        /* in a project each, by address; the last one applies */
        const char *project = hex(new_id());
        sql("INSERT INTO project (tenant_id, project_id, name, created_by) VALUES ('%s', '%s', 'p%d', '%s');"
            "INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by, place, project_id, cidrs) VALUES"
            " ('%s', '%s', '%s', 'ml-engineer', '%s', 'project', '%s', '{%s}')", hex(tenant), project, i, hex(user), hex(tenant), hex(new_id()), hex(user), hex(user),
            project, i + 1 < bindings ? "10.0.0.0/8" : "192.0.2.0/24");
    }
    token_give(tenant, user, "1 hour", "{}", token);
    struct authn *a = authn_new(app_pool, &still, 5000);
    struct arena *arena = arena_new(4 << 20);
    OK(authn_token(a, str_c(token), ctx.source_ip, arena, &p, &e));
    principal_unref(p);
    for (int both = 0; both < 2; both++) {
        int rounds = bindings && both ? ROUNDS / 100 : ROUNDS / 10, allowed = 0;
        double began = cpu_us();
        for (int i = 0; i < rounds; i++) {
            p = authn_cached(a, str_c(token), ctx.source_ip);
            allowed += p && (!both || authz_decide(p, PERM_JOB_SUBMIT, &ctx).allowed);
            principal_unref(p);
        }
        snprintf(what, sizeof what, "%s, %d conditional bindings", both ? "known from memory and decided" : "known from memory", bindings);
        printf("%-64s %8.3f us  (%d allowed)\n", what, (cpu_us() - began) / rounds, allowed == rounds);
    }
    arena_free(arena);
    authn_free(a);
}

int main(void)
{
    static const struct stmt *const *const lists[] = { authn_stmts, NULL };
    struct binding plain = { .role = ROLE_ML_ENGINEER, .place = BOUND_TENANT };
    static struct binding many[BINDINGS_MAX], all[MANY];
    static struct explain_holder holders[MANY];
    world_new(lists, 2);
    known(0);
    known(BINDINGS_MAX);
    world_free();
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
    double began = cpu_us();
    for (int i = 0; i < 100; i++) {
        struct explanation x = { 0 };
        explain_bindings(&q, (struct slice){ all, MANY }, a, &x);
        explain_who(&q, (struct slice){ holders, MANY }, a, &x);
        arena_reset(a);
    }
    printf("%-64s %8.3f us\n", "explanation over 10,000 bindings, twice", (cpu_us() - began) / 100);
    arena_free(a);
    return 0;
}
