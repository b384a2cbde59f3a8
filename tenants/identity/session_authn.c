/* SPDX-License-Identifier: Apache-2.0 */
/* session_authn.c - a direct-mapped memory of 1024 sessions under one lock: people are fewer than programs. */
#include "tenants/identity/session_authn.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/session.h"

#include <pthread.h>
#include <stdlib.h>

enum { ENTRIES = 1024, CACHE_MS_MAX = 5000 };

struct entry {
    uint8_t hash[32];
    struct principal *principal;
    int64_t until_mono_us;
    bool is_used;
};

struct session_authn {
    struct db_pool *pool;
    const struct clock *clock;
    int64_t cache_us, idle_us;
    pthread_mutex_t lock;           /* guards entries and generation */
    struct entry entries[ENTRIES];
    uint64_t generation;            /* grows with every forgetting: a look-up that began before it is not remembered */
};

struct session_found {
    struct principal_row who;
    struct uuid session_id;
    struct str method, stage;
    struct timestamp proved_at, mfa_at, last_seen, until, ended_at;
};
SCHEMA_OF(session_found, "A session with its user", PRINCIPAL_ROW_FIELDS(session_found, who), FIELD(session_found, session_id, 0, .doc = "Session"),
    FIELD(session_found, method, 0, .doc = "How"), FIELD(session_found, stage, 0, .doc = "How far"),
    FIELD(session_found, proved_at, 0, .doc = "Last proof"), FIELD(session_found, mfa_at, 0, .doc = "Last second factor"),
    FIELD(session_found, last_seen, 0, .doc = "Last request"), FIELD(session_found, until, 0, .doc = "End"),
    FIELD(session_found, ended_at, 0, .doc = "Ended"));

static const struct stmt session_find = { .name = "session_find", .params = "y", .row = &session_found_schema, .card = CARD_MAYBE, .sql =
    "SELECT " PRINCIPAL_ROW_COLUMNS ", session_id, method, stage, proved_at, mfa_at, last_seen, until, ended_at FROM session_find($1)" };
static const struct stmt session_seen = { .name = "session_seen", .params = "UU", .card = CARD_NONE, .sql = "SELECT FROM session_seen($1, $2)" };

const struct stmt *const session_authn_stmts[] = { &session_find, &session_seen, NULL };

