/* SPDX-License-Identifier: Apache-2.0 */
/* approval.c - one row is locked from the first look at it to the end of the transaction, so two approvers at once come one after the
 * other, and the second sees what the first has done. */
#include "tenants/access/approval.h"
#include "core/db/tx.h"
#include "tenants/access/actor.h"
#include "tenants/access/authz.h"
#include "tenants/access/second_person.h"
#include "core/base/clock.h"

SCHEMA_EXTERN(approval, "A request that needs more than one person",
    FIELD_ID(approval, approval_id, "apr", F_ALWAYS, .doc = "The request"),
    FIELD(approval, kind, F_ALWAYS, .doc = "What is asked for"),
    FIELD(approval, state, F_ALWAYS, .doc = "PENDING, EXECUTED, REFUSED, WITHDRAWN, EXPIRED or FAILED"),
    FIELD(approval, subject_id, 0, .doc = "What it is about, where that has an id"),
    FIELD(approval, subject, F_ALWAYS, .doc = "What it is about, for people"),
    FIELD(approval, payload, F_ALWAYS, .doc = "What exactly will be done"),
    FIELD(approval, payload_sha256, 0, .doc = "SHA-256 of the payload as stored"),
    FIELD(approval, reason, F_ALWAYS, .doc = "Why, in the requester's words"),
    FIELD(approval, needed, 0, .doc = "Approvals needed besides the request"),
    FIELD(approval, given, 0, .doc = "Approvals given"),
    FIELD_ID(approval, requested_by, "usr", F_ALWAYS, .doc = "Who asked; never approves"),
    FIELD(approval, decisions, 0, .doc = "Who decided, how and when"),
    FIELD(approval, outcome, F_ALWAYS, .doc = "What went wrong, when it failed"),
    FIELD(approval, created_at, F_ALWAYS, .doc = "When it was asked for"),
    FIELD(approval, expires_at, F_ALWAYS, .doc = "Until when it can be approved"),
    FIELD(approval, decided_at, 0, .doc = "When it ended"),
    FIELD_OPT(approval, counts, F_NOCOL, .doc = "Of a pending one: the caller's approval would count"),
    FIELD(approval, why_not, F_NOCOL, .doc = "Why it would not: " SECOND_WHY_LIST),
    FIELD(approval, why_not_text, F_NOCOL, .doc = "The same as a sentence"),
    FIELD(approval, counts_from, F_NOCOL, .doc = "When it will, of what is only too young"));

#define STATE_NOW "CASE WHEN a.state = 'PENDING' AND a.expires_at <= now() THEN 'EXPIRED' ELSE a.state END"
#define APPROVAL_COLUMNS                                                                                                            \
    "a.approval_id, a.kind, " STATE_NOW " AS state, a.subject_id, a.subject, a.payload, encode(a.payload_sha, 'hex') AS payload_sha256,\n" \
    "  a.reason, a.needed, (SELECT count(*) FROM approval_decision d WHERE d.tenant_id = a.tenant_id AND d.approval_id = a.approval_id\n" \
    "  AND d.approve) AS given, a.requested_by, (SELECT coalesce(jsonb_agg(jsonb_build_object('user_id', 'usr_' || replace(d.user_id::text,\n" \
    "  '-', ''), 'approve', d.approve, 'at', to_char(d.at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'note', d.note) ORDER BY\n" \
    "  d.at), '[]') FROM approval_decision d WHERE d.tenant_id = a.tenant_id AND d.approval_id = a.approval_id) AS decisions,\n" \
    "  a.outcome, a.created_at, a.expires_at, a.decided_at"

static const struct stmt approval_expire = { .name = "approval_expire", .params = "uss", .card = CARD_NONE, .sql =
    "UPDATE approval SET state = 'EXPIRED', decided_at = expires_at\n"
    " WHERE tenant_id = $1 AND kind = $2 AND subject = $3 AND state = 'PENDING' AND expires_at <= now()" };
