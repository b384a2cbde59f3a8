/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_policy.c - a policy is stored when it is proposed and made ACTIVE by the last approval; what approvers read (the approval's
 * payload) is the row itself, which no statement changes. */
#include "tenants/home/transfer_policy.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "tenants/access/actor.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/zone.h"

enum { REQUEST_HOURS = 14 * 24, PAYLOAD_MAX = 65536 };

const char *const legal_basis_names[] = { "adequacy", "scc", "bcr", "explicit-consent", "contract", "legal-claim", "public-interest",
                                          "regulator-approval", NULL };

SCHEMA_EXTERN(transfer_policy, "Why data may cross from one zone to another",
    FIELD_ID(transfer_policy, policy_id, "trp", F_ALWAYS, .doc = "The policy"),
    FIELD(transfer_policy, from_zone, F_ALWAYS, .doc = "Where the data comes from"),
    FIELD(transfer_policy, to_zone, F_ALWAYS, .doc = "Where it may go"),
    FIELD(transfer_policy, data_class, F_ALWAYS, .doc = "Class of the data"),
    FIELD(transfer_policy, purpose, F_ALWAYS, .doc = "What for; any: everything"),
    FIELD(transfer_policy, legal_basis, F_ALWAYS, .doc = "On which basis"),
    FIELD(transfer_policy, document_sha256, F_ALWAYS, .doc = "Digest of the document, hex"),
    FIELD(transfer_policy, assessment_ref, F_ALWAYS, .doc = "The transfer risk assessment"),
    FIELD(transfer_policy, exception_ref, 0, .doc = "The exception that the law makes"),
    FIELD(transfer_policy, recipients, F_ALWAYS, .doc = "Who receives it"),
    FIELD(transfer_policy, state, F_ALWAYS, .doc = "PROPOSED, ACTIVE or REVOKED; an ACTIVE one ends at valid_until"),
    FIELD(transfer_policy, valid_from, 0, .doc = "Since when it is in force"),
    FIELD(transfer_policy, valid_until, F_ALWAYS, .doc = "Until when at most"),
    FIELD_ID(transfer_policy, approval_id, "apr", F_ALWAYS, .doc = "The request that waits, or waited, for approval"),
    FIELD_ID(transfer_policy, proposed_by, "usr", F_ALWAYS, .doc = "Who proposed it"),
    FIELD_ID(transfer_policy, revoked_by, "usr", 0, .doc = "Who revoked it"),
    FIELD(transfer_policy, revoked_at, 0, .doc = "When"),
    FIELD(transfer_policy, created_at, F_ALWAYS, .doc = "When it was proposed"),
    FIELD(transfer_policy, version, 0, .doc = "Grows with every change"));
