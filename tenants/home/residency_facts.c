/* SPDX-License-Identifier: Apache-2.0 */
/* residency_facts.c - facts come as two JSON documents that the database builds, one of the law and one of the tenant, each decoded by its
 * schema: two reads whatever the number of rows. The memory is direct-mapped: a newer tenant takes the line of one that falls on it. */
#include "tenants/home/residency_facts.h"
#include "core/base/assert.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LINES = 4096, ZONES_MAX = 1024, RULES_MAX = 512, POLICIES_MAX = 10000, FACTS_MAX = 16 << 20 };

SCHEMA_OF(residency_rule, "What a law says of a class of data", FIELD(residency_rule, regime, F_REQ, .doc = "The law"),
    FIELD_ENUM(residency_rule, data_class, F_REQ, data_class_names, .doc = "Of which data"),
    FIELD_ENUM(residency_rule, may_leave, F_REQ, may_leave_names, .doc = "May it leave"),
    FIELD_STRS(residency_rule, countries, F_REQ, .max = 300, .doc = "Inside of what"),
    FIELD(residency_rule, from_us, F_REQ, .doc = "In force from"), FIELD(residency_rule, until_us, F_REQ, .doc = "Until; 0: open"));
SCHEMA_OF(residency_zone, "A zone as the judge sees it", FIELD(residency_zone, code, F_REQ, .doc = "Code"),
    FIELD(residency_zone, country, F_REQ, .doc = "Country"), FIELD_ENUMS(residency_zone, classes, F_REQ, data_class_names, .doc = "Permitted classes"),
    FIELD_STRS(residency_zone, cidrs, F_REQ, .max = 1000, .doc = "Addresses of its machines"),
    FIELD_LIST(residency_zone, rules, &residency_rule_schema, F_REQ | F_NOCOL, .max = RULES_MAX, .doc = "Its law"));
SCHEMA_OF(residency_class_zone, "A class and a zone", FIELD_ENUM(residency_class_zone, data_class, F_REQ, data_class_names, .doc = "Class"),
    FIELD(residency_class_zone, zone, F_REQ, .doc = "Zone"));
SCHEMA_OF(residency_policy, "A transfer policy as the judge sees it", FIELD(residency_policy, policy_id, F_REQ, .doc = "Policy"),
    FIELD(residency_policy, from, F_REQ, .doc = "From"), FIELD(residency_policy, to, F_REQ, .doc = "To"),
    FIELD(residency_policy, purpose, F_REQ, .doc = "For"), FIELD_ENUM(residency_policy, data_class, F_REQ, data_class_names, .doc = "Of which data"),
    FIELD(residency_policy, has_exception, F_REQ, .doc = "Names an exception"), FIELD(residency_policy, from_us, F_REQ, .doc = "From"),
    FIELD(residency_policy, until_us, F_REQ, .doc = "Until"));
SCHEMA_OF(residency_facts, "Where a tenant's data may be", FIELD_LIST(residency_facts, zones, &residency_zone_schema, F_NOCOL, .max = ZONES_MAX, .doc = "The law"),
    FIELD(residency_facts, home, 0, .doc = "Home zone"), FIELD_STRS(residency_facts, allowed, 0, .max = ZONES_MAX, .doc = "Allowed zones"),
    FIELD_LIST(residency_facts, class_zones, &residency_class_zone_schema, F_NOCOL, .max = 7 * ZONES_MAX, .doc = "Allowed zones by class"),
    FIELD_LIST(residency_facts, policies, &residency_policy_schema, F_NOCOL, .max = POLICIES_MAX, .doc = "Policies"));

struct revision_row { int64_t revision; };
SCHEMA_OF(revision_row, "How often facts have changed", FIELD(revision_row, revision, 0, .doc = "Number"));
struct law_row { struct json law; };
SCHEMA_OF(law_row, "The law of all zones", FIELD(law_row, law, 0, .doc = "JSON"));
struct tenant_row { struct json tenant; };
SCHEMA_OF(tenant_row, "A tenant's places", FIELD(tenant_row, tenant, 0, .doc = "JSON"));