static const struct stmt approval_insert = { .name = "approval_insert", .params = "uusussjuii", .row = &approval_schema, .card = CARD_ONE, .sql =
    "INSERT INTO approval AS a (tenant_id, approval_id, kind, subject_id, subject, reason, payload, payload_sha, requested_by, needed, expires_at)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, sha256(convert_to($7::jsonb::text, 'UTF8')), $8, $9, now() + make_interval(hours => $10::int))\n"
    "RETURNING " APPROVAL_COLUMNS };
static const struct stmt approval_read = { .name = "approval_read", .params = "uu", .row = &approval_schema, .card = CARD_ONE, .sql =
    "SELECT " APPROVAL_COLUMNS " FROM approval a WHERE a.tenant_id = $1 AND a.approval_id = $2" };
static const struct stmt approval_page = { .name = "approval_page", .params = "ussuui", .row = &approval_schema, .card = CARD_MANY, .sql =
    "SELECT " APPROVAL_COLUMNS " FROM approval a\n"
    " WHERE a.tenant_id = $1 AND ($2::text IS NULL OR " STATE_NOW " = $2) AND ($3::text IS NULL OR a.kind = $3)\n"
    "   AND ($4::uuid IS NULL OR a.requested_by = $4) AND ($5::uuid IS NULL OR a.approval_id < $5) ORDER BY a.approval_id DESC LIMIT $6" };
struct approver { struct uuid user_id; };
SCHEMA_OF(approver, "Who has decided", FIELD(approver, user_id, 0, .doc = "The user"));
static const struct stmt approval_approvers = { .name = "approval_approvers", .params = "uui", .row = &approver_schema, .card =
    CARD_MANY, .sql =
    "SELECT user_id FROM approval_decision WHERE tenant_id = $1 AND approval_id = $2 AND approve LIMIT $3" };
struct whole { bool is_whole; };
SCHEMA_OF(whole, "Is the payload the one that was asked for?", FIELD(whole, is_whole, 0, .doc = "Its digest fits"));
static const struct stmt approval_lock = { .name = "approval_lock", .params = "uu", .row = &whole_schema, .card = CARD_ONE, .sql =
    "SELECT payload_sha = sha256(convert_to(payload::text, 'UTF8')) AS is_whole FROM approval WHERE tenant_id = $1 AND approval_id = $2\n"
    "   FOR UPDATE" };
static const struct stmt decision_insert = { .name = "approval_decision_insert", .params = "uuubs", .card = CARD_NONE, .sql =
    "INSERT INTO approval_decision (tenant_id, approval_id, user_id, approve, note) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING" };
static const struct stmt approval_end = { .name = "approval_end", .params = "uuss", .card = CARD_ONE, .sql =
    "UPDATE approval SET state = $3, outcome = $4, decided_at = clock_timestamp() WHERE tenant_id = $1 AND approval_id = $2\n"
    "   AND state = 'PENDING'" };

const struct stmt *const approval_stmts[] = { &approval_expire, &approval_insert, &approval_read, &approval_page, &approval_lock,
                                              &decision_insert, &approval_end, &approval_approvers, NULL };

enum { APPROVERS_MAX = 8 };

const struct approval_kind *approval_kind_find(const struct approval_kind *const kinds[], struct str name)
{
    for (; *kinds; kinds++)
        if (str_eq_c(name, (*kinds)->kind))
            return *kinds;
    return NULL;
}

void approval_details(const struct approval *a, struct audit_event *ev)
{
    audit_event_detail(ev, AUDIT_D_STR("kind", a->kind));
    audit_event_detail(ev, AUDIT_D_STR("state", a->state));
    audit_event_detail(ev, AUDIT_D_STR("payload_sha256", a->payload_sha256));
    audit_event_detail(ev, AUDIT_D_INT("given", a->given));
    audit_event_detail(ev, AUDIT_D_INT("needed", a->needed));
}

/* In development any two accounts may count as two people; the log says so each time. */
static void note_separation(const struct work *w, struct audit_event *ev)
{
    if (!second_person_asked(w->app))
        audit_event_detail(ev, AUDIT_D_STR("separation", STR("accounts")));
}

