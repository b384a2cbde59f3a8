/* SPDX-License-Identifier: Apache-2.0 */
/* local_auth.c - two processes that make a zone's secret at once meet at the primary key: the second reads what the first made. */
#include "tenants/identity/local_auth.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/schema.h"
#include "keys/client.h"

#include <pthread.h>
#include <stdlib.h>

enum { ZONES_MAX = 8 };
static const int64_t BELIEVED_US = INT64_C(3600) * 1000000;

struct zone_secret {
    char zone[KEY_ZONE_MAX + 1];
    struct secret32 *secret;
    int64_t loaded_mono_us;
};

struct local_auth {
    pthread_mutex_t lock;           /* guards all below but zone and cost */
    pthread_cond_t room;
    struct zone_secret zones[ZONES_MAX];
    size_t nzones;
    int64_t running, waiting, running_max, waiting_max;
    char zone[KEY_ZONE_MAX + 1];
    struct argon_cost cost;
    char dummy[ARGON_PHC];          /* of a password nobody knows */
};

struct auth_key_row { struct str zone; struct bytes tkek, wrapped; int64_t root_version; struct uuid dek_id; };
SCHEMA_OF(auth_key_row, "A zone's sign-in secret", FIELD(auth_key_row, zone, 0, .doc = "Zone"),
    FIELD(auth_key_row, tkek, 0, .doc = "The platform's key"), FIELD(auth_key_row, wrapped, 0, .doc = "The secret under it"),
    FIELD(auth_key_row, root_version, 0, .doc = "Root"), FIELD(auth_key_row, dek_id, 0, .doc = "Its id"));

static const struct stmt auth_key_get = { .name = "auth_key_get", .params = "s", .row = &auth_key_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT zone, tkek, wrapped, root_version, dek_id FROM auth_key WHERE zone = $1" };
static const struct stmt auth_key_insert = { .name = "auth_key_insert", .params = "syiuy", .card = CARD_NONE, .sql =
    "INSERT INTO auth_key (zone, tkek, root_version, dek_id, wrapped) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING" };
static const struct stmt auth_key_rewrap = { .name = "auth_key_rewrap", .params = "syii", .card = CARD_NONE, .sql =
    "UPDATE auth_key SET tkek = $2, root_version = $3 WHERE zone = $1 AND root_version = $4" };

const struct stmt *const local_auth_stmts[] = { &auth_key_get, &auth_key_insert, &auth_key_rewrap, NULL };

struct local_auth *local_auth_new(const struct config *cfg)
{
    struct local_auth *a = calloc(1, sizeof *a);
    struct str first, rest, zone;
    struct secret32 nobody;
    struct err e;
    char text[33] = { 0 };
    ASSERT(a);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->room, NULL);
    str_cut(str_c(cfg->keys_sockets), ',', &first, &rest);
    str_cut(str_trim(first), '=', &zone, &rest);
    memcpy(a->zone, zone.ptr, zone.len < KEY_ZONE_MAX ? zone.len : KEY_ZONE_MAX);
    a->running_max = thread_computing_max(cfg->auth_hash_concurrency, thread_processors());
    a->waiting_max = cfg->auth_hash_waiting;
    a->cost = (struct argon_cost){ (uint32_t)cfg->auth_password_memory_kib, (uint32_t)cfg->auth_password_passes, (uint32_t)cfg->auth_password_lanes };
    if (rand_key(nobody.b, sizeof nobody.b, &e) != ERR_OK || rand_key(text, 32, &e) != ERR_OK ||
        argon_hash(&a->cost, &nobody, str_n(text, 32), a->dummy, &e) != ERR_OK)
        log_err(LOG_ERROR, "auth.dummy", &e);
    return a;
}

void local_auth_free(struct local_auth *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->nzones; i++)
        secret32_free(a->zones[i].secret);
    pthread_cond_destroy(&a->room);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

struct str local_auth_zone(const struct local_auth *a)
{
    return str_c(a->zone);
}

static bool remembered(struct local_auth *a, struct str zone, int64_t now_us, struct secret32 *ret)
{
    bool found = false;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < a->nzones && !found; i++)
        if (str_eq_c(zone, a->zones[i].zone) && now_us - a->zones[i].loaded_mono_us < BELIEVED_US) {
            *ret = *a->zones[i].secret;
            found = true;
        }
    pthread_mutex_unlock(&a->lock);
    return found;
}

static void remember(struct local_auth *a, struct str zone, int64_t now_us, const struct secret32 *secret)
{
    pthread_mutex_lock(&a->lock);
    size_t i = 0;
    while (i < a->nzones && !str_eq_c(zone, a->zones[i].zone))
        i++;
    if (i == a->nzones && i < ZONES_MAX && zone.len <= KEY_ZONE_MAX && (a->zones[i].secret = secret32_new())) {
        memcpy(a->zones[i].zone, zone.ptr, zone.len);
        a->nzones++;
    }
    if (i < a->nzones) {
        *a->zones[i].secret = *secret;
        a->zones[i].loaded_mono_us = now_us;
    }
    pthread_mutex_unlock(&a->lock);
}

static struct dek_ref dek_of(struct str zone, struct uuid dek_id)
{
    return (struct dek_ref){ zone, UUID_NIL, STR("auth-key"), dek_id, 1, dek_id };
}

