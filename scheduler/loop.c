/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - an edge: it opens the transactions of the scheduler and logs their errors.
 *
 * A round reads in one transaction and writes in another, so that planning holds no lock. Rounds that only place are short; once a
 * second a full one also tells jobs why they wait. The reaper runs each second, the purge each minute. */
#include "scheduler/loop_int.h"
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"
#include "core/base/notify.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "scheduler/duty/arrays.h"
#include "scheduler/duty/dependencies.h"
#include "scheduler/duty/due_jobs.h"
#include "scheduler/duty/job_pages.h"
#include "scheduler/duty/levels.h"
#include "scheduler/duty/queue_usage.h"
#include "scheduler/jobs/job.h"
#include "scheduler/evict.h"
#include "scheduler/gather.h"
#include "scheduler/leader.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/duty/reaper.h"
#include "scheduler/duty/reservations.h"
#include "scheduler/round.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ARENA_MAX = 512 << 20, FULL_US = 1000000, REAP_US = 1000000, DEPEND_US = 200000, DEPEND_PART = 10, TIDY_US = 30000000,
       PURGE_US = 60000000, PURGE_LIMIT = 10000, CONFLICT_PAUSE_US = 20000, LOAD_US = 1000000,
       NOTE_US = 2000000, PAGES_US = 30000000, PAGES_AGAIN_US = 250000, PAGES_LIMIT = 8, LEVELS_US = 10000000, GROW_US = 5000000,
       IDLE_US = 15000000, DUTIES = 15 };

struct loop {
    const struct app *app;
    struct leader *leader;
    struct arena *arena;
    pthread_mutex_t lock;               /* guards is_woken, is_submitted, is_full, is_stopping */
    pthread_cond_t changed;
    bool is_woken, is_submitted, is_stopping;
    bool is_full;                       /* the last plan left no room: jobs that come are no news */
    struct gather gather;               /* the loop's thread's, as is all below but is_leading */
    struct standing standing;
    int64_t term;                       /* of the leader */
    bool is_new;                        /* it has planned nothing in this term */
    _Atomic bool is_leading;
    int64_t full_us, note_us, grow_us, due_us[DUTIES];
};

static enum errc due_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    int64_t ended = 0;
    TRY(RUN_SYSTEM(&w, app->pool, 0, due_jobs_pass(&w, REAP_LIMIT, &ended, e), e));
    *ret_more = ended >= REAP_LIMIT;
    return ERR_OK;
}

static enum errc begin_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    int64_t begun = 0;
    TRY(RUN_SYSTEM(&w, app->pool, 0, due_jobs_begin(&w, REAP_LIMIT, &begun, e), e));
    *ret_more = begun >= REAP_LIMIT;
    return ERR_OK;
}

static enum errc drain_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    (void)ret_more;
    struct work w = loop_work(app, a);
    struct slice told = { 0 };
    TRY(RUN_SYSTEM(&w, app->pool, 0, evict_drain(&w, &told, e), e));
    loop_wake_nodes(app, told);
    TRY(RUN_SYSTEM(&w, app->pool, 0, reservations_pass(&w, e), e));
    TRY(RUN_SYSTEM(&w, app->pool, 0, evict_windows(&w, &told, e), e));
    loop_wake_nodes(app, told);
    return ERR_OK;
}

static enum errc suspend_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    (void)ret_more;
    struct work w = loop_work(app, a);
    struct slice told = { 0 };
    TRY(RUN_SYSTEM(&w, app->pool, 0, evict_suspend(&w, &told, e), e));
    loop_wake_nodes(app, told);
    return ERR_OK;
}

static enum errc usage_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    (void)ret_more;
    struct work w = loop_work(app, a);
    return RUN_SYSTEM(&w, app->pool, 0, queue_usage_pass(&w, e), e);
}

static enum errc tidy_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    (void)ret_more;
    struct work w = loop_work(app, a);
    int64_t closed;
    return RUN_SYSTEM(&w, app->pool, 0, dependencies_tidy(&w, REAP_LIMIT, &closed, e), e);
}

static enum errc dependencies_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    struct dependencies_result r;
    TRY(RUN_SYSTEM(&w, app->pool, 0, dependencies_pass(&w, REAP_LIMIT, &r, e), e));
    if (r.closed || r.rejected)
        log_event(LOG_INFO, "dependencies.pass", "closed", LOG_I(r.closed), "rejected", LOG_I(r.rejected), NULL);
    *ret_more = r.closed >= REAP_LIMIT || r.rejected > 0;
    return ERR_OK;
}

static enum errc arrays_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    struct arrays_result r;
    *ret_more = false;
    TRY(RUN_SYSTEM(&w, app->pool, 0, arrays_pass(&w, &r, e), e));
    *ret_more = r.is_more;
    return ERR_OK;
}

