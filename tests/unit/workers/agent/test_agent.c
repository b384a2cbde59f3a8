/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent.c - the whole agent against an API in memory: ten thousand noop jobs, sleepers, and a clean stop. */
#include "lease_kit.h"

#include "../../../lib/wait.h"

#include <pthread.h>
#include "core/http/server.h"
#include "cards_kit.h"
#include "workers/agent/agent.h"

struct fake {
    pthread_mutex_t lock;
    int to_grant, next_id, failed, finished, returned, reports, outstanding, enrolled, forgets_at;     /* forgets_at: after so many, until enrolled again */
    const char *spec;
    int refused;                        /* it takes no success of every hundredth job */
    bool refuses, repeats;              /* repeats: gives each lease twice, as if nobody had heard of it */
    bool forgot, asked_anew;            /* the first question after it forgot was for the first lease of all */
};

static enum errc enroll(void *ctx, struct arena *a, const struct node_register *f, struct node_identity *ret, struct err *e)
{
    (void)a;
    struct fake *k = ctx;
    if (k->enrolled++ < 1)
        return FAIL(e, NOT_FOUND, "no such zone yet");
    assert_true(f->slots == 64 && f->gpus == 2);
    *ret = (struct node_identity){ kit_id(9), f->boot_id, 10000, 30000 };
    return ERR_OK;
}

static enum errc next(void *ctx, struct arena *a, const struct node_identity *n, struct uuid after, struct slice told,
                      int64_t room, int64_t wait_ms, struct lease_next_out *ret, struct err *e)
{
    (void)n, (void)wait_ms, (void)told;
    struct fake *k = ctx;
    if (k->forgets_at && k->finished >= k->forgets_at && k->enrolled < 3) {
        k->forgot = true;
        return FAIL(e, STALE, "This run of the agent is not registered; register again");
    }
    if (k->forgot)
        k->asked_anew = uuid_eq(after, UUID_LEAST);
    k->forgot = false;
    pthread_mutex_lock(&k->lock);
    int64_t free_here = 64 - k->outstanding < room ? 64 - k->outstanding : room;
    int count = free_here < k->to_grant ? (int)free_here : k->to_grant;
    struct lease_grant *g = ARENA_ARRAY(a, struct lease_grant, 2 * count + 1);
    for (int i = 0; i < count; i++) {
        g[i] = kit_grant(1, "noop", k->spec);
        int id = k->next_id++;
        memcpy(g[i].attempt_id.b, &id, sizeof id);
        g[count + i] = g[i];
    }
    k->to_grant -= count;
    k->outstanding += count;
    ret->leases = (struct slice){ g, (size_t)(k->repeats ? 2 * count : count) };
    pthread_mutex_unlock(&k->lock);
    usleep(2000);
    return ERR_OK;
}

static enum errc report(void *ctx, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e)
{
    struct fake *k = ctx;
    struct lease_report_in in = { 0 };
    TRY(json_decode(&lease_report_in_schema, body, a, &in, e));
    const struct lease_item *items = in.items.items;
    struct lease_verdict *v = ARENA_ARRAY(a, struct lease_verdict, in.items.n + 1);
    for (size_t i = 0; k->refuses && i < in.items.n; i++) {
        int id;
        memcpy(&id, items[i].attempt_id.b, sizeof id);
        if (id % 100 == 7 && items[i].event == LE_SUCCEED) {
            k->refused++;
            return FAIL(e, INVALID, "/items/%zu is odd", i);
        }
    }
    pthread_mutex_lock(&k->lock);
    k->reports++;
    for (size_t i = 0; i < in.items.n; i++) {
        v[i] = (struct lease_verdict){ items[i].attempt_id, STR("ok"), false, 30000 };
        k->finished += items[i].event == LE_SUCCEED;
        k->returned += items[i].event == LE_RETURN;
        k->failed += items[i].event == LE_FAIL;
        k->outstanding -= items[i].event == LE_SUCCEED || items[i].event == LE_RETURN || items[i].event == LE_FAIL;
    }
    pthread_mutex_unlock(&k->lock);
    ret->items = (struct slice){ v, in.items.n };
    usleep(3000);                       /* a transaction */
    return ERR_OK;
}

struct running {
    struct agent *agent;
    _Atomic bool stop;
};

static void *run_agent(void *p)
{
    struct running *r = p;
    struct err e = { 0 };
    assert_int_equal(agent_run(r->agent, &r->stop, &e), ERR_OK);
    return NULL;
}

