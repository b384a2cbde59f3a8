/* SPDX-License-Identifier: Apache-2.0 */
/* deaf.c - the program that chooses, made anew whenever somebody comes or goes. Classic BPF (filter(4) of BSD; linux/filter.h):
 *
 *   version of IP = 4?  for each IPv4 address: its word equal?   choose n, the socket that drops
 *   version of IP = 6?  for each /64: its two words equal?       choose n
 *   choose chance % n                                            the loops' sockets are 0 … n-1, in the order they listened in
 */
#include "core/http/deaf.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/http/accept_budget.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOPS_OF_A_NEIGHBOUR = 255, HEAD_SIZE = 3, ENTRY_MAX = 5, TAIL_SIZE = 3 };

/* An address, or the first half of one, as the program compares it. */
struct entry {
    uint32_t words[2];
    int n;                          /* of words: 1 of IPv4, 2 of IPv6 */
    int64_t until_us;               /* 0: nobody */
};

struct deaf {
    pthread_mutex_t lock;           /* guards all but next_us's reading */
    struct entry entries[DEAF_MAX];
    int group_fd, n, drop_fd;       /* drop_fd -1: closed */
    _Atomic int64_t next_us;        /* when somebody is heard again; INT64_MAX: nobody waits */
};

/* Lets the others pass: load the version, compare the words of each. A jump to the end is written once its place is known. */
static size_t add_family(const struct deaf *d, int words, struct sock_filter *f)
{
    size_t n = 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)SKF_NET_OFF);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, words == 1 ? 4 : 6, 0, 0);
    for (int i = 0; i < DEAF_MAX; i++) {
        const struct entry *a = &d->entries[i];
        if (!a->until_us || a->n != words)
            continue;
        uint32_t at = (uint32_t)SKF_NET_OFF + (words == 1 ? 12 : 8);
        for (int k = 0; k < words; k++) {
            f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4 * (uint32_t)k);
            f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, a->words[k], 0, (uint8_t)(2 * (words - k) - 1));
        }
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (uint32_t)d->n);
    }
    f[HEAD_SIZE - 1].jf = (uint8_t)(n - HEAD_SIZE);
    return n;
}

static bool attach(const struct deaf *d)
{
    struct sock_filter f[2 * HEAD_SIZE + DEAF_MAX * ENTRY_MAX + TAIL_SIZE];
    size_t n = add_family(d, 1, f);
    n += add_family(d, 2, f + n);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM));
    f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, (uint32_t)d->n);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    const struct sock_fprog all = { (unsigned short)n, f };
    return setsockopt(d->group_fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &all, sizeof all) == 0;
}

/* Bound beside the others, not listening yet: so no SYN can be given to it. -1: it would not drop. */
static int open_drop(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a, m = sizeof(int);
    int one = 1, hops = HOPS_OF_A_NEIGHBOUR, is_v6_only = 0;
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        return -1;
    CLEANUP(fd_closep) int drop = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (drop < 0 || setsockopt(drop, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0
        || setsockopt(drop, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) != 0)
        return -1;
    if (a.ss_family == AF_INET6
        && (getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_v6_only, &m) != 0
            || setsockopt(drop, IPPROTO_IPV6, IPV6_V6ONLY, &is_v6_only, sizeof is_v6_only) != 0
            || setsockopt(drop, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &hops, sizeof hops) != 0))
        return -1;
    if (!is_v6_only && setsockopt(drop, IPPROTO_IP, IP_MINTTL, &hops, sizeof hops) != 0)
        return -1;
    return bind(drop, (struct sockaddr *)&a, n) == 0 ? TAKE_FD(drop) : -1;
}

struct deaf *deaf_new(int fd, int n)
{
    struct deaf *d = calloc(1, sizeof *d);
    ASSERT(d && n > 0);
    pthread_mutex_init(&d->lock, NULL);
    d->group_fd = fd;
    d->n = n;
    d->next_us = INT64_MAX;
    /* The program first: without it, SYNs of all would be spread over the socket that drops, too. */
    d->drop_fd = open_drop(fd);
    if (d->drop_fd >= 0 && attach(d) && listen(d->drop_fd, 0) == 0)
        return d;
    deaf_free(d);
    return NULL;
}

void deaf_close(struct deaf *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    fd_closep(&d->drop_fd);
    d->next_us = INT64_MAX;
    pthread_mutex_unlock(&d->lock);
}

void deaf_free(struct deaf *d)
{
    if (!d)
        return;
    deaf_close(d);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Its own place, or that of who is heard first again. The lock is held. */
static struct entry *place_of(struct deaf *d, const struct entry *new)
{
    struct entry *at = d->entries;
    for (int i = 0; i < DEAF_MAX; i++) {
        struct entry *a = &d->entries[i];
        if (a->n == new->n && memcmp(a->words, new->words, sizeof a->words) == 0)
            return a;
        at = a->until_us < at->until_us ? a : at;
    }
    return at;
}

/* The program follows the entries; the lock is held. */
static void follow(struct deaf *d)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < DEAF_MAX; i++)
        if (d->entries[i].until_us && d->entries[i].until_us < next)
            next = d->entries[i].until_us;
    d->next_us = next;
    (void)attach(d);        /* it was taken before; if it is not now, who floods is turned away one by one */
}

void deaf_add(struct deaf *d, const struct sockaddr *from, int64_t now_us)
{
    const uint8_t *address;
    size_t n = accept_address(from, &address);
    if (!d || !n)
        return;
    struct entry new = { .n = (int)n / 4, .until_us = now_us + DEAF_US };
    for (int i = 0; i < new.n; i++)
        for (int k = 0; k < 4; k++)
            new.words[i] = new.words[i] << 8 | address[4 * i + k];
    pthread_mutex_lock(&d->lock);
    if (d->drop_fd >= 0) {
        *place_of(d, &new) = new;
        follow(d);
    }
    pthread_mutex_unlock(&d->lock);
}

void deaf_look(struct deaf *d, int64_t now_us)
{
    if (!d || now_us < atomic_load_explicit(&d->next_us, memory_order_relaxed))
        return;
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < DEAF_MAX; i++)
        if (d->entries[i].until_us <= now_us)
            d->entries[i] = (struct entry){ 0 };
    if (d->drop_fd >= 0)
        follow(d);
    pthread_mutex_unlock(&d->lock);
}
