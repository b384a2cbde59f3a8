/* SPDX-License-Identifier: Apache-2.0 */
/* accept_budget.c - a set-associative table of the moments at which each bucket will be full again (the generic cell rate
 * algorithm, ITU-T I.371): one number an address, and nothing that has to be swept. */
#include "core/http/accept_budget.h"
#include "core/base/assert.h"
#include "core/base/str.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 512, WAYS = 4, DEAF_MAX = 16 };

struct bucket {
    uint64_t address;
    int64_t full_at_us;
    int refused;                    /* since the bucket was last full */
};

/* An address, or the first half of one, as the filter compares it. */
struct deaf {
    uint32_t words[2];
    int n;                          /* of words: 1 of IPv4, 2 of IPv6 */
    int64_t until_us;               /* 0: nobody */
};

struct accept_budget {
    int64_t step_us, burst_us;
    struct bucket buckets[SETS][WAYS];
    struct deaf deaf[DEAF_MAX];
    int64_t next_us;                /* when the filter is to be made anew; 0: as it is */
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

/* Its bytes that count; 0: no IP address. */
static size_t address_of(const struct sockaddr *from, const uint8_t **ret)
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

/* In its own place, or in that of who is heard first again. */
static void deafen(struct accept_budget *b, const uint8_t *address, size_t n, int64_t now_us)
{
    struct deaf new = { .n = (int)n / 4, .until_us = now_us + ACCEPT_DEAF_US }, *at = b->deaf;
    for (int i = 0; i < new.n; i++)
        for (int k = 0; k < 4; k++)
            new.words[i] = new.words[i] << 8 | address[4 * i + k];
    for (int i = 0; i < DEAF_MAX; i++) {
        struct deaf *d = &b->deaf[i];
        if (d->n == new.n && memcmp(d->words, new.words, sizeof d->words) == 0) {
            at = d;
            break;
        }
        at = d->until_us < at->until_us ? d : at;
    }
    *at = new;
    b->next_us = now_us;
}

/* Lets the others pass: load the version, compare the words of each. A jump to the end is written once its place is known. */
static size_t filter_of(const struct accept_budget *b, int words, struct sock_filter *f)
{
    size_t n = 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)SKF_NET_OFF);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, words == 1 ? 4 : 6, 0, 0);
    size_t other = n - 1;
    for (int i = 0; i < DEAF_MAX; i++) {
        const struct deaf *d = &b->deaf[i];
        if (!d->until_us || d->n != words)
            continue;
        uint32_t at = (uint32_t)SKF_NET_OFF + (words == 1 ? 12 : 8);
        for (int k = 0; k < words; k++) {
            f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4 * (uint32_t)k);
            f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, d->words[k], 0, (uint8_t)(2 * (words - k) - 1));
        }
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    }
    f[other].jf = (uint8_t)(n - other - 1);
    return n;
}

bool accept_budget_take(struct accept_budget *b, const struct sockaddr *from, int64_t now_us)
{
    const uint8_t *address;
    size_t n = address_of(from, &address);
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

void accept_budget_refused(struct accept_budget *b, const struct sockaddr *from, int64_t now_us)
{
    const uint8_t *address;
    size_t n = address_of(from, &address);
    if (n && ++bucket_of(b, str_hash(str_n((const char *)address, n)))->refused % ACCEPT_DEAF_AFTER == 0)
        deafen(b, address, n, now_us);
}

void accept_budget_filter(struct accept_budget *b, int listen_fd, int64_t now_us)
{
    if (!b || !b->next_us || now_us < b->next_us)
        return;
    bool any = false;
    b->next_us = 0;
    for (int i = 0; i < DEAF_MAX; i++) {
        if (b->deaf[i].until_us <= now_us)
            b->deaf[i] = (struct deaf){ 0 };
        else if (!b->next_us || b->deaf[i].until_us < b->next_us)
            b->next_us = b->deaf[i].until_us;
        any |= b->deaf[i].until_us != 0;
    }
    struct sock_filter f[8 + 2 * DEAF_MAX * 5];
    size_t n = any ? filter_of(b, 1, f) : 0;
    n += any ? filter_of(b, 2, f + n) : 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    const struct sock_fprog all = { (unsigned short)n, f };
    (void)setsockopt(listen_fd, SOL_SOCKET, any ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &all, sizeof all);     /* see the header */
}
