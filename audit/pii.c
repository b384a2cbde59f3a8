/* SPDX-License-Identifier: Apache-2.0 */
/* pii.c - the keys of subjects: a table in memory in front of audit_subject_key and falaj-keyd.
 *
 * The table is open-addressed by subject and read under a shared lock by whoever encodes an event. An entry without keys says "not to be
 * had until then": erased, or falaj-keyd did not answer. A full table forgets the entry that it would have to pass over. */
#include "audit/pii.h"
#include "audit/pii_seal.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/work.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"
#include "keys/client.h"

#include <pthread.h>
#include <stdlib.h>

enum { SLOTS = 8192, PROBES = 16 };
static const int64_t KEEP_US = 60000000, FAILED_US = 10000000;
#define KIND "audit-subject"

struct slot {
    struct uuid subject, key_id;
    int64_t until_us;                   /* 0: empty */
    struct pii_keys *keys;              /* NULL: not to be had */
};

struct audit_pii {
    pthread_rwlock_t lock;              /* guards slots */
    struct slot slots[SLOTS];
};

struct subject_row {
    struct uuid subject_id, key_id;
    struct str zone;
    int64_t key_version;
    struct bytes wrapped, tkek;
};
SCHEMA_OF(subject_row, "A subject's key and the tenant's key above it", FIELD(subject_row, subject_id, 0, .doc = "Whose"),
    FIELD(subject_row, key_id, 0, .doc = "The key"), FIELD(subject_row, zone, 0, .doc = "Where it was wrapped"),
    FIELD(subject_row, key_version, 0, .doc = "Version of the tenant's key"),
    FIELD(subject_row, wrapped, 0, .max = KEY_BLOB_MAX, .doc = "Absent: erased"), FIELD(subject_row, tkek, 0, .max = KEY_BLOB_MAX, .doc = "The tenant's key"));
struct tkek_row { int64_t version; struct bytes wrapped; };
SCHEMA_OF(tkek_row, "The tenant's key that new keys go under", FIELD(tkek_row, version, 0, .doc = "Its version"),
    FIELD(tkek_row, wrapped, 0, .max = KEY_BLOB_MAX, .doc = "Wrapped"));

#define SUBJECT_SQL "SELECT s.subject_id, s.key_id, s.zone, s.key_version, s.wrapped, k.wrapped AS tkek FROM audit_subject_key s\n" \
  "  LEFT JOIN tenant_key k ON k.tenant_id = s.tenant_id AND k.zone = s.zone AND k.version = s.key_version\n" \
  " WHERE s.tenant_id = $1"
static const struct stmt subject_get = { .name = "audit_subject_get", .params = "uu", .row = &subject_row_schema, .card = CARD_MAYBE, .sql =
  SUBJECT_SQL " AND s.subject_id = $2" };
static const struct stmt subject_by_key = { .name = "audit_subject_by_key", .params = "uu", .row = &subject_row_schema, .card = CARD_MAYBE, .sql =
  SUBJECT_SQL " AND s.key_id = $2" };
static const struct stmt subject_live = { .name = "audit_subject_live", .params = "uui", .row = &subject_row_schema, .card = CARD_MANY, .sql =
  SUBJECT_SQL " AND ($2::uuid IS NULL OR s.subject_id = $2) AND s.wrapped IS NOT NULL ORDER BY s.subject_id LIMIT $3" };
static const struct stmt subject_insert = { .name = "audit_subject_insert", .params = "uuusiy", .card = CARD_NONE, .sql =
  "INSERT INTO audit_subject_key (tenant_id, subject_id, key_id, zone, key_version, wrapped) VALUES ($1, $2, $3, $4, $5, $6)\n"
  "    ON CONFLICT (tenant_id, subject_id) DO NOTHING" };
