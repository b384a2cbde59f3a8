/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent.c - the whole agent against an API in memory: ten thousand noop jobs, and a clean stop. */
#include "agent_kit.h"

#include "core/http/server.h"

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

/* An API that registers the machine and then leaves it hanging in its long poll, and in reports if there were any. */
static struct http_exchange *_Atomic hanging;

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    static const char registered[] = "{\"node_id\":\"nod_00000000000000000000000000000001\",\"heartbeat_ms\":10000,\"lease_ms\":30000}";
    if (str_eq_c(http_exchange_request(x)->path, "/v1/nodes/register"))
        http_reply(x, &(struct http_response){ .status = 200, .content_type = STR("application/json"),
                                              .body = str_c(registered) });
    else
        hanging = x;
}

/* The thread of the long poll is gone when agent_run returns: what it used can be freed, and the process can end. */
static void test_a_hanging_long_poll_ends_with_the_agent(void **state)
{
    (void)state;
    struct err e = { 0 };
    char url[64];
    struct http_server *server = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1",
                                                                               .on_request = on_request }, &e);
    struct config *cfg = config_new_default();
    struct running r = { 0 };
    pthread_t t;
    assert_non_null(server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(server));
    assert_int_equal(config_set(cfg, "worker.api_url", url, &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.work_dir", "/tmp", &e), ERR_OK);
    assert_int_equal(agent_new(cfg, &clock_system, NULL, &r.agent, &e), ERR_OK);
    pthread_create(&t, NULL, run_agent, &r);
    WAIT_WHILE(!hanging);
    int64_t began = clock_mono_us(&clock_system);
    r.stop = true;
    pthread_join(t, NULL);
    assert_true(clock_mono_us(&clock_system) - began < 18000000);      /* it was asked to wait for 20 s */
    assert_true(agent_free(r.agent));
    http_reply(hanging, &(struct http_response){ .status = 503 });
    http_server_free(server);
    config_free(cfg);
}

/* Runs an agent that ends by itself. */
static void run_short(struct fake *k, const char *setting, const char *value)
{
    struct err e = { 0 };
    struct config *cfg = config_new_default();
    const struct agent_api api = { k, enroll, next, report };
    const _Atomic bool never = false;
    struct agent *agent;
    pthread_mutex_init(&k->lock, NULL);
    assert_int_equal(config_set(cfg, "worker.slots", "64", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.gpus", "2", &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.work_dir", "/tmp", &e), ERR_OK);
    assert_int_equal(config_set(cfg, setting, value, &e), ERR_OK);
    assert_int_equal(agent_new(cfg, &clock_system, &api, &agent, &e), ERR_OK);
    assert_int_equal(agent_run(agent, &never, &e), ERR_OK);
    assert_true(agent_free(agent));
    config_free(cfg);
}

static void test_a_borrowed_machine_takes_its_leases_and_ends(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 200, .spec = "{}" };
    run_short(&k, "worker.leases_max", "3");
    assert_int_equal(k.finished, 3);
    assert_int_equal(k.outstanding, 0);                 /* what came with them was given back */
    struct fake slow = { .to_grant = 1, .spec = "{\"sleep_ms\":300}" };
    run_short(&slow, "worker.leases_max", "1");
    assert_int_equal(slow.finished, 1);
}

static void test_a_machine_that_nobody_needs_ends(void **state)
{
    (void)state;
    struct fake k = { .to_grant = 0, .spec = "{}" }, busy = { .to_grant = 1, .spec = "{\"sleep_ms\":400}" };
    run_short(&k, "worker.idle_ms", "50");
    assert_int_equal(k.finished, 0);
    run_short(&busy, "worker.idle_ms", "100");
    assert_int_equal(busy.finished, 1);                 /* it is not idle while one runs */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ten_thousand),
                                        cmocka_unit_test(test_a_hanging_long_poll_ends_with_the_agent),
                                        cmocka_unit_test(test_a_borrowed_machine_takes_its_leases_and_ends),
                                        cmocka_unit_test(test_a_machine_that_nobody_needs_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
