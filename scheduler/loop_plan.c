/* SPDX-License-Identifier: Apache-2.0 */
/* loop_plan.c - a round of planning. A quick pass, which only fills the room that is free, is one transaction under the planners'
 * lock: what it read still holds when it writes. A deep one, which may read as far as a batch goes, explains and sends others
 * away, reads in one transaction and writes in another, so that long planning holds no lock. */
#include "scheduler/loop_int.h"
#include "core/db/run_tx.h"
#include "core/redis/wake.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "scheduler/evict.h"
#include "scheduler/grow.h"
#include "scheduler/jobs/job.h"
#include "scheduler/mirror/ends.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/plan/backfill.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/turnover.h"
#include "scheduler/plan_apply.h"
#include "scheduler/plan_told.h"
#include "scheduler/replay/ring.h"

void loop_wake_nodes(const struct app *app, struct slice nodes_told)
{
    char channel[sizeof WAKE_NODE_PREFIX + UUID_HEX] = WAKE_NODE_PREFIX;
    const struct uuid *nodes = nodes_told.items;
    for (size_t i = 0; i < nodes_told.n; i++) {
        hex_encode(nodes[i].b, 16, channel + sizeof WAKE_NODE_PREFIX - 1);
        wake_publish(app->redis, str_c(channel), STR("1"));
    }
}

/* After the plan, which has taken its part. */
static bool has_room(const struct snapshot *s)
{
    bool has = false;
    for (size_t i = 0; i < s->nodes.n; i++)
        has |= s->nodes.items[i].free_slots > 0;
    return has;
}

static void plan_from(const struct app *app, enum cycle_kind kind, struct snapshot *s, struct arena *a, struct plan *p)
{
    s->workload = app->workload;
    s->claims = app->claims;
    s->bookings = app->bookings;
    s->now_us = clock_wall_us(app->clock);
    if (s->bookings)
        bookings_end(s->bookings, s->now_us);
    if (s->claims)
        claims_end(s->claims, clock_mono_us(app->clock));
    cycle_ring_inputs(app->cycles, kind, app->config->scheduler_batch, clock_wall_us(app->clock), s, a);
    placement_plan(s, a, p);
    cycle_ring_plan(app->cycles, s, p, a);
}

static enum errc read_and_admit(struct work *w, struct snapshot *s, struct plan *p, struct plan_result *ret, struct err *e)
{
    const struct config *cfg = w->app->config;
    plan_turn_take(w->tx);
    TRY(snapshot_read(w, cfg->scheduler_batch, false, s, e));
    if (!s->jobs.n)
        return ERR_OK;
    plan_from(w->app, CYCLE_QUICK, s, w->arena, p);
    if (s->claims)
        claims_untake(s->claims, s);
    w->now_us = clock_wall_us(w->app->clock);
    waiting_doubt(w->app->waiting, s, p);
    return p->places.n ? plan_admit(w, s, p, cfg->scheduler_lease_ms, ret, e) : ERR_OK;
}

/* Committed: what became of the plan. */
static void tell(struct work *w, const struct snapshot *s, const struct plan *p, const struct plan_result *r)
{
    const struct plan_line *l = r->lines.items;
    evict_settle(w->app->claims, s, p);
    for (size_t i = 0; i < r->lines.n; i++) {
        if (l[i].nmore && w->app->bookings)
            bookings_settle(w->app->bookings, l[i].step.tenant_id, l[i].step.job_id);
        turnover_place(w->app->turnover, l[i].node, l[i].ask.slots);
        for (size_t k = 0; k < l[i].nmore; k++)
            turnover_place(w->app->turnover, l[i].more[k].node, l[i].ask.slots);
    }
    loop_wake_nodes(w->app, r->nodes);
    plan_told(w, s, l, r->lines.n);
    waiting_settle(w->app->waiting, l, r->lines.n);
}

/* ret_again: something was refused, which a pass that looks at each line is to see. */
static enum errc quick_pass(const struct app *app, struct arena *a, struct plan_outcome *ret, bool *ret_again, struct err *e)
{
    struct snapshot s = { 0 };
    struct plan p = { 0 };
    struct plan_result r = { 0 };
    struct work w = loop_work(app, a);
    TRY(RUN_SYSTEM(&w, app->pool, TX_ENDS, read_and_admit(&w, &s, &p, &r, e), e));
    cycle_ring_keep(app->cycles);
    ret->has_room = has_room(&s) || r.refused > 0;
    *ret_again = r.refused > 0;
    if (!p.places.n)
        return ERR_OK;
    tell(&w, &s, &p, &r);
    ret->admitted += r.admitted;
    ret->more = r.admitted > 0 && p.is_cut && has_room(&s);
    return ERR_OK;
}

