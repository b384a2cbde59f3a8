/* SPDX-License-Identifier: Apache-2.0 */
/* zone_law.c - a law travels as one JSON document: what was asked for is what is stored, approved and taken apart into rows. */
#include "tenants/home/zone_law.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "tenants/access/actor.h"
#include "tenants/access/cidr.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/zone.h"

enum { LAW_MAX = 512 << 10, REQUEST_HOURS = 14 * 24 };

SCHEMA_EXTERN(zone_clock, "A time limit of a law",
    FIELD(zone_clock, regime, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "The law, e.g. adgm-dpr"),
    FIELD(zone_clock, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "What runs: breach-notify, dsar, retention"),
    FIELD_OPT(zone_clock, hours, 0, .min = 1, .max = 2628000, .doc = "Hours; absent where the law names no number"),
    FIELD(zone_clock, source_text, F_REQ, .min = 1, .max = 1024, .doc = "Where it stands, and in which words"),
    FIELD(zone_clock, valid_from, F_REQ, .doc = "In force from"), FIELD(zone_clock, valid_to, 0, .doc = "In force until; absent: open"));
SCHEMA_EXTERN(zone_rule, "What a law says about data of a class leaving",
    FIELD(zone_rule, regime, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "The law, e.g. uae-health-ict"),
    FIELD_ENUM(zone_rule, data_class, F_REQ, data_class_names, .doc = "Of which data"),
    FIELD_ENUM(zone_rule, may_leave, F_REQ, may_leave_names, .doc = "never: only under a policy that names its exception; with_basis: under a policy; free"),
    FIELD_STRS(zone_rule, countries, 0, .max = 250, .doc = "Countries that count as inside; none: the zone's own"),
    FIELD(zone_rule, source_text, F_REQ, .min = 1, .max = 1024, .doc = "Where it stands, and in which words"),
    FIELD(zone_rule, valid_from, F_REQ, .doc = "In force from"), FIELD(zone_rule, valid_to, 0, .doc = "In force until; absent: open"));
SCHEMA_EXTERN(zone_law, "The law of a zone",
    FIELD_STRS(zone_law, legal_regimes, 0, .max = 16, .doc = "Laws that apply there, e.g. uae-pdpl"),
    FIELD(zone_law, regulator, 0, .max = 128, .check = check_name, .dflt = "", .doc = "Who supervises"),
    FIELD(zone_law, provider, 0, .max = 128, .check = check_name, .dflt = "", .doc = "Who runs the machines"),
    FIELD_ENUMS(zone_law, data_classes, 0, data_class_names, .max = 7, .doc = "Classes of data that may be there at all"),
    FIELD_STRS(zone_law, worker_cidrs, 0, .max = 256, .check = check_cidr, .doc = "Networks of its machines; none: any"),
    FIELD_LIST(zone_law, clocks, &zone_clock_schema, F_NOCOL, .max = 128, .doc = "Time limits"),
    FIELD_LIST(zone_law, rules, &zone_rule_schema, F_NOCOL, .max = 256, .doc = "What may leave"));
SCHEMA_EXTERN(zone_law_view, "A version of a zone's law",
    FIELD(zone_law_view, zone, F_ALWAYS, .doc = "The zone"),
    FIELD(zone_law_view, version, 0, .doc = "Grows with each approved change"),
    FIELD(zone_law_view, country, F_ALWAYS, .doc = "ISO 3166 country"),
    FIELD(zone_law_view, legal_regimes, 0, .doc = "Laws that apply there"),
    FIELD(zone_law_view, regulator, 0, .doc = "Who supervises"), FIELD(zone_law_view, provider, 0, .doc = "Who runs the machines"),
    FIELD(zone_law_view, data_classes, 0, .doc = "Classes of data that may be there at all"),
    FIELD(zone_law_view, worker_cidrs, 0, .doc = "Networks of its machines"), FIELD(zone_law_view, clocks, 0, .doc = "Time limits with their sources"),
    FIELD(zone_law_view, rules, 0, .doc = "What may leave, with sources"),
    FIELD_ID(zone_law_view, approval_id, "apr", 0, .doc = "The approval that set it; absent: made with the zone"),
    FIELD_ID(zone_law_view, set_by, "usr", 0, .doc = "Who asked for it"), FIELD(zone_law_view, approved_by, 0, .doc = "Who approved it"),
    FIELD(zone_law_view, at, 0, .doc = "Since when"));
