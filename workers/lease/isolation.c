/* SPDX-License-Identifier: Apache-2.0 */
/* isolation.c - accounts by a bit for each, and one try of a network namespace in a forked process. */
#include "workers/lease/isolation.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/crypto/rand.h"

enum { BITS = 8 };

struct isolation {
    enum isolation_net net;
    pthread_mutex_t lock;           /* guards what follows */
    uint32_t base, count, next;     /* count 0: no accounts */
    uint8_t *taken;
};

/* user_namespaces(7): lines of inside, outside, length. */
static bool is_mapped(const char *path, int64_t base, int64_t count)
{
    FILE *f = fopen(path, "re");
    long long inside, outside, length;
    bool found = false;
    while (f && !found && fscanf(f, "%lld %lld %lld", &inside, &outside, &length) == 3)
        found = inside <= base && base + count <= inside + length;
    if (f)
        fclose(f);
    return found;
}

static const char *accounts_init(struct isolation *i, const struct config *cfg)
{
    int64_t base = cfg->worker_uid_base, count = cfg->worker_uid_count;
    if (geteuid() != 0)
        return "the agent's: only root gives accounts away";
    if (!base)
        return "nobody: worker.uid_base is 0";
    if (!is_mapped("/proc/self/uid_map", base, count) || !is_mapped("/proc/self/gid_map", base, count))
        return "nobody: this namespace has no such accounts (worker.uid_base, worker.uid_count)";
    i->base = (uint32_t)base;
    i->count = (uint32_t)count;
    i->taken = calloc(((size_t)count + BITS - 1) / BITS, 1);
    ASSERT(i->taken);
    struct err e = { 0 };
    if (rand_bytes(&i->next, sizeof i->next, &e) != ERR_OK)
        i->next = (uint32_t)getpid();
    return "one for each lease";
}

static enum isolation_net net_probe(void)
{
    static const enum isolation_net ways[] = { ISOLATION_NET_OWN, ISOLATION_NET_OWN_BY_USER };
    size_t nways = geteuid() == 0 ? 1 : 2;      /* root's accounts mean nothing in a user namespace without a map */
    for (size_t n = 0; n < nways; n++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(isolation_enter_net(ways[n]) ? 0 : 1);
        if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return ways[n];
    }
    return ISOLATION_NET_NONE;
}

struct isolation *isolation_new(const struct config *cfg)
{
    struct isolation *i = calloc(1, sizeof *i);
    ASSERT(i);
    pthread_mutex_init(&i->lock, NULL);
    const char *account = accounts_init(i, cfg);
    i->net = net_probe();
    log_event(i->count && i->net ? LOG_INFO : LOG_WARN, "worker.isolation", "account", LOG_S(account), "network",
              LOG_S(i->net ? "none" : "the machine's: no network namespace is permitted"), NULL);
    return i;
}

bool isolation_take(struct isolation *i, uid_t *ret)
{
    bool found = i->count == 0;
    *ret = 0;
    pthread_mutex_lock(&i->lock);
    for (uint32_t n = 0; n < i->count && !found; n++) {
        uint32_t at = i->next++ % i->count;
        found = !(i->taken[at / BITS] & 1u << at % BITS);
        if (found) {
            i->taken[at / BITS] |= (uint8_t)(1u << at % BITS);
            *ret = i->base + at;
        }
    }
    pthread_mutex_unlock(&i->lock);
    return found;
}

void isolation_give(struct isolation *i, uid_t uid)
{
    if (!uid)
        return;
    uint32_t at = uid - i->base;
    ASSERT(at < i->count);
    pthread_mutex_lock(&i->lock);
    i->taken[at / BITS] &= (uint8_t)~(1u << at % BITS);
    pthread_mutex_unlock(&i->lock);
}

enum isolation_net isolation_net(const struct isolation *i)
{
    return i->net;
}

bool isolation_enter_net(enum isolation_net net)
{
    return net == ISOLATION_NET_NONE || unshare(CLONE_NEWNET | (net == ISOLATION_NET_OWN_BY_USER ? CLONE_NEWUSER : 0)) == 0;
}

void isolation_free(struct isolation *i)
{
    if (!i)
        return;
    pthread_mutex_destroy(&i->lock);
    free(i->taken);
    free(i);
}
