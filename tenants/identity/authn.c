/* SPDX-License-Identifier: Apache-2.0 */
/* authn.c - a direct-mapped cache of 4096 entries in 16 shards; a collision replaces, which costs one database read. */
#include "tenants/identity/authn.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/token.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "tenants/access/cidr.h"
#include "tenants/access/principal_load.h"
#include "tenants/identity/refusals.h"

#include <pthread.h>
#include <stdlib.h>

enum { SHARDS = 16, PER_SHARD = 256, CACHE_MS_MAX = 5000, USED_MAX = 1024, ADDRESS_MAX = 64 };

struct entry {
    uint8_t hash[32];
    struct principal *principal;
    int64_t until_us;
    bool used;
    char address[ADDRESS_MAX];          /* of the last use */
};

struct authn {
    struct db_pool *pool;
    const struct clock *clock;
    int64_t cache_us;
    struct refusals *refusals;
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
    struct json cidrs, zones;
};
SCHEMA_OF(token_row, "A token with its user, tenant and roles", PRINCIPAL_ROW_FIELDS(token_row, who),
    FIELD(token_row, token_id, 0, .doc = "Token"), FIELD(token_row, scopes, 0, .doc = "Scopes"),
    FIELD(token_row, expires_at, 0, .doc = "End"), FIELD(token_row, revoked_at, 0, .doc = "Revoked"),
    FIELD(token_row, cidrs, 0, .doc = "Networks"), FIELD(token_row, zones, 0, .doc = "Zones"));

static const struct stmt authn_find = { .name = "authn_find", .params = "y", .row = &token_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT " PRINCIPAL_ROW_COLUMNS ", token_id, to_jsonb(scopes) AS scopes, expires_at, revoked_at, to_jsonb(cidrs) AS cidrs,\n"
    "       to_jsonb(zones) AS zones FROM authn_token($1)" };

static const struct stmt authn_used = { .name = "authn_used", .params = "UUS", .card = CARD_NONE, .sql =
    "SELECT FROM authn_token_used($1, $2, $3)" };

const struct stmt *const authn_stmts[] = { &authn_find, &authn_used, NULL };

struct authn *authn_new(struct db_pool *pool, const struct clock *clock, int64_t cache_ms)
{
    struct authn *a = calloc(1, sizeof *a);
    ASSERT(a);
    a->pool = pool;
    a->clock = clock;
    a->refusals = refusals_new();
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
    refusals_free(a->refusals);
    free(a);
}

static struct entry *slot(struct authn *a, const uint8_t hash[32], struct shard **ret_shard)
{
    *ret_shard = &a->shards[hash[0] % SHARDS];
    return &(*ret_shard)->entries[hash[1]];
}

static bool is_from_there(const struct principal *p, struct str address)
{
    bool ok = p->token_cidrs.n == 0;
    for (size_t i = 0; i < p->token_cidrs.n && !ok; i++)
        ok = cidr_has(&((const struct cidr *)p->token_cidrs.items)[i], address);
    return ok;
}

static void entry_used(struct entry *en, struct str address)
{
    size_t n = address.len < ADDRESS_MAX ? address.len : 0;
    en->used = true;
    if (n)
        memcpy(en->address, address.ptr, n);
    en->address[n] = 0;
}

