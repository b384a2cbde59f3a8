/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.c - an edge: one transaction per pass over new events, one per round of signatures; errors are logged and tried again. */
#include "scheduler/duty/sequence.h"
#include "audit/event.h"
#include "audit/sequencer.h"
#include "audit/shadow.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "keys/client.h"

#include <stdlib.h>

enum { ARENA_MAX = 512 << 20, EVENTS_MAX = 20000, HEADS_MAX = 1000, SIGN_US = 60000000, HEARTBEAT_US = 300000000,
       SHADOW_MAX = 1000 };

struct sequence {
    const struct app *app;
    struct db_pool *pool;
    struct sequencer *sequencer;
    struct arena *arena;
    struct beat *beat;
    int64_t sign_us, heartbeat_us;
};

static enum errc sign(void *ctx, struct str zone, const void *p, size_t n, uint8_t sig[AUDIT_SIG], char key_id[AUDIT_KEY_ID], struct err *e)
{
    struct sequence *s = ctx;
    uint8_t id[KEY_ID_BYTES], public_key[ED25519_PUBLIC];
    if (p)
        TRY(keyd_sign(s->app->keyd, zone, p, n, sig, id, e));
    else
        TRY(keyd_public_key(s->app->keyd, zone, public_key, id, e));
    _Static_assert(2 * KEY_ID_BYTES + 1 <= AUDIT_KEY_ID, "a key id in hexadecimal fits");
    hex_encode(id, sizeof id, key_id);
    return ERR_OK;
}

static enum errc pass(struct sequence *s, size_t *ret_done, struct err *e)
{
    struct work w = { .app = s->app, .arena = s->arena, .now_us = clock_wall_us(s->app->clock) };
    return RUN_SYSTEM(&w, s->pool, 0, sequencer_tick(&w, s->sequencer, EVENTS_MAX, ret_done, e), e);
}

/* Pages come after numbers, and not while a backlog of events waits for theirs. */
static enum errc pages(struct sequence *s, bool *more, struct err *e)
{
    struct work w = { .app = s->app, .arena = s->arena, .now_us = clock_wall_us(s->app->clock) };
    return RUN_SYSTEM(&w, s->pool, 0, sequencer_pages(&w, more, e), e);
}

static enum errc sign_heads(struct sequence *s, struct err *e)
{
    struct work w = { .app = s->app, .arena = s->arena, .now_us = clock_wall_us(s->app->clock) };
    size_t n = 0;
    return RUN_SYSTEM(&w, s->pool, 0, sequencer_sign_heads(&w, s->sequencer, HEADS_MAX, &n, e), e);
}

static enum errc heartbeat(struct sequence *s, struct err *e)
{
    struct work w = { .app = s->app, .arena = s->arena, .now_us = clock_wall_us(s->app->clock) };
    struct audit_event ev = audit_event_of(&w, AUDIT_HEARTBEAT);
    return audit_append_apart(&w, s->pool, SCOPE_SYSTEM, &ev, e);
}

/* What was changed past Falaj's programs becomes events first, so that this very pass numbers what the last one saw. */
static enum errc shadow(struct sequence *s, struct err *e)
{
    struct work w = { .app = s->app, .arena = s->arena, .now_us = clock_wall_us(s->app->clock) };
    size_t n = 0;
    TRY(RUN_SYSTEM(&w, s->pool, 0, audit_shadow_pass(&w, SHADOW_MAX, &n, e), e));
    if (n)
        log_event(LOG_WARN, "sequencer.shadow", "statements", LOG_I(n), NULL);
    return ERR_OK;
}

static bool round_once(struct sequence *s, bool sign_now, bool is_last)
{
    struct err e = { 0 };
    size_t done = 0;
    bool more = false;
    int64_t now = clock_mono_us(s->app->clock);
    arena_reset(s->arena);
    if (now >= s->heartbeat_us && !is_last) {
        s->heartbeat_us = now + HEARTBEAT_US;
        if (heartbeat(s, &e) != ERR_OK)
            log_err(LOG_WARN, "sequencer.heartbeat", &e);
    }
    if (shadow(s, &e) != ERR_OK)
        log_err(LOG_ERROR, "sequencer.shadow", &e);
    if (pass(s, &done, &e) != ERR_OK)
        log_err(LOG_ERROR, "sequencer.pass", &e);
    if (done < EVENTS_MAX && pages(s, &more, &e) != ERR_OK)
        log_err(LOG_ERROR, "sequencer.pages", &e);
    if (s->app->keyd && (now >= s->sign_us || sign_now || is_last)) {
        s->sign_us = now + SIGN_US;
        if (sign_heads(s, &e) != ERR_OK) {
            log_err(LOG_WARN, "sequencer.sign", &e);
            s->sign_us = now + SIGN_US / 30;
        }
    }
    return done == EVENTS_MAX || more;
}

static int64_t turn(void *ctx, bool is_woken)
{
    struct sequence *s = ctx;
    return round_once(s, is_woken, false) ? 0 : s->app->config->sequencer_interval_ms * INT64_C(1000);
}

struct sequence *sequence_new(const struct app *app, struct db_pool *pool, struct str zone)
{
    struct sequence *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->app = app;
    s->pool = pool;
    s->arena = arena_new(ARENA_MAX);
    s->sequencer = sequencer_new(zone, sign, s);
    s->beat = beat_new("sequencer", app->config->sequencer_interval_ms * INT64_C(1000), turn, s);
    return s;
}

void sequence_wake(struct sequence *s)
{
    beat_wake(s->beat);
}

void sequence_free(struct sequence *s)
{
    if (!s)
        return;
    beat_free(s->beat);
    (void)round_once(s, false, true);
    sequencer_free(s->sequencer);
    arena_free(s->arena);
    free(s);
}
