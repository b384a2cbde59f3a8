/* SPDX-License-Identifier: Apache-2.0 */
/* appointment.c - the executor grants by the right of who asked, judged at that moment, and vouches by the hand of who approved.
 * */
#include "tenants/access/appointment.h"
#include "core/db/tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "tenants/access/actor.h"
#include "tenants/access/authz.h"
#include "tenants/access/binding.h"
#include "tenants/access/principal_load.h"

enum { REQUEST_HOURS = 7 * 24 };

/* What is stored and carried out. */
struct appointment { struct uuid tenant_id, user_id; struct str role, zone; };
SCHEMA_OF(appointment, "An appointment", FIELD_ID(appointment, tenant_id, "tnt", 0, .doc = "Of another tenant"),
    FIELD_ID(appointment, user_id, "usr", F_REQ, .doc = "Who"), FIELD(appointment, role, F_REQ, .doc = "To what"),
    FIELD(appointment, zone, 0, .doc = "In which zone"));

struct candidate { struct str name, kind, state; };
SCHEMA_OF(candidate, "Who is to be appointed", FIELD(candidate, name, 0, .doc = "Name"), FIELD(candidate, kind, 0, .doc = "Kind"),
    FIELD(candidate, state, 0, .doc = "State"));
struct held_now { int64_t n; };
SCHEMA_OF(held_now, "Is the role held there already?", FIELD(held_now, n, 0, .doc = "Bindings"));
struct was_done { bool done; };
SCHEMA_OF(was_done, "Was it done?", FIELD(was_done, done, 0, .doc = "Yes"));

static const struct stmt appointment_candidate = { .name = "appointment_candidate", .params = "uu", .row = &candidate_schema,
    .card = CARD_ONE,
    .sql = "SELECT name, kind, state FROM app_user WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt appointment_held = { .name = "appointment_held", .params = "uuss", .row = &held_now_schema, .card =
    CARD_ONE, .sql =
    "SELECT count(*) AS n FROM role_binding WHERE tenant_id = $1 AND user_id = $2 AND role = $3 AND zone IS NOT DISTINCT FROM "
        "$4\n"
    "   AND project_id IS NULL AND source = 'direct'" };
static const struct stmt appointment_vouch = { .name = "appointment_vouch", .params = "uuu", .card = CARD_NONE, .sql =
    "SELECT FROM person_vouch($1, $2, $3)" };
static const struct stmt appointment_officer = { .name = "appointment_officer", .params = "uuusuuuy", .row = &was_done_schema,
    .card = CARD_ONE,
    .sql = "SELECT tenant_officer($1, $2, $3, $4, $5, $6, $7, $8) AS done" };

const struct stmt *const appointment_stmts[] = { &appointment_candidate, &appointment_held, &appointment_vouch,
    &appointment_officer, NULL };

static struct str text_of(struct work *w, const struct appointment *a)
{
    struct buf b = BUF(1024);
    json_encode(&appointment_schema, a, &b);
    struct str text = str_dup(w->arena, buf_str(&b));
    buf_release(&b);
    return text;
}

enum errc appointment_request(struct work *w, const struct appointment_new *in, struct approval *ret, struct err *e)
{
    struct candidate c;
    struct binding_new wanted = { .user_id = in->user_id, .role = in->role, .zone = in->zone, .is_appointed = true };
    int r = role_by_wire(in->role);
    if (r < 0)
        return role_unknown(w, "/role", in->role, e);
    if (!role_takes_two((enum role)r))
        return FAIL_AT(e, UNPROCESSABLE, "/role", "The role %.*s decides for nobody else: grant it with POST /v1/role-bindings",
            STR_ARG(in->role));
    TRY(db_one(w->tx, &appointment_candidate, ARGS(A_UUID(w->tenant_id), A_UUID(in->user_id)), &c, e));
    if (!str_eq_c(c.kind, "person") || !str_eq_c(c.state, "ACTIVE"))
        return FAIL_AT(e, UNPROCESSABLE, "/user_id",
            "Only a person whose account is active can be appointed; this is a %.*s, %.*s", STR_ARG(c.kind),
                       STR_ARG(c.state));
    TRY(binding_check(w, &wanted, e));
    struct appointment a = { .user_id = in->user_id, .role = in->role, .zone = in->zone };
    struct str subject = str_fmt(w->arena, "%.*s as %.*s%s%.*s", STR_ARG(c.name), STR_ARG(in->role), in->zone.ptr ? " of " : "",
        STR_ARG(in->zone));
    return approval_request(w, &appointment_kind, in->user_id, subject, text_of(w, &a), in->reason, ret, e);
}