static struct principal *cache_get(struct authn *a, const uint8_t hash[32], struct str address)
{
    struct shard *s;
    struct entry *en = slot(a, hash, &s);
    struct principal *p = NULL;
    int64_t now = clock_mono_us(a->clock);
    pthread_mutex_lock(&s->lock);
    if (en->principal && !memcmp(en->hash, hash, 32)) {
        if (now < en->until_us) {
            p = principal_ref(en->principal);
            if (is_from_there(p, address))
                entry_used(en, address);
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

struct principal *authn_cached(struct authn *a, struct str token, struct str address)
{
    uint8_t hash[32];
    if (!token_check(token, NULL))
        return NULL;
    token_hash(token, hash);
    struct principal *p = cache_get(a, hash, address);
    if (p && !is_from_there(p, address)) {      /* authn_token tells it and counts it */
        principal_unref(p);
        return NULL;
    }
    return p;
}

static void cache_put(struct authn *a, const uint8_t hash[32], struct principal *p, struct str address)
{
    struct shard *s;
    struct entry *en = slot(a, hash, &s);
    pthread_mutex_lock(&s->lock);
    struct principal *old = en->principal;
    memcpy(en->hash, hash, 32);
    en->principal = principal_ref(p);
    en->until_us = clock_mono_us(a->clock) + a->cache_us;
    entry_used(en, is_from_there(p, address) ? address : STR_NULL);
    en->used = is_from_there(p, address);
    pthread_mutex_unlock(&s->lock);
    principal_unref(old);
}

static enum errc refuse(struct authn *a, const char *reason, const struct token_row *row, struct str address, struct err *e)
{
    refusals_note(a->refusals, &(struct refusal){ reason, false, row->who.tenant_id, row->who.user_id, row->token_id, address });
    metrics_inc(M_token_refused_total, reason);
    return FAIL(e, UNAUTHENTICATED, "The token is not known, has expired or was revoked");
}

/* What only a token limits: networks, and zones as a ceiling of the tenant's. */
static void limit(struct principal *p, const struct token_row *row, struct arena *tmp)
{
    struct slice texts = string_array(tmp, row->cidrs.text);
    struct cidr *nets = ARENA_ARRAY(p->arena, struct cidr, texts.n + 1);
    p->token_cidrs = (struct slice){ nets, texts.n };
    for (size_t i = 0; i < texts.n; i++)
        if (!cidr_parse(((struct str *)texts.items)[i], &nets[i]))
            nets[i] = (struct cidr){ .bits = 128 };     /* ::, which nobody has */
    p->token_zones = string_array(p->arena, row->zones.text);
    if (!p->token_zones.n)
        return;
    struct str *kept = ARENA_ARRAY(p->arena, struct str, p->allowed_zones.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->allowed_zones.n; i++)
        for (size_t k = 0; k < p->token_zones.n; k++)
            if (str_eq(((struct str *)p->allowed_zones.items)[i], ((struct str *)p->token_zones.items)[k]))
                kept[n++] = ((struct str *)p->allowed_zones.items)[i];
    p->allowed_zones = (struct slice){ kept, n };
    if (n && !principal_zone_allowed(p, p->home_zone))
        p->home_zone = kept[0];
}

static enum errc look_up(struct authn *a, const uint8_t hash[32], struct str address, struct arena *arena, struct principal **ret, struct err *e)
{
    struct work w = { .arena = arena };
    struct token_row row = { 0 };
    struct principal *p;
    bool found = false;
    TRY(RUN_TX(&w, a->pool, SCOPE_TENANT(UUID_NIL), TX_READ_ONLY,
               db_maybe(w.tx, &authn_find, ARGS(A_BYTES(hash, 32)), &row, &found, e), e));
    const char *wrong = !found ? "unknown" : row.revoked_at.us ? "revoked" : row.expires_at.us <= clock_wall_us(a->clock) ? "expired" : NULL;
    if (wrong)
        return refuse(a, wrong, &row, address, e);
    enum errc rc = principal_check(&row.who, e);
    if (rc == ERR_UNAUTHENTICATED)
        return refuse(a, "user", &row, address, e);
    TRY(rc);
    TRY(principal_make(&row.who, AUTH_TOKEN, string_array(arena, row.scopes.text), arena, &p, e));
    p->token_id = row.token_id;
    p->expires_us = row.expires_at.us;
    limit(p, &row, arena);
    cache_put(a, hash, p, address);
    *ret = p;
    return ERR_OK;
}

enum errc authn_token(struct authn *a, struct str token, struct str address, struct arena *arena, struct principal **ret, struct err *e)
{
    uint8_t hash[32];
    struct str kind;
    if (!token_check(token, &kind) || str_eq_c(kind, "join")) {
        metrics_inc(M_token_refused_total, "malformed");
        return FAIL(e, UNAUTHENTICATED, "The token is not known, has expired or was revoked");
    }
    token_hash(token, hash);
    struct principal *p = cache_get(a, hash, address);
    if (!p)
        TRY(look_up(a, hash, address, arena, &p, e));
    if (is_from_there(p, address)) {
        *ret = p;
        return ERR_OK;
    }
    const struct token_row row = { .who = { .tenant_id = p->tenant_id, .user_id = p->user_id }, .token_id = p->token_id };
    principal_unref(p);
    return refuse(a, "address", &row, address, e);
}

struct refusals *authn_refusals(struct authn *a)
{
    return a->refusals;
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
            addresses[n] = str_dup(arena, str_c(en->address));
            tokens[n++] = en->principal->token_id;
        }
        pthread_mutex_unlock(&s->lock);
    }
    if (!n)
        return ERR_OK;
    struct work w = { .arena = arena };
    return RUN_TX(&w, a->pool, SCOPE_TENANT(UUID_NIL), 0,
                  (db_queue(w.tx, &authn_used, ARGS(A_UUIDS(tenants, n), A_UUIDS(tokens, n), A_STRS(addresses, n)), false),
                   ERR_OK), e);
}
