/* SPDX-License-Identifier: Apache-2.0 */
/* divide.c - each round satisfies somebody or gives out all but what rounding leaves, so there are at most n of them. */
#include "scheduler/plan/divide.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How much more it would take. */
static int64_t wants(const struct divide_part *p)
{
    const int64_t most = p->most >= 0 ? least(p->most, p->request) : p->request;
    return most > p->fair && p->weight > 0 ? most - p->fair : 0;
}

static int64_t one_round(struct divide_part *parts, size_t n, int64_t left)
{
    int64_t weights = 0, given = 0;
    for (size_t i = 0; i < n; i++)
        weights += wants(&parts[i]) ? parts[i].weight : 0;
    for (size_t i = 0; weights && i < n; i++) {
        const int64_t more = wants(&parts[i]);
        const int64_t part = more ? (int64_t)((__int128)left * parts[i].weight / weights) : 0;
        parts[i].fair += least(part, more);
        given += least(part, more);
    }
    return given;
}

void divide(struct divide_part *parts, size_t n)
{
    int64_t left = 0, given = 1;
    for (size_t i = 0; i < n; i++) {
        struct divide_part *p = &parts[i];
        p->fair = least(p->nominal, p->request);
        left += least(p->nominal - p->fair, p->lendable);
    }
    while (left && given) {
        given = one_round(parts, n, left);
        left -= given;
    }
    for (size_t i = 0; left && i < n; i++)
        if (wants(&parts[i])) {
            parts[i].fair++;
            left--;
        }
}
