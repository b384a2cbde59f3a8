/* SPDX-License-Identifier: Apache-2.0 */
/* test_devices.c - the GPUs that are registered, and one that falls off the bus. */
#include "agent_kit.h"

#include "../../../lib/wait.h"
#include "cards_kit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_sick_card_is_taken_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
