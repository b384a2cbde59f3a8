/* SPDX-License-Identifier: Apache-2.0 */
/* infer_hour.c - the last hour of a deployment: minutes of all processes added up, and what they say. */
#include "serving/infer_stats_int.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

#include <math.h>

struct minute_row {
    int64_t minute, requests, errors, refused, tokens;
    struct slice classes, first_classes, gap_classes;
};
SCHEMA_OF(minute_row, "What one process counted in a minute", FIELD(minute_row, minute, 0, .doc = "Since 1970"),
    FIELD(minute_row, requests, 0, .doc = "Calls"), FIELD(minute_row, errors, 0, .doc = "Without a good answer"),
    FIELD(minute_row, refused, 0, .doc = "Refused"),
    FIELD_I64S(minute_row, classes, 0, .max = CLASSES, .doc = "Good answers by time"),
    FIELD(minute_row, tokens, 0, .doc = "Of texts"),
    FIELD_I64S(minute_row, first_classes, 0, .max = CLASSES, .doc = "Texts by the time until their first token"),
    FIELD_I64S(minute_row, gap_classes, 0, .max = CLASSES, .doc = "Tokens of streams by the time since the one before"));
const struct stmt infer_minutes_read = { .name = "deployment_minutes", .params = "uuuii", .row = &minute_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT minute, requests, errors, refused, classes, tokens, first_classes, gap_classes FROM deployment_minute\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND writer_id IS DISTINCT FROM $3 AND minute >= $4\n"
    " ORDER BY minute DESC LIMIT $5" };

static void add_minute(struct minute *to, const struct minute *m)
{
    to->requests += m->requests;
    to->errors += m->errors;
    to->refused += m->refused;
    for (int c = 0; c < CLASSES; c++)
        to->classes[c] += m->classes[c];
    to->tokens += m->tokens;
    for (int c = 0; c < CLASSES; c++) {
        to->first[c] += m->first[c];
        to->gaps[c] += m->gaps[c];
    }
}

static void add_stored(struct minute *to, const struct minute_row *r)
{
    const int64_t *classes = r->classes.items;
    struct minute m = { .requests = (uint64_t)r->requests, .errors = (uint64_t)r->errors, .refused = (uint64_t)r->refused };
    for (size_t c = 0; c < r->classes.n && c < CLASSES; c++)
        m.classes[c] = (uint64_t)classes[c];
    const int64_t *first = r->first_classes.items, *gaps = r->gap_classes.items;
    m.tokens = (uint64_t)r->tokens;
    for (size_t c = 0; c < r->first_classes.n && c < CLASSES; c++)
        m.first[c] = (uint32_t)first[c];
    for (size_t c = 0; c < r->gap_classes.n && c < CLASSES; c++)
        m.gaps[c] = (uint32_t)gaps[c];
    add_minute(to, &m);
}

enum errc infer_stats_load(struct work *w, struct infer_stats *s, struct uuid deployment_id, int64_t counted_from_us,
                           int64_t now_us, const struct infer_hour **ret, struct err *e)
{
    struct infer_hour *h = ARENA_NEW(w->arena, struct infer_hour);
    struct uuid writer_id = UUID_NIL;
    struct slice rows = { 0 };
    int64_t last = now_us / MINUTE_US, first = last - MINUTES + 1;
    h->now_us = now_us;
    h->since_us = first * MINUTE_US > counted_from_us ? first * MINUTE_US : counted_from_us;
    for (int i = 0; i < MINUTES; i++)
        h->minutes[i].number = first + i;
    pthread_mutex_lock(&s->lock);
    const struct entry *own = infer_stats_find(s, w->tenant_id, deployment_id);
    for (int i = 0; own && i < MINUTES; i++)
        if (own->minutes[i].number >= first && own->minutes[i].number <= last)
            add_minute(&h->minutes[own->minutes[i].number - first], &own->minutes[i]);
    if (own)
        writer_id = own->writer_id;
    pthread_mutex_unlock(&s->lock);
    const int64_t most = MINUTES * WRITERS_MAX;
    TRY(db_many(w->tx, &infer_minutes_read,
                ARGS(A_UUID(w->tenant_id), A_UUID(deployment_id), A_UUID(writer_id), A_I64(first), A_I64(most)), &rows,
                (size_t)most, e));
    for (size_t i = 0; i < rows.n; i++) {
        const struct minute_row *r = (const struct minute_row *)rows.items + i;
        if (r->minute >= first && r->minute <= last)
            add_stored(&h->minutes[r->minute - first], r);
    }
    *ret = h;
    return ERR_OK;
}

