/* SPDX-License-Identifier: Apache-2.0 */
/* authn.c - a direct-mapped cache of 4096 entries in 16 shards; a collision replaces, which costs one database read. */
#include "tenants/authn.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/token.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "tenants/principal_load.h"

#include <pthread.h>
#include <stdlib.h>

enum { SHARDS = 16, PER_SHARD = 256, CACHE_MS_MAX = 5000, USED_MAX = 1024 };

struct entry {
    uint8_t hash[32];
    struct principal *principal;
    int64_t until_us;
    bool used;
};

struct authn {
    struct db_pool *pool;
    const struct clock *clock;
    int64_t cache_us;
    struct shard {
        pthread_mutex_t lock;       /* guards entries */
        struct entry entries[PER_SHARD];
    } shards[SHARDS];
};

struct token_row {
    struct principal_row who;
    struct uuid token_id;
    struct json scopes;
    struct timestamp expires_at, revoked_at;
};
SCHEMA_OF(token_row, "A token with its user, tenant and roles", PRINCIPAL_ROW_FIELDS(token_row, who),
    FIELD(token_row, token_id, 0, .doc = "Token"), FIELD(token_row, scopes, 0, .doc = "Scopes"),
    FIELD(token_row, expires_at, 0, .doc = "End"), FIELD(token_row, revoked_at, 0, .doc = "Revoked"));