static const struct stmt residency_revision = { .name = "residency_revision", .params = "", .row = &revision_row_schema, .card = CARD_ONE, .sql =
    "SELECT " RESIDENCY_REVISION " AS revision" };
/* The condition is always true: it lets the planner read by the index, for with enable_seqscan=off a plain read of the table is priced so
 * high that PostgreSQL compiles the query each time (100 ms). */
static const struct stmt residency_law = { .name = "residency_law", .params = "", .row = &law_row_schema, .card = CARD_ONE, .sql =
    "SELECT jsonb_build_object('zones', coalesce(jsonb_agg(jsonb_build_object('code', z.code, 'country', z.country,\n"
    "  'classes', to_jsonb(z.data_classes), 'cidrs', to_jsonb(z.worker_cidrs::text[]), 'rules',\n"
    "  (SELECT coalesce(jsonb_agg(jsonb_build_object('regime', r.regime, 'data_class', r.data_class, 'may_leave', r.may_leave,\n"
    "       'countries', to_jsonb(r.countries), 'from_us', (extract(epoch FROM r.valid_from) * 1000000)::bigint,\n"
    "       'until_us', coalesce((extract(epoch FROM r.valid_to) * 1000000)::bigint, 0))), '[]')\n"
    "     FROM zone_rule r WHERE r.zone = z.code AND r.version = z.law_version))), '[]')) AS law\n"
    "  FROM zone z WHERE z.code > ''" };
static const struct stmt residency_tenant = { .name = "residency_tenant", .params = "u", .row = &tenant_row_schema, .card = CARD_ONE, .sql =
    "SELECT " RESIDENCY_TENANT_JSON " AS tenant FROM tenant t WHERE t.tenant_id = $1" };

SCHEMA_OF(residency_places, "A tenant's places", FIELD(residency_places, tenant_id, 0, .doc = "Tenant"),
    FIELD(residency_places, zones, 0, .doc = "Zones it may use"), FIELD(residency_places, tenant, 0, .doc = "JSON"));
static const struct stmt residency_tenants = { .name = "residency_tenants", .params = "U", .row = &residency_places_schema,
                                               .card = CARD_MANY, .sql =
    "SELECT t.tenant_id, array_to_string(t.allowed_zones, ',') AS zones, " RESIDENCY_TENANT_JSON " AS tenant\n"
    "  FROM tenant t WHERE t.tenant_id = ANY ($1) ORDER BY t.tenant_id" };

const struct stmt *const residency_stmts[] = { &residency_revision, &residency_law, &residency_tenant, &residency_tenants, NULL };

struct kept {
    _Atomic int refs;
    struct arena *arena;
    struct residency_facts facts;
    struct uuid tenant_id;
    int64_t revision, read_us;
    int64_t checked_us;             /* guarded by the cache's lock, as is_refreshing */
    bool is_refreshing;
};

struct residency_cache {
    pthread_mutex_t lock;           /* guards the lines */
    struct kept *lines[LINES];
};