/* Grants as who asked, with what that person holds now. */
static enum errc grant(struct work *w, const struct approval *a, const struct appointment *what, struct err *e)
{
    struct principal_row row;
    struct principal *asker;
    struct role_binding b;
    const struct principal *approver = w->principal;
    TRY(principal_find(w->tx, w->tenant_id, a->requested_by, &row, e));
    TRY(principal_check(&row, e));
    TRY(principal_make(&row, AUTH_TOKEN, (struct slice){ 0 }, w->arena, &asker, e));
    w->principal = asker;
    enum errc rc = binding_grant(w, &(struct binding_new){ .user_id = what->user_id, .role = what->role, .zone = what->zone,
        .is_appointed = true },
                                 &b, e);
    w->principal = approver;
    principal_unref(asker);
    return rc;
}

static void event_of(struct work *w, const struct approval *a, const struct appointment *what, struct audit_event *ev)
{
    *ev = audit_event_by(w, w->principal, AUDIT_ROLE_GRANT);
    ev->resource_kind = STR("user");
    ev->resource_prefix = "usr";
    ev->resource_id = what->user_id;
    ev->rule = STR("appointed");
    audit_event_detail(ev, AUDIT_D_STR("role", what->role));
    audit_event_detail(ev, AUDIT_D_STR("approval", id_text(w->arena, "apr", a->approval_id)));
    audit_event_detail(ev, AUDIT_D_STR("requested_by", id_text(w->arena, "usr", a->requested_by)));
}

static enum errc appoint(struct work *w, const struct approval *a, struct err *e)
{
    struct appointment what = { 0 };
    struct held_now held;
    struct audit_event ev;
    TRY(json_decode(&appointment_schema, a->payload.text, w->arena, &what, e));
    TRY(db_one(w->tx, &appointment_held, ARGS(A_UUID(w->tenant_id), A_UUID(what.user_id), A_STR(what.role), A_STR(what.zone)),
        &held, e));
    binding_lock(w);
    if (!held.n)
        TRY(grant(w, a, &what, e));
    TRY(db_exec(w->tx, &appointment_vouch, ARGS(A_UUID(w->tenant_id), A_UUID(what.user_id), A_UUID(w->principal->user_id)), NULL,
        e));
    event_of(w, a, &what, &ev);
    return audit_append(w, &ev, e);
}

enum errc tenant_officer_request(struct work *w, struct uuid tenant_id, struct uuid user_id, struct str reason,
    struct approval *ret,
                                 struct err *e)
{
    if (!uuid_is_nil(w->tenant_id))
        return FAIL(e, FORBIDDEN, "Only people of the platform appoint a tenant's first officer");
    struct appointment a = { .tenant_id = tenant_id, .user_id = user_id, .role = str_c(role_row(ROLE_COMPLIANCE_OFFICER)->wire) };
    struct str subject = str_fmt(w->arena, "%.*s as officer of %.*s", STR_ARG(id_text(w->arena, "usr", user_id)),
                                 STR_ARG(id_text(w->arena, "tnt", tenant_id)));
    return approval_request(w, &tenant_officer_kind, user_id, subject, text_of(w, &a), reason, ret, e);
}

static enum errc appoint_in_tenant(struct work *w, const struct approval *a, struct err *e)
{
    struct appointment what = { 0 };
    struct audit_rows rows;
    struct audit_event ev;
    struct was_done did;
    TRY(json_decode(&appointment_schema, a->payload.text, w->arena, &what, e));
    event_of(w, a, &what, &ev);
    ev.tenant_id = what.tenant_id;
    TRY(audit_encode_many(w->arena, &ev, 1, &rows, e));
    TRY(db_one(w->tx, &appointment_officer, ARGS(A_UUID(what.tenant_id), A_UUID(what.user_id), A_UUID(uuid_v7(w->now_us)),
        A_STR(what.role),
               A_UUID(a->requested_by), A_UUID(w->principal->user_id), A_UUID(rows.event_ids[0]),
               A_BYTES(rows.bodies[0].ptr, rows.bodies[0].len)), &did, e));
    return did.done ? ERR_OK : FAIL(e, NOT_FOUND, "The tenant is not active, or has no such person with an active account");
}

const struct approval_kind appointment_kind = { "role.appoint", PERM_APPROVE_ROLE, 1, REQUEST_HOURS, appoint,
    "Appoint somebody to a role that decides for others, or vouch for who holds it", .is_about_person = true };
const struct approval_kind tenant_officer_kind = { "tenant.officer", PERM_APPROVE_ROLE, 1, REQUEST_HOURS, appoint_in_tenant,
    "Appoint a compliance officer of a tenant from the platform: its first one", .is_about_person = true };
