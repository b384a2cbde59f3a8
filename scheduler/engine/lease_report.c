/* SPDX-License-Identifier: Apache-2.0 */
/* lease_report.c - what workers say of their attempts, as one batch.
 *
 * First all attempts named are locked and read; then each item is judged in order against that picture, here and without the
 * database; then what was decided is written by one statement per kind of step. So the cost is per batch, and an item that comes
 * after another one for the same attempt sees its effect. A step that a worker left out (a success that was never started) is
 * added, so that every job passes through the legal edges. The first word about a lease also says that it was taken: taking only
 * reads (lease_offer). TAKE travels with the start or end that comes with it, and is a step of its own only when nothing does. */
#include "core/base/assert.h"
#include "core/db/tx.h"
#include "core/table/metrics.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_suspend.h"
#include "scheduler/engine/lease_report_int.h"
#include "tenants/access/actor.h"

/* What comes back is tried again soon, and later each time if it never ran for long: a server that dies whenever it is asked would
 * else begin, and be written down, every second for ever. */
enum { RETURN_PAUSE_MS = 1000, RETURN_PAUSE_MAX_MS = 64000, RAN_LONG_MS = 600000 };

static const struct outcome {
    const char *attempt_state;
    enum job_event_kind job_event;
    const char *message;
} outcomes[LE_COUNT] = {
    [LE_SUCCEED] = { "SUCCEEDED", JE_SUCCEED, "" },
    [LE_FAIL] = { "FAILED", JE_FAIL, "The program failed" },
    [LE_CANCEL] = { "CANCELLED", JE_CANCEL, "Cancelled while it ran" },
    [LE_TIMEOUT] = { "FAILED", JE_TIMEOUT, "It ran longer than max_runtime_seconds" },
    [LE_OOM] = { "FAILED", JE_OOM, "It needed more memory than its share" },
    [LE_RETURN] = { "LEASE_RETURNED", JE_RETURN, "The machine gave it back" },
    [LE_PREEMPT] = { "PREEMPTED", JE_PREEMPT, "It made room for another job" },
};

struct track *report_track(struct report *r, struct uuid tenant, struct uuid attempt, bool is_new_ok)
{
    uint32_t seed;
    memcpy(&seed, attempt.b + 12, sizeof seed);
    for (size_t at = seed & r->mask;; at = (at + 1) & r->mask) {
        if (!r->table[at]) {
            if (!is_new_ok)
                return NULL;
            r->tracks[r->ntracks] = (struct track){ .tenant_id = tenant, .attempt_id = attempt, .start = -1 };
            r->table[at] = (uint32_t)++r->ntracks;
            return &r->tracks[r->ntracks - 1];
        }
        struct track *t = &r->tracks[r->table[at] - 1];
        if (uuid_eq(t->attempt_id, attempt) && uuid_eq(t->tenant_id, tenant))
            return t;
    }
}

struct lease_hold {
    struct report report;
    struct db_ask *ask;
};

struct lease_hold *lease_hold_ask(struct work *w, struct uuid node_id, const struct lease_item *items, size_t n)
{
    struct arena *a = w->arena;
    struct lease_hold *h = ARENA_NEW(a, struct lease_hold);
    struct report *r = &h->report;
    *h = (struct lease_hold){ .report = { .w = w } };
    for (r->mask = 15; r->mask < 2 * n; r->mask = r->mask * 2 + 1)
        ;
    r->table = ARENA_ARRAY(a, uint32_t, r->mask + 1);
    r->tracks = ARENA_ARRAY(a, struct track, n);
    for (size_t i = 0; i < n; i++)
        (void)report_track(r, items[i].tenant_id, items[i].attempt_id, true);
    struct uuid *tenants = ARENA_ARRAY(a, struct uuid, r->ntracks), *attempts = ARENA_ARRAY(a, struct uuid, r->ntracks);
    for (size_t i = 0; i < r->ntracks; i++) {
        tenants[i] = r->tracks[i].tenant_id;
        attempts[i] = r->tracks[i].attempt_id;
    }
    h->ask = lease_repo_hold(w->tx, node_id, tenants, attempts, r->ntracks);
    return h;
}