static enum errc record_request(struct work *w, const struct approval *a, struct err *e)
{
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_APPROVAL_REQUEST);
    ev.resource_kind = STR("approval");
    ev.resource_prefix = "apr";
    ev.resource_id = a->approval_id;
    approval_details(a, &ev);
    note_separation(w, &ev);
    return audit_append(w, &ev, e);
}

enum errc approval_request(struct work *w, const struct approval_kind *kind, struct uuid subject_id, struct str subject, struct str payload_json,
                           struct str reason, struct approval *ret, struct err *e)
{
    struct str name = str_c(kind->kind);
    TRY(db_exec(w->tx, &approval_expire, ARGS(A_UUID(w->tenant_id), A_STR(name), A_STR(subject)), NULL, e));
    enum errc rc = db_one(w->tx, &approval_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(name), A_UUID_OR_NULL(subject_id),
                          A_STR(subject), A_STR(reason.ptr ? reason : STR("")), A_JSON(payload_json), A_UUID(w->principal->user_id),
                          A_I64(kind->needed), A_I64(kind->hours)), ret, e);
    if (rc == ERR_EXISTS)
        return FAIL(e, CONFLICT, "The same request is already waiting for approval");
    if (rc != ERR_OK)
        return rc;
    return record_request(w, ret, e);
}

/* Whoever approves must be somebody else, entitled now, not the administrator of what is decided about, and a second person
 * beside all who have a part in it. */
static enum errc standing(struct work *w, const struct approval_kind *kind, const struct approval *a, struct second_person *ret,
    struct err *e)
{
    const struct principal *p = w->principal;
    struct uuid beside[APPROVERS_MAX + 2] = { a->requested_by };
    struct slice before;
    size_t n = 1;
    ret->counts_from = (struct timestamp){ 0 };
    ret->why = uuid_eq(a->requested_by, p->user_id) ? SECOND_REQUESTER
             : !authz_work(w, kind->approve).allowed ? SECOND_PERMISSION
             : !uuid_is_nil(w->tenant_id) && p->roles & UINT32_C(1) << ROLE_TENANT_ADMIN ? SECOND_ADMINISTRATOR : SECOND_COUNTS;
    if (ret->why != SECOND_COUNTS)
        return ERR_OK;
    TRY(db_many(w->tx, &approval_approvers, ARGS(A_UUID(w->tenant_id), A_UUID(a->approval_id), A_I64(APPROVERS_MAX)), &before,
        APPROVERS_MAX, e));
    for (size_t i = 0; i < before.n; i++)
        beside[n++] = ((const struct approver *)before.items)[i].user_id;
    if (kind->is_about_person && !uuid_eq(a->subject_id, a->requested_by))
        beside[n++] = a->subject_id;
    for (size_t i = 0; i < n && ret->why == SECOND_COUNTS; i++) {
        if (i && uuid_eq(beside[i], p->user_id))
            ret->why = i <= before.n ? SECOND_DECIDED : SECOND_SUBJECT;
        else
            TRY(second_person_judge(w, p->user_id, beside[i], kind->approve, ret, e));
    }
    return ERR_OK;
}

enum errc approval_standing(struct work *w, const struct approval_kind *const kinds[], struct approval *a, struct err *e)
{
    struct second_person s;
    const struct approval_kind *kind = approval_kind_find(kinds, a->kind);
    if (!kind || !str_eq_c(a->state, "PENDING"))
        return ERR_OK;
    TRY(standing(w, kind, a, &s, e));
    a->has_counts = true;
    a->counts = s.why == SECOND_COUNTS;
    if (a->counts)
        return ERR_OK;
    a->why_not = str_c(second_why_names[s.why]);
    a->why_not_text = str_c(second_why_text(s.why));
    a->counts_from = s.counts_from;
    return ERR_OK;
}

static enum errc check_approver(struct work *w, const struct approval_kind *kind, const struct approval *a, struct err *e)
{
    struct second_person s;
    char when[TIME_TEXT];
    TRY(standing(w, kind, a, &s, e));
    if (s.why == SECOND_COUNTS)
        return ERR_OK;
    struct decision d = authz_work(w, kind->approve);
    if (s.why == SECOND_PERMISSION)
        return authz_refuse(&d, kind->approve, e);
    if (!s.counts_from.us)
        return FAIL(e, SEPARATION, "%s", second_why_text(s.why));
    time_text(s.counts_from.us, when);
    return FAIL(e, SEPARATION, "%s; your approval counts from %s", second_why_text(s.why), when);
}

