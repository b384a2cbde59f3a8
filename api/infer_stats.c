/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats.c - a ring of minutes for each deployment, each with a histogram; found by looking at all, which are few. */
#include "api/infer_stats.h"
#include "core/base/assert.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTES = INFER_MINUTES, CLASSES = 96, PER_OCTAVE = 4, MINUTE_US = 60000000, SECOND_US = 1000000 };
static const double LEAST_US = 64;

struct minute {
    int64_t number;                     /* since 1970; 0: never used */
    uint32_t requests, errors, refused, classes[CLASSES];
};
struct entry {
    struct uuid deployment_id;
    int64_t last_us;
    struct minute minutes[MINUTES];
};
struct infer_stats {
    pthread_mutex_t lock;
    int64_t since_us;
    struct entry *entries[INFER_STATS_MAX];
    size_t n;
};

struct infer_stats *infer_stats_new(int64_t now_us)
{
    struct infer_stats *s = calloc(1, sizeof *s);
    ASSERT(s);
    pthread_mutex_init(&s->lock, NULL);
    s->since_us = now_us;
    return s;
}

void infer_stats_free(struct infer_stats *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free(s->entries[i]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int64_t infer_stats_since(const struct infer_stats *s)
{
    return s->since_us;
}

static struct entry *find(struct infer_stats *s, struct uuid id)
{
    for (size_t i = 0; i < s->n; i++)
        if (uuid_eq(s->entries[i]->deployment_id, id))
            return s->entries[i];
    return NULL;
}

static struct entry *entry_new(struct infer_stats *s, struct uuid id)
{
    struct entry *e = NULL;
    if (s->n < INFER_STATS_MAX) {
        e = s->entries[s->n++] = malloc(sizeof *e);
        ASSERT(e);
    } else {
        for (size_t i = 0; i < s->n; i++)
            if (!e || s->entries[i]->last_us < e->last_us)
                e = s->entries[i];
    }
    memset(e, 0, sizeof *e);
    e->deployment_id = id;
    return e;
}

static int class_of(int64_t took_us)
{
    double c = took_us > LEAST_US ? PER_OCTAVE * log2((double)took_us / LEAST_US) : 0;
    return c < CLASSES - 1 ? (int)c : CLASSES - 1;
}

void infer_stats_add(struct infer_stats *s, struct uuid deployment_id, int64_t now_us, int64_t took_us, enum infer_end end)
{
    int64_t number = now_us / MINUTE_US;
    pthread_mutex_lock(&s->lock);
    struct entry *e = find(s, deployment_id);
    if (!e)
        e = entry_new(s, deployment_id);
    struct minute *m = &e->minutes[number % MINUTES];
    if (m->number != number)
        *m = (struct minute){ .number = number };
    e->last_us = now_us;
    m->requests++;
    m->errors += end == INFER_FAILED;
    m->refused += end == INFER_REFUSED;
    m->classes[class_of(took_us)] += end == INFER_OK;
    pthread_mutex_unlock(&s->lock);
}

/* The middle of the class, in the measure in which classes are equally wide. */
static double percentile_ms(const uint64_t *classes, uint64_t total, double part)
{
    uint64_t rank = (uint64_t)ceil(part * (double)total), seen = 0;
    int c = 0;
    for (; c < CLASSES - 1; c++)
        if ((seen += classes[c]) >= rank)
            break;
    return LEAST_US * exp2((c + 0.5) / PER_OCTAVE) / 1000;
}

void infer_stats_read(struct infer_stats *s, struct uuid deployment_id, int64_t now_us, int minutes, struct infer_window *ret)
{
    uint64_t classes[CLASSES] = { 0 }, total = 0;
    int64_t last = now_us / MINUTE_US, first = last - minutes + 1;
    *ret = (struct infer_window){ .minutes = minutes };
    pthread_mutex_lock(&s->lock);
    const struct entry *e = find(s, deployment_id);
    for (int i = 0; e && i < MINUTES; i++) {
        const struct minute *m = &e->minutes[i];
        if (m->number < first || m->number > last)
            continue;
        ret->requests += m->requests;
        ret->errors += m->errors;
        ret->refused += m->refused;
        for (int c = 0; c < CLASSES; c++)
            total += m->classes[c], classes[c] += m->classes[c];
    }
    pthread_mutex_unlock(&s->lock);
    int64_t from = first * MINUTE_US > s->since_us ? first * MINUTE_US : s->since_us;
    ret->per_second = now_us > from ? (double)ret->requests * 1e6 / (double)(now_us - from) : 0;
    ret->has_p50_ms = ret->has_p95_ms = ret->has_p99_ms = total > 0;
    if (total == 0)
        return;
    ret->p50_ms = percentile_ms(classes, total, 0.50);
    ret->p95_ms = percentile_ms(classes, total, 0.95);
    ret->p99_ms = percentile_ms(classes, total, 0.99);
}

static struct infer_minute minute_of(const struct minute *m, int64_t number, int64_t since_us, int64_t now_us)
{
    uint64_t classes[CLASSES], total = 0;
    int64_t begin = number * MINUTE_US, end = begin + MINUTE_US;
    int64_t from = begin > since_us ? begin : since_us, to = end < now_us ? end : now_us;
    struct infer_minute ret = { .at = { begin } };
    if (m->number != number)
        return ret;
    for (int c = 0; c < CLASSES; c++)
        total += classes[c] = m->classes[c];
    ret.requests = m->requests;
    ret.errors = m->errors;
    ret.refused = m->refused;
    ret.per_second = m->requests * 1e6 / (double)(to - from > SECOND_US ? to - from : SECOND_US);
    ret.has_p50_ms = ret.has_p95_ms = ret.has_p99_ms = total > 0;
    if (total == 0)
        return ret;
    ret.p50_ms = percentile_ms(classes, total, 0.50);
    ret.p95_ms = percentile_ms(classes, total, 0.95);
    ret.p99_ms = percentile_ms(classes, total, 0.99);
    return ret;
}

size_t infer_stats_minutes(struct infer_stats *s, struct uuid deployment_id, int64_t now_us, struct infer_minute ret[INFER_MINUTES])
{
    size_t n = 0;
    int64_t last = now_us / MINUTE_US;
    pthread_mutex_lock(&s->lock);
    const struct entry *e = find(s, deployment_id);
    for (int64_t number = last - MINUTES + 1; e && number <= last; number++) {
        const struct minute *m = &e->minutes[number % MINUTES];
        if (n || m->number == number)
            ret[n++] = minute_of(m, number, s->since_us, now_us);
    }
    pthread_mutex_unlock(&s->lock);
    return n;
}
