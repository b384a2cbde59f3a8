/* SPDX-License-Identifier: Apache-2.0 */
/* agent_kit.h - an API in memory for the whole agent, which grants noop jobs and notes what it is told of them. */
#pragma once
#include "lease_kit.h"

#include "../../../lib/wait.h"

#include <pthread.h>
#include "workers/agent/agent.h"

struct fake {
    pthread_mutex_t lock;
    int to_grant, next_id, failed, finished, returned, reports, outstanding, enrolled,
        forgets_at;     /* forgets_at: after so many, until enrolled again */
    const char *spec, *onnxruntime;
    int said_engines;                   /* registrations that named some */
    int refused;                        /* it takes no success of every hundredth job */
    bool refuses, repeats;              /* repeats: gives each lease twice, as if nobody had heard of it */
    bool is_before;                     /* of the release before: it does not know the words of this one */
    bool forgot, asked_anew;            /* the first question after it forgot was for the first lease of all */
};

static inline enum errc enroll(void *ctx, struct arena *a, const struct node_register *f, struct node_identity *ret,
                               struct err *e)
{
    (void)a;
    struct fake *k = ctx;
    if (k->enrolled++ < 1)
        return FAIL(e, NOT_FOUND, "no such zone yet");
    k->said_engines += f->engines.len > 0;
    if (k->is_before && (f->gangs || !f->programs || f->engines.len))
        return FAIL(e, UNKNOWN_FIELD, "there is no such member here");
    assert_true(f->slots == 64 && f->gpus == 2);
    *ret = (struct node_identity){ kit_id(9), f->boot_id, 10000, 30000 };
    return ERR_OK;
}

static inline enum errc next(void *ctx, struct arena *a, const struct node_identity *n, struct uuid after, struct slice told,
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

static inline enum errc report(void *ctx, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e)
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

static inline void *run_agent(void *p)
{
    struct running *r = p;
    struct err e = { 0 };
    assert_int_equal(agent_run(r->agent, &r->stop, &e), ERR_OK);
    return NULL;
}

static inline void with_agent(struct fake *k, int wanted, double *ret_rate, int64_t *ret_stop_us)
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
    assert_int_equal(config_set(cfg, "worker.onnxruntime", k->onnxruntime ? k->onnxruntime : "", &e), ERR_OK);
    assert_int_equal(agent_new(cfg, &clock_system, &api, &r.agent, &e), ERR_OK);
    int64_t began = clock_mono_us(&clock_system);
    pthread_create(&t, NULL, run_agent, &r);
    while (k->finished < wanted && clock_mono_us(&clock_system) - began < WAIT_MOST_S * INT64_C(1000000))
        usleep(1000);
    *ret_rate = wanted / ((double)(clock_mono_us(&clock_system) - began) / 1e6);
    if (!wanted)
        WAIT_WHILE(k->to_grant);        /* all are under way */
    began = clock_mono_us(&clock_system);
    r.stop = true;
    pthread_join(t, NULL);
    *ret_stop_us = clock_mono_us(&clock_system) - began;
    assert_true(agent_free(r.agent));
    config_free(cfg);
}