static const struct stmt tkek_get = { .name = "audit_tkek_get", .params = "us", .row = &tkek_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT version, wrapped FROM tenant_key WHERE tenant_id = $1 AND zone = $2 AND state = 'PRIMARY'" };
static const struct stmt tkek_insert = { .name = "audit_tkek_insert", .params = "usyis", .card = CARD_NONE, .sql =
  "INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider)\n"
  "VALUES ($1, $2, 1, 'PRIMARY', $3, $4, $5) ON CONFLICT DO NOTHING" };

const struct stmt *const audit_pii_stmts[] = { &subject_get, &subject_by_key, &subject_live, &subject_insert, &tkek_get, &tkek_insert, NULL };

struct audit_pii *audit_pii_new(void)
{
    struct audit_pii *p = calloc(1, sizeof *p);
    ASSERT(p);
    pthread_rwlock_init(&p->lock, NULL);
    return p;
}

static void slot_empty(struct slot *s)
{
    if (s->keys)
        secret_free(s->keys, sizeof *s->keys);
    *s = (struct slot){ 0 };
}

void audit_pii_free(struct audit_pii *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        slot_empty(&p->slots[i]);
    pthread_rwlock_destroy(&p->lock);
    free(p);
}

/* The subject's slot; NULL: none. The lock is held. */
static struct slot *find(struct audit_pii *p, struct uuid subject)
{
    size_t at = str_hash(str_n((const char *)subject.b, 16)) % SLOTS;
    for (size_t i = 0; i < PROBES; i++) {
        struct slot *s = &p->slots[(at + i) % SLOTS];
        if (s->until_us && uuid_eq(s->subject, subject))
            return s;
    }
    return NULL;
}

bool audit_pii_is_ready(struct audit_pii *p, struct uuid subject, int64_t now_us)
{
    pthread_rwlock_rdlock(&p->lock);
    const struct slot *s = find(p, subject);
    bool ready = s && s->until_us > now_us;
    pthread_rwlock_unlock(&p->lock);
    return ready;
}

/* plain NULL: it is not to be had until then. */
static void keep(struct audit_pii *p, struct uuid subject, struct uuid key_id, const struct secret32 *plain, int64_t until_us)
{
    struct pii_keys *keys = plain ? secret_alloc(sizeof *keys) : NULL;
    if (keys)
        pii_keys_of(plain, keys);
    size_t at = str_hash(str_n((const char *)subject.b, 16)) % SLOTS;
    pthread_rwlock_wrlock(&p->lock);
    struct slot *s = find(p, subject);
    for (size_t i = 0; !s && i < PROBES; i++)
        if (!p->slots[(at + i) % SLOTS].until_us)
            s = &p->slots[(at + i) % SLOTS];
    if (!s)
        s = &p->slots[at];
    slot_empty(s);
    *s = (struct slot){ subject, key_id, until_us, keys };
    pthread_rwlock_unlock(&p->lock);
}

void audit_pii_forget(struct audit_pii *p, struct uuid subject)
{
    pthread_rwlock_wrlock(&p->lock);
    struct slot *s = find(p, subject);
    if (s) {
        /* Other slots are found past this one, so it stays taken and says: erased. */
        struct uuid whose = s->subject;
        int64_t until = s->until_us + KEEP_US;
        slot_empty(s);
        *s = (struct slot){ .subject = whose, .until_us = until };
    }
    pthread_rwlock_unlock(&p->lock);
}

bool audit_pii_seal(struct audit_pii *p, struct uuid subject, const char *field, struct str plain, char *out, struct str *ret)
{
    pthread_rwlock_rdlock(&p->lock);
    const struct slot *s = find(p, subject);
    bool ok = s && s->keys && pii_seal(s->keys, s->key_id, field, plain, out, ret);
    pthread_rwlock_unlock(&p->lock);
    if (!ok)
        metrics_inc(M_audit_pii_withheld_total, field);
    return ok;
}

static enum errc blob_of(struct bytes from, struct key_blob *ret, struct err *e)
{
    if (!from.data.len || from.data.len > KEY_BLOB_MAX)
        return FAIL(e, UNAVAILABLE, "The key above a subject's key is gone");
    memcpy(ret->b, from.data.ptr, from.data.len);
    ret->n = (uint16_t)from.data.len;
    return ERR_OK;
}

static struct dek_ref ref_of(struct uuid tenant, struct str zone, struct uuid key_id)
{
    return (struct dek_ref){ zone, tenant, STR(KIND), key_id, 1, key_id };
}

static enum errc open_key(struct work *w, struct uuid tenant, const struct subject_row *row, struct secret32 *ret, struct err *e)
{
    struct key_blob tkek, wrapped;
    struct tkek_ref above = { row->zone, tenant, STR(KEY_PURPOSE_DATA), (uint32_t)row->key_version };
    struct dek_ref ref = ref_of(tenant, row->zone, row->key_id);
    if (!w->app->keyd)
        return FAIL(e, UNAVAILABLE, "No key daemon is configured here");
    TRY(blob_of(row->tkek, &tkek, e));
    TRY(blob_of(row->wrapped, &wrapped, e));
    return keyd_dek_open(w->app->keyd, &above, &tkek, &ref, &wrapped, ret, e);
}

/* The key that a new subject's key goes under. The platform has one from its first event on; a tenant has it from its birth. */
static enum errc tkek_for(struct work *w, struct uuid tenant, struct str zone, struct tkek_row *row, struct err *e)
{
    struct tkek_ref ref = { zone, tenant, STR(KEY_PURPOSE_DATA), 1 };
    struct keyd_health health;
    struct key_blob blob;
    bool found;
    TRY(db_maybe(w->tx, &tkek_get, ARGS(A_UUID(tenant), A_STR(zone)), row, &found, e));
    if (found)
        return ERR_OK;
    if (!uuid_is_nil(tenant))
        return FAIL(e, UNAVAILABLE, "The tenant has no usable key in zone %.*s", STR_ARG(zone));
    TRY(keyd_health(w->app->keyd, zone, &health, e));
    TRY(keyd_tkek_new(w->app->keyd, &ref, &blob, e));
    TRY(db_exec(w->tx, &tkek_insert, ARGS(A_UUID(tenant), A_STR(zone), A_BYTES(blob.b, blob.n), A_I64(health.root_version), A_TEXT(health.provider)),
                NULL, e));
    return db_one(w->tx, &tkek_get, ARGS(A_UUID(tenant), A_STR(zone)), row, e);
}

static enum errc make_key(struct work *w, struct uuid tenant, struct uuid subject, struct str zone, struct subject_row *ret, struct secret32 *plain,
                          struct err *e)
{
    struct uuid key_id = uuid_v7(w->now_us);
    struct dek_ref ref = ref_of(tenant, zone, key_id);
    struct tkek_row above;
    struct key_blob tkek, wrapped;
    bool found;
    if (!w->app->keyd || !keyd_client_has_zone(w->app->keyd, zone))
        return FAIL(e, UNAVAILABLE, "No key daemon of zone %.*s is configured here", STR_ARG(zone));
    TRY(tkek_for(w, tenant, zone, &above, e));
    TRY(blob_of(above.wrapped, &tkek, e));
    struct tkek_ref at = { zone, tenant, STR(KEY_PURPOSE_DATA), (uint32_t)above.version };
    TRY(keyd_dek_new(w->app->keyd, &at, &tkek, &ref, &wrapped, plain, e));
    TRY(db_exec(w->tx, &subject_insert, ARGS(A_UUID(tenant), A_UUID(subject), A_UUID(key_id), A_STR(zone), A_I64(above.version),
                                             A_BYTES(wrapped.b, wrapped.n)), NULL, e));
    TRY(db_maybe(w->tx, &subject_get, ARGS(A_UUID(tenant), A_UUID(subject)), ret, &found, e));
    return found ? ERR_OK : FAIL(e, INTERNAL, "a subject's key was not stored");
}

static enum errc load(struct work *w, struct uuid tenant, struct uuid subject, struct str zone, struct subject_row *row, struct secret32 *plain,
                      struct err *e)
{
    bool found;
    TRY(db_maybe(w->tx, &subject_get, ARGS(A_UUID(tenant), A_UUID(subject)), row, &found, e));
    if (!found)
        TRY(make_key(w, tenant, subject, zone, row, plain, e));
    if (row->wrapped.data.ptr)          /* also what another process made at the same time */
        TRY(open_key(w, tenant, row, plain, e));
    return ERR_OK;
}

enum errc audit_pii_load(struct work *w, struct audit_pii *p, struct uuid tenant, struct uuid subject, struct str zone, struct err *e)
{
    CLEANUP(secret32_freep) struct secret32 *plain = secret32_new();
    struct subject_row row = { 0 };
    ASSERT(w->tx == NULL);
    enum errc rc = plain ? ERR_OK : FAIL(e, LIMIT, "no secure memory for a subject's key");
    if (rc == ERR_OK)
        rc = RUN_TX(w, w->app->pool, SCOPE_TENANT(tenant), 0, load(w, tenant, subject, zone, &row, plain, e), e);
    bool has = rc == ERR_OK && row.wrapped.data.ptr;
    keep(p, subject, row.key_id, has ? plain : NULL, w->now_us + (rc == ERR_OK ? KEEP_US : FAILED_US));
    return rc;
}

enum errc audit_pii_read(struct work *w, struct uuid tenant, const char *field, struct str stored, struct str *ret, enum audit_pii_state *ret_state,
                         struct err *e)
{
    CLEANUP(secret32_freep) struct secret32 *plain = secret32_new();
    struct subject_row row;
    struct pii_keys keys;
    struct uuid key_id;
    struct err why = { 0 };
    char out[PII_TEXT_MAX];
    bool found;
    *ret = stored;
    *ret_state = PII_CLEAR;
    if (!pii_key_id(stored, &key_id))
        return ERR_OK;
    *ret = STR_NULL;
    *ret_state = PII_UNREADABLE;        /* another log's key, or falaj-keyd is silent */
    TRY(db_maybe(w->tx, &subject_by_key, ARGS(A_UUID(tenant), A_UUID(key_id)), &row, &found, e));
    if (found && !row.wrapped.data.ptr)
        *ret_state = PII_ERASED;
    if (!found || !plain || !row.wrapped.data.ptr || open_key(w, tenant, &row, plain, &why) != ERR_OK)
        return ERR_OK;
    pii_keys_of(plain, &keys);
    struct str text;
    if (pii_open(&keys, key_id, field, stored, out, &text)) {
        *ret = str_dup(w->arena, text);
        *ret_state = PII_OPEN;
    }
    secret_wipe(&keys, sizeof keys);
    return ERR_OK;
}

enum errc audit_pii_test(struct work *w, struct uuid tenant, struct uuid subject, const char *field, struct str value, struct str **ret, size_t *ret_n,
                         struct err *e)
{
    struct { struct subject_row *items; size_t n; } rows = { 0 };
    CLEANUP(secret32_freep) struct secret32 *plain = secret32_new();
    if (!plain)
        return FAIL(e, LIMIT, "no secure memory for a subject's key");
    TRY(db_many(w->tx, &subject_live, ARGS(A_UUID(tenant), A_UUID_OR_NULL(subject), A_I64(AUDIT_PII_TEST_MAX)), &rows, AUDIT_PII_TEST_MAX, e));
    struct str *out = ARENA_ARRAY(w->arena, struct str, rows.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < rows.n; i++) {
        struct pii_keys keys;
        char *text = arena_alloc(w->arena, PII_SEALED_MAX);
        TRY(open_key(w, tenant, &rows.items[i], plain, e));
        pii_keys_of(plain, &keys);
        if (pii_seal(&keys, rows.items[i].key_id, field, value, text, &out[n]))
            n++;
        secret_wipe(&keys, sizeof keys);
    }
    *ret = out;
    *ret_n = n;
    return ERR_OK;
}
