/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - one statement for each section; each gives one JSON list and takes tenant, zone (NULL: all) and period. */
#include "registry/evidence/evidence.h"
#include "core/base/assert.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "keys/client.h"
#include "registry/registry_int.h"
#include "tenants/home/zone.h"

SCHEMA_EXTERN(evidence, "Evidence about a zone and a period",
    FIELD_ID(evidence, tenant_id, "tnt", 0, .doc = "Whose; absent: totals of the platform"), FIELD(evidence, zone, 0, .doc = "Which zone; absent: all"),
    FIELD(evidence, from, 0, .doc = "Begin of the period"), FIELD(evidence, to, 0, .doc = "Its end"),
    FIELD(evidence, generated_at, 0, .doc = "When this was made"), FIELD(evidence, is_cut, 0, .doc = "A list was longer than 1,000 rows"),
    FIELD(evidence, zones, 0, .doc = "Zones and their law"), FIELD(evidence, stored, 0, .doc = "What is stored: class, count, bytes, keys"),
    FIELD(evidence, transfers, 0, .doc = "What crossed a border, with its basis"), FIELD(evidence, policies, 0, .doc = "Transfer policies"),
    FIELD(evidence, denied, 0, .doc = "Places that were refused"), FIELD(evidence, workers, 0, .doc = "Machines and where they stand"),
    FIELD(evidence, tokens, 0, .doc = "What holds the root key of each zone: kind, maker and model of its token"),
    FIELD(evidence, keys, 0, .doc = "Versions of keys"), FIELD(evidence, heads, 0, .doc = "Signed heads of the audit log"),
    FIELD(evidence, access, 0, .doc = "Who holds which role"), FIELD(evidence, approvals, 0, .doc = "What was asked for and approved"));

enum { TOKENS_MAX = 64 };            /* zones whose key store is asked */

struct section_row { struct json list; };
SCHEMA_OF(section_row, "A section", FIELD(section_row, list, 0, .doc = "Rows"));

/* Each is "SELECT … ORDER BY … LIMIT 1001" as x; its last line is always true and names all four parameters, which not every query needs. */
#define SECTION(name_, query)                                                                                                             \
    { .name = "evidence_" name_, .params = "ustt", .row = &section_row_schema, .card = CARD_ONE, .sql =                                    \
      "SELECT coalesce(jsonb_agg(to_jsonb(x)), '[]') AS list FROM (\n" query "\n LIMIT 1001) x\n"                      \
      " WHERE ($1::uuid, $2::text, $3::timestamptz, $4::timestamptz) IS DISTINCT FROM NULL" }

/* Names of those who agreed to a request. */
#define APPROVED_BY(id) \
    "(SELECT string_agg(y.name, ', ' ORDER BY y.name) FROM approval_decision d JOIN app_user y ON y.tenant_id = d.tenant_id\n" \
    "           AND y.user_id = d.user_id WHERE d.tenant_id = $1 AND d.approval_id = " id " AND d.approve)"

