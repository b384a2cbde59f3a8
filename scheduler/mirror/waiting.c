/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c - the jobs in one array with an index by id. A job that left stays as a grave for two statements. */
#include "scheduler/mirror/waiting_int.h"
#include "core/base/assert.h"
#include "scheduler/jobs/job_state.h"
#include "scheduler/plan/askset.h"

#include <stdlib.h>

enum { FIRST = 1024 };

struct waiters *waiting_new(void)
{
    struct waiters *m = calloc(1, sizeof *m);
    ASSERT(m);
    m->part = WAITING_PART;
    const struct uuid u = uuid_v7(0);
    memcpy(&m->writer, u.b + 8, sizeof m->writer);
    return m;
}

static void drop_jobs(struct waiters *m)
{
    free(m->items);
    free(m->index);
    m->items = NULL;
    m->index = NULL;
    m->n = m->cap = m->first_free = 0;
    m->nindex = m->njobs = m->ngone = m->ndoubts = 0;
}

void waiting_forget(struct waiters *m)
{
    if (!m)
        return;
    waiting_forget_classes(m);
    drop_jobs(m);
    free(m->last);
    free(m->epoch);
    free(m->sweep);
    m->last = m->epoch = m->sweep = NULL;
    m->is_whole = m->is_off = false;
    m->after = (struct waiting_key){ 0 };
    m->from = (struct waiting_from){ 0 };
}

void waiting_free(struct waiters *m)
{
    if (!m)
        return;
    waiting_forget(m);
    waiting_bury(m);
    free(m->groups);
    free(m->gone);
    free(m->doubts);
    free(m);
}

size_t waiting_bytes(const struct waiters *m)
{
    size_t runs = 0;
    for (size_t i = 0; i < m->ngroups; i++)
        runs += m->groups[i]->jobs.bytes;
    return m->bytes + runs + m->cap * sizeof *m->items + m->nindex * sizeof *m->index;
}

struct waiting_count waiting_counted(const struct waiters *m)
{
    struct waiting_count c = m->count;
    c.jobs = m->njobs;
    c.bytes = waiting_bytes(m);
    return c;
}

bool waiting_is_whole(const struct waiters *m)
{
    return m->is_whole;
}

bool waiting_is_begun(const struct waiters *m)
{
    return m->last;
}

int64_t waiting_writer(const struct waiters *m)
{
    return m ? m->writer : 0;
}

void waiting_lead(struct waiters *m)
{
    if (m && m->is_off)
        waiting_forget(m);
}

uint64_t waiting_said(struct str reason, struct str message)
{
    return str_hash(reason) * 0xff51afd7ed558ccdu ^ str_hash(message);
}

static size_t home_of(const struct waiters *m, struct uuid job_id)
{
    uint64_t h;
    memcpy(&h, job_id.b + 8, sizeof h);
    h *= 0xff51afd7ed558ccdu;
    return (size_t)(h >> 20) & (m->nindex - 1);
}

/* Where it stands in the index, or the empty place where it would. */
static size_t place_of(const struct waiters *m, struct uuid tenant_id, struct uuid job_id)
{
    size_t at = home_of(m, job_id);
    while (m->index[at]) {
        const struct entry *x = &m->items[m->index[at]];
        if (uuid_eq(x->job_id, job_id) && uuid_eq(x->tenant_id, tenant_id))
            break;
        at = (at + 1) & (m->nindex - 1);
    }
    return at;
}

uint32_t waiting_find(const struct waiters *m, struct uuid tenant_id, struct uuid job_id)
{
    return m->nindex ? m->index[place_of(m, tenant_id, job_id)] : 0;
}

static void grow(struct waiters *m)
{
    m->cap = m->cap ? m->cap + m->cap / 2 : FIRST;
    m->items = list_alloc(m->items, m->cap, sizeof *m->items);
    if (!m->n)
        m->items[m->n++] = (struct entry){ 0 };
    if (m->nindex > m->cap + m->cap / 3)
        return;
    m->nindex = m->nindex ? 2 * m->nindex : 2 * FIRST;
    m->index = index_alloc(m->index, m->nindex);
    for (uint32_t i = 1; i < m->n; i++)
        if (m->items[i].is_used)
            m->index[place_of(m, m->items[i].tenant_id, m->items[i].job_id)] = i;
}

