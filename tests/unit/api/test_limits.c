/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits.c - how many calls a tenant has open: at the limit, one past it, given back at the end of a call, and after the
 * end of the pipeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/api_int.h"
#include "core/table/config.h"

enum { MOST = 3 };

static struct pipeline pipeline;
static struct app app;
static struct config *config;
static const struct route route = { .rate = RL_NONE };

static int setup(void **state)
{
    (void)state;
    config = config_new_default();
    config->api_open_calls_per_tenant = MOST;
    app.config = config;
    pipeline = (struct pipeline){ .app = &app, .open_calls = open_calls_new() };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    open_calls_free(pipeline.open_calls);
    config_free(config);
    return 0;
}

/* A call of the tenant, as it is once its caller is known; it ends with its arena. */
static struct flight *call_of_tenant(uint8_t tenant, struct principal *who)
{
    struct arena *a = arena_new(1 << 20);
    struct flight *f = ARENA_NEW(a, struct flight);
    *who = (struct principal){ .tenant_id = { .b = { tenant, [6] = 0x70 } } };
    f->pipeline = &pipeline;
    f->call.route = &route;
    f->call.principal = who;
    f->call.work.arena = a;
    return f;
}

static bool enters(struct flight *f)
{
    struct err e;
    enum errc rc = phase_open(f, &e);
    assert_true(rc == ERR_OK || (rc == ERR_RATE && strstr(e.msg, "3 calls")));
    return rc == ERR_OK;
}

static void a_tenant_has_so_many_open(void **state)
{
    (void)state;
    struct principal who[MOST + 3];
    struct flight *f[MOST + 1];
    for (int i = 0; i <= MOST; i++) {
        f[i] = call_of_tenant(1, &who[i]);
        assert_int_equal(enters(f[i]), i < MOST);
    }
    assert_true(enters(f[0]));              /* asked twice on its way: counted once */
    assert_int_equal(open_calls_all(pipeline.open_calls), MOST);
    struct flight *other = call_of_tenant(2, &who[MOST + 1]);
    assert_true(enters(other));
    arena_free(f[1]->call.work.arena);
    assert_true(enters(f[MOST]));
    struct flight *late = call_of_tenant(1, &who[MOST + 2]);
    assert_false(enters(late));
    config->api_open_calls_per_tenant = 0;
    assert_true(enters(late));
    config->api_open_calls_per_tenant = MOST;
    arena_free(late->call.work.arena);
    arena_free(other->call.work.arena);
    arena_free(f[0]->call.work.arena);
    arena_free(f[2]->call.work.arena);
    arena_free(f[MOST]->call.work.arena);
    assert_int_equal(open_calls_all(pipeline.open_calls), 0);
}

static void machines_the_platform_and_strangers_are_not_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * (MOST + 1); i++) {
        struct principal who;
        struct flight *f = call_of_tenant(1, &who);
        if (i % 3 == 0)
            who.is_worker = true;
        else if (i % 3 == 1)
            who.tenant_id = UUID_NIL;
        else
            f->call.principal = NULL;
        assert_true(enters(f));
        assert_int_equal(open_calls_all(pipeline.open_calls), 0);
        arena_free(f->call.work.arena);
    }
}

/* Exchanges that outlive the pipeline give back to nobody; AddressSanitizer watches. */
static void the_last_one_frees(void **state)
{
    (void)state;
    struct principal who[2];
    struct flight *f[2] = { call_of_tenant(1, &who[0]), call_of_tenant(1, &who[1]) };
    assert_true(enters(f[0]) && enters(f[1]));
    open_calls_free(pipeline.open_calls);
    arena_free(f[0]->call.work.arena);
    arena_free(f[1]->call.work.arena);
    pipeline.open_calls = open_calls_new();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tenant_has_so_many_open),
        cmocka_unit_test(machines_the_platform_and_strangers_are_not_counted),
        cmocka_unit_test(the_last_one_frees),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