static enum errc hold_told(struct report *r, struct db_ask *ask, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_told_many(r->w->tx, ask, &rows, r->ntracks, e));
    for (size_t i = 0; i < rows.n; i++) {
        const struct held *h = (const struct held *)rows.items + i;
        struct track *t = report_track(r, h->tenant_id, h->attempt_id, false);
        ASSERT(t);
        t->h = h;
        t->state = h->state;
        t->live = h->live;
        t->job_state = name_index(job_state_names, h->job_state);
    }
    return ERR_OK;
}

/* Only where something does not succeed, or a success is found to be none. */
static enum errc read_wishes(struct report *r, const struct lease_item *items, size_t n, struct err *e)
{
    struct uuid *tenants = ARENA_ARRAY(r->w->arena, struct uuid, n), *jobs = ARENA_ARRAY(r->w->arena, struct uuid, n);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const struct track *t = report_track(r, items[i].tenant_id, items[i].attempt_id, false);
        const int event = items[i].event;
        const bool is_bad = r->is_spoiled[i] || (event > LE_START && event != LE_SUCCEED && event != LE_CANCEL);
        if (is_bad && t->h && t->live) {
            tenants[k] = t->tenant_id;
            jobs[k++] = t->h->job_id;
        }
    }
    return lease_wishes(r->w->tx, tenants, jobs, k, &r->wishes, e);
}

static void event_of(struct report *r, struct audit_event *ev, enum audit_code code, const struct attempt_step *s)
{
    *ev = lease_step_event(r->w, code, s);
    audit_event_by_node(ev, r->node->node_id, r->node->zone);
}

static struct attempt_step step_of(const struct track *t)
{
    return (struct attempt_step){ .tenant_id = t->tenant_id, .attempt_id = t->attempt_id, .job_id = t->h->job_id,
                                  .node_id = t->h->node_id, .fence = t->h->fence, .slots = t->h->slots, .gpus = t->h->gpus,
                                  .takes_too = t->is_taken_here, .held_ms = t->held_ms };
}

static void take(struct track *t, const struct lease_item *it)
{
    t->is_taken_here = true;
    t->held_ms = it->held_ms;
    t->state = STR("STARTING");
    t->job_state = JOB_STARTING;
}

static void start(struct report *r, struct track *t, struct str endpoint)
{
    struct attempt_step *s = &r->starts[r->nstarts];
    *s = step_of(t);
    s->endpoint = endpoint;
    s->event = JE_START;
    s->job_state = STR("RUNNING");
    event_of(r, &r->start_events[r->nstarts], AUDIT_JOB_START, s);
    t->start = (int)r->nstarts++;
    t->is_started_here = true;
    t->state = STR("RUNNING");
    t->job_state = JOB_RUNNING;
}

static int64_t return_pause_ms(const struct held *h)
{
    return h->ran_ms >= RAN_LONG_MS ? RETURN_PAUSE_MS : retry_pause_ms(h->attempt_id, h->requeue_count, RETURN_PAUSE_MAX_MS);
}

static enum retry_cause cause_of(const struct report *r, const struct lease_item *it, size_t i)
{
    return r->is_spoiled[i] ? RC_OUTPUT : it->event == LE_FAIL ? RC_PROGRAM : it->event == LE_OOM ? RC_MEMORY
         : it->event == LE_TIMEOUT ? RC_TIMEOUT : RC_NONE;
}

static struct retry_verdict again_of(const struct track *t, const struct wish *own, enum retry_cause cause)
{
    if (cause == RC_NONE || !own || t->h->cancel_requested)
        return (struct retry_verdict){ 0 };     /* who says nothing is tried again where machines fail, which they do not report */
    const struct retry_facts f = { .policy = &own->policy, .cause = cause, .attempt_id = t->attempt_id,
                                   .failures = own->failures };
    return retry_judge(&f);
}