SCHEMA_EXTERN(class_zones, "Where one class may be", FIELD_ENUM(class_zones, data_class, F_REQ, data_class_names, .doc = "The class"),
    FIELD_STRS(class_zones, zones, F_REQ, .min = 1, .max = 32, .doc = "The zones"));
SCHEMA_EXTERN(tenant_zones, "Where a tenant's data may be",
    FIELD_STRS(tenant_zones, allowed_zones, F_REQ, .min = 1, .max = 32, .doc = "Zones, the home zone among them"),
    FIELD_LIST(tenant_zones, classes, &class_zones_schema, F_NOCOL, .max = 7, .doc = "Classes with a list of their own"));
SCHEMA_EXTERN(tenant_zones_view, "Where a tenant's data may be", FIELD_ID(tenant_zones_view, tenant_id, "tnt", F_ALWAYS,
      .doc = "The tenant"),
    FIELD(tenant_zones_view, home_zone, 0, .doc = "Home zone"), FIELD(tenant_zones_view, allowed_zones, 0, .doc = "Allowed zones"),
    FIELD(tenant_zones_view, classes, 0, .doc = "Classes with a list of their own"));

struct law_act { struct str zone; struct zone_law law; };
SCHEMA_OF(law_act, "What exactly a zone's law becomes", FIELD(law_act, zone, F_REQ, .max = 31, .doc = "The zone"),
    FIELD_SUB(law_act, law, &zone_law_schema, F_REQ | F_NOCOL, .doc = "The law"));
struct version_row { int64_t law_version; };
SCHEMA_OF(version_row, "A new version", FIELD(version_row, law_version, 0, .doc = "Number"));

static const struct stmt zone_law_next = { .name = "zone_law_next", .params = "sSssSS", .row = &version_row_schema, .card = CARD_ONE, .sql =
    "UPDATE zone SET law_version = law_version + 1, legal_regimes = $2, regulator = $3, provider = $4, data_classes = $5,\n"
    "       worker_cidrs = $6::cidr[] WHERE code = $1 RETURNING law_version" };
static const struct stmt zone_law_insert = { .name = "zone_law_insert", .params = "sijuu", .card = CARD_NONE, .sql =
    "INSERT INTO zone_law (zone, version, law, approval_id, approved_by, set_by)\n"
    "SELECT $1, $2, $3, $4, coalesce((SELECT array_agg(d.user_id) FROM approval_decision d WHERE d.approval_id = $4 AND d.approve), '{}'), $5" };
static const struct stmt zone_rule_insert = { .name = "zone_rule_insert", .params = "sij", .card = CARD_NONE, .sql =
    "INSERT INTO zone_rule (zone, version, n, regime, data_class, may_leave, countries, source_text, valid_from, valid_to)\n"
    "SELECT $1, $2, row_number() OVER (), r.regime, r.data_class, r.may_leave, coalesce(r.countries, '{}'), r.source_text, r.valid_from, r.valid_to\n"
    "  FROM jsonb_to_recordset($3->'rules') AS r(regime text, data_class text, may_leave text, countries text[], source_text text,\n"
    "       valid_from timestamptz, valid_to timestamptz)" };
static const struct stmt zone_clock_insert = { .name = "zone_clock_insert", .params = "sij", .card = CARD_NONE, .sql =
    "INSERT INTO zone_clock (zone, version, n, regime, name, hours, source_text, valid_from, valid_to)\n"
    "SELECT $1, $2, row_number() OVER (), c.regime, c.name, c.hours, c.source_text, c.valid_from, c.valid_to\n"
    "  FROM jsonb_to_recordset($3->'clocks') AS c(regime text, name text, hours bigint, source_text text,\n"
    "       valid_from timestamptz, valid_to timestamptz)" };
