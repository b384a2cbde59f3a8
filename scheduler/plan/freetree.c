/* SPDX-License-Identifier: Apache-2.0 */
/* freetree.c - a heap-shaped array: node i has the children 2i and 2i + 1, the machines are the last `leaves` nodes. A place
 * without a machine has no group, so nothing fits there. */
#include "scheduler/plan/freetree.h"
#include "core/base/assert.h"
#include "scheduler/plan/askset.h"

#include <stdlib.h>
#include <string.h>

struct bound {
    int64_t cpu_milli, memory_bytes;
    int32_t level, whole;               /* most thousandths of one device, most whole devices */
    int64_t slots;
    struct groups groups;
};

struct freetree {
    struct bound *nodes;                /* 2 * leaves, from 1 */
    size_t leaves, n;
};

struct freetree *freetree_new(void)
{
    struct freetree *t = calloc(1, sizeof *t);
    ASSERT(t);
    return t;
}

void freetree_free(struct freetree *t)
{
    if (t)
        free(t->nodes);
    free(t);
}

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct bound both(const struct bound *a, const struct bound *b)
{
    struct bound r = { .cpu_milli = more(a->cpu_milli, b->cpu_milli), .memory_bytes = more(a->memory_bytes, b->memory_bytes),
                       .level = (int32_t)more(a->level, b->level), .whole = (int32_t)more(a->whole, b->whole),
                       .slots = more(a->slots, b->slots) };
    for (size_t i = 0; i < sizeof r.groups.w / sizeof *r.groups.w; i++)
        r.groups.w[i] = a->groups.w[i] | b->groups.w[i];
    return r;
}

static void grow(struct freetree *t)
{
    size_t leaves = t->leaves ? t->leaves * 2 : 16;
    struct bound *nodes = list_alloc(NULL, leaves * 2, sizeof *nodes);
    memset(nodes, 0, leaves * 2 * sizeof *nodes);
    for (size_t i = 0; i < t->n; i++)
        nodes[leaves + i] = t->nodes[t->leaves + i];
    for (size_t i = leaves - 1; i; i--)
        nodes[i] = both(&nodes[2 * i], &nodes[2 * i + 1]);
    free(t->nodes);
    t->nodes = nodes;
    t->leaves = leaves;
}

void freetree_set(struct freetree *t, uint32_t machine, const struct room *free)
{
    ASSERT(machine <= t->n);
    if (machine == t->leaves)
        grow(t);
    t->n += machine == t->n;
    struct bound b = { .cpu_milli = free->cpu_milli, .memory_bytes = free->memory_bytes, .slots = free->slots };
    for (int i = 0; i < free->gpus; i++) {
        b.level = free->milli[i] > b.level ? free->milli[i] : b.level;
        b.whole += free->milli[i] == GPU_MILLI;
    }
    groups_add(&b.groups, free->group);
    size_t at = t->leaves + machine;
    while (memcmp(&t->nodes[at], &b, sizeof b) != 0) {
        t->nodes[at] = b;
        if (at == 1)
            return;
        at /= 2;
        b = both(&t->nodes[2 * at], &t->nodes[2 * at + 1]);
    }
}

static bool promises(const struct bound *b, const struct ask *a)
{
    if (b->cpu_milli < a->cpu_milli || b->memory_bytes < a->memory_bytes || b->slots < a->slots)
        return false;
    if (a->gpu_milli == GPU_MILLI ? b->whole < a->gpus : b->level < a->gpu_milli)
        return false;
    uint64_t common = 0;
    for (size_t i = 0; i < sizeof a->groups.w / sizeof *a->groups.w; i++)
        common |= a->groups.w[i] & b->groups.w[i];
    return common != 0;
}

uint32_t freetree_next(const struct freetree *t, const struct ask *a, uint32_t from)
{
    if (from >= t->n)
        return FREETREE_NONE;
    size_t at = t->leaves + from;
    for (;;) {
        if (!promises(&t->nodes[at], a)) {              /* over to the next branch on the right, as high as it begins there */
            at++;
            if ((at & (at - 1)) == 0)
                return FREETREE_NONE;                   /* past the last of its level */
            while (!(at & 1))
                at /= 2;
            continue;
        }
        if (at >= t->leaves)
            return (uint32_t)(at - t->leaves);
        at *= 2;
    }
}