static uint32_t entry_new(struct waiters *m, struct uuid tenant_id, struct uuid job_id)
{
    if (!m->first_free && m->n == m->cap)
        grow(m);
    const uint32_t i = m->first_free ? m->first_free : m->n++;
    if (m->first_free)
        m->first_free = m->items[i].next_free;
    m->items[i] = (struct entry){ .tenant_id = tenant_id, .job_id = job_id, .version = -1, .is_used = true };
    m->index[place_of(m, tenant_id, job_id)] = i;
    return i;
}

/* Those behind it move up, so that no look stops at its place. */
static void entry_drop(struct waiters *m, uint32_t i)
{
    size_t hole = place_of(m, m->items[i].tenant_id, m->items[i].job_id);
    ASSERT(m->index[hole] == i);
    for (size_t at = (hole + 1) & (m->nindex - 1); m->index[at]; at = (at + 1) & (m->nindex - 1)) {
        const size_t home = home_of(m, m->items[m->index[at]].job_id);
        if (((at - home) & (m->nindex - 1)) < ((at - hole) & (m->nindex - 1)))
            continue;
        m->index[hole] = m->index[at];
        hole = at;
    }
    m->index[hole] = 0;
    m->items[i].is_used = false;
    m->items[i].next_free = m->first_free;
    m->first_free = i;
}

static int by_turn(const void *ctx, uint32_t a, uint32_t b)
{
    const struct entry *x = (const struct entry *)ctx + a, *y = (const struct entry *)ctx + b;
    return x->priority != y->priority ? (x->priority > y->priority ? -1 : 1) : uuid_cmp(x->job_id, y->job_id);
}

static void leave(struct waiters *m, uint32_t i)
{
    struct wish *w = m->items[i].wish;
    if (!w)
        return;
    runs_remove(&w->group->jobs, i, by_turn, m->items);
    m->items[i].wish = NULL;
    m->njobs--;
    waiting_unwish(m, w);
}

static void bury_job(struct waiters *m, uint32_t i)
{
    if (m->ngone == m->capgone)
        m->gone = list_alloc(m->gone, m->capgone = m->capgone ? 2 * m->capgone : FIRST, sizeof *m->gone);
    m->gone[m->ngone++] = i;
}

uint8_t waiting_reason(struct str s)
{
    for (uint8_t i = 0; i < JR_COUNT; i++)
        if (str_eq_c(s, job_reason_names[i]))
            return i;
    return JR_NONE;
}

static void apply_one(struct waiters *m, const struct waiting_fact *f)
{
    uint32_t i = waiting_find(m, f->j.tenant_id, f->j.job_id);
    if (i && (m->items[i].version > f->j.version || (m->items[i].version == f->j.version && m->items[i].seen > f->seen)))
        return;
    if (!i)
        i = entry_new(m, f->j.tenant_id, f->j.job_id);
    struct entry *x = &m->items[i];
    const bool was_ready = x->wish, moves = !was_ready || !f->is_ready || x->priority != f->j.priority ||
                                            x->wish->job.shape != f->j.shape || !waiting_wish_same(x->wish, &f->j);
    const bool is_new = x->version < 0;
    if (moves)
        leave(m, i);
    x->priority = f->j.priority;
    x->version = f->j.version;
    x->fence = f->j.fence;
    x->submitted_us = f->j.submitted_at.us;
    x->max_runtime_s = f->j.max_runtime_s;
    x->seen = f->seen;
    x->said = waiting_said(f->j.reason, f->j.message);
    x->reason = waiting_reason(f->j.reason);
    x->may_go = f->may_go;
    if (moves && f->is_ready) {
        x->wish = waiting_wish(m, &f->j);
        runs_add(&x->wish->group->jobs, i, by_turn, m->items);
        m->njobs++;
    }
    if (!f->is_ready && (was_ready || is_new))
        bury_job(m, i);
}

void waiting_apply(struct waiters *m, const struct waiting_fact *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        apply_one(m, &f[i]);
}