static const struct stmt zone_law_read = { .name = "zone_law_read", .params = "si", .row = &zone_law_view_schema, .card = CARD_ONE, .sql =
    "SELECT l.zone, l.version, z.country, l.approval_id, l.set_by, to_jsonb(l.approved_by) AS approved_by, l.at,\n"
    "       coalesce(l.law->'legal_regimes', to_jsonb(z.legal_regimes)) AS legal_regimes, coalesce(l.law->>'regulator', z.regulator) AS regulator,\n"
    "       coalesce(l.law->>'provider', z.provider) AS provider, coalesce(l.law->'data_classes', to_jsonb(z.data_classes)) AS data_classes,\n"
    "       coalesce(l.law->'worker_cidrs', to_jsonb(z.worker_cidrs::text[])) AS worker_cidrs,\n"
    "       (SELECT coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(c) - 'zone' - 'version' - 'n') ORDER BY c.n), '[]') FROM zone_clock c\n"
    "         WHERE c.zone = l.zone AND c.version = l.version) AS clocks,\n"
    "       (SELECT coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(r) - 'zone' - 'version' - 'n') ORDER BY r.n), '[]') FROM zone_rule r\n"
    "         WHERE r.zone = l.zone AND r.version = l.version) AS rules\n"
    "  FROM zone z JOIN zone_law l ON l.zone = z.code AND l.version = CASE WHEN $2 = 0 THEN z.law_version ELSE $2 END WHERE z.code = $1" };
static const struct stmt tenant_zones_read = { .name = "tenant_zones_read", .params = "u", .row = &tenant_zones_view_schema, .card = CARD_ONE, .sql =
    "SELECT t.tenant_id, t.home_zone, to_jsonb(t.allowed_zones) AS allowed_zones,\n"
    "       (SELECT coalesce(jsonb_agg(jsonb_build_object('data_class', c.data_class, 'zones', c.zones)), '[]') FROM\n"
    "         (SELECT data_class, jsonb_agg(zone ORDER BY zone) AS zones FROM tenant_zone WHERE tenant_id = $1 GROUP BY data_class) c) AS classes\n"
    "  FROM tenant t WHERE t.tenant_id = $1" };
static const struct stmt tenant_zones_set = { .name = "tenant_zones_set", .params = "uS", .card = CARD_ONE, .sql =
    "UPDATE tenant SET allowed_zones = $2, version = version + 1, authz_rev = authz_rev + 1 WHERE tenant_id = $1 AND home_zone = ANY ($2)" };
static const struct stmt tenant_zones_clear = { .name = "tenant_zones_clear", .params = "u", .card = CARD_NONE, .sql =
    "DELETE FROM tenant_zone WHERE tenant_id = $1" };
static const struct stmt tenant_zones_insert = { .name = "tenant_zones_insert", .params = "uj", .card = CARD_NONE, .sql =
    "INSERT INTO tenant_zone (tenant_id, data_class, zone)\n"
    "SELECT DISTINCT $1, c.data_class, z.zone FROM jsonb_to_recordset($2->'classes') AS c(data_class text, zones text[]), unnest(c.zones) AS z(zone)" };

const struct stmt *const zone_law_stmts[] = { &zone_law_next, &zone_law_insert, &zone_rule_insert, &zone_clock_insert, &zone_law_read,
                                              &tenant_zones_read, &tenant_zones_set, &tenant_zones_clear, &tenant_zones_insert, NULL };

static struct str text_of(struct work *w, const struct schema *s, const void *obj, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LAW_MAX);
    json_encode(s, obj, &b);
    if (!b.overflow)
        return str_dup(w->arena, buf_str(&b));
    FAIL(e, LIMIT, "The law is too long to be stored");
    return STR_NULL;
}

