/* SPDX-License-Identifier: Apache-2.0 */
/* cycle.c - breadth first over the edges sorted by who waits, so that each edge is looked at once. */
#include "scheduler/plan/cycle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int by_job(const void *a, const void *b)
{
    const struct wait_edge *x = a, *y = b;
    int c = uuid_cmp(x->job_id, y->job_id);
    return c ? c : uuid_cmp(x->on_job_id, y->on_job_id);
}

static size_t first_of(const struct wait_edge *e, size_t n, struct uuid job)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (uuid_cmp(e[mid].job_id, job) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

size_t cycle_find(const struct wait_edge *edges, size_t n, struct uuid job, struct arena *a, struct uuid **ret)
{
    struct wait_edge *e = ARENA_ARRAY(a, struct wait_edge, n + 1);
    size_t *queue = ARENA_ARRAY(a, size_t, n + 1), *from = ARENA_ARRAY(a, size_t, n + 1), head = 0, tail = 0;
    bool *is_seen = ARENA_ARRAY(a, bool, n + 1);        /* by the first edge of who waits: its edges stand in the queue */
    memcpy(e, edges, n * sizeof *e);
    qsort(e, n, sizeof *e, by_job);
    struct uuid at = job;
    size_t came_by = SIZE_MAX;          /* the edge that led to `at` */
    for (;;) {
        const size_t first = first_of(e, n, at);
        for (size_t i = first; i < n && uuid_eq(e[i].job_id, at) && !is_seen[first]; i++) {
            from[i] = came_by;
            queue[tail++] = i;
        }
        if (first < n && uuid_eq(e[first].job_id, at))
            is_seen[first] = true;
        if (head == tail)
            return 0;
        came_by = queue[head++];
        at = e[came_by].on_job_id;
        if (uuid_eq(at, job))
            break;
    }
    size_t length = 0;
    for (size_t i = came_by; i != SIZE_MAX; i = from[i])
        length++;
    *ret = ARENA_ARRAY(a, struct uuid, length);
    for (size_t i = came_by, k = length; i != SIZE_MAX; i = from[i])
        (*ret)[--k] = e[i].job_id;
    return length;
}