int64_t infer_hour_since(const struct infer_hour *h)
{
    return h->since_us;
}

/* The middle of the class, in the measure in which classes are equally wide. */
static double percentile_ms(const uint64_t *classes, uint64_t total, double part)
{
    uint64_t rank = (uint64_t)ceil(part * (double)total), seen = 0;
    int c = 0;
    for (; c < CLASSES - 1; c++)
        if ((seen += classes[c]) >= rank)
            break;
    return INFER_LEAST_US * exp2((c + 0.5) / PER_OCTAVE) / 1000;
}

static uint64_t total_of(const struct minute *m)
{
    uint64_t total = 0;
    for (int c = 0; c < CLASSES; c++)
        total += m->classes[c];
    return total;
}

/* The same of classes of texts; false: there are none. */
static bool text_ms(const uint32_t *from, double *p50, double *p95)
{
    uint64_t classes[CLASSES], total = 0;
    for (int c = 0; c < CLASSES; c++)
        total += classes[c] = from[c];
    if (!total)
        return false;
    *p50 = percentile_ms(classes, total, 0.50);
    *p95 = percentile_ms(classes, total, 0.95);
    return true;
}

void infer_hour_window(const struct infer_hour *h, int minutes, struct infer_window *ret)
{
    struct minute sum = { 0 };
    for (int i = MINUTES - minutes; i < MINUTES; i++)
        add_minute(&sum, &h->minutes[i]);
    int64_t begin = h->minutes[MINUTES - minutes].number * MINUTE_US, from = begin > h->since_us ? begin : h->since_us;
    uint64_t total = total_of(&sum);
    *ret = (struct infer_window){ .minutes = minutes, .requests = (int64_t)sum.requests, .errors = (int64_t)sum.errors,
                                  .refused = (int64_t)sum.refused };
    ret->per_second = h->now_us > from ? (double)sum.requests * 1e6 / (double)(h->now_us - from) : 0;
    ret->has_p50_ms = ret->has_p95_ms = ret->has_p99_ms = total > 0;
    ret->tokens = (int64_t)sum.tokens;
    ret->tokens_per_second = h->now_us > from ? (double)sum.tokens * 1e6 / (double)(h->now_us - from) : 0;
    ret->has_first_p50_ms = ret->has_first_p95_ms = text_ms(sum.first, &ret->first_p50_ms, &ret->first_p95_ms);
    ret->has_gap_p50_ms = ret->has_gap_p95_ms = text_ms(sum.gaps, &ret->gap_p50_ms, &ret->gap_p95_ms);
    if (total == 0)
        return;
    ret->p50_ms = percentile_ms(sum.classes, total, 0.50);
    ret->p95_ms = percentile_ms(sum.classes, total, 0.95);
    ret->p99_ms = percentile_ms(sum.classes, total, 0.99);
}

static struct infer_minute minute_of(const struct infer_hour *h, const struct minute *m)
{
    int64_t begin = m->number * MINUTE_US, end = begin + MINUTE_US;
    int64_t from = begin > h->since_us ? begin : h->since_us, to = end < h->now_us ? end : h->now_us;
    uint64_t total = total_of(m);
    struct infer_minute ret = { .at = { begin }, .requests = (int64_t)m->requests, .errors = (int64_t)m->errors,
                                .refused = (int64_t)m->refused };
    ret.per_second = (double)m->requests * 1e6 / (double)(to - from > SECOND_US ? to - from : SECOND_US);
    ret.has_p50_ms = ret.has_p95_ms = ret.has_p99_ms = total > 0;
    if (total == 0)
        return ret;
    ret.p50_ms = percentile_ms(m->classes, total, 0.50);
    ret.p95_ms = percentile_ms(m->classes, total, 0.95);
    ret.p99_ms = percentile_ms(m->classes, total, 0.99);
    return ret;
}

size_t infer_hour_minutes(const struct infer_hour *h, struct infer_minute ret[INFER_MINUTES])
{
    size_t n = 0;
    for (int i = 0; i < MINUTES; i++)
        if (n || h->minutes[i].requests)
            ret[n++] = minute_of(h, &h->minutes[i]);
    return n;
}