struct session_authn *session_authn_new(struct db_pool *pool, const struct clock *clock, const struct config *cfg)
{
    struct session_authn *a = calloc(1, sizeof *a);
    ASSERT(a);
    a->pool = pool;
    a->clock = clock;
    a->cache_us = 1000 * (cfg->api_token_cache_ms < CACHE_MS_MAX ? cfg->api_token_cache_ms : CACHE_MS_MAX);
    a->idle_us = 1000 * cfg->auth_session_idle_ms;
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

void session_authn_free(struct session_authn *a)
{
    if (!a)
        return;
    for (int i = 0; i < ENTRIES; i++)
        principal_unref(a->entries[i].principal);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static struct entry *slot(struct session_authn *a, const uint8_t hash[32])
{
    return &a->entries[(hash[0] | hash[1] << 8) % ENTRIES];
}

static struct principal *cache_get(struct session_authn *a, const uint8_t hash[32], bool is_use, uint64_t *ret_generation)
{
    struct principal *p = NULL;
    pthread_mutex_lock(&a->lock);
    struct entry *en = slot(a, hash);
    *ret_generation = a->generation;
    if (en->principal && !memcmp(en->hash, hash, 32)) {
        if (clock_mono_us(a->clock) < en->until_mono_us && clock_wall_us(a->clock) < en->principal->expires_us) {
            p = principal_ref(en->principal);
            en->is_used |= is_use;
        } else if (!en->is_used) {
            principal_unref(TAKE(en->principal));
        }
    }
    pthread_mutex_unlock(&a->lock);
    return p;
}

static void cache_put(struct session_authn *a, const uint8_t hash[32], struct principal *p, bool is_use, uint64_t generation)
{
    struct principal *old = NULL;
    pthread_mutex_lock(&a->lock);
    struct entry *en = slot(a, hash);
    if (a->generation == generation) {
        old = en->principal;
        en->is_used = is_use || (old && en->is_used && !memcmp(en->hash, hash, 32));
        memcpy(en->hash, hash, 32);
        en->principal = principal_ref(p);
        en->until_mono_us = clock_mono_us(a->clock) + a->cache_us;
    }
    pthread_mutex_unlock(&a->lock);
    principal_unref(old);
}

static enum errc refuse(struct err *e)
{
    return FAIL(e, UNAUTHENTICATED, "The session is not known or has ended; sign in again");
}

static enum errc look_up(struct session_authn *a, const uint8_t hash[32], struct arena *arena, struct session_found *row, struct err *e)
{
    struct work w = { .arena = arena };
    bool found = false;
    TRY(RUN_TX(&w, a->pool, SCOPE_TENANT(UUID_NIL), TX_READ_ONLY,
               db_maybe(w.tx, &session_find, ARGS(A_BYTES(hash, 32)), row, &found, e), e));
    int64_t now_us = clock_wall_us(a->clock);
    if (!found || row->ended_at.us || row->until.us <= now_us || row->last_seen.us + a->idle_us <= now_us || !str_eq_c(row->who.user_state, "ACTIVE"))
        return refuse(e);
    return principal_check(&row->who, e);
}

enum errc session_authn(struct session_authn *a, struct str cookie, bool is_use, struct arena *arena, struct principal **ret, struct err *e)
{
    uint8_t hash[32];
    uint64_t generation;
    struct session_found row = { 0 };
    if (cookie.len != COOKIE_LEN)
        return refuse(e);
    session_cookie_hash(cookie, hash);
    if ((*ret = cache_get(a, hash, is_use, &generation)))
        return ERR_OK;
    TRY(look_up(a, hash, arena, &row, e));
    struct principal *p;
    TRY(principal_make(&row.who, AUTH_SESSION, (struct slice){ 0 }, arena, &p, e));
    p->session_id = row.session_id;
    p->expires_us = row.until.us;
    p->login_us = row.proved_at.us;
    p->mfa_us = row.mfa_at.us;
    p->is_break_glass = str_eq_c(row.method, "break-glass");
    p->stage = str_eq_c(row.stage, "full") ? STAGE_FULL : str_eq_c(row.stage, "code") ? STAGE_CODE : STAGE_ENROL;
    if (p->stage != STAGE_FULL) {
        p->scopes = 0;
        principal_settle(p);
    }
    cache_put(a, hash, p, is_use, generation);
    *ret = p;
    return ERR_OK;
}

struct principal *session_cached(struct session_authn *a, struct str cookie)
{
    uint8_t hash[32];
    uint64_t generation;
    if (cookie.len != COOKIE_LEN)
        return NULL;
    session_cookie_hash(cookie, hash);
    return cache_get(a, hash, false, &generation);
}

void session_forget(struct session_authn *a, struct uuid session_id)
{
    pthread_mutex_lock(&a->lock);
    a->generation++;
    for (int i = 0; i < ENTRIES; i++)
        if (a->entries[i].principal && uuid_eq(a->entries[i].principal->session_id, session_id))
            principal_unref(TAKE(a->entries[i].principal));
    pthread_mutex_unlock(&a->lock);
}

void session_forget_user(struct session_authn *a, struct uuid tenant_id, struct uuid user_id)
{
    pthread_mutex_lock(&a->lock);
    a->generation++;
    for (int i = 0; i < ENTRIES; i++) {
        const struct principal *p = a->entries[i].principal;
        if (p && uuid_eq(p->tenant_id, tenant_id) && (uuid_is_nil(user_id) || uuid_eq(p->user_id, user_id)))
            principal_unref(TAKE(a->entries[i].principal));
    }
    pthread_mutex_unlock(&a->lock);
}

enum errc session_authn_flush(struct session_authn *a, struct arena *arena, struct err *e)
{
    struct uuid *tenants = ARENA_ARRAY(arena, struct uuid, ENTRIES), *sessions = ARENA_ARRAY(arena, struct uuid, ENTRIES);
    size_t n = 0;
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < ENTRIES; i++) {
        if (!a->entries[i].principal || !a->entries[i].is_used)
            continue;
        a->entries[i].is_used = false;
        tenants[n] = a->entries[i].principal->tenant_id;
        sessions[n++] = a->entries[i].principal->session_id;
    }
    pthread_mutex_unlock(&a->lock);
    if (!n)
        return ERR_OK;
    struct work w = { .arena = arena };
    return RUN_TX(&w, a->pool, SCOPE_TENANT(UUID_NIL), 0, 
                  (db_queue(w.tx, &session_seen, ARGS(A_UUIDS(tenants, n), A_UUIDS(sessions, n)), false), ERR_OK), e);
}
