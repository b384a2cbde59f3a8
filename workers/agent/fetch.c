/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - the thread that registers the machine, asks for leases and starts them.
 *
 * noop leases are booked as started and finished in one step here; their slot is free again before the report has left, and the
 * API's own books limit how many it grants. Every other lease has a thread of its own. */
#include "workers/agent/agent_int.h"

#include <poll.h>
#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/table/metrics.h"
#include "workers/agent/inside_link.h"
#include "workers/lease/work_dir.h"
#include "workers/lease/work_type.h"

enum { ZONE_RETRY_MS = 200, WAIT_MS = 20000, EMPTY_PAUSE_MS = 32 };

struct runner {
    struct agent *agent;
    struct executor_env env;            /* with the node as it was when the lease came */
    struct held *held;
    bool has_gpus;
};

static void pause_ms(const struct agent *a, int ms)
{
    for (; ms > 0 && !a->stopping; ms -= WATCH_MS)
        poll(NULL, 0, ms < WATCH_MS ? ms : WATCH_MS);
}

static void *runner_main(void *p)
{
    struct runner r = *(struct runner *)p;
    free(p);
    executor_run(&r.env, r.held);
    if (r.has_gpus)
        r.agent->gpu_leases--;
    r.agent->runners--;
    return NULL;
}

static struct runner *runner_new(struct agent *a, struct held *h, bool has_gpus)
{
    struct runner *r = malloc(sizeof *r);
    ASSERT(r);
    *r = (struct runner){ a, a->env, h, has_gpus };
    if (a->api_is_before)
        r->env.energy = NULL;           /* an end that tells of it would be refused */
    return r;
}

static void run_on_thread(struct agent *a, const struct lease_grant *g)
{
    struct runner *r = runner_new(a, book_add(a->book, g, true), g->gpus > 0);
    a->runners++;
    a->gpu_leases += r->has_gpus;
    pthread_t t;
    if (pthread_create(&t, NULL, runner_main, r) == 0) {
        pthread_detach(t);
        return;
    }
    a->runners--;
    a->gpu_leases -= r->has_gpus;
    held_finish(r->held, &(struct lease_item){ .event = LE_RETURN, .exit_code = 1,
                                              .message = STR("the worker has no thread left") });
    held_unref(r->held);
    free(r);
}

bool agent_is_full(const struct agent *a)
{
    return a->config->worker_leases_max && a->taken >= a->config->worker_leases_max;
}

static void give_back(struct agent *a, const struct lease_grant *g, struct str why)
{
    struct held *h = book_add(a->book, g, false);
    held_finish(h, &(struct lease_item){ .event = LE_RETURN, .message = why });
    held_unref(h);
}

static void take(struct agent *a, struct arena *arena, const struct lease_grant *g)
{
    const struct work_type *type = work_type_of(g->kind);
    metrics_inc(M_worker_leases_taken_total);
    if (!cards_can_give(a->cards, (uint64_t)g->devices)) {
        give_back(a, g, STR("the GPU of this lease is out of service"));
        return;
    }
    if (a->stopping || agent_is_full(a)) {
        give_back(a, g, STR_NULL);
        return;
    }
    if (type->take)
        type->take(a->book, a->timers, arena, g);
    else
        run_on_thread(a, g);
    a->taken++;                         /* last: who sees that it is full sees what it is full of (agent.c) */
}

