/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c - taking and checking leases, and what all moves of attempts share. */
#include "scheduler/engine/lease.h"
#include "core/db/tx.h"
#include "core/redis/wake.h"
#include "core/table/metrics.h"
#include "core/wire/type_run.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_wake.h"
#include "scheduler/engine/lease_member.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/engine/node.h"
#include "tenants/access/actor.h"

struct audit_event lease_step_event(const struct work *w, enum audit_code code, const struct attempt_step *s)
{
    struct audit_event ev = audit_event_of(w, code);
    ev.tenant_id = s->tenant_id;
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = s->job_id;
    audit_event_detail(&ev, AUDIT_D_INT("fence", s->fence));
    if (s->job_state.ptr)
        audit_event_detail(&ev, AUDIT_D_STR("state", s->job_state));
    return ev;
}

enum errc lease_steps_encode(struct work *w, struct attempt_step *steps, const struct audit_event *evs, size_t n, struct err *e)
{
    struct audit_rows rows;
    if (!n)
        return ERR_OK;
    TRY(audit_encode_many(w->arena, evs, n, &rows, e));
    for (size_t i = 0; i < n; i++) {
        steps[i].event_id = rows.event_ids[i];
        steps[i].audit = rows.bodies[i];
    }
    return ERR_OK;
}

void lease_wake(const struct lease_wakes *k)
{
    char text[WAKE_JOB_TEXT];
    if (k->scheduler)
        wake_publish(k->redis, STR(WAKE_SCHEDULER), STR("1"));
    for (size_t i = 0, n; i < k->njobs; i += n)
        wake_publish(k->redis, job_wake_channel(k->jobs + i, k->njobs - i, text, &n), STR("1"));
}

static void wake_now(void *ctx)
{
    lease_wake(ctx);
}

void lease_wake_after_commit(struct work *w, const struct lease_wakes *k)
{
    struct lease_wakes *kept = ARENA_NEW(w->arena, struct lease_wakes);
    *kept = *k;
    kept->redis = w->app->redis;
    db_after_commit(w->tx, wake_now, kept);
}

/* How many of the leases, in their order, fit into the slots that the worker says are free. */
static size_t fitting(const struct lease_grant *g, size_t n, int64_t free_slots)
{
    size_t k = 0;
    for (; k < n && g[k].slots <= free_slots; k++)
        free_slots -= g[k].slots;
    return k;
}

/* Does the spec name a shared image, as far as its text tells? Nearly none does, and the others ask nothing. */
static bool may_share(const struct lease_grant *g)
{
    static const char word[] = "\"" RUN_SHARED "sha256:";
    const struct job_type *t = job_type_find(g->kind);
    return t && t->traits & JT_PROGRAMS && memmem(g->spec.text.ptr, g->spec.text.len, word, sizeof word - 1);
}

static size_t deal(const struct slice *rows, const struct lease_grant *g, struct lease_input *to)
{
    const struct lease_input *all = rows->items;
    size_t m = 0;
    for (size_t r = 0; r < rows->n; r++)
        if (uuid_eq(all[r].job_id, g->job_id) && uuid_eq(all[r].tenant_id, g->tenant_id))
            to[m++] = all[r];
    return m;
}

/* Inputs come for all leases at once and are dealt out by job: an image that is another tenant's, then the job's own, of which
 * checkpoints are last. */
static enum errc take_inputs(struct work *w, struct lease_grant *g, size_t n, struct err *e)
{
    struct uuid *tenants = ARENA_ARRAY(w->arena, struct uuid, 2 * n), *jobs = ARENA_ARRAY(w->arena, struct uuid, 2 * n);
    struct slice rows = { 0 }, shared = { 0 };
    size_t k = 0, s = 0;
    for (size_t i = 0; i < n; i++) {
        const struct job_type *t = job_type_find(g[i].kind);
        if (t && t->reads) {
            tenants[k] = g[i].tenant_id;
            jobs[k++] = g[i].job_id;
        }
        if (may_share(&g[i])) {
            tenants[n + s] = g[i].tenant_id;
            jobs[n + s++] = g[i].job_id;
        }
    }
    if (!k)
        return ERR_OK;
    TRY(lease_repo_inputs(w->tx, tenants, jobs, k, &rows, e));
    if (s)
        TRY(lease_repo_shared(w->tx, tenants + n, jobs + n, s, &shared, e));
    for (size_t i = 0; i < n; i++) {
        struct lease_input *mine = ARENA_ARRAY(w->arena, struct lease_input, rows.n + shared.n + 1);
        size_t m = deal(&shared, &g[i], mine);
        m += deal(&rows, &g[i], mine + m);
        g[i].inputs = (struct slice){ mine, m };
    }
    return ERR_OK;
}

