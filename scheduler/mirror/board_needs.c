/* SPDX-License-Identifier: Apache-2.0 */
/* board_needs.c - ids are looked up among the board's jobs, own ones and aliases alike. */
#include "scheduler/mirror/board_needs.h"

#include <stdlib.h>

struct known { struct uuid id; size_t job; };

static int by_id(const void *a, const void *b)
{
    return uuid_cmp(((const struct known *)a)->id, ((const struct known *)b)->id);
}

static struct known *known_of(const struct board *b, struct arena *a, size_t *ret_n)
{
    const size_t n = b->in.base.jobs.n;
    struct known *k = ARENA_ARRAY(a, struct known, n + b->in.nlive + 1);
    for (size_t i = 0; i < n; i++)
        k[i] = (struct known){ b->in.base.jobs.items[i].job_id, i };
    for (size_t i = 0; i < b->in.nlive; i++)
        k[n + i] = (struct known){ b->in.live[i].job.job_id, n + i };
    *ret_n = n + b->in.nlive;
    qsort(k, *ret_n, sizeof *k, by_id);
    return k;
}

static struct ahead_need need_of(struct str type, struct str id, const struct known *k, size_t n, bool *found)
{
    struct known key = { 0 };
    const struct known *at = NULL;
    if (uuid_parse(id, &key.id))
        at = bsearch(&key, k, n, sizeof *k, by_id);
    *found &= at != NULL;
    return (struct ahead_need){ at && !str_eq_c(type, "afternotok") ? at->job : AHEAD_NONE, str_eq_c(type, "after") };
}

bool board_needs_link(struct board *b, struct ahead_wait *waits, const struct str *words, struct arena *a)
{
    struct known *k = NULL;
    size_t n = 0;
    bool found = true;
    for (size_t i = 0; i < b->in.base.jobs.n; i++) {
        struct str rest = words[i], word, type, id;
        size_t many = words[i].len > 0;
        for (size_t c = 0; c < words[i].len; c++)
            many += words[i].ptr[c] == ',';
        if (!many)
            continue;
        if (!k)
            k = known_of(b, a, &n);
        struct ahead_need *needs = ARENA_ARRAY(a, struct ahead_need, many);
        for (size_t c = 0; c < many; c++) {
            (void)str_cut(rest, ',', &word, &rest);
            (void)str_cut(word, ':', &type, &id);
            needs[c] = need_of(type, id, k, n, &found);
        }
        waits[i].needs = needs;
        waits[i].nneeds = many;
    }
    return !found;
}