static enum errc purge_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    int64_t purged;
    *ret_more = false;
    TRY(RUN_SYSTEM(&w, app->pool, 0, waiting_tidy(&w, ret_more, e), e));
    return RUN_SYSTEM(&w, app->pool, 0, reaper_purge(&w, PURGE_LIMIT, &purged, e), e);
}

/* Few at a time, since planning waits for it; *ret_more: there were as many as it takes. */
static enum errc pages_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    int64_t made = 0;
    TRY(RUN_SYSTEM(&w, app->pool, 0, job_pages_pass(&w, PAGES_LIMIT, &made, e), e));
    *ret_more = made == PAGES_LIMIT;
    return ERR_OK;
}

static enum errc levels_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct work w = loop_work(app, a);
    (void)ret_more;
    return levels_measure(&w, e);
}

static enum errc note_once(const struct app *app, struct arena *a, int64_t plan_us, struct err *e)
{
    struct work w = loop_work(app, a);
    return RUN_SYSTEM(&w, app->pool, 0, round_note(&w, plan_us, e), e);
}

static bool is_due(int64_t *next_us, int64_t now_us, int64_t every_us)
{
    if (now_us < *next_us)
        return false;
    *next_us = now_us + every_us;
    return true;
}

/* False: an error; pause before the next round. */
static bool report(enum errc rc, const struct err *e, const char *event)
{
    if (rc != ERR_OK)
        log_err(rc == ERR_RETRY ? LOG_INFO : LOG_ERROR, event, e);
    metrics_inc(M_scheduler_ticks_total, rc == ERR_OK ? "ok" : "error");
    return rc == ERR_OK;
}

/* The lock is held. */
static bool has_news(const struct loop *l)
{
    return l->is_woken || (l->is_submitted && !l->is_full);
}

struct loading { struct loop *l; int64_t until_us; };

/* A plan comes before the next part where somebody waits for one, or none was made for a while. */
static bool wants_a_plan(void *ctx)
{
    struct loading *x = ctx;
    pthread_mutex_lock(&x->l->lock);
    const bool is_wanted = has_news(x->l) || x->l->is_stopping;
    pthread_mutex_unlock(&x->l->lock);
    return is_wanted || clock_mono_us(&clock_system) >= x->until_us || (x->l->leader && !leader_check(x->l->leader));
}

static bool load_round(struct loop *l, bool *ret_more)
{
    struct err e = { 0 };
    struct loading x = { l, clock_mono_us(&clock_system) + LOAD_US };
    arena_reset(l->arena);
    return report(waiting_load(l->app, wants_a_plan, &x, ret_more, &e), &e, "scheduler.load");
}

static bool plan_round(struct loop *l, int64_t now, bool *ret_more)
{
    struct err e = { 0 };
    struct plan_outcome o;
    const int64_t real_us = clock_mono_us(&clock_system);        /* what wait_for_work counts in */
    int64_t began = clock_mono_us(l->app->clock);
    const bool is_full = !l->is_new && is_due(&l->full_us, now, FULL_US);
    bool is_ok = report(loop_plan(l->app, l->arena, is_full, &o, &e), &e, "scheduler.plan");
    pthread_mutex_lock(&l->lock);
    l->is_full = is_ok && !o.has_room;
    pthread_mutex_unlock(&l->lock);
    gather_note(&l->gather, real_us, is_ok ? o.admitted : 0);
    if (is_ok && o.is_told && is_due(&l->grow_us, now, GROW_US))
        is_ok &= report(loop_grow(l->app, l->arena, &o, &e), &e, "scheduler.grow");
    if (is_ok && is_due(&l->note_us, now, NOTE_US))
        is_ok &= report(note_once(l->app, l->arena, clock_mono_us(l->app->clock) - began, &e), &e, "scheduler.note");
    if (is_ok && o.loads)
        is_ok = load_round(l, &o.loads);
    *ret_more = o.more || o.loads;
    return is_ok;
}

/* What is done besides planning, in this order, each when it is due. */
static const struct duty {
    enum errc (*once)(const struct app *app, struct arena *a, bool *ret_more, struct err *e);
    const char *event;
    int64_t every_us, again_us;         /* again_us: instead, after a pass that left some */
    bool hurries;                       /* after such a pass the next round comes at once */
    int part;                           /* it rests at least so many times as long as it took: it looks at much */
} duties[] = {
    { loop_reap_once, "scheduler.reap", REAP_US, .hurries = true },
    { loop_budget_once, "scheduler.budgets", REAP_US, .hurries = true },
    { due_once, "scheduler.due", REAP_US, .hurries = true },
    { drain_once, "scheduler.drain", REAP_US },
    { loop_end_tenants_once, "scheduler.tenants", REAP_US },
    { dependencies_once, "scheduler.dependencies", DEPEND_US, .part = DEPEND_PART },
    { arrays_once, "scheduler.arrays", DEPEND_US, .part = DEPEND_PART },
    { begin_once, "scheduler.begin", DEPEND_US },
    { suspend_once, "scheduler.suspend", DEPEND_US },
    { loop_idle_once, "scheduler.idle", IDLE_US },
    { usage_once, "scheduler.usage", (int64_t)QUEUE_USAGE_S * 1000000 },
    { tidy_once, "scheduler.tidy", TIDY_US },
    { purge_once, "scheduler.purge", PURGE_US, .again_us = PAGES_AGAIN_US },
    { pages_once, "scheduler.pages", PAGES_US, .again_us = PAGES_AGAIN_US },
    { levels_once, "scheduler.levels", LEVELS_US },
};
_Static_assert(sizeof duties / sizeof *duties == DUTIES, "each has its time in struct loop");