SCHEMA_EXTERN(transfer_policy_new, "A transfer policy to propose",
    FIELD(transfer_policy_new, from_zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Where the data comes from"),
    FIELD(transfer_policy_new, to_zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Where it may go"),
    FIELD_ENUM(transfer_policy_new, data_class, F_REQ, data_class_names, .doc = "Class of the data"),
    FIELD(transfer_policy_new, purpose, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "What for: training, serving, …; any: everything"),
    FIELD_ENUM(transfer_policy_new, legal_basis, F_REQ, legal_basis_names, .doc = "On which basis"),
    FIELD(transfer_policy_new, document_sha256, F_REQ, .min = 64, .max = 64, .pattern_doc = "^[0-9a-f]{64}$", .example =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", .doc = "SHA-256 of the document that holds the basis, hex"),
    FIELD(transfer_policy_new, assessment_ref, F_REQ, .min = 1, .max = 256, .check = check_name, .doc = "Reference of the transfer risk assessment"),
    FIELD(transfer_policy_new, exception_ref, 0, .max = 256, .check = check_name, .dflt = "", .doc = "Reference of the exception; needed for health, banking and gov"),
    FIELD_STRS(transfer_policy_new, recipients, 0, .max = 64, .doc = "Who receives it"),
    FIELD(transfer_policy_new, valid_until, F_REQ, .example = "2030-01-01T00:00:00Z", .doc = "Until when, at most 366 days from now"));

#define POLICY_COLUMNS \
    "policy_id, from_zone, to_zone, data_class, purpose, legal_basis, encode(document_sha256, 'hex') AS document_sha256, assessment_ref,\n" \
    "       nullif(exception_ref, '') AS exception_ref, to_jsonb(recipients) AS recipients, state, valid_from, valid_until, approval_id, proposed_by,\n" \
    "       revoked_by, revoked_at, created_at, version"

static const struct stmt policy_insert = { .name = "transfer_policy_insert", .params = "uussssyssStuus", .row = &transfer_policy_schema, .card = CARD_ONE, .sql =
    "INSERT INTO transfer_policy (tenant_id, policy_id, from_zone, to_zone, data_class, purpose, document_sha256, legal_basis, assessment_ref,\n"
    "       recipients, valid_until, approval_id, proposed_by, exception_ref)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING " POLICY_COLUMNS };
static const struct stmt policy_get = { .name = "transfer_policy_get", .params = "uu", .row = &transfer_policy_schema, .card = CARD_ONE, .sql =
    "SELECT " POLICY_COLUMNS " FROM transfer_policy WHERE tenant_id = $1 AND policy_id = $2" };
static const struct stmt policy_list = { .name = "transfer_policy_list", .params = "usui", .row = &transfer_policy_schema, .card = CARD_MANY, .sql =
    "SELECT " POLICY_COLUMNS " FROM transfer_policy\n"
    " WHERE tenant_id = $1 AND ($2::text IS NULL OR state = $2) AND ($3::uuid IS NULL OR policy_id < $3) ORDER BY policy_id DESC LIMIT $4" };
static const struct stmt policy_activate = { .name = "transfer_policy_activate", .params = "uu", .row = &transfer_policy_schema, .card = CARD_MAYBE, .sql =
    "UPDATE transfer_policy SET state = 'ACTIVE', valid_from = clock_timestamp(), version = version + 1\n"
    " WHERE tenant_id = $1 AND policy_id = $2 AND state = 'PROPOSED' AND valid_until > clock_timestamp() RETURNING " POLICY_COLUMNS };
static const struct stmt policy_revoke = { .name = "transfer_policy_revoke", .params = "uuu", .row = &transfer_policy_schema, .card = CARD_MAYBE, .sql =
    "UPDATE transfer_policy SET state = 'REVOKED', revoked_by = $3, revoked_at = clock_timestamp(), version = version + 1\n"
    " WHERE tenant_id = $1 AND policy_id = $2 AND state IN ('PROPOSED', 'ACTIVE') RETURNING " POLICY_COLUMNS };

const struct stmt *const transfer_policy_stmts[] = { &policy_insert, &policy_get, &policy_list, &policy_activate, &policy_revoke, NULL };

static enum errc check(struct work *w, const struct transfer_policy_new *in, struct err *e)
{
    static const int64_t DAY_US = INT64_C(86400000000);
    struct zone z;
    if (str_eq(in->from_zone, in->to_zone))
        return FAIL_AT(e, UNPROCESSABLE, "/to_zone", "Source and target zone are the same; a transfer needs two zones");
    if (zone_get(w, in->from_zone, &z, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, "/from_zone", "The zone does not exist") : e->code;
    if (zone_get(w, in->to_zone, &z, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL_AT(e, UNPROCESSABLE, "/to_zone", "The zone does not exist") : e->code;
    if (in->data_class >= DC_HEALTH && !in->exception_ref.len)
        return FAIL_AT(e, UNPROCESSABLE, "/exception_ref",
            "%s data may leave only under an exception of the law; name it in exception_ref", data_class_names[in->data_class]);
    if (in->valid_until.us <= w->now_us || in->valid_until.us > w->now_us + 366 * DAY_US)
        return FAIL_AT(e, UNPROCESSABLE, "/valid_until", "must lie within 366 days from now");
    return ERR_OK;
}

static enum errc insert(struct work *w, const struct transfer_policy_new *in, struct uuid id, const uint8_t sha[32], struct uuid approval,
                        struct transfer_policy *ret, struct err *e)
{
    return db_one(w->tx, &policy_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(in->from_zone), A_STR(in->to_zone),
        A_TEXT(data_class_names[in->data_class]), A_STR(in->purpose), A_BYTES(sha, 32), A_TEXT(legal_basis_names[in->legal_basis]),
        A_STR(in->assessment_ref), A_STRS(in->recipients.items, in->recipients.n), A_TIME(in->valid_until), A_UUID(approval),
        A_UUID(w->principal->user_id), A_STR(in->exception_ref)), ret, e);
}

enum errc transfer_policy_propose(struct work *w, const struct transfer_policy_new *in, struct transfer_policy *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf payload = BUF(PAYLOAD_MAX);
    struct uuid id = uuid_v7(w->now_us);
    struct approval a;
    uint8_t sha[32];
    if (!hex_decode(in->document_sha256, sha, sizeof sha))
        return FAIL_AT(e, INVALID, "/document_sha256", "must be 64 hex digits");
    TRY(check(w, in, e));
    json_encode(&transfer_policy_new_schema, in, &payload);
    if (payload.overflow)
        return FAIL(e, LIMIT, "The policy is too long to be stored");
    const struct approval_kind *kind = in->data_class >= DC_SENSITIVE ? &transfer_policy_strict_kind : &transfer_policy_kind;
    struct str subject = str_fmt(w->arena, "%s data from %.*s to %.*s for %.*s", data_class_names[in->data_class], STR_ARG(in->from_zone),
                                 STR_ARG(in->to_zone), STR_ARG(in->purpose));
    TRY(approval_request(w, kind, id, subject, str_dup(w->arena, buf_str(&payload)), STR("a transfer policy is proposed"), &a, e));
    return insert(w, in, id, sha, a.approval_id, ret, e);
}

enum errc transfer_policy_get(struct work *w, struct uuid policy_id, struct transfer_policy *ret, struct err *e)
{
    return db_one(w->tx, &policy_get, ARGS(A_UUID(w->tenant_id), A_UUID(policy_id)), ret, e);
}

enum errc transfer_policy_list(struct work *w, struct str state, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &policy_list, ARGS(A_UUID(w->tenant_id), A_STR(state), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

static void forget(void *ctx)
{
    residency_cache_forget(ctx);
}

enum errc transfer_policy_revoke(struct work *w, struct uuid policy_id, struct transfer_policy *ret, struct err *e)
{
    bool found;
    TRY(db_maybe(w->tx, &policy_revoke, ARGS(A_UUID(w->tenant_id), A_UUID(policy_id), A_UUID(w->principal->user_id)), ret, &found, e));
    db_after_commit(w->tx, forget, w->app->residency);
    if (found)
        return ERR_OK;
    TRY(transfer_policy_get(w, policy_id, ret, e));
    return FAIL(e, CONFLICT, "The policy is already revoked");
}

static enum errc activate(struct work *w, const struct approval *a, struct err *e)
{
    struct transfer_policy p;
    bool found;
    TRY(db_maybe(w->tx, &policy_activate, ARGS(A_UUID(w->tenant_id), A_UUID(a->subject_id)), &p, &found, e));
    if (!found)
        return FAIL(e, CONFLICT, "The policy was revoked or expired before it was approved");
    db_after_commit(w->tx, forget, w->app->residency);
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_TRANSFER_POLICY);
    ev.zone = p.from_zone;
    ev.resource_kind = STR("policy");
    ev.resource_prefix = "trp";
    ev.resource_id = p.policy_id;
    audit_event_detail(&ev, AUDIT_D_STR("act", STR("activate")));
    audit_event_detail(&ev, AUDIT_D_STR("from", p.from_zone));
    audit_event_detail(&ev, AUDIT_D_STR("to", p.to_zone));
    audit_event_detail(&ev, AUDIT_D_STR("class", p.data_class));
    audit_event_detail(&ev, AUDIT_D_STR("basis", p.legal_basis));
    return audit_append(w, &ev, e);
}

const struct approval_kind transfer_policy_kind = { "transfer.policy", PERM_APPROVE_RESIDENCY, 1, REQUEST_HOURS, activate,
    "Let data of a class cross from one zone to another" };
const struct approval_kind transfer_policy_strict_kind = { "transfer.policy.strict", PERM_APPROVE_RESIDENCY, 2, REQUEST_HOURS, activate,
    "Let sensitive or regulated data cross from one zone to another: two approvals" };