static const struct stmt authn_find = { .name = "authn_find", .params = "y", .row = &token_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT " PRINCIPAL_ROW_COLUMNS ", token_id, to_jsonb(scopes) AS scopes, expires_at, revoked_at FROM authn_token($1)" };

static const struct stmt authn_used = { .name = "authn_used", .params = "UUS", .card = CARD_NONE, .sql =
    "SELECT FROM authn_token_used($1, $2, $3)" };

const struct stmt *const authn_stmts[] = { &authn_find, &authn_used, NULL };

struct authn *authn_new(struct db_pool *pool, const struct clock *clock, int64_t cache_ms)
{
    struct authn *a = calloc(1, sizeof *a);
    ASSERT(a);
    a->pool = pool;
    a->clock = clock;
    a->cache_us = 1000 * (cache_ms < CACHE_MS_MAX ? cache_ms : CACHE_MS_MAX);
    for (int i = 0; i < SHARDS; i++)
        pthread_mutex_init(&a->shards[i].lock, NULL);
    return a;
}

void authn_free(struct authn *a)
{
    if (!a)
        return;
    for (int i = 0; i < SHARDS; i++)
        for (int j = 0; j < PER_SHARD; j++)
            principal_unref(a->shards[i].entries[j].principal);
    free(a);
}

static struct entry *slot(struct authn *a, const uint8_t hash[32], struct shard **ret_shard)
{
    *ret_shard = &a->shards[hash[0] % SHARDS];
    return &(*ret_shard)->entries[hash[1]];
}

static struct principal *cache_get(struct authn *a, const uint8_t hash[32])
{
    struct shard *s;
    struct entry *en = slot(a, hash, &s);
    struct principal *p = NULL;
    int64_t now = clock_mono_us(a->clock);
    pthread_mutex_lock(&s->lock);
    if (en->principal && !memcmp(en->hash, hash, 32)) {
        if (now < en->until_us) {
            p = principal_ref(en->principal);
            en->used = true;
        } else {
            principal_unref(TAKE(en->principal));
        }
    }
    pthread_mutex_unlock(&s->lock);
    if (p && clock_wall_us(a->clock) >= p->expires_us) {
        principal_unref(p);
        return NULL;
    }
    return p;
}

struct principal *authn_cached(struct authn *a, struct str token)
{
    uint8_t hash[32];
    if (!token_check(token, NULL))
        return NULL;
    token_hash(token, hash);
    return cache_get(a, hash);
}

static void cache_put(struct authn *a, const uint8_t hash[32], struct principal *p)
{
    struct shard *s;
    struct entry *en = slot(a, hash, &s);
    pthread_mutex_lock(&s->lock);
    struct principal *old = en->principal;
    memcpy(en->hash, hash, 32);
    en->principal = principal_ref(p);
    en->until_us = clock_mono_us(a->clock) + a->cache_us;
    en->used = true;
    pthread_mutex_unlock(&s->lock);
    principal_unref(old);
}

enum errc authn_token(struct authn *a, struct str token, struct arena *arena, struct principal **ret, struct err *e)
{
    uint8_t hash[32];
    if (!token_check(token, NULL))
        return FAIL(e, UNAUTHENTICATED, "The token is not known, has expired or was revoked");
    token_hash(token, hash);
    struct principal *p = cache_get(a, hash);
    if (p) {
        *ret = p;
        return ERR_OK;
    }
    struct db_tx *tx;
    struct token_row row = { 0 };
    bool found = false;
    TRY(db_begin(a->pool, SCOPE_TENANT(UUID_NIL), TX_READ_ONLY, arena, &tx, e));
    enum errc rc = db_maybe(tx, &authn_find, ARGS(A_BYTES(hash, sizeof hash)), &row, &found, e);
    if (rc != ERR_OK) {
        db_rollback(tx);
        return rc;
    }
    TRY(db_commit(tx, e));
    if (!found || row.revoked_at.us || row.expires_at.us <= clock_wall_us(a->clock))
        return FAIL(e, UNAUTHENTICATED, "The token is not known, has expired or was revoked");
    TRY(principal_check(&row.who, e));
    TRY(principal_make(&row.who, AUTH_TOKEN, string_array(arena, row.scopes.text), arena, &p, e));
    p->token_id = row.token_id;
    p->expires_us = row.expires_at.us;
    cache_put(a, hash, p);
    *ret = p;
    return ERR_OK;
}

void authn_forget(struct authn *a, struct uuid token_id)
{
    for (int i = 0; i < SHARDS; i++) {
        struct shard *s = &a->shards[i];
        pthread_mutex_lock(&s->lock);
        for (int j = 0; j < PER_SHARD; j++)
            if (s->entries[j].principal && uuid_eq(s->entries[j].principal->token_id, token_id))
                principal_unref(TAKE(s->entries[j].principal));
        pthread_mutex_unlock(&s->lock);
    }
}

void authn_forget_user(struct authn *a, struct uuid tenant_id, struct uuid user_id)
{
    for (int i = 0; i < SHARDS; i++) {
        struct shard *s = &a->shards[i];
        pthread_mutex_lock(&s->lock);
        for (int j = 0; j < PER_SHARD; j++) {
            const struct principal *p = s->entries[j].principal;
            if (p && uuid_eq(p->tenant_id, tenant_id) && (uuid_is_nil(user_id) || uuid_eq(p->user_id, user_id)))
                principal_unref(TAKE(s->entries[j].principal));
        }
        pthread_mutex_unlock(&s->lock);
    }
}

enum errc authn_flush_used(struct authn *a, struct arena *arena, struct err *e)
{
    struct uuid *tenants = ARENA_ARRAY(arena, struct uuid, USED_MAX), *tokens = ARENA_ARRAY(arena, struct uuid, USED_MAX);
    struct str *addresses = ARENA_ARRAY(arena, struct str, USED_MAX);
    size_t n = 0;
    for (int i = 0; i < SHARDS; i++) {
        struct shard *s = &a->shards[i];
        pthread_mutex_lock(&s->lock);
        for (int j = 0; j < PER_SHARD && n < USED_MAX; j++) {
            struct entry *en = &s->entries[j];
            if (!en->principal || !en->used)
                continue;
            en->used = false;
            tenants[n] = en->principal->tenant_id;
            addresses[n] = STR_NULL;
            tokens[n++] = en->principal->token_id;
        }
        pthread_mutex_unlock(&s->lock);
    }
    if (!n)
        return ERR_OK;
    struct db_tx *tx;
    TRY(db_begin(a->pool, SCOPE_TENANT(UUID_NIL), 0, arena, &tx, e));
    db_queue(tx, &authn_used, ARGS(A_UUIDS(tenants, n), A_UUIDS(tokens, n), A_STRS(addresses, n)), false);
    return db_commit(tx, e);
}