static void with_agent(struct fake *k, int wanted, double *ret_rate, int64_t *ret_stop_us)
{
    struct err e = { 0 };
    struct config *cfg = config_new_default();
    struct running r = { 0 };
    const struct agent_api api = { k, enroll, next, report };
    pthread_t t;
    pthread_mutex_init(&k->lock, NULL);
    assert_int_equal(config_set(cfg, "worker.slots", "64", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.gpus", "2", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.grace_ms", "1000", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.work_dir", "/tmp", &e), ERR_OK);
    assert_int_equal(agent_new(cfg, &clock_system, &api, &r.agent, &e), ERR_OK);
    int64_t began = clock_mono_us(&clock_system);
    pthread_create(&t, NULL, run_agent, &r);
    while (k->finished < wanted && clock_mono_us(&clock_system) - began < 20000000)
        usleep(1000);
    *ret_rate = wanted / ((double)(clock_mono_us(&clock_system) - began) / 1e6);
    if (!wanted)
        usleep(700000);
    began = clock_mono_us(&clock_system);
    r.stop = true;
    pthread_join(t, NULL);
    *ret_stop_us = clock_mono_us(&clock_system) - began;
    assert_true(agent_free(r.agent));
    config_free(cfg);
}

static void test_ten_thousand(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 10000, .spec = "{}" };
    double rate;
    int64_t stop_us;
    with_agent(&k, 10000, &rate, &stop_us);
    print_message("%.0f noop jobs per second in %d reports\n", rate, k.reports);
    assert_int_equal(k.finished, 10000);
    assert_int_equal(k.outstanding, 0);
    assert_true(stop_us < 3000000);
}

static void test_a_machine_that_was_forgotten_registers_again(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 200, .spec = "{}", .forgets_at = 20 };
    double rate;
    int64_t stop_us;
    with_agent(&k, 200, &rate, &stop_us);
    assert_int_equal(k.finished, 200);
    assert_int_equal(k.enrolled, 3);
    assert_true(k.asked_anew);
}

/* One odd success among a hundred: it is told as a failure, and the others as what they are. */
static void test_a_refused_report_holds_nobody_back(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 1000, .spec = "{}", .refuses = true };
    double rate;
    int64_t stop_us;
    with_agent(&k, 990, &rate, &stop_us);
    assert_int_equal(k.finished, 990);
    assert_int_equal(k.failed, 10);
    assert_int_equal(k.outstanding, 0);
    assert_true(k.refused <= 20);       /* in company, and alone */
}

/* An API that keeps what it is told of a machine's GPUs, and gives one lease with the first of them when asked to. */
struct gpu_api {
    _Atomic int enrolled, gpus, gives, started, returned, ended;
    char first[64];
};

static enum errc gpu_enroll(void *ctx, struct arena *a, const struct node_register *f, struct node_identity *ret, struct err *e)
{
    (void)a, (void)e;
    struct gpu_api *k = ctx;
    const struct node_device *d = f->devices.items;
    assert_true((size_t)f->gpus == f->devices.n);
    for (size_t i = 0; i < f->devices.n; i++)
        assert_true(d[i].index == (int64_t)i && str_eq_c(d[i].model, "H100-80GB-HBM3") && d[i].memory_bytes == 85520809984);
    snprintf(k->first, sizeof k->first, "%.*s", f->gpus ? (int)d[0].uuid.len : 0, f->gpus ? d[0].uuid.ptr : "");
    k->gpus = (int)f->gpus;
    k->enrolled++;
    *ret = (struct node_identity){ kit_id(9), f->boot_id, 10000, 30000 };
    return ERR_OK;
}

static enum errc gpu_next(void *ctx, struct arena *a, const struct node_identity *n, struct uuid after, struct slice told,
                          int64_t room, int64_t wait_ms, struct lease_next_out *ret, struct err *e)
{
    (void)n, (void)after, (void)told, (void)room, (void)wait_ms, (void)e;
    struct gpu_api *k = ctx;
    if (k->gives) {
        struct lease_grant *g = ARENA_NEW(a, struct lease_grant);
        *g = kit_grant(1, "noop", "{\"sleep_ms\":1}");
        g->attempt_id.b[0] = (uint8_t)k->gives;
        g->gpus = 1;
        g->devices = 2;
        k->gives = 0;
        ret->leases = (struct slice){ g, 1 };
    }
    usleep(2000);
    return ERR_OK;
}

static enum errc gpu_report(void *ctx, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e)
{
    struct gpu_api *k = ctx;
    struct lease_report_in in = { 0 };
    TRY(json_decode(&lease_report_in_schema, body, a, &in, e));
    const struct lease_item *items = in.items.items;
    struct lease_verdict *v = ARENA_ARRAY(a, struct lease_verdict, in.items.n + 1);
    for (size_t i = 0; i < in.items.n; i++) {
        v[i] = (struct lease_verdict){ items[i].attempt_id, STR("ok"), false, 30000 };
        k->ended += items[i].event == LE_SUCCEED;
        k->returned += items[i].event == LE_RETURN;
    }
    ret->items = (struct slice){ v, in.items.n };
    return ERR_OK;
}