static bool do_duties(struct loop *l, int64_t now, bool *ret_more)
{
    bool is_ok = true;
    for (size_t i = 0; i < DUTIES; i++) {
        const struct duty *d = &duties[i];
        struct err e = { 0 };
        bool some_left = false;
        if (now < l->due_us[i])
            continue;
        const int64_t began = clock_mono_us(l->app->clock);
        is_ok &= report(d->once(l->app, l->arena, &some_left, &e), &e, d->event);
        const int64_t rest = (clock_mono_us(l->app->clock) - began) * d->part;
        l->due_us[i] = now + (some_left ? d->again_us : rest > d->every_us ? rest : d->every_us);
        *ret_more |= d->hurries && some_left;
    }
    return is_ok;
}

/* Who begins to lead plans first: nothing was placed since the one before was lost, and every duty is due. */
static bool round_once(struct loop *l, bool *ret_more)
{
    const int64_t now = clock_mono_us(l->app->clock);
    bool more = l->is_new;
    arena_reset(l->arena);
    bool is_ok = l->is_new || do_duties(l, now, &more);
    is_ok &= plan_round(l, now, ret_more);
    *ret_more |= more;
    l->is_new = false;
    return is_ok;
}

struct loop *loop_new(const struct app *app, struct leader *leader)
{
    struct loop *l = calloc(1, sizeof *l);
    ASSERT(l);
    l->app = app;
    l->leader = leader;
    l->arena = arena_new(ARENA_MAX);
    pthread_mutex_init(&l->lock, NULL);
    mono_cond_init(&l->changed);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    arena_free(l->arena);
    free(l);
}

/* Until woken, stopped or over; true: go on. Who is woken before enough was gathered waits for that. */
static bool wait_for_work(struct loop *l, int64_t wait_us, bool is_wakeable)
{
    const int64_t until = clock_mono_us(&clock_system) + wait_us;
    pthread_mutex_lock(&l->lock);
    for (int64_t now = until - wait_us; !l->is_stopping && now < until; now = clock_mono_us(&clock_system)) {
        const bool is_news = is_wakeable && has_news(l);
        if (is_news && now >= l->gather.until_us)
            break;
        const int64_t next = is_news && l->gather.until_us < until ? l->gather.until_us : until;
        const struct timespec t = { next / 1000000, next % 1000000 * 1000 };
        (void)pthread_cond_timedwait(&l->changed, &l->lock, &t);     /* the loop looks whatever it says */
    }
    l->is_woken = l->is_submitted = false;
    bool go_on = !l->is_stopping;
    pthread_mutex_unlock(&l->lock);
    return go_on;
}

static bool does_lead(struct loop *l)
{
    if (!l->leader)
        return true;
    const bool leads = leader_check(l->leader);
    if (leads && l->term != leader_term(l->leader)) {
        l->term = leader_term(l->leader);
        l->is_new = true;
        loop_lead(l->app);
    }
    return leads;
}

void loop_run(struct loop *l)
{
    int64_t wait_us = 0;
    bool is_ok = true;
    while (wait_for_work(l, wait_us, is_ok)) {
        bool more = false;
        notify_alive();
        int64_t tick_us = l->app->config->scheduler_tick_ms * 1000;
        bool leads = does_lead(l);
        if (!leads && atomic_load(&l->is_leading))
            levels_clear();
        atomic_store(&l->is_leading, leads);
        metrics_set(M_leader, leads);
        if (!leads && leader_is_connected(l->leader))
            loop_stand_by(l->app, l->arena, &l->standing);
        is_ok = !leads || round_once(l, &more);
        wait_us = !leads ? LEADER_LOOK_US : !is_ok ? CONFLICT_PAUSE_US + tick_us : more ? 0 : tick_us;
    }
}

bool loop_wake(struct loop *l, bool is_submission)
{
    pthread_mutex_lock(&l->lock);
    const bool is_news = !is_submission || !l->is_full, knows = has_news(l);
    *(is_submission ? &l->is_submitted : &l->is_woken) = true;
    if (is_news && !knows)              /* else it gathers */
        pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return is_news;
}

void loop_stop(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->is_stopping = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

bool loop_is_leading(struct loop *l)
{
    return atomic_load(&l->is_leading);
}