bool report_end(struct report *r, struct track *t, const struct lease_item *it, size_t i)
{
    const int event = r->is_spoiled[i] ? LE_FAIL : it->event;
    const struct str message = r->is_spoiled[i] ? r->spoiled_why[i] : it->message;
    const struct outcome *o = &outcomes[event];
    const enum retry_cause cause = cause_of(r, it, i);
    const struct wish *own = lease_wish_find(&r->wishes, t->tenant_id, t->h->job_id);
    const struct retry_verdict again = again_of(t, own, cause);
    bool is_back = event == LE_RETURN || event == LE_PREEMPT;
    enum job_event_kind je = is_back && t->h->cancel_requested ? JE_CANCEL : again.is_again ? JE_RETRY : o->job_event;
    if (own && own->suspend_requested && job_event_goal(je) == JOB_PENDING)
        je = JE_SUSPEND;
    int next = job_state_next((enum job_state)t->job_state, je);
    if (next < 0 && t->job_state == JOB_STARTING) {
        start(r, t, STR_NULL);
        next = job_state_next(JOB_RUNNING, je);
    }
    if (next < 0)
        return false;
    struct attempt_step *s = &r->ends[r->nends];
    *s = step_of(t);
    s->event = je;
    s->attempt_state = str_c(o->attempt_state);
    s->job_state = str_c(job_state_names[next]);
    s->reason = next == JOB_SUSPENDED ? lease_wish_reason(own)
              : str_c(job_reason_names[next != JOB_PENDING ? JR_NONE : event == LE_PREEMPT ? JR_RESOURCES : JR_BACKOFF]);
    s->message = next == JOB_SUSPENDED ? lease_wish_says(own) : message.len ? message : str_c(o->message);
    s->is_requeue = !job_state_is_terminal((enum job_state)next);
    s->delay_ms = next != JOB_PENDING ? 0 : again.is_again ? again.delay_ms : event == LE_RETURN ? return_pause_ms(t->h) : 0;
    s->cause = cause == RC_NONE ? STR("") : str_c(retry_cause_names[cause]);
    s->has_exit_code = it->has_exit_code;
    s->exit_code = it->exit_code;
    s->has_cpu_mj = it->has_cpu_mj && !t->h->rank;      /* of another rank: what the first took is not known */
    s->cpu_mj = it->cpu_mj;
    s->has_gpu_mj = it->has_gpu_mj && !t->h->rank;
    s->gpu_mj = it->gpu_mj;
    s->result = it->result.text;
    s->started_now = t->is_started_here;
    if (t->start >= 0)
        r->starts[t->start].ends_too = true;
    event_of(r, &r->end_events[r->nends],
             next == JOB_PENDING ? AUDIT_JOB_REQUEUE : next == JOB_SUSPENDED ? AUDIT_JOB_SUSPEND : AUDIT_JOB_FINISH, s);
    if (it->has_exit_code)
        audit_event_detail(&r->end_events[r->nends], AUDIT_D_INT("exit_code", it->exit_code));
    if (again.is_again)
        audit_event_detail(&r->end_events[r->nends], AUDIT_D_STR("cause", s->cause));
    r->nends++;
    t->live = false;
    t->state = s->attempt_state;
    t->job_state = next;
    return true;
}

/* An end that was reported before, in the same words, is no news; anything else about an ended attempt is stale. */
static bool is_repeat(const struct track *t, int event)
{
    if (event <= LE_START || !str_eq_c(t->state, outcomes[event].attempt_state))
        return false;
    if (event == LE_RETURN || event == LE_PREEMPT)
        return true;
    if (t->h->job_fence != t->h->fence || t->job_state == JOB_PENDING || t->job_state == JOB_SUSPENDED)
        return event != LE_SUCCEED && event != LE_CANCEL;       /* a failure that was followed by another attempt */
    return t->h->job_fence == t->h->fence && t->job_state == job_state_next(JOB_RUNNING, outcomes[event].job_event);
}