/* Two cards are found and registered; one falls off the bus: the other is registered alone, a lease of the second goes back. */
static void test_a_sick_card_is_taken_out(void **state)
{
    (void)state;
    static struct gpu_api k;
    struct err e = { 0 };
    struct config *cfg = config_new_default();
    struct running r = { 0 };
    const struct agent_api api = { &k, gpu_enroll, gpu_next, gpu_report };
    pthread_t t;
    kit_cards("GPU-a|NVIDIA H100 80GB HBM3|85520809984|0|40|0|0\nGPU-b|NVIDIA H100 80GB HBM3|85520809984|1|40|0|0\n");
    assert_int_equal(config_set(cfg, "worker.slots", "4", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.nvml", FAKE_NVML_PATH, &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.gpu_check_ms", "10", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.work_dir", "/tmp", &e), ERR_OK);
    assert_int_equal(agent_new(cfg, &clock_system, &api, &r.agent, &e), ERR_OK);
    pthread_create(&t, NULL, run_agent, &r);
    WAIT_WHILE(k.enrolled < 1);
    assert_true(k.gpus == 2 && !strcmp(k.first, "GPU-a"));
    k.gives = 1;
    WAIT_WHILE(k.ended < 1);
    kit_cards("GPU-a|NVIDIA H100 80GB HBM3|85520809984|0|40|0|79\nGPU-b|NVIDIA H100 80GB HBM3|85520809984|1|40|0|0\n");
    WAIT_WHILE(k.enrolled < 2);
    assert_true(k.gpus == 1 && !strcmp(k.first, "GPU-b"));
    k.gives = 2;
    WAIT_WHILE(k.returned < 1);
    r.stop = true;
    pthread_join(t, NULL);
    assert_true(agent_free(r.agent));
    config_free(cfg);
    kit_no_cards();
}

static void test_sleepers_end_and_are_returned(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 10, .spec = "{\"sleep_ms\":50}" }, late = { .to_grant = 10, .spec = "{\"sleep_ms\":60000}" };
    double rate;
    int64_t stop_us;
    with_agent(&k, 10, &rate, &stop_us);
    assert_int_equal(k.finished, 10);
    with_agent(&late, 0, &rate, &stop_us);
    assert_int_equal(late.returned, 10);
    assert_true(stop_us < 3000000);
}

static void test_a_lease_that_comes_again_is_run_once(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 10, .spec = "{\"sleep_ms\":500}", .repeats = true };
    double rate;
    int64_t stop_us;
    with_agent(&k, 10, &rate, &stop_us);
    assert_int_equal(k.finished + k.returned, 10);
}

/* An API that registers the machine and then leaves it hanging in its long poll, and in reports if there were any. */
static struct http_exchange *_Atomic hanging;

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    static const char registered[] = "{\"node_id\":\"nod_00000000000000000000000000000001\",\"heartbeat_ms\":10000,\"lease_ms\":30000}";
    if (str_eq_c(http_exchange_request(x)->path, "/v1/nodes/register"))
        http_reply(x, &(struct http_response){ .status = 200, .content_type = STR("application/json"), .body = str_c(registered) });
    else
        hanging = x;
}

/* The thread of the long poll is gone when agent_run returns: what it used can be freed, and the process can end. */
static void test_a_hanging_long_poll_ends_with_the_agent(void **state)
{
    (void)state;
    struct err e = { 0 };
    char url[64];
    struct http_server *server = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1", .on_request = on_request }, &e);
    struct config *cfg = config_new_default();
    struct running r = { 0 };
    pthread_t t;
    assert_non_null(server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(server));
    assert_int_equal(config_set(cfg, "worker.api_url", url, &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.work_dir", "/tmp", &e), ERR_OK);
    assert_int_equal(agent_new(cfg, &clock_system, NULL, &r.agent, &e), ERR_OK);
    pthread_create(&t, NULL, run_agent, &r);
    for (int i = 0; !hanging && i < 10000; i++)
        usleep(1000);
    assert_non_null(hanging);
    int64_t began = clock_mono_us(&clock_system);
    r.stop = true;
    pthread_join(t, NULL);
    assert_true(clock_mono_us(&clock_system) - began < 10000000);      /* it was asked to wait for 20 s */
    assert_true(agent_free(r.agent));
    http_reply(hanging, &(struct http_response){ .status = 503 });
    http_server_free(server);
    config_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ten_thousand), cmocka_unit_test(test_a_machine_that_was_forgotten_registers_again),
                                        cmocka_unit_test(test_a_sick_card_is_taken_out),
                                        cmocka_unit_test(test_sleepers_end_and_are_returned),
        cmocka_unit_test(test_a_lease_that_comes_again_is_run_once),
                                        cmocka_unit_test(test_a_refused_report_holds_nobody_back),
                                        cmocka_unit_test(test_a_hanging_long_poll_ends_with_the_agent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