/* When what runs ends is only read while somebody waits for several machines. */
static enum errc backfill_before(struct work *w, struct snapshot *s, struct ends *ret, struct err *e)
{
    s->bookings = w->app->bookings;
    s->now_us = clock_wall_us(w->app->clock);
    TRY(RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY, ends_read(w, s->now_us, ret, e), e));
    backfill_renew(s, *ret, w->arena);
    return ERR_OK;
}

static enum errc backfill_after(struct work *w, struct snapshot *s, struct plan *p, struct ends ends, struct err *e)
{
    const bool is_wanted = s->bookings && backfill_wanted(s, p);
    if (is_wanted && !ends.items)
        TRY(RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY, ends_read(w, s->now_us, &ends, e), e));
    if (is_wanted || (s->bookings && s->bookings->n))
        backfill_plan(s, p, ends, w->arena);
    return ERR_OK;
}

/* Reads, plans, writes. is_deep: reads as far as a batch goes. */
static enum errc plan_pass(const struct app *app, struct arena *a, bool is_deep, bool explains,
                           struct plan_outcome *ret, struct err *e)
{
    struct snapshot s;
    struct plan p;
    struct plan_result r = { 0 };
    struct slice told = { 0 };
    struct ends ends = { 0 };
    struct work w = loop_work(app, a);
    ret->more = false;
    ret->has_room = true;
    TRY(RUN_SYSTEM(&w, app->pool, TX_READ_ONLY, snapshot_read(&w, app->config->scheduler_batch, is_deep, &s, e), e));
    turnover_unlend(&s);                /* plan_apply counts what is free */
    ret->has_room = has_room(&s);
    ret->is_told = explains;
    if (!s.jobs.n)
        return ERR_OK;
    if (explains && app->bookings && app->bookings->n)
        TRY(backfill_before(&w, &s, &ends, e));
    plan_from(app, explains ? CYCLE_EXPLAINS : CYCLE_DEEP, &s, a, &p);
    if (explains)
        TRY(evict_pass(&w, &s, &p, &told, e));
    if (explains)
        ret->busy = grow_busy(&w, &s, &p);
    if (told.n)
        ends = (struct ends){ 0 };      /* who was told to go ends sooner than was read */
    cycle_ring_keep(app->cycles);
    if (explains)
        TRY(backfill_after(&w, &s, &p, ends, e));
    loop_wake_nodes(app, told);
    if (s.claims)
        claims_untake(s.claims, &s);
    if (!explains)
        p.waits.n = 0;
    if (p.places.n || p.waits.n) {
        w.now_us = clock_wall_us(app->clock);
        waiting_doubt(app->waiting, &s, &p);
        TRY(RUN_SYSTEM(&w, app->pool, TX_ENDS, plan_apply(&w, &s, &p, app->config->scheduler_lease_ms, &r, e), e));
        waiting_told(app->waiting, &s, &p);
    }
    tell(&w, &s, &p, &r);
    ret->admitted += r.admitted;
    ret->has_room = has_room(&s) || r.refused > 0;
    ret->more = r.admitted > 0 && ((p.is_cut && has_room(&s)) || r.refused > 0);
    return ERR_OK;
}

/* A second, deep pass follows at once where the first one had to stop before jobs that it had not read. */
enum errc loop_plan(const struct app *app, struct arena *a, bool is_full, struct plan_outcome *ret, struct err *e)
{
    int64_t began = clock_mono_us(app->clock);
    bool is_refused = false;
    *ret = (struct plan_outcome){ .has_room = true };
    TRY(waiting_load(app, waiting_one_part, NULL, &ret->loads, e));
    TRY(is_full ? plan_pass(app, a, true, true, ret, e) : quick_pass(app, a, ret, &is_refused, e));
    if (is_refused)
        TRY(plan_pass(app, a, false, false, ret, e));
    if (ret->more && !is_full)
        TRY(plan_pass(app, a, true, false, ret, e));
    if (ret->admitted) {
        metrics_add(M_leases_granted_total, (double)ret->admitted);
        metrics_observe(M_scheduler_tick_seconds, (double)(clock_mono_us(app->clock) - began) / 1e6, "plan");
    }
    return ERR_OK;
}

enum errc loop_plan_once(const struct app *app, struct arena *a, bool is_full, int64_t *ret_admitted, bool *ret_more,
                         struct err *e)
{
    struct plan_outcome o;
    enum errc rc = loop_plan(app, a, is_full, &o, e);
    *ret_admitted = o.admitted;
    *ret_more = o.more;
    return rc;
}

enum errc loop_grow(const struct app *app, struct arena *a, const struct plan_outcome *o, struct err *e)
{
    struct work w = loop_work(app, a);
    struct slice told = { 0 };
    TRY(grow_pass(&w, o->busy, &told, e));
    loop_wake_nodes(app, told);
    return ERR_OK;
}