const struct stmt evidence_stmts_list[] = {
    SECTION("zones", "SELECT z.code AS zone, z.country, z.regulator, z.provider, array_to_string(z.legal_regimes, ' ') AS regimes,\n"
                     "       array_to_string(z.data_classes, ' ') AS classes, z.law_version FROM zone z WHERE ($2::text IS NULL OR z.code = $2) ORDER BY z.code"),
    SECTION("stored", "SELECT o.zone, o.data_class, count(*) AS objects, sum(o.stored_bytes) AS bytes,\n"
                      "       string_agg(DISTINCT 'v' || d.key_version, ' ') AS key_versions, string_agg(DISTINCT k.provider, ' ') AS providers\n"
                      "  FROM object o LEFT JOIN dek d ON d.tenant_id = o.tenant_id AND d.object_id = o.object_id\n"
                      "       LEFT JOIN tenant_key k ON k.tenant_id = d.tenant_id AND k.zone = d.zone AND k.version = d.key_version\n"
                      " WHERE o.tenant_id = $1 AND ($2::text IS NULL OR o.zone = $2) AND o.state = 'COMMITTED' GROUP BY o.zone, o.data_class ORDER BY 1, 2"),
    SECTION("transfers", "SELECT 'trf_' || replace(t.transfer_id::text, '-', '') AS transfer, t.at, t.from_zone, t.to_zone, t.data_class, t.purpose, t.bytes,\n"
                         "       coalesce(p.legal_basis, t.rule) AS basis, encode(p.document_sha256, 'hex') AS document, p.assessment_ref, u.name AS who\n"
                         "  FROM transfer t LEFT JOIN transfer_policy p ON p.tenant_id = t.tenant_id AND p.policy_id = t.policy_id\n"
                         "       LEFT JOIN app_user u ON u.tenant_id = t.tenant_id AND u.user_id = t.by_user\n"
                         " WHERE t.tenant_id = $1 AND ($2::text IS NULL OR $2 IN (t.from_zone, t.to_zone)) AND t.at >= $3 AND t.at < $4 ORDER BY t.at"),
    SECTION("policies", "SELECT p.from_zone, p.to_zone, p.data_class, p.purpose, p.legal_basis, p.state, p.valid_from, p.valid_until, p.revoked_at, p.exception_ref,\n"
                        "       u.name AS requested_by, r.name AS revoked_by, " APPROVED_BY("p.approval_id") " AS approved_by\n"
                        "  FROM transfer_policy p LEFT JOIN app_user u ON u.tenant_id = p.tenant_id AND u.user_id = p.proposed_by\n"
                        "       LEFT JOIN app_user r ON r.tenant_id = p.tenant_id AND r.user_id = p.revoked_by\n"
                        " WHERE p.tenant_id = $1 AND ($2::text IS NULL OR $2 IN (p.from_zone, p.to_zone))\n"
                        "   AND p.created_at < $4 AND (p.valid_until >= $3) ORDER BY p.created_at"),
    SECTION("denied", "SELECT a.at, b->>'zone' AS zone, coalesce(u.name, n.name) AS who, b->'details'->>'act' AS act,\n"
                      "       b->'details'->>'class' AS data_class, b->'decision'->>'rule' AS rule, b->'actor'->>'type' AS actor, b->'details' AS details\n"
                      "  FROM audit_event a CROSS JOIN LATERAL (SELECT convert_from(a.body, 'UTF8')::jsonb AS b) c\n"
                      "       LEFT JOIN app_user u ON u.tenant_id = a.tenant_id AND u.user_id::text = b->'actor'->>'id'\n"
                      "       LEFT JOIN node n ON n.node_id::text = b->'actor'->>'id'\n"
                      " WHERE a.tenant_id = $1 AND a.at >= $3 AND a.at < $4 AND position('\"residency.deny\"'::bytea IN a.body) > 0\n"
                      "   AND ($2::text IS NULL OR b->>'zone' = $2) ORDER BY a.at"),
    SECTION("workers", "SELECT n.zone, n.name, n.pool, n.state, n.slots, n.gpus, n.backend, n.last_seen_at FROM node n\n"
                       " WHERE ($2::text IS NULL OR n.zone = $2) ORDER BY n.zone, n.name"),
    SECTION("keys", "SELECT k.zone, k.version, k.state, k.provider, k.root_version, k.created_at FROM tenant_key k\n"
                    " WHERE k.tenant_id = $1 AND ($2::text IS NULL OR k.zone = $2) ORDER BY k.zone, k.version"),
    SECTION("heads", "SELECT h.size, to_timestamp(h.ts_us / 1000000.0) AS at, encode(h.root, 'hex') AS root, h.key_id, h.zone FROM audit_head h\n"
                     " WHERE h.tenant_id = $1 AND to_timestamp(h.ts_us / 1000000.0) >= $3 AND to_timestamp(h.ts_us / 1000000.0) < $4 ORDER BY h.size DESC"),
    SECTION("access", "SELECT u.name, u.kind, u.state, b.role, b.place, b.valid_until, b.created_at AS since FROM role_binding b\n"
                      "  JOIN app_user u ON u.tenant_id = b.tenant_id AND u.user_id = b.user_id WHERE b.tenant_id = $1 ORDER BY b.role, u.name"),
    SECTION("approvals", "SELECT a.kind, a.subject, a.state, a.created_at, a.decided_at, r.name AS requested_by,\n"
                         "       " APPROVED_BY("a.approval_id") " AS approved_by\n"
                         "  FROM approval a LEFT JOIN app_user r ON r.tenant_id = a.tenant_id AND r.user_id = a.requested_by\n"
                         " WHERE a.tenant_id = $1 AND a.created_at >= $3 AND a.created_at < $4 ORDER BY a.created_at"),
    /* In the platform's scope instead of the second and the third. */
    SECTION("platform_stored", "SELECT z.code AS zone, s.data_class, s.tenants, s.objects, s.bytes, s.key_versions, s.providers\n"
                               "  FROM zone z, LATERAL evidence_zone_stored(z.code) s WHERE ($2::text IS NULL OR z.code = $2) ORDER BY 1, 2"),
    SECTION("platform_transfers", "SELECT DISTINCT s.from_zone, s.to_zone, s.data_class, s.legal_basis AS basis, s.transfers, s.bytes\n"
                                  "  FROM zone z, LATERAL evidence_zone_transfers(z.code, $3, $4) s WHERE ($2::text IS NULL OR z.code = $2) ORDER BY 1, 2, 3"),
};
enum { S_ZONES, S_STORED, S_TRANSFERS, S_POLICIES, S_DENIED, S_WORKERS, S_KEYS, S_HEADS, S_ACCESS, S_APPROVALS, S_PLATFORM_STORED, S_PLATFORM_TRANSFERS,
       S_COUNT };