/* True: ok. *ret_new: it is news, so its logs and metrics are taken too. */
static bool judge(struct report *r, struct track *t, const struct lease_item *it, size_t i, bool *ret_new)
{
    *ret_new = false;
    if (!t->h || t->h->fence != it->fence)
        return false;
    if (t->h->rank)
        return report_judge_member(r, t, it, i, ret_new);
    if (!t->live)
        return is_repeat(t, it->event);
    if (t->h->job_fence != it->fence)
        return false;
    if (str_eq_c(t->state, "LEASED"))
        take(t, it);
    *ret_new = true;
    t->is_renewed = true;
    if (it->event == LE_START && str_eq_c(t->state, "STARTING"))
        start(r, t, it->endpoint);
    if (it->event <= LE_START)
        return true;
    return report_end(r, t, it, i);
}

static struct str stream_of(struct str s)
{
    return str_eq_c(s, "stderr") || str_eq_c(s, "system") ? s : STR("stdout");
}

/* Lines of ranks behind the first say whose they are. */
static struct str line_of(const struct report *r, const struct track *t, struct str text)
{
    return t->h->rank ? str_fmt(r->w->arena, "[rank %ld] %.*s", (long)t->h->rank, STR_ARG(text)) : text;
}

static void write_lines(struct report *r, const struct lease_item *items, const bool *is_taken, size_t n)
{
    size_t nl = 0, nm = 0;
    for (size_t i = 0; i < n; i++) {
        nl += is_taken[i] ? items[i].logs.n : 0;
        nm += is_taken[i] ? items[i].metrics.n : 0;
    }
    struct log_line *logs = ARENA_ARRAY(r->w->arena, struct log_line, nl + 1);
    struct metric_line *metrics = ARENA_ARRAY(r->w->arena, struct metric_line, nm + 1);
    nl = nm = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_taken[i])
            continue;
        const struct track *t = report_track(r, items[i].tenant_id, items[i].attempt_id, false);
        const struct lease_log *l = items[i].logs.items;
        const struct lease_metric *m = items[i].metrics.items;
        for (size_t j = 0; j < items[i].logs.n; j++)
            logs[nl++] = (struct log_line){ t->tenant_id, t->h->job_id, t->h->fence, stream_of(l[j].stream),
                                            line_of(r, t, l[j].text) };
        for (size_t j = 0; !t->h->rank && j < items[i].metrics.n; j++)
            metrics[nm++] = (struct metric_line){ t->tenant_id, t->h->job_id, t->h->fence, m[j].step, m[j].values.text };
    }
    lease_repo_logs(r->w->tx, logs, nl);
    lease_repo_metrics(r->w->tx, metrics, nm);
}

/* A renewal that is the first word about its lease is a TAKE. */
static enum errc write_renewals(struct report *r, struct err *e)
{
    struct uuid *tenants = ARENA_ARRAY(r->w->arena, struct uuid, r->ntracks), *attempts = ARENA_ARRAY(r->w->arena, struct uuid, r->ntracks);
    size_t k = 0;
    for (size_t i = 0; i < r->ntracks; i++) {
        const struct track *t = &r->tracks[i];
        if (!t->is_renewed || !t->live || t->is_started_here || t->h->rank)
            continue;
        if (t->is_taken_here) {
            r->takes[r->ntakes] = step_of(t);
            r->takes[r->ntakes].takes_too = false;
            r->takes[r->ntakes++].event = JE_TAKE;
            continue;
        }
        tenants[k] = t->tenant_id;
        attempts[k++] = t->attempt_id;
    }
    lease_repo_renew(r->w->tx, r->node->node_id, tenants, attempts, k, r->lease_ms);
    return lease_repo_take(r->w->tx, r->takes, r->ntakes, r->lease_ms, e);
}