static enum errc make(struct work *w, struct str zone, struct err *e)
{
    struct tkek_ref tkek = { zone, UUID_NIL, STR(KEY_PURPOSE_SECRET), 1 };
    struct dek_ref dek = dek_of(zone, uuid_v7(w->now_us));
    struct key_blob tkek_blob, dek_blob;
    TRY(keyd_tkek_new(w->app->keyd, &tkek, &tkek_blob, e));
    TRY(keyd_dek_new(w->app->keyd, &tkek, &tkek_blob, &dek, &dek_blob, NULL, e));
    return db_exec(w->tx, &auth_key_insert, ARGS(A_STR(zone), A_BYTES(tkek_blob.b, tkek_blob.n), A_I64(tkek_root_version(&tkek_blob)), A_UUID(dek.dek_id),
                   A_BYTES(dek_blob.b, dek_blob.n)), NULL, e);
}

static enum errc blob_of(struct bytes b, struct key_blob *ret, struct err *e)
{
    if (!b.data.len || b.data.len > KEY_BLOB_MAX)
        return FAIL(e, DAMAGED, "The stored sign-in secret has a wrong size");
    memcpy(ret->b, b.data.ptr, b.data.len);
    ret->n = (uint16_t)b.data.len;
    return ERR_OK;
}

static enum errc load(struct work *w, struct str zone, struct secret32 *ret, struct err *e)
{
    struct auth_key_row row;
    struct keyd_health health;
    struct key_blob tkek_blob, dek_blob;
    bool found;
    TRY(db_maybe(w->tx, &auth_key_get, ARGS(A_STR(zone)), &row, &found, e));
    TRY(keyd_health(w->app->keyd, zone, &health, e));
    if (!found) {
        TRY(make(w, zone, e));
        TRY(db_maybe(w->tx, &auth_key_get, ARGS(A_STR(zone)), &row, &found, e));
        if (!found)
            return FAIL(e, RETRY, "The sign-in secret is being created; try again");
    }
    struct tkek_ref tkek = { zone, UUID_NIL, STR(KEY_PURPOSE_SECRET), 1 };
    struct dek_ref dek = dek_of(zone, row.dek_id);
    TRY(blob_of(row.tkek, &tkek_blob, e));
    TRY(blob_of(row.wrapped, &dek_blob, e));
    TRY(keyd_dek_open(w->app->keyd, &tkek, &tkek_blob, &dek, &dek_blob, ret, e));
    if (health.root_version > row.root_version) {
        struct key_blob moved;
        uint32_t version;
        TRY(keyd_tkek_rewrap(w->app->keyd, &tkek, &tkek_blob, &moved, &version, e));
        db_queue(w->tx, &auth_key_rewrap, ARGS(A_STR(zone), A_BYTES(moved.b, moved.n), A_I64(version), A_I64(row.root_version)), false);
    }
    return ERR_OK;
}

enum errc local_auth_key(struct work *w, struct str zone, const char *label, struct uuid tenant, struct secret32 *ret, struct err *e)
{
    struct local_auth *a = w->app->auth;
    int64_t now_us = clock_mono_us(w->app->clock);
    uint8_t place[64];
    size_t n = strlen(label);
    ASSERT(n < sizeof place - 17);
    if (!a || !a->zone[0])
        return FAIL(e, UNAVAILABLE, "No falaj-keyd is configured here (keys.sockets), so people cannot sign in");
    CLEANUP(secret32_freep) struct secret32 *secret = secret32_new();
    if (!secret)
        return FAIL(e, UNAVAILABLE, "The locked memory for keys is full; try again");
    if (!remembered(a, zone, now_us, secret)) {
        TRY(load(w, zone, secret, e));
        remember(a, zone, now_us, secret);
    }
    memcpy(place, label, n);
    place[n] = 0;
    memcpy(place + n + 1, tenant.b, 16);
    hmac_sha256(secret->b, sizeof secret->b, place, n + 17, ret->b);
    return ERR_OK;
}

enum errc local_auth_pepper(struct work *w, struct str zone, struct secret32 *ret, struct err *e)
{
    return local_auth_key(w, zone, "falaj-pepper-v1", UUID_NIL, ret, e);
}

static enum errc enter(struct local_auth *a, struct err *e)
{
    enum errc rc = ERR_OK;
    pthread_mutex_lock(&a->lock);
    if (a->running >= a->running_max && a->waiting >= a->waiting_max) {
        rc = FAIL(e, RATE, "Too many sign-ins are under way; try again in 1 s");
    } else {
        a->waiting++;
        while (a->running >= a->running_max)
            pthread_cond_wait(&a->room, &a->lock);
        a->waiting--;
        a->running++;
    }
    pthread_mutex_unlock(&a->lock);
    return rc;
}

static void leave(struct local_auth *a)
{
    pthread_mutex_lock(&a->lock);
    a->running--;
    pthread_cond_signal(&a->room);
    pthread_mutex_unlock(&a->lock);
}

enum errc local_auth_hash(const struct app *app, const struct secret32 *pepper, struct str password, char ret[ARGON_PHC], struct err *e)
{
    TRY(enter(app->auth, e));
    enum errc rc = argon_hash(&app->auth->cost, pepper, password, ret, e);
    leave(app->auth);
    return rc;
}

enum errc local_auth_check(const struct app *app, const struct secret32 *pepper, struct str phc, struct str password, bool *ret, struct err *e)
{
    TRY(enter(app->auth, e));
    bool is_right = argon_check(phc.ptr ? phc : str_c(app->auth->dummy), pepper, password);
    leave(app->auth);
    *ret = is_right && phc.ptr;
    return ERR_OK;
}

bool local_auth_is_other_cost(const struct app *app, struct str phc)
{
    return argon_is_other_cost(phc, &app->auth->cost);
}