_Static_assert(sizeof evidence_stmts_list / sizeof *evidence_stmts_list == S_COUNT, "each section has a statement");

const struct stmt *const evidence_stmts[] = {
    &evidence_stmts_list[0], &evidence_stmts_list[1], &evidence_stmts_list[2], &evidence_stmts_list[3], &evidence_stmts_list[4], &evidence_stmts_list[5],
    &evidence_stmts_list[6], &evidence_stmts_list[7], &evidence_stmts_list[8], &evidence_stmts_list[9], &evidence_stmts_list[10], &evidence_stmts_list[11],
    NULL };

static enum errc section(struct work *w, int which, struct evidence *ev, struct json *ret, struct err *e)
{
    struct section_row row;
    TRY(db_one(w->tx, &evidence_stmts_list[which], ARGS(A_UUID(w->tenant_id), A_STR(ev->zone), A_TIME(ev->from), A_TIME(ev->to)), &row, e));
    const struct jval *list;
    TRY(jval_parse(w->arena, row.list.text, 0, &list, e));
    ev->is_cut |= jval_len(list) > EVIDENCE_ROWS;
    *ret = row.list;
    return ERR_OK;
}

struct token_row { struct str zone, provider, maker, model, label, serial, firmware; };
SCHEMA_OF(token_row, "What holds a zone's root key", FIELD(token_row, zone, F_ALWAYS, .doc = "Zone"),
    FIELD(token_row, provider, F_ALWAYS, .doc = "pkcs11 or softfile"),
    FIELD(token_row, maker, F_ALWAYS, .doc = "Who made the token"),
    FIELD(token_row, model, F_ALWAYS, .doc = "Its model"), FIELD(token_row, label, F_ALWAYS, .doc = "Its label"),
    FIELD(token_row, serial, F_ALWAYS, .doc = "Its serial number"), FIELD(token_row, firmware, F_ALWAYS, .doc = "Its firmware"));

