/* SPDX-License-Identifier: Apache-2.0 */
/* accept_budget.c - a set-associative table of the moments at which each bucket will be full again (the generic cell rate
 * algorithm, ITU-T I.371): one number an address, and nothing that has to be swept. */
#include "core/http/accept_budget.h"
#include "core/base/assert.h"
#include "core/base/str.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 512, WAYS = 4 };

struct bucket {
    uint64_t address;
    int64_t full_at_us;
    int refused;                    /* since the bucket was last full */
};

struct accept_budget {
    int64_t step_us, burst_us;
    struct bucket buckets[SETS][WAYS];
};

struct accept_budget *accept_budget_new(int per_s)
{
    ASSERT(per_s > 0);
    struct accept_budget *b = calloc(1, sizeof *b);
    ASSERT(b);
    b->step_us = per_s < 1000000 ? 1000000 / per_s : 1;
    b->burst_us = ACCEPT_BURST_S * INT64_C(1000000);
    return b;
}

void accept_budget_free(struct accept_budget *b)
{
    free(b);
}

size_t accept_address(const struct sockaddr *from, const uint8_t **ret)
{
    if (from && from->sa_family == AF_INET) {
        *ret = (const uint8_t *)&((const struct sockaddr_in *)(const void *)from)->sin_addr;
        return 4;
    }
    if (!from || from->sa_family != AF_INET6)
        return 0;
    const struct in6_addr *a = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    bool is_v4 = IN6_IS_ADDR_V4MAPPED(a);
    *ret = a->s6_addr + (is_v4 ? 12 : 0);
    return is_v4 ? 4 : 8;
}

/* Its own, or the one that has been full for longest. */
static struct bucket *bucket_of(struct accept_budget *b, uint64_t address)
{
    struct bucket *set = b->buckets[(address ^ address >> 32) % SETS], *fullest = set;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].address == address)
            return &set[i];
        if (set[i].full_at_us < fullest->full_at_us)
            fullest = &set[i];
    }
    *fullest = (struct bucket){ .address = address };
    return fullest;
}

bool accept_budget_take(struct accept_budget *b, const struct sockaddr *from, int64_t now_us)
{
    const uint8_t *address;
    size_t n = accept_address(from, &address);
    if (!n)
        return true;
    struct bucket *k = bucket_of(b, str_hash(str_n((const char *)address, n)));
    int64_t full_at_us = (k->full_at_us > now_us ? k->full_at_us : now_us) + b->step_us;
    if (full_at_us - now_us > b->burst_us)
        return false;
    if (k->full_at_us <= now_us)
        k->refused = 0;
    k->full_at_us = full_at_us;
    return true;
}

bool accept_budget_refused(struct accept_budget *b, const struct sockaddr *from)
{
    const uint8_t *address;
    size_t n = accept_address(from, &address);
    return n && ++bucket_of(b, str_hash(str_n((const char *)address, n)))->refused % ACCEPT_DEAF_AFTER == 0;
}