int64_t waiting_begin(struct waiters *m)
{
    size_t kept = 0;
    waiting_bury(m);
    m->statement++;
    for (size_t k = 0; k < m->ngone; k++) {
        const uint32_t i = m->gone[k];
        const struct entry *x = &m->items[i];
        if (!x->is_used || x->wish)
            continue;
        if (x->seen + 2 > m->statement)
            m->gone[kept++] = i;
        else
            entry_drop(m, i);
    }
    m->ngone = kept;
    return m->statement;
}

static bool same_job(const struct entry *x, const struct waiting_fact *f)
{
    return uuid_eq(x->tenant_id, f->j.tenant_id) && uuid_eq(x->job_id, f->j.job_id) && x->version == f->j.version &&
           x->priority == f->j.priority && x->fence == f->j.fence && x->submitted_us == f->j.submitted_at.us &&
           x->max_runtime_s == f->j.max_runtime_s && x->may_go == f->may_go && x->wish->job.shape == f->j.shape &&
           waiting_wish_same(x->wish, &f->j);
}

/* A walk over all jobs in order. */
struct walk { size_t group; struct runs_at at; };

static struct walk walk_from(struct waiters *m, const struct waiting_key *after)
{
    struct walk k = { waiting_group_at(m, after->tenant_id, after->shape), { 0, 0 } };
    if (k.group == m->ngroups || !uuid_eq(m->groups[k.group]->tenant_id, after->tenant_id) ||
        m->groups[k.group]->shape != after->shape)
        return k;
    const struct runs *r = &m->groups[k.group]->jobs;
    uint32_t i;
    m->items[0].priority = after->priority;
    m->items[0].job_id = after->job_id;
    k.at = runs_find(r, 0, by_turn, m->items);
    struct runs_at next = k.at;
    if (runs_next(r, &next, &i) && m->items[i].priority == after->priority && uuid_eq(m->items[i].job_id, after->job_id))
        k.at = next;
    return k;
}

static struct entry *walk_next(struct waiters *m, struct walk *k)
{
    uint32_t i;
    for (; k->group < m->ngroups; *k = (struct walk){ k->group + 1, { 0, 0 } })
        if (runs_next(&m->groups[k->group]->jobs, &k->at, &i))
            return &m->items[i];
    return NULL;
}

bool waiting_same(struct waiters *m, const struct waiting_fact *f, size_t n, const struct waiting_key *after, bool is_last)
{
    struct walk k = walk_from(m, after);
    for (size_t i = 0; i < n; i++) {
        struct entry *x = walk_next(m, &k);
        if (!x || !same_job(x, &f[i]))
            return false;
        x->said = waiting_said(f[i].j.reason, f[i].j.message);
        x->reason = waiting_reason(f[i].j.reason);
    }
    return !is_last || !walk_next(m, &k);
}

static void show(const struct entry *x, int64_t depth, struct snap_job *ret)
{
    *ret = x->wish->job;
    ret->job_id = x->job_id;
    ret->reason = str_c(job_reason_names[x->reason]);
    ret->said = x->said;
    ret->priority = x->priority;
    ret->version = x->version;
    ret->fence = x->fence;
    ret->submitted_at.us = x->submitted_us;
    ret->max_runtime_s = x->max_runtime_s;
    ret->depth = depth;
}

void waiting_front(const struct waiters *m, int64_t limit, struct arena *a, struct slice *ret)
{
    const size_t depth = 1 + (size_t)(limit - 1) / (m->nshapes ? m->nshapes : 1);
    size_t most = 0, n = 0;
    for (size_t g = 0; g < m->ngroups; g++)
        most += m->groups[g]->n < depth ? m->groups[g]->n : depth;
    if (most > WAITING_MAX)
        most = WAITING_MAX;
    struct snap_job *jobs = ARENA_ARRAY(a, struct snap_job, most + 1);
    for (size_t g = 0; g < m->ngroups && n < most; g++) {
        const struct runs *r = &m->groups[g]->jobs;
        struct runs_at at = { 0, 0 };
        uint32_t i;
        for (size_t k = 0; k < depth && n < most && runs_next(r, &at, &i);) {
            if (!m->items[i].may_go)
                continue;
            show(&m->items[i], (int64_t)depth, &jobs[n++]);
            k++;
        }
    }
    *ret = (struct slice){ jobs, n };
}