/* Until it is done, told to stop, or refused for good. */
enum errc agent_enroll(struct agent *a, const _Atomic bool *stop, struct err *e)
{
    struct node_register as_before = a->facts;
    as_before.gangs = false;
    as_before.programs = true;
    as_before.gang_programs = false;
    as_before.engines = STR("");
    a->api_is_before = false;
    for (int failures = 0; !*stop; failures++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new(CALL_ARENA);
        struct node_identity node;
        enum errc rc = a->api.enroll(a->api.ctx, arena, a->api_is_before ? &as_before : &a->facts, &node, e);
        if (rc == ERR_OK) {
            pthread_mutex_lock(&a->lock);
            a->env.node = node;
            pthread_mutex_unlock(&a->lock);
            log_event(LOG_INFO, "node.registered", "node_id", LOG_ID("nod", node.node_id), "slots", LOG_I(a->facts.slots),
                      "backend",
                      LOG_STR(a->facts.backend), NULL);
            return ERR_OK;
        }
        if (rc == ERR_UNKNOWN_FIELD && !a->api_is_before) {     /* it knows nothing of gangs, programs, engines and energy */
            a->api_is_before = true;
            continue;
        }
        if (rc == ERR_UNAUTHENTICATED || rc == ERR_FORBIDDEN || rc == ERR_INVALID || rc == ERR_MALFORMED
            || rc == ERR_UNKNOWN_FIELD)
            return rc;
        if (failures == 0)
            log_err(LOG_INFO, "node.waits", e);
        poll(NULL, 0, ZONE_RETRY_MS);
    }
    return FAIL(e, DEADLINE, "told to stop before the node was registered");
}

/* A lease may come again as long as nothing was reported of it: it is run once. */
static size_t take_new(struct agent *a, struct arena *arena, const struct lease_next_out *got, struct uuid *after)
{
    const struct lease_grant *g = got->leases.items;
    size_t taken = 0;
    for (size_t i = 0; i < got->leases.n; i++) {
        if (uuid_cmp(g[i].attempt_id, *after) > 0)
            *after = g[i].attempt_id;
        else if (book_has(a->book, g[i].attempt_id))
            continue;
        take(a, arena, &g[i]);
        taken++;
    }
    return taken;
}

void *agent_fetch(void *p)
{
    struct agent *a = p;
    int failures = 0, empty_ms = 1;
    int64_t sweep_us = 0;
    struct uuid after = UUID_LEAST;     /* the greatest attempt that came; after a new registration the database may count anew */
    while (!a->stopping) {
        size_t room;
        if (clock_mono_us(&clock_system) >= sweep_us) {
            size_t n = work_dir_sweep(a->env.work_dir, WORK_DIR_KEEP_S);
            if (n)
                log_event(LOG_INFO, "node.swept", "directories", LOG_I(n), NULL);
            sweep_us = clock_mono_us(&clock_system) + WORK_DIR_SWEEP_S * INT64_C(1000000);
        }
        agent_watch_cards(a);
        (void)book_wait_room(a->book, (size_t)a->facts.slots, &room);   /* a full machine asks too, for notices */
        if (a->stopping)
            break;
        if (agent_is_full(a))
            room = 0;                   /* for notices */
        CLEANUP(arena_freep) struct arena *arena = arena_new(CALL_ARENA);
        struct err e = { 0 };
        struct lease_next_out got = { 0 };
        int64_t began = clock_mono_us(&clock_system);
        const struct slice told = book_told(a->book, arena);
        enum errc rc = a->api.next(a->api.ctx, arena, &a->env.node, after, told, (int64_t)room, WAIT_MS, &got, &e);
        if (rc == ERR_OK) {
            failures = 0;
            size_t taken = take_new(a, arena, &got, &after) + got.notices.n + got.sessions.n;
            book_notify(a->book, got.notices);
            for (size_t i = 0; i < got.sessions.n; i++)
                inside_link_begin(a->config, a->book, (const struct lease_session *)got.sessions.items + i, &a->insiders,
                                  &a->stopping);
            if (!taken && clock_mono_us(&clock_system) - began < EMPTY_PAUSE_MS * 1000)
                pause_ms(a, empty_ms);  /* it did not wait, as it was asked to: do not storm it */
            empty_ms = taken ? 1 : empty_ms < EMPTY_PAUSE_MS ? empty_ms * 2 : empty_ms;
            continue;
        }
        if (a->stopping)
            break;                      /* the long poll was given up */
        if (failures++ == 0)
            log_err(LOG_WARN, "lease.next_failed", &e);
        /* This run of the agent is not known: the database came back from a backup, or from a standby that lagged behind. */
        if (rc == ERR_STALE && agent_enroll(a, &a->stopping, &e) == ERR_OK) {
            after = UUID_LEAST;
            continue;
        }
        pause_ms(a, failures < 5 ? 100 << failures : RETRY_MAX_MS);
    }
    return NULL;
}
