/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - sums over the few rules of a line; products in 128 bits. */
#include "scheduler/plan/share.h"

int64_t share_weight(const struct rulebook *b, const struct rule *r)
{
    const struct rule_cohort *c = &b->cohorts[r->cohort];
    if (r->place != RULE_QUEUE || c->usage <= 0 || r->weight <= 0)
        return r->weight;
    const int64_t least = r->weight / 1000 > 0 ? r->weight / 1000 : 1, most = 2 * r->weight;
    const __int128 used = (__int128)r->usage * c->weights / c->usage;
    const __int128 moved = most - used;
    return moved < least ? least : moved > most ? most : (int64_t)moved;
}

int64_t share_borrowed(const struct rulebook *b, const struct rule_ask *ask, enum rule_place place, int64_t *ret_filled)
{
    int64_t most = 0, filled = 0;
    for (int resource = RULE_SLOTS; resource <= RULE_GPUS; resource++) {
        size_t n;
        int64_t borrowed = 0, lendable = 0, weight = INT64_MAX;
        const struct rule *r = rulebook_run(b, ask, place, resource, &n);
        for (size_t i = 0; r && i < n; i++) {
            const int64_t w = share_weight(b, &r[i]), full = rulebook_ratio(r[i].used, r[i].nominal, w);
            borrowed += r[i].used > r[i].nominal ? r[i].used - r[i].nominal : 0;
            lendable += b->cohorts[r[i].cohort].lendable;
            weight = w < weight ? w : weight;
            filled = full > filled ? full : filled;
        }
        const int64_t share = r ? rulebook_ratio(borrowed, lendable, weight) : 0;
        most = share > most ? share : most;
    }
    if (ret_filled)
        *ret_filled = filled;
    return most;
}

struct lane_share share_of(const struct rulebook *b, const struct rule_ask *ask)
{
    struct lane_share s;
    s.project_borrowed = share_borrowed(b, ask, RULE_PROJECT, &s.project_filled);
    s.queue_borrowed = share_borrowed(b, ask, RULE_QUEUE, &s.queue_filled);
    return s;
}

int share_compare(const struct lane_share *a, const struct lane_share *b)
{
    if (a->project_borrowed != b->project_borrowed)
        return a->project_borrowed < b->project_borrowed ? -1 : 1;
    if (a->project_filled != b->project_filled)
        return a->project_filled < b->project_filled ? -1 : 1;
    if (a->queue_borrowed != b->queue_borrowed)
        return a->queue_borrowed < b->queue_borrowed ? -1 : 1;
    if (a->queue_filled != b->queue_filled)
        return a->queue_filled < b->queue_filled ? -1 : 1;
    return 0;
}