struct slice evidence_tokens(struct work *w, struct str zone)
{
    ASSERT(!w->tx);
    const size_t zones = keyd_client_zones(w->app->keyd);
    struct token_row *rows = ARENA_ARRAY(w->arena, struct token_row, TOKENS_MAX);
    struct err ignored;
    size_t n = 0;
    for (size_t i = 0; i < zones && n < TOKENS_MAX; i++) {
        struct attest *t = ARENA_NEW(w->arena, struct attest);
        rows[n].zone = str_c(keyd_client_zone(w->app->keyd, i));
        if (zone.ptr && !str_eq(zone, rows[n].zone))
            continue;
        if (keyd_attest(w->app->keyd, rows[n].zone, t, &ignored) == ERR_OK)
            rows[n] = (struct token_row){ rows[n].zone, str_c(t->provider), str_c(t->token_manufacturer), str_c(t->token_model),
                                          str_c(t->token_label), str_c(t->token_serial), str_c(t->firmware) };
        n++;
    }
    return (struct slice){ rows, n };
}

/* Of the zones that have keys of the tenant, sorted; of the platform every zone of the report. */
static enum errc tokens_of(struct work *w, const struct slice *asked, struct json zones, struct json *ret, struct err *e)
{
    const struct token_row *found = asked->items;
    const struct jval *list;
    struct buf out = BUF(TOKENS_MAX * 1024);
    struct token_row *rows = ARENA_ARRAY(w->arena, struct token_row, asked->n + 1);
    struct str last = STR_NULL;
    size_t n = 0;
    TRY(jval_parse(w->arena, zones.text, 0, &list, e));
    for (size_t i = 0; i < jval_len(list); i++) {
        struct str zone = jval_str(jval_get(jval_at(list, i), "zone"));
        for (size_t k = 0; k < asked->n && !str_eq(zone, last); k++)
            if (str_eq(zone, found[k].zone))
                rows[n++] = found[k];
        last = zone;
    }
    json_encode_list(&token_row_schema, rows, n, &out);
    ret->text = str_dup(w->arena, buf_str(&out));
    bool whole = !out.overflow;
    buf_release(&out);
    return whole ? ERR_OK : FAIL(e, INTERNAL, "The tokens of the zones are too long to be written");
}

enum errc evidence_read(struct work *w, const struct evidence_ask *in, const struct slice *tokens, struct evidence *ret,
                        struct err *e)
{
    bool is_platform = uuid_is_nil(w->tenant_id);
    struct zone z;
    struct evidence ev = { .tenant_id = w->tenant_id, .zone = in->zone, .from = in->from, .to = in->to, .generated_at = { w->now_us } };
    if (!ev.to.us)
        ev.to.us = w->now_us;
    if (!ev.from.us)
        ev.from.us = ev.to.us - EVIDENCE_DAYS * INT64_C(86400000000);
    if (ev.from.us >= ev.to.us)
        return FAIL_AT(e, UNPROCESSABLE, "/to", "The period ends before it begins");
    if (in->zone.ptr)
        TRY(zone_get(w, in->zone, &z, e));
    TRY(section(w, S_ZONES, &ev, &ev.zones, e));
    TRY(section(w, is_platform ? S_PLATFORM_STORED : S_STORED, &ev, &ev.stored, e));
    TRY(section(w, is_platform ? S_PLATFORM_TRANSFERS : S_TRANSFERS, &ev, &ev.transfers, e));
    TRY(section(w, S_POLICIES, &ev, &ev.policies, e));
    TRY(section(w, S_DENIED, &ev, &ev.denied, e));
    TRY(section(w, S_WORKERS, &ev, &ev.workers, e));
    TRY(section(w, S_KEYS, &ev, &ev.keys, e));
    TRY(tokens_of(w, tokens, is_platform ? ev.zones : ev.keys, &ev.tokens, e));
    TRY(section(w, S_HEADS, &ev, &ev.heads, e));
    TRY(section(w, S_ACCESS, &ev, &ev.access, e));
    TRY(section(w, S_APPROVALS, &ev, &ev.approvals, e));
    *ret = ev;
    return ERR_OK;
}
