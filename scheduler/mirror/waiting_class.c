/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_class.c - what waiting jobs ask for, each once; groups in an array in their order. A shape is a number made of
 * what is asked for (job_shape), so a group has one wish but for jobs that an older function numbered. */
#include "scheduler/mirror/waiting_int.h"
#include "core/base/assert.h"
#include "scheduler/plan/askset.h"

#include <stdlib.h>

enum { FIRST = 64 };

static int group_cmp(const struct group *g, struct uuid tenant_id, int64_t shape)
{
    const int c = uuid_cmp(g->tenant_id, tenant_id);
    return c ? c : (g->shape > shape) - (g->shape < shape);
}

size_t waiting_group_at(const struct waiters *m, struct uuid tenant_id, int64_t shape)
{
    size_t low = 0, high = m->ngroups;
    if (m->ngroups && group_cmp(m->groups[m->ngroups - 1], tenant_id, shape) < 0)
        return m->ngroups;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (group_cmp(m->groups[mid], tenant_id, shape) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct group *group_new(struct waiters *m, size_t at, const struct snap_job *j)
{
    if (m->ngroups == m->capgroups)
        m->groups = list_alloc(m->groups, m->capgroups = m->capgroups ? 2 * m->capgroups : FIRST, sizeof(struct group *));
    memmove(m->groups + at + 1, m->groups + at, (m->ngroups - at) * sizeof(struct group *));
    struct group *g = m->groups[at] = calloc(1, sizeof *g);
    ASSERT(g);
    g->tenant_id = j->tenant_id;
    g->shape = j->shape;
    m->ngroups++;
    m->bytes += sizeof *g + sizeof(struct group *);
    return g;
}

static struct group *group_of(struct waiters *m, const struct snap_job *j)
{
    const size_t at = waiting_group_at(m, j->tenant_id, j->shape);
    const bool is_known = at < m->ngroups && group_cmp(m->groups[at], j->tenant_id, j->shape) == 0;
    return is_known ? m->groups[at] : group_new(m, at, j);
}

bool waiting_wish_same(const struct wish *w, const struct snap_job *j)
{
    const struct snap_job *x = &w->job;
    return !x->zone.ptr == !j->zone.ptr && str_eq(x->zone, j->zone) && str_eq(x->pool, j->pool) && str_eq(x->queue, j->queue) &&
           uuid_eq(x->project_id, j->project_id) && str_eq(x->kind, j->kind) && str_eq(x->data_class, j->data_class) &&
           str_eq(x->cls, j->cls) && str_eq(x->gpu_models, j->gpu_models) && str_eq(x->engine, j->engine) &&
           x->slots == j->slots && x->gpus == j->gpus &&
           x->cpu_milli == j->cpu_milli && x->memory_bytes == j->memory_bytes && x->gpu_milli == j->gpu_milli &&
           x->nodes == j->nodes && x->nodes_max == j->nodes_max;
}

static char *put(char *at, struct str *s)
{
    if (!s->ptr)
        return at;
    memcpy(at, s->ptr, s->len);
    s->ptr = at;
    return at + s->len + 1;             /* the block is zeroed */
}

static struct wish *wish_new(struct waiters *m, struct group *g, const struct snap_job *j)
{
    struct str *texts[] = { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL };
    size_t bytes = sizeof(struct wish), n = 0;
    struct snap_job k = { .tenant_id = j->tenant_id, .zone = j->zone, .pool = j->pool, .queue = j->queue,
                          .project_id = j->project_id, .kind = j->kind, .data_class = j->data_class, .slots = j->slots,
                          .gpus = j->gpus, .cpu_milli = j->cpu_milli, .memory_bytes = j->memory_bytes,
                          .gpu_milli = j->gpu_milli, .nodes = j->nodes, .nodes_max = j->nodes_max, .cls = j->cls,
                          .gpu_models = j->gpu_models, .engine = j->engine, .shape = j->shape };
    texts[n++] = &k.zone;
    texts[n++] = &k.pool;
    texts[n++] = &k.queue;
    texts[n++] = &k.kind;
    texts[n++] = &k.data_class;
    texts[n++] = &k.cls;
    texts[n++] = &k.gpu_models;
    texts[n++] = &k.engine;
    for (size_t i = 0; i < n; i++)
        bytes += texts[i]->len + 1;
    struct wish *w = calloc(1, bytes);
    ASSERT(w);
    char *at = (char *)(w + 1);
    for (size_t i = 0; i < n; i++)
        at = put(at, texts[i]);
    *w = (struct wish){ .group = g, .next = g->wishes, .bytes = bytes, .job = k };
    g->wishes = w;
    m->bytes += bytes;
    return w;
}

struct wish *waiting_wish(struct waiters *m, const struct snap_job *j)
{
    struct group *g = group_of(m, j);
    struct wish *w = g->wishes;
    while (w && !waiting_wish_same(w, j))
        w = w->next;
    if (!w)
        w = wish_new(m, g, j);
    w->refs++;
    m->nshapes += !g->n++;
    return w;
}

static void drop_group(struct waiters *m, struct group *g)
{
    const size_t at = waiting_group_at(m, g->tenant_id, g->shape);
    ASSERT(at < m->ngroups && m->groups[at] == g);
    m->ngroups--;
    memmove(m->groups + at, m->groups + at + 1, (m->ngroups - at) * sizeof(struct group *));
    m->bytes -= sizeof *g + sizeof(struct group *);
    runs_release(&g->jobs);
    free(g);
}

/* A snapshot may still show its texts, so it goes with the next statement. */
void waiting_unwish(struct waiters *m, struct wish *w)
{
    struct group *g = w->group;
    m->nshapes -= !--g->n;
    if (!--w->refs) {
        struct wish **at = &g->wishes;
        while (*at != w)
            at = &(*at)->next;
        *at = w->next;
        w->next = m->dead;
        m->dead = w;
    }
    if (!g->n)
        drop_group(m, g);
}

void waiting_bury(struct waiters *m)
{
    while (m->dead) {
        struct wish *w = m->dead;
        m->dead = w->next;
        m->bytes -= w->bytes;
        free(w);
    }
}

/* What a snapshot may show stays until the next statement. */
void waiting_forget_classes(struct waiters *m)
{
    for (size_t i = 0; i < m->ngroups; i++) {
        struct group *g = m->groups[i];
        while (g->wishes) {
            struct wish *w = g->wishes;
            g->wishes = w->next;
            w->next = m->dead;
            m->dead = w;
        }
        m->bytes -= sizeof *g + sizeof(struct group *);
        runs_release(&g->jobs);
        free(g);
    }
    m->ngroups = m->nshapes = 0;
}
