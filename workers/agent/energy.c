/* SPDX-License-Identifier: Apache-2.0 */
/* energy.c - counters that wrap, added up under one lock; what a lease has of them is its own thread's. */
#include "workers/agent/energy.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"

enum { DOMAINS_MAX = 64, PATH_BYTES = 512, TEXT_BYTES = 512 };

struct domain {
    char path[PATH_BYTES];              /* of its folder */
    uint64_t last_uj, range_uj;
};

struct energy {
    const struct cards *cards;
    char stat[PATH_BYTES];
    pthread_mutex_t lock;               /* of what follows */
    struct domain of[DOMAINS_MAX];
    size_t count;
    double sum_uj;                      /* since energy_new, as far as anybody looked */
};

static bool read_text(const char *path, char text[TEXT_BYTES])
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static bool read_number(const char *folder, const char *name, uint64_t *ret)
{
    char path[PATH_BYTES + 32], text[TEXT_BYTES], *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!read_text(path, text) || text[0] < '0' || text[0] > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return *end == '\n' || !*end;
}

/* A package, or memory that has a counter beside its package's. "psys" holds packages and would count them twice. */
static bool is_counted(const char *folder)
{
    char path[PATH_BYTES + 32], name[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/name", folder);
    return read_text(path, name) && (!strncmp(name, "package-", 8) || !strncmp(name, "dram", 4));
}

static void find(struct energy *m, const char *powercap)
{
    DIR *d = *powercap ? opendir(powercap) : NULL;
    for (struct dirent *at; d && m->count < DOMAINS_MAX && (at = readdir(d));) {
        struct domain *c = &m->of[m->count];
        int n = snprintf(c->path, sizeof c->path, "%s/%s", powercap, at->d_name);
        if (strncmp(at->d_name, "intel-rapl:", 11) != 0 || n >= (int)sizeof c->path || !is_counted(c->path))
            continue;
        if (read_number(c->path, "energy_uj", &c->last_uj) && read_number(c->path, "max_energy_range_uj", &c->range_uj)) {
            m->count++;
            continue;
        }
        log_event(LOG_INFO, "energy.unread", "counter", LOG_S(c->path), NULL);
        m->count = 0;                   /* a part of the machine would be told as the whole */
        break;
    }
    if (d)
        closedir(d);
}

struct energy *energy_new(const char *powercap, const char *stat, const struct cards *cards)
{
    struct energy *m = calloc(1, sizeof *m);
    ASSERT(m && strlen(stat) < sizeof m->stat);
    m->cards = cards;
    memcpy(m->stat, stat, strlen(stat));
    pthread_mutex_init(&m->lock, NULL);
    find(m, powercap);
    log_event(LOG_INFO, "energy.measured", "cpu", LOG_S(m->count ? "yes" : "no"), "gpu", LOG_S(cards ? "yes" : "no"), NULL);
    return m;
}

void energy_free(struct energy *m)
{
    if (m)
        pthread_mutex_destroy(&m->lock);
    free(m);
}

bool energy_has_cpu(const struct energy *m)
{
    return m && m->count > 0;
}

/* Microjoules of all counters since the meter was made; false: one cannot be read. */
static bool read_packages(struct energy *m, double *ret)
{
    bool ok = true;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->count && ok; i++) {
        struct domain *c = &m->of[i];
        uint64_t now;
        ok = read_number(c->path, "energy_uj", &now);
        if (!ok)
            break;
        m->sum_uj += now >= c->last_uj ? (double)(now - c->last_uj) : (double)now + (double)c->range_uj - (double)c->last_uj;
        c->last_uj = now;
    }
    *ret = m->sum_uj;
    pthread_mutex_unlock(&m->lock);
    return ok && m->count > 0;
}

/* Processor time of everything on the machine, in microseconds: user, nice, system, irq and softirq of the first line. */
static bool read_busy(const struct energy *m, double *ret)
{
    char text[TEXT_BYTES];
    double user, nice, sys, irq, soft;
    if (!read_text(m->stat, text) || sscanf(text, "cpu %lf %lf %lf %*f %*f %lf %lf", &user, &nice, &sys, &irq, &soft) != 5)
        return false;
    *ret = (user + nice + sys + irq + soft) * 1e6 / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static bool read_cards(const struct energy *m, const struct energy_use *u, double *ret)
{
    *ret = 0;
    for (size_t i = 0; i < CARDS_MAX; i++) {
        double mj;
        if (!(u->devices >> i & 1))
            continue;
        if (!m->cards || !cards_energy(m->cards, i, &mj))
            return false;
        *ret += mj * (double)u->gpu_milli / 1000;
    }
    return true;
}

void energy_begin(struct energy *m, struct energy_use *u, uint64_t devices, int64_t gpu_milli, int64_t now_us)
{
    *u = (struct energy_use){ .devices = devices, .gpu_milli = gpu_milli, .next_us = INT64_MAX };
    if (!m)
        return;
    u->has_cpu = read_packages(m, &u->last_uj) && read_busy(m, &u->last_busy_us);
    u->has_gpu = devices && read_cards(m, u, &u->first_mj);
    if (u->has_cpu || u->has_gpu)
        u->next_us = now_us + ENERGY_LOOK_US;
}

bool energy_total(const struct energy_use *u, double *ret_mj)
{
    *ret_mj = u->cpu_uj / 1000 + u->gpu_mj;
    return u->has_cpu && (u->has_gpu || !u->devices);
}

static void look_at_cpu(struct energy *m, struct energy_use *u, int64_t cpu_us)
{
    double uj, busy;
    u->has_cpu = read_packages(m, &uj) && read_busy(m, &busy);
    if (!u->has_cpu)
        return;
    const bool is_shared = cpu_us != ENERGY_UNKNOWN && busy > u->last_busy_us;      /* within a tick: by the next look */
    if (!is_shared)
        return;
    double share = (double)(cpu_us - u->last_cpu_us) / (busy - u->last_busy_us);
    u->cpu_uj += (uj - u->last_uj) * (share < 0 ? 0 : share > 1 ? 1 : share);
    u->last_uj = uj;
    u->last_busy_us = busy;
    u->last_cpu_us = cpu_us;
}

void energy_look(struct energy *m, struct energy_use *u, int64_t cpu_us, int64_t now_us)
{
    double mj;
    if (!m)
        return;
    if (u->has_cpu)
        look_at_cpu(m, u, cpu_us);
    if (u->has_gpu) {
        u->has_gpu = read_cards(m, u, &mj) && mj >= u->first_mj;
        u->gpu_mj = u->has_gpu ? mj - u->first_mj : 0;
    }
    u->next_us = u->has_cpu || u->has_gpu ? now_us + ENERGY_LOOK_US : INT64_MAX;
}