enum errc lease_take(struct work *w, const struct node *node, int64_t free_slots, int64_t max, int64_t lease_ms, struct slice *ret,
                     struct err *e)
{
    struct slice rows = { 0 };
    *ret = rows;
    if (free_slots <= 0 || max <= 0)
        return ERR_OK;
    TRY(lease_repo_takeable(w->tx, node->node_id, max, &rows, e));
    struct lease_grant *g = rows.items;
    size_t n = fitting(g, rows.n, free_slots);
    if (!n)
        return ERR_OK;
    struct attempt_step *steps = ARENA_ARRAY(w->arena, struct attempt_step, n);
    for (size_t i = 0; i < n; i++)
        steps[i] = (struct attempt_step){ .tenant_id = g[i].tenant_id, .attempt_id = g[i].attempt_id, .job_id = g[i].job_id,
                                          .node_id = node->node_id, .fence = g[i].fence, .event = JE_TAKE };
    TRY(lease_repo_take(w->tx, steps, n, lease_ms, e));
    TRY(take_inputs(w, g, n, e));
    for (size_t i = 0; i < n; i++)
        g[i].lease_ms = lease_ms;
    *ret = (struct slice){ g, n };
    return ERR_OK;
}

int64_t lease_late_ms(int64_t lease_ms)
{
    return lease_ms * 3 / 4;
}

/* One that found no slot, from the n-th on. */
static bool has_waited(const struct lease_grant *g, size_t all, size_t n, int64_t lease_ms)
{
    bool has = false;
    for (size_t i = n; i < all; i++)
        has |= !g[i].rank && g[i].nodes == 1 && g[i].lease_ms < lease_ms - LEASE_WAIT_MS;
    return has;
}

struct db_ask *lease_offer_ask(struct work *w, struct uuid node_id, struct uuid after, int64_t max)
{
    return lease_repo_newer(w->tx, node_id, after, max);
}

enum errc lease_offer_told(struct work *w, const struct node *node, const struct lease_offer *o, struct slice *ret,
                           bool *ret_left, struct err *e)
{
    struct slice rows = { 0 };
    *ret = rows;
    *ret_left = false;
    if (o->max <= 0)
        return ERR_OK;
    TRY(o->is_all ? lease_repo_waiting(w->tx, node->node_id, o->after, o->max, lease_late_ms(o->lease_ms), &rows, e)
                  : db_told_many(w->tx, o->ask, &rows, (size_t)o->max, e));
    struct lease_grant *g = rows.items;
    size_t n = fitting(g, rows.n, o->free_slots);
    *ret_left = rows.n > n || (int64_t)rows.n == o->max;
    for (size_t i = 0; i < rows.n && n; i++)
        if (!g[i].rank && g[i].lease_ms < lease_late_ms(o->lease_ms)) {
            TRY(lease_take(w, node, o->free_slots, o->max, o->lease_ms, ret, e));
            *ret_left = ret->n > 0;
            return ERR_OK;
        }
    *ret = (struct slice){ g, n };
    if (has_waited(g, rows.n, n, o->lease_ms))
        TRY(lease_back(w, node, n && uuid_cmp(g[n - 1].attempt_id, o->after) > 0 ? g[n - 1].attempt_id : o->after, e));
    return n ? take_inputs(w, g, n, e) : ERR_OK;
}

enum errc lease_offer(struct work *w, const struct node *node, struct uuid after, int64_t free_slots, int64_t max,
                      int64_t lease_ms, struct slice *ret, bool *ret_left, struct err *e)
{
    return lease_offer_told(w, node, &(struct lease_offer){ after, free_slots, max, lease_ms, NULL, true }, ret, ret_left, e);
}

struct db_ask *lease_notices_ask(struct work *w, struct uuid node_id, struct slice told)
{
    return lease_repo_notices(w->tx, node_id, told);
}

enum errc lease_notices_told(struct work *w, struct db_ask *ask, struct slice *ret, struct err *e)
{
    return db_told_many(w->tx, ask, ret, LEASE_NOTICES_MAX, e);
}

enum errc lease_check(struct work *w, struct uuid tenant_id, struct uuid attempt_id, int64_t fence, struct str identity,
                      struct lease *ret, struct err *e)
{
    bool found = false;
    TRY(lease_repo_check(w->tx, tenant_id, attempt_id, fence, identity, ret, &found, e));
    if (!found)
        TRY(lease_member_check(w->tx, tenant_id, attempt_id, fence, identity, ret, &found, e));
    return found ? ERR_OK : FAIL(e, STALE, "This lease is not held by this machine, or no longer");
}

enum errc lease_had(struct work *w, struct uuid tenant_id, struct uuid job_id, struct str identity, struct lease *ret,
                    struct err *e)
{
    bool found = false;
    TRY(lease_repo_had(w->tx, tenant_id, job_id, identity, ret, &found, e));
    return found ? ERR_OK : FAIL(e, NOT_FOUND, "This machine had no lease of such a job");
}