struct residency_cache *residency_cache_new(void)
{
    struct residency_cache *c = calloc(1, sizeof *c);
    ASSERT(c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void kept_unref(void *p)
{
    struct kept *k = p;
    if (!k || atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_free(k->arena);
    free(k);
}

void residency_cache_forget(struct residency_cache *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < LINES; i++) {
        kept_unref(c->lines[i]);
        c->lines[i] = NULL;
    }
    pthread_mutex_unlock(&c->lock);
}

void residency_cache_free(struct residency_cache *c)
{
    if (!c)
        return;
    residency_cache_forget(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct kept **line_of(struct residency_cache *c, struct uuid tenant)
{
    return &c->lines[str_hash(str_n((const char *)tenant.b, 16)) % LINES];
}

/* The document comes from our own tables: what it does not say is a fault of ours, and then nothing may pass. */
static enum errc decode(const struct schema *s, struct str text, struct arena *a, void *ret, struct err *e)
{
    if (json_decode(s, text, a, ret, e) == ERR_OK)
        return ERR_OK;
    return err_set(e, ERR_INTERNAL, __FILE__, __LINE__, "The facts of residency cannot be read (%.60s%.60s)", e->field, e->msg);
}

enum errc residency_facts_make(struct arena *a, struct slice zones, struct str tenant, struct residency_facts *ret, struct err *e)
{
    struct residency_facts f = { 0 };
    TRY(decode(&residency_facts_schema, tenant, a, &f, e));
    f.zones = zones;
    *ret = f;
    return ERR_OK;
}

static enum errc law_into(struct db_tx *tx, struct arena *a, struct slice *ret, struct err *e)
{
    struct law_row law;
    struct residency_facts f = { 0 };
    TRY(db_one(tx, &residency_law, NO_ARGS, &law, e));
    TRY(decode(&residency_facts_schema, law.law.text, a, &f, e));
    *ret = f.zones;
    return ERR_OK;
}

enum errc residency_law_read(struct work *w, struct slice *ret_zones, struct err *e)
{
    return law_into(w->tx, w->arena, ret_zones, e);
}

enum errc residency_places_read(struct work *w, const struct uuid *tenants, size_t n, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &residency_tenants, ARGS(A_UUIDS(tenants, n)), ret, n, e);
}

static enum errc facts_into(struct db_tx *tx, struct uuid tenant, struct arena *a, struct residency_facts *ret, struct err *e)
{
    struct slice zones;
    struct tenant_row row;
    TRY(law_into(tx, a, &zones, e));
    TRY(db_one(tx, &residency_tenant, ARGS(A_UUID(tenant)), &row, e));
    return residency_facts_make(a, zones, row.tenant.text, ret, e);
}

enum errc residency_facts_read(struct work *w, const struct residency_facts **ret, struct err *e)
{
    struct residency_facts *f = ARENA_NEW(w->arena, struct residency_facts);
    TRY(facts_into(w->tx, w->tenant_id, w->arena, f, e));
    *ret = f;
    return ERR_OK;
}

/* What is remembered and may be used now; *ret_stale: the caller has to look whether it still holds. NULL too where one who may
 * not look would have to. */
static struct kept *find(struct residency_cache *c, struct uuid tenant, int64_t now_us, bool may_look, bool *ret_stale)
{
    pthread_mutex_lock(&c->lock);
    struct kept *k = *line_of(c, tenant);
    *ret_stale = true;
    if (k && (!uuid_eq(k->tenant_id, tenant) || now_us - k->checked_us >= RESIDENCY_KEPT_US))
        k = NULL;
    if (k) {
        bool is_old = now_us - k->checked_us >= RESIDENCY_FRESH_US || now_us - k->read_us >= RESIDENCY_KEPT_US;
        *ret_stale = is_old && !k->is_refreshing;
        if (*ret_stale && !may_look)
            k = NULL;
    }
    if (k) {
        k->is_refreshing |= *ret_stale;
        atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&c->lock);
    return k;
}

static void looked(struct residency_cache *c, struct kept *k, bool is_good, int64_t now_us)
{
    pthread_mutex_lock(&c->lock);
    k->checked_us = is_good ? now_us : k->checked_us;
    k->is_refreshing = false;
    pthread_mutex_unlock(&c->lock);
}

static void put(struct residency_cache *c, struct kept *k)
{
    pthread_mutex_lock(&c->lock);
    struct kept **line = line_of(c, k->tenant_id);
    kept_unref(*line);
    atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
    *line = k;
    pthread_mutex_unlock(&c->lock);
}

static struct kept *kept_new(struct uuid tenant, int64_t revision, int64_t now_us)
{
    struct kept *k = calloc(1, sizeof *k);
    ASSERT(k);
    *k = (struct kept){ .refs = 1, .arena = arena_new(FACTS_MAX), .tenant_id = tenant, .revision = revision, .read_us = now_us, .checked_us = now_us };
    return k;
}

/* The revision is read first: facts may be newer than it says, never older. */
static enum errc read_fresh(struct work *w, struct kept *old, int64_t now_us, struct kept **ret, struct err *e)
{
    struct revision_row r;
    TRY(db_one(w->tx, &residency_revision, NO_ARGS, &r, e));
    if (old && old->revision == r.revision && now_us - old->read_us < RESIDENCY_KEPT_US) {
        *ret = old;
        return ERR_OK;
    }
    struct kept *k = kept_new(w->tenant_id, r.revision, now_us);
    if (facts_into(w->tx, w->tenant_id, k->arena, &k->facts, e) != ERR_OK) {
        kept_unref(k);
        return e->code;
    }
    *ret = k;
    return ERR_OK;
}

static enum errc refresh(struct work *w, struct kept *old, int64_t now_us, struct kept **ret, struct err *e)
{
    if (w->tx)
        return read_fresh(w, old, now_us, ret, e);
    struct kept *fresh = NULL;
    enum errc rc = RUN_TX(w, w->app->pool, SCOPE_TENANT(w->tenant_id), TX_READ_ONLY, read_fresh(w, old, now_us, &fresh, e), e);
    if (rc == ERR_OK)
        *ret = fresh;
    else if (fresh && fresh != old)
        kept_unref(fresh);
    return rc;
}

enum errc residency_facts_of(struct work *w, const struct residency_facts **ret, struct err *e)
{
    struct residency_cache *c = w->app->residency;
    int64_t now_us = clock_mono_us(w->app->clock);
    bool is_stale = true;
    if (!c && w->tx)
        return residency_facts_read(w, ret, e);
    struct kept *k = c ? find(c, w->tenant_id, now_us, true, &is_stale) : NULL, *fresh = NULL;
    if (is_stale) {
        enum errc rc = refresh(w, k, now_us, &fresh, e);
        if (k)
            looked(c, k, rc == ERR_OK && fresh == k, now_us);
        if (rc != ERR_OK) {
            kept_unref(k);
            return rc;
        }
        if (fresh != k) {
            if (c)
                put(c, fresh);
            kept_unref(k);
            k = fresh;
        }
    }
    arena_defer(w->arena, kept_unref, k);
    *ret = &k->facts;
    return ERR_OK;
}

bool residency_is_sure(struct work *w, struct residency_question *q)
{
    struct residency_cache *c = w->app->residency;
    bool is_stale;
    struct kept *k = c ? find(c, w->tenant_id, clock_mono_us(w->app->clock), false, &is_stale) : NULL;
    if (!k)
        return false;
    q->now_us = w->now_us;
    bool is_allowed = residency_allows(&k->facts, q).allowed;
    kept_unref(k);
    return is_allowed;
}

int data_class_of(struct str name)
{
    return name_index(data_class_names, name);
}

enum errc residency_refusal(enum residency_act act, const struct residency_question *q, const struct residency_verdict *v, const char *field,
                            struct err *e)
{
    FAIL(e, RESIDENCY, "%s", v->text);
    err_note(e, "rule=%s act=%s class=%s zone=%.*s%s%.*s", v->rule, residency_act_names[act],
             q->data_class >= 0 && q->data_class < DC_COUNT ? data_class_names[q->data_class] : "?", STR_ARG(q->zone),
             q->from.ptr ? " from=" : "", STR_ARG(q->from));
    return field ? err_field(e, "%s", field) : ERR_RESIDENCY;
}

enum errc residency_check(struct work *w, enum residency_act act, struct residency_question *q, bool fresh, struct residency_verdict *ret,
                          struct err *e)
{
    const struct residency_facts *f;
    TRY(fresh ? residency_facts_read(w, &f, e) : residency_facts_of(w, &f, e));
    q->now_us = w->now_us;
    struct residency_verdict v = residency_allows(f, q);
    if (ret)
        *ret = v;
    return v.allowed ? ERR_OK : residency_refusal(act, q, &v, NULL, e);
}