static void write_wakes(struct report *r, const struct lease_item *items, const bool *is_taken, size_t n)
{
    struct lease_wakes k = { .jobs = ARENA_ARRAY(r->w->arena, struct uuid, n + 1), .scheduler = r->nends > 0 };
    for (size_t i = 0; i < r->ntracks; i++) {
        struct track *t = &r->tracks[i];
        bool is_news = t->h && (t->is_taken_here || t->is_started_here || (t->is_renewed && !t->live));
        for (size_t j = 0; !is_news && t->h && n <= 64 && j < n; j++)
            is_news = is_taken[j] && (items[j].logs.n || items[j].metrics.n) && uuid_eq(items[j].attempt_id, t->attempt_id);
        if (is_news)
            k.jobs[k.njobs++] = t->h->job_id;
    }
    lease_wake_after_commit(r->w, &k);
}

/* A start that comes with its end is written by the end alone. */
static void drop_fused_starts(struct report *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->nstarts; i++)
        if (!r->starts[i].ends_too) {
            r->starts[kept] = r->starts[i];
            r->start_events[kept++] = r->start_events[i];
        }
    r->nstarts = kept;
}

enum errc lease_report(struct work *w, const struct node *node, struct lease_hold *hold, const struct lease_item *items, size_t n,
                       int64_t lease_ms, struct slice *ret, struct err *e)
{
    struct arena *a = w->arena;
    struct lease_hold *h = hold ? hold : lease_hold_ask(w, node->node_id, items, n);
    struct report r = h->report;
    r.node = node;
    r.lease_ms = lease_ms;
    struct lease_verdict *out = ARENA_ARRAY(a, struct lease_verdict, n + 1);
    *ret = (struct slice){ out, n };
    if (!n)
        return ERR_OK;
    TRY(hold_told(&r, h->ask, e));
    TRY(report_check_outputs(&r, items, n, e));
    TRY(read_wishes(&r, items, n, e));
    r.takes = ARENA_ARRAY(a, struct attempt_step, r.ntracks);
    r.starts = ARENA_ARRAY(a, struct attempt_step, r.ntracks);
    r.ends = ARENA_ARRAY(a, struct attempt_step, r.ntracks);
    r.start_events = ARENA_ARRAY(a, struct audit_event, r.ntracks);
    r.end_events = ARENA_ARRAY(a, struct audit_event, r.ntracks);
    bool *is_taken = ARENA_ARRAY(a, bool, n);
    for (size_t i = 0; i < n; i++) {
        struct track *t = report_track(&r, items[i].tenant_id, items[i].attempt_id, false);
        bool ok = judge(&r, t, &items[i], i, &is_taken[i]);
        out[i] = (struct lease_verdict){ .attempt_id = items[i].attempt_id, .verdict = ok ? STR("ok") : STR("stale") };
        if (ok && t->live) {
            out[i].cancel = t->h->cancel_requested;
            out[i].lease_ms = lease_ms;
            out[i].preempt_ms = t->h->preempt_ms;
            out[i].reason = t->h->evict_why;
        }
        is_taken[i] &= ok;
        metrics_inc(M_lease_renewals_total, ok ? "ok" : "stale");
    }
    drop_fused_starts(&r);
    TRY(lease_steps_encode(w, r.starts, r.start_events, r.nstarts, e));
    TRY(lease_steps_encode(w, r.ends, r.end_events, r.nends, e));
    TRY(write_renewals(&r, e));
    report_write_members(&r);
    TRY(lease_repo_start(w->tx, r.starts, r.nstarts, lease_ms, e));
    TRY(lease_repo_end(w->tx, r.ends, r.nends, e));
    report_write_outputs(&r, items, is_taken, n);
    write_lines(&r, items, is_taken, n);
    report_write_idle(&r, items, is_taken, n);
    lease_repo_give_back(w->tx, r.ends, r.nends);
    write_wakes(&r, items, is_taken, n);
    for (size_t i = 0; i < r.nends; i++)
        if (!r.ends[i].is_requeue)
            metrics_inc(M_finished_jobs_total, job_state_names[name_index(job_state_names, r.ends[i].job_state)]);
    return ERR_OK;
}