/* Refusing gives nobody anything: somebody else, with the permission. */
static enum errc check_refuser(struct work *w, const struct approval_kind *kind, struct err *e)
{
    struct decision d = authz_work(w, kind->approve);
    if (!d.allowed)
        return authz_refuse(&d, kind->approve, e);
    if (!uuid_is_nil(w->tenant_id) && w->principal->roles & UINT32_C(1) << ROLE_TENANT_ADMIN)
        return FAIL(e, SEPARATION, "%s", second_why_text(SECOND_ADMINISTRATOR));
    return ERR_OK;
}

static enum errc end(struct work *w, const struct approval *a, const char *state, struct str outcome, struct err *e)
{
    return db_exec(w->tx, &approval_end, ARGS(A_UUID(w->tenant_id), A_UUID(a->approval_id), A_TEXT(state), A_STR(outcome)), NULL, e);
}

static enum errc carry_out(struct work *w, const struct approval_kind *kind, const struct approval *a, struct err *e)
{
    TRY(db_mark(w->tx, e));
    struct err why;
    enum errc rc = kind->execute(w, a, &why);
    if (rc == ERR_OK)
        return end(w, a, "EXECUTED", STR(""), e);
    if (rc == ERR_RETRY || rc == ERR_UNAVAILABLE || rc == ERR_DEADLINE || rc == ERR_LEGAL_HOLD) {
        *e = why;
        return rc;
    }
    TRY(db_back_to_mark(w->tx, e));
    return end(w, a, "FAILED", str_fmt(w->arena, "%s: %s", err_row(rc)->wire, why.msg), e);
}

enum errc approval_decide(struct work *w, const struct approval_kind *const kinds[], struct uuid approval_id, bool approve, struct str note,
                          struct approval *ret, struct err *e)
{
    struct approval a;
    struct whole whole;
    int64_t written;
    TRY(db_one(w->tx, &approval_lock, ARGS(A_UUID(w->tenant_id), A_UUID(approval_id)), &whole, e));
    TRY(approval_get(w, approval_id, &a, e));
    const struct approval_kind *kind = approval_kind_find(kinds, a.kind);
    if (!kind || !whole.is_whole)
        return FAIL(e, INTERNAL, "The stored request was not written by this version of Falaj");
    if (!str_eq_c(a.state, "PENDING"))
        return FAIL(e, CONFLICT, "The request is already %.*s", STR_ARG(a.state));
    if (!approve && uuid_eq(a.requested_by, w->principal->user_id)) {
        TRY(end(w, &a, "WITHDRAWN", STR(""), e));
        return approval_get(w, approval_id, ret, e);
    }
    TRY(approve ? check_approver(w, kind, &a, e) : check_refuser(w, kind, e));
    TRY(db_exec(w->tx, &decision_insert, ARGS(A_UUID(w->tenant_id), A_UUID(approval_id), A_UUID(w->principal->user_id), A_BOOL(approve),
                A_STR(note.ptr ? note : STR(""))), &written, e));
    if (!written)
        return FAIL(e, SEPARATION, "You have already decided about this request");
    if (!approve)
        TRY(end(w, &a, "REFUSED", STR(""), e));
    else if (a.given + 1 >= a.needed)
        TRY(carry_out(w, kind, &a, e));
    return approval_get(w, approval_id, ret, e);
}

enum errc approval_get(struct work *w, struct uuid approval_id, struct approval *ret, struct err *e)
{
    return db_one(w->tx, &approval_read, ARGS(A_UUID(w->tenant_id), A_UUID(approval_id)), ret, e);
}

enum errc approval_list(struct work *w, const struct approval_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &approval_page, ARGS(A_UUID(w->tenant_id), A_STR(f->state), A_STR(f->kind), A_UUID_OR_NULL(f->requested_by),
                   A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}