enum errc zone_law_check(const struct zone_law *law, struct err *e)
{
    const struct zone_rule *r = law->rules.items;
    const struct zone_clock *c = law->clocks.items;
    for (size_t i = 0; i < law->rules.n; i++) {
        const struct str *k = r[i].countries.items;
        if (r[i].valid_to.us && r[i].valid_to.us <= r[i].valid_from.us)
            return FAIL(e, UNPROCESSABLE, "Rule %zu ends before it begins", i + 1);
        for (size_t n = 0; n < r[i].countries.n; n++)
            if (k[n].len != 2 || k[n].ptr[0] < 'A' || k[n].ptr[0] > 'Z' || k[n].ptr[1] < 'A' || k[n].ptr[1] > 'Z')
                return FAIL(e, UNPROCESSABLE, "Rule %zu: %.*s is not an ISO 3166 country code", i + 1, STR_ARG(k[n]));
    }
    for (size_t i = 0; i < law->clocks.n; i++)
        if (c[i].valid_to.us && c[i].valid_to.us <= c[i].valid_from.us)
            return FAIL(e, UNPROCESSABLE, "Clock %zu ends before it begins", i + 1);
    struct cidr net;
    for (size_t i = 0; i < law->worker_cidrs.n; i++)
        if (!cidr_parse(((struct str *)law->worker_cidrs.items)[i], &net))
            return FAIL_AT(e, UNPROCESSABLE, "/worker_cidrs",
                "A network must be an address and a prefix without further bits, such as 192.0.2.0/24");
    return ERR_OK;
}

static void forget(void *ctx)
{
    residency_cache_forget(ctx);
}

enum errc zone_law_put(struct work *w, struct str zone, const struct zone_law *law, struct uuid approval_id, struct err *e)
{
    struct version_row v;
    struct str *classes = ARENA_ARRAY(w->arena, struct str, law->data_classes.n + 1);
    TRY(zone_law_check(law, e));
    for (size_t i = 0; i < law->data_classes.n; i++)
        classes[i] = str_c(data_class_names[((int *)law->data_classes.items)[i]]);
    struct str text = text_of(w, &zone_law_schema, law, e);
    if (!text.ptr)
        return e->code;
    TRY(db_one(w->tx, &zone_law_next, ARGS(A_STR(zone), A_STRS(law->legal_regimes.items, law->legal_regimes.n), A_STR(law->regulator),
        A_STR(law->provider), A_STRS(classes, law->data_classes.n), A_STRS(law->worker_cidrs.items, law->worker_cidrs.n)), &v, e));
    TRY(db_exec(w->tx, &zone_law_insert, ARGS(A_STR(zone), A_I64(v.law_version), A_JSON(text), A_UUID_OR_NULL(approval_id),
        A_UUID(w->principal ? w->principal->user_id : UUID_NIL)), NULL, e));
    TRY(db_exec(w->tx, &zone_rule_insert, ARGS(A_STR(zone), A_I64(v.law_version), A_JSON(text)), NULL, e));
    TRY(db_exec(w->tx, &zone_clock_insert, ARGS(A_STR(zone), A_I64(v.law_version), A_JSON(text)), NULL, e));
    db_after_commit(w->tx, forget, w->app->residency);
    return ERR_OK;
}

enum errc zone_law_get(struct work *w, struct str zone, int64_t version, struct zone_law_view *ret, struct err *e)
{
    return db_one(w->tx, &zone_law_read, ARGS(A_STR(zone), A_I64(version)), ret, e);
}

enum errc zone_law_request(struct work *w, struct str zone, const struct zone_law *law, struct str reason, struct approval *ret, struct err *e)
{
    struct zone z;
    struct law_act act = { zone, *law };
    TRY(zone_get(w, zone, &z, e));
    TRY(zone_law_check(law, e));
    struct str text = text_of(w, &law_act_schema, &act, e);
    return text.ptr ? approval_request(w, &zone_policy_kind, UUID_NIL, str_fmt(w->arena, "law of %.*s", STR_ARG(zone)), text, reason, ret, e) : e->code;
}

