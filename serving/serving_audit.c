/* SPDX-License-Identifier: Apache-2.0 */
/* serving_audit.c - inference in the audit log: one event per deployment, principal and minute instead of one per request.
 *
 * Adding is a probe in an open-addressed table under a lock. A flush takes the whole table away, writes one event per line in the scope of
 * its tenant, and puts back what the database did not take. A table that is nearly full is flushed by whoever fills it. */
#include "serving/serving_int.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/tx.h"
#include "tenants/access/actor.h"

#include <pthread.h>
#include <stdlib.h>

enum { LINES = 4096, LINES_FULL = LINES * 3 / 4, LINES_ROOM = LINES_FULL / 2, PERIOD_S = 60, ZONE_TEXT = 64 };

struct count_line {
    struct serving_caller who;
    char zone[ZONE_TEXT];
    int64_t ok, failed;                 /* both 0: empty */
};

struct inference_counts {
    const struct app *app;
    pthread_mutex_t lock;               /* guards lines, used */
    pthread_mutex_t flushing;           /* one flush at a time */
    struct count_line *lines;
    size_t used;
    struct beat *beat;
};

/* False: the table is full. The lock is held. */
static bool add(struct inference_counts *c, const struct serving_caller *who, struct str zone, int64_t ok, int64_t failed)
{
    size_t at = str_hash(str_n((const char *)who, sizeof *who)) % LINES;
    for (size_t i = 0; i < LINES; i++, at = (at + 1) % LINES) {
        struct count_line *l = &c->lines[at];
        bool is_empty = !l->ok && !l->failed;
        if (is_empty && c->used >= LINES_FULL)
            return false;
        if (is_empty) {
            l->who = *who;
            size_t n = zone.len < ZONE_TEXT ? zone.len : ZONE_TEXT - 1;
            memcpy(l->zone, zone.ptr ? zone.ptr : "", n);
            l->zone[n] = 0;
            c->used++;
        } else if (memcmp(&l->who, who, sizeof *who)) {
            continue;
        }
        l->ok += ok;
        l->failed += failed;
        return true;
    }
    return false;
}

static enum errc write_line(struct inference_counts *c, const struct count_line *l, struct err *e)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = c->app, .arena = a, .tenant_id = l->who.tenant_id, .now_us = clock_wall_us(c->app->clock) };
    struct audit_event ev = audit_event_of(&w, AUDIT_INFERENCE);
    audit_event_set_actor(&ev, a, &l->who.by);
    ev.zone = str_c(l->zone);
    ev.resource_kind = STR("deployment");
    ev.resource_prefix = "dpl";
    ev.resource_id = l->who.deployment_id;
    audit_event_detail(&ev, AUDIT_D_INT("requests_ok", l->ok));
    audit_event_detail(&ev, AUDIT_D_INT("requests_failed", l->failed));
    enum errc rc = audit_append_apart(&w, c->app->pool, SCOPE_TENANT(l->who.tenant_id), &ev, e);
    arena_free(a);
    return rc;
}

void inference_counts_flush(struct inference_counts *c)
{
    struct count_line *fresh = calloc(LINES, sizeof *fresh);
    struct err e;
    ASSERT(fresh);
    pthread_mutex_lock(&c->flushing);
    pthread_mutex_lock(&c->lock);
    struct count_line *lines = c->lines;
    c->lines = fresh;
    c->used = 0;
    pthread_mutex_unlock(&c->lock);
    bool is_down = false;
    for (size_t i = 0; i < LINES; i++) {
        const struct count_line *l = &lines[i];
        if (!l->ok && !l->failed)
            continue;
        if (!is_down && write_line(c, l, &e) != ERR_OK) {
            log_err(LOG_WARN, "inference.audit", &e);
            is_down = true;
        } else if (!is_down) {
            continue;
        }
        pthread_mutex_lock(&c->lock);
        bool kept = add(c, &l->who, str_c(l->zone), l->ok, l->failed);
        pthread_mutex_unlock(&c->lock);
        if (!kept)
            log_event(LOG_ERROR, "inference.audit_lost", "deployment", LOG_ID("dpl", l->who.deployment_id), "requests", LOG_I(l->ok + l->failed), NULL);
    }
    free(lines);
    pthread_mutex_unlock(&c->flushing);
}

bool inference_counts_have_room(struct inference_counts *c)
{
    pthread_mutex_lock(&c->lock);
    bool has_room = c->used < LINES_ROOM;
    pthread_mutex_unlock(&c->lock);
    return has_room;
}

void inference_counts_add(struct inference_counts *c, const struct serving_caller *who, struct str zone, bool ok)
{
    for (int tries = 0; tries < 2; tries++) {
        pthread_mutex_lock(&c->lock);
        bool done = add(c, who, zone, ok, !ok);
        pthread_mutex_unlock(&c->lock);
        if (done)
            return;
        inference_counts_flush(c);
    }
    log_event(LOG_ERROR, "inference.audit_lost", "deployment", LOG_ID("dpl", who->deployment_id), "requests", LOG_I(1), NULL);
}

static int64_t flush_turn(void *ctx, bool is_woken)
{
    (void)is_woken;
    inference_counts_flush(ctx);
    return PERIOD_S * INT64_C(1000000);
}

struct inference_counts *inference_counts_new(const struct app *app)
{
    struct inference_counts *c = calloc(1, sizeof *c);
    ASSERT(c && (c->lines = calloc(LINES, sizeof *c->lines)));
    c->app = app;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->flushing, NULL);
    c->beat = beat_new("inference-audit", PERIOD_S * INT64_C(1000000), flush_turn, c);
    return c;
}

void inference_counts_free(struct inference_counts *c)
{
    beat_free(c->beat);
    inference_counts_flush(c);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->flushing);
    free(c->lines);
    free(c);
}