static enum errc note(struct work *w, enum audit_code code, struct str zone, const struct approval *a, struct err *e)
{
    struct audit_event ev = audit_event_by(w, w->principal, code);
    ev.zone = zone;
    ev.resource_kind = STR("zone");
    ev.resource_name = zone;
    audit_event_detail(&ev, AUDIT_D_STR("approval", id_text(w->arena, "apr", a->approval_id)));
    audit_event_detail(&ev, AUDIT_D_STR("payload", a->payload_sha256));
    return audit_append(w, &ev, e);
}

static enum errc zone_policy_execute(struct work *w, const struct approval *a, struct err *e)
{
    struct law_act act = { 0 };
    TRY(json_decode(&law_act_schema, a->payload.text, w->arena, &act, e));
    TRY(zone_law_put(w, act.zone, &act.law, a->approval_id, e));
    return note(w, AUDIT_ZONE_UPDATE, act.zone, a, e);
}

enum errc tenant_zones_get(struct work *w, struct tenant_zones_view *ret, struct err *e)
{
    return db_one(w->tx, &tenant_zones_read, ARGS(A_UUID(w->tenant_id)), ret, e);
}

static enum errc zones_exist(struct work *w, struct slice codes, struct err *e)
{
    struct zone z;
    for (size_t i = 0; i < codes.n; i++)
        if (zone_get(w, ((struct str *)codes.items)[i], &z, e) != ERR_OK)
            return e->code == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, "/allowed_zones", "There is no zone %.*s", STR_ARG(((struct str *)codes.items)[i])) : e->code;
    return ERR_OK;
}

enum errc tenant_zones_request(struct work *w, const struct tenant_zones *in, struct str reason, struct approval *ret, struct err *e)
{
    struct tenant_zones_view now;
    bool has_home = false;
    TRY(tenant_zones_get(w, &now, e));
    TRY(zones_exist(w, in->allowed_zones, e));
    for (size_t i = 0; i < in->allowed_zones.n; i++)
        has_home |= str_eq(((struct str *)in->allowed_zones.items)[i], now.home_zone);
    if (!has_home)
        return FAIL_AT(e, UNPROCESSABLE, "/allowed_zones", "The home zone %.*s must be one of the allowed zones",
            STR_ARG(now.home_zone));
    for (size_t i = 0; i < in->classes.n; i++)
        TRY(zones_exist(w, ((struct class_zones *)in->classes.items)[i].zones, e));
    struct str text = text_of(w, &tenant_zones_schema, in, e);
    return text.ptr ? approval_request(w, &tenant_zones_kind, w->tenant_id, STR("zones of the tenant"), text, reason, ret, e) : e->code;
}

static enum errc tenant_zones_execute(struct work *w, const struct approval *a, struct err *e)
{
    struct tenant_zones in = { 0 };
    TRY(json_decode(&tenant_zones_schema, a->payload.text, w->arena, &in, e));
    TRY(db_exec(w->tx, &tenant_zones_set, ARGS(A_UUID(w->tenant_id), A_STRS(in.allowed_zones.items, in.allowed_zones.n)), NULL, e));
    TRY(db_exec(w->tx, &tenant_zones_clear, ARGS(A_UUID(w->tenant_id)), NULL, e));
    TRY(db_exec(w->tx, &tenant_zones_insert, ARGS(A_UUID(w->tenant_id), A_JSON(a->payload.text)), NULL, e));
    db_after_commit(w->tx, forget, w->app->residency);
    return note(w, AUDIT_POLICY_SET, STR_NULL, a, e);
}

const struct approval_kind zone_policy_kind = { "zone.policy", PERM_APPROVE_RESIDENCY, 1, REQUEST_HOURS, zone_policy_execute,
    "Change the law of a zone: what may be there, what may leave, which clocks run" };
const struct approval_kind tenant_zones_kind = { "tenant.zones", PERM_APPROVE_RESIDENCY, 1, REQUEST_HOURS, tenant_zones_execute,
    "Change where a tenant's data may be" };
