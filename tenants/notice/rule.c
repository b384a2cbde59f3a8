/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - rows of notice_rule. What a rule names is checked here: events that exist for rules, members who are active, a
 * URL that may be
 * called. */
#include "tenants/notice/rule.h"
#include "audit/tail.h"
#include "core/base/cleanup.h"
#include "core/crypto/seal.h"
#include "core/crypto/webhook.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"
#include "tenants/home/project.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/outside.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/event.h"

const char *const notice_kind_names[] = { "mail", "webhook", NULL };
const char *const notice_rule_states[] = { "ACTIVE", "PAUSED", NULL };

SCHEMA_EXTERN(notice_rule, "Which events are told, to whom and how",
    FIELD_ID(notice_rule, notification_id, "ntf", F_ALWAYS, .doc = "The rule"),
    FIELD_ID(notice_rule, project_id, "prj", 0, .doc = "Only jobs of this project; absent: the whole tenant"),
    FIELD(notice_rule, name, F_ALWAYS, .doc = "Its name"),
    FIELD_ENUM(notice_rule, kind, F_ALWAYS, notice_kind_names, .doc = "mail to members, or a webhook"),
    FIELD_ENUM(notice_rule, state, F_ALWAYS, notice_rule_states, .doc = "PAUSED: tells nothing new"),
    FIELD_ENUMS(notice_rule, events, F_ALWAYS, notice_event_names, .doc = "What it tells of"),
    FIELD(notice_rule, url, 0, .doc = "Where a webhook goes"),
    FIELD_IDS(notice_rule, recipients, "usr", F_NOEMPTY, .doc = "Members who get a mail, each at their own address"),
    FIELD(notice_rule, wait_minutes, F_ALWAYS, .doc = "When a job has waited long (job-waiting)"),
    FIELD(notice_rule, version, F_ALWAYS, .doc = "Grows with every change"),
    FIELD_ID(notice_rule, created_by, "usr", F_ALWAYS, .doc = "Who made it"),
    FIELD(notice_rule, created_at, F_ALWAYS, .doc = "When; what happened before is not told"),
    FIELD(notice_rule, secret, F_NOCOL, .doc = "The webhook's secret (whsec_…), shown once"));

static const struct stmt rule_insert = { .name = "notice_rule_insert", .params = "uuussSsUiysui", .row = &notice_rule_schema,
    .card = CARD_MAYBE,
    .sql =
    "INSERT INTO notice_rule (tenant_id, notification_id, project_id, name, kind, events, url, recipients, wait_minutes, "
    "sealed, zone, created_by)\n"
    "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 WHERE (SELECT count(*) FROM notice_rule WHERE tenant_id = $1) < "
    "$13\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt rule_get = { .name = "notice_rule_get", .params = "uu", .row = &notice_rule_schema, .card = CARD_ONE,
    .sql =
    "SELECT " ROW_COLUMNS " FROM notice_rule WHERE tenant_id = $1 AND notification_id = $2" };
static const struct stmt rule_list = { .name = "notice_rule_list", .params = "uui", .row = &notice_rule_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM notice_rule WHERE tenant_id = $1 AND ($2::uuid IS NULL OR notification_id < $2)\n"
    " ORDER BY notification_id DESC LIMIT $3" };
static const struct stmt rule_update = { .name = "notice_rule_update", .params = "uuisssSUi", .row = &notice_rule_schema,
    .card = CARD_MAYBE, .sql =
    "UPDATE notice_rule SET name = coalesce($4, name), state = coalesce($5, state), url = coalesce($6, url), events = "
    "coalesce($7, events),\n"
    "       recipients = coalesce($8, recipients), wait_minutes = coalesce(nullif($9, 0), wait_minutes), version = version + 1\n"
    " WHERE tenant_id = $1 AND notification_id = $2 AND $3 IN (-1, version) RETURNING " ROW_COLUMNS };
static const struct stmt rule_seal = { .name = "notice_rule_seal", .params = "uuys", .row = &notice_rule_schema,
    .card = CARD_MAYBE, .sql =
    "UPDATE notice_rule SET sealed = $3, zone = $4, version = version + 1 WHERE tenant_id = $1 AND notification_id = $2 AND "
    "kind = 'webhook'\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt rule_delete = { .name = "notice_rule_delete", .params = "uu", .card = CARD_ONE, .sql =
    "DELETE FROM notice_rule WHERE tenant_id = $1 AND notification_id = $2" };
struct members { int64_t n; };
SCHEMA_OF(members, "How many of these are members", FIELD(members, n, 0, .doc = "Active people"));
static const struct stmt rule_members = { .name = "notice_rule_members", .params = "uU", .row = &members_schema,
    .card = CARD_ONE, .sql =
    "SELECT count(*) AS n FROM app_user WHERE tenant_id = $1 AND user_id = ANY ($2) AND kind = 'person' AND state = 'ACTIVE'" };
static const struct stmt cursor_open = { .name = "notice_cursor_open", .params = "ui", .card = CARD_NONE, .sql =
    "INSERT INTO notice_cursor (tenant_id, tseq) VALUES ($1, $2) ON CONFLICT DO NOTHING" };
static const struct stmt rules_active = { .name = "notice_rules_active", .params = "ui", .row = &notice_rule_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM notice_rule WHERE tenant_id = $1 AND state = 'ACTIVE' ORDER BY notification_id LIMIT $2" };

const struct stmt *const notice_rule_stmts[] = { &rule_insert, &rule_get, &rule_list, &rule_update, &rule_seal, &rule_delete,
    &rule_members,
    &cursor_open, NULL };
const struct stmt *const notice_rule_daemon_stmts[] = { &rules_active, NULL };

static void place_of(struct str zone, struct uuid tenant, struct uuid rule, struct blob_head *head, struct aad *aad)
{
    *head = (struct blob_head){ .zone = zone_tag(zone), .tenant = tenant, .version = 1 };
    aad_init(aad, "falaj-notice-secret-v1");
    aad_str(aad, zone);
    aad_uuid(aad, tenant);
    aad_uuid(aad, rule);
}

/* A new secret, its text and as it is kept. */
static enum errc secret_make(struct work *w, struct uuid rule, struct str *ret, struct str *ret_sealed, struct str *ret_zone,
    struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 key;
    struct blob_head head;
    struct aad aad;
    size_t n, cap = WEBHOOK_SECRET_TEXT + BLOB_OVERHEAD;
    char *text = arena_alloc(w->arena, WEBHOOK_SECRET_TEXT);
    uint8_t *sealed = arena_alloc(w->arena, cap);
    const struct str zone = local_auth_zone(w->app->auth);
    TRY(webhook_secret_new(text, e));
    TRY(local_auth_key(w, zone, "falaj-notice-v1", w->tenant_id, &key, e));
    place_of(zone, w->tenant_id, rule, &head, &aad);
    TRY(blob_seal(&key, &head, &aad, text, strlen(text), sealed, cap, &n, e));
    *ret = str_c(text);
    *ret_sealed = str_n((char *)sealed, n);
    *ret_zone = zone;
    return ERR_OK;
}

enum errc notice_secret_open(struct work *w, struct uuid tenant, struct uuid rule, struct str zone, struct bytes sealed,
    struct str *ret,
                             struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 key;
    struct blob_head head;
    struct aad aad;
    size_t n;
    char *plain = arena_alloc(w->arena, WEBHOOK_SECRET_MAX);
    TRY(local_auth_key(w, zone, "falaj-notice-v1", tenant, &key, e));
    place_of(zone, tenant, rule, &head, &aad);
    TRY(blob_open(&key, &head, &aad, sealed.data.ptr, sealed.data.len, plain, WEBHOOK_SECRET_MAX, &n, e));
    *ret = str_n(plain, n);
    return ERR_OK;
}

static enum errc check_events(struct slice events, struct uuid project, struct err *e)
{
    const int *ev = events.items;
    for (size_t i = 0; i < events.n; i++) {
        const struct notice_event_row *row = notice_event_row((enum notice_event)ev[i]);
        if (!(row->whose & FOR_RULES))
            return FAIL_AT(e, UNPROCESSABLE, "/events", "%s is for people's own choice, not for a rule", row->wire);
        if (!uuid_is_nil(project) && !(row->whose & OF_PROJECT))
            return FAIL_AT(e, UNPROCESSABLE, "/events", "%s belongs to no project: leave project_id out, or the event",
                row->wire);
    }
    return ERR_OK;
}

static enum errc check_recipients(struct work *w, struct slice list, struct err *e)
{
    struct members m;
    const struct uuid *id = list.items;
    for (size_t i = 0; i < list.n; i++)
        for (size_t k = 0; k < i; k++)
            if (uuid_eq(id[i], id[k]))
                return FAIL_AT(e, INVALID, "/recipients", "must name each person once");
    TRY(db_one(w->tx, &rule_members, ARGS(A_UUID(w->tenant_id), A_UUIDS(id, list.n)), &m, e));
    return m.n == (int64_t)list.n ? ERR_OK : FAIL_AT(e, UNPROCESSABLE, "/recipients",
        "%d of %d are no active people of the organisation",
                                                     (int)((int64_t)list.n - m.n), (int)list.n);
}

static enum errc check_form(const struct notice_rule *in, struct err *e)
{
    if (in->kind == NOTICE_WEBHOOK && !in->url.ptr)
        return FAIL_AT(e, MISSING_FIELD, "/url", "A webhook needs its url");
    if (in->kind == NOTICE_WEBHOOK && in->recipients.n)
        return FAIL_AT(e, INVALID, "/recipients", "must be left out: a webhook has no recipients");
    if (in->kind == NOTICE_MAIL && in->url.ptr)
        return FAIL_AT(e, INVALID, "/url", "must be left out: mail goes to recipients");
    if (in->kind == NOTICE_MAIL && !in->recipients.n)
        return FAIL_AT(e, MISSING_FIELD, "/recipients", "Mail needs recipients");
    return ERR_OK;
}

struct str *notice_event_texts(struct arena *a, struct slice events)
{
    struct str *ret = ARENA_ARRAY(a, struct str, events.n + 1);
    for (size_t i = 0; i < events.n; i++)
        ret[i] = str_c(notice_event_names[((const int *)events.items)[i]]);
    return ret;
}

enum errc notice_cursor_open(struct work *w, struct err *e)
{
    int64_t end;
    TRY(audit_tail_end(w, w->tenant_id, &end, e));
    return db_exec(w->tx, &cursor_open, ARGS(A_UUID(w->tenant_id), A_I64(end)), NULL, e);
}

enum errc notice_rule_create(struct work *w, const struct notice_rule *in, struct notice_rule *ret, struct err *e)
{
    const struct uuid id = uuid_v7(w->now_us);
    struct str secret = STR_NULL, sealed = STR_NULL, zone = STR_NULL;
    struct uuid project;
    bool found;
    TRY(check_form(in, e));
    TRY(project_for_new(w, w->tx, in->project_id, &project, e));
    TRY(check_events(in->events, project, e));
    if (in->kind == NOTICE_WEBHOOK) {
        TRY(outside_url_check(w->app->config, in->url, "/url", e));
        TRY(secret_make(w, id, &secret, &sealed, &zone, e));
    } else {
        TRY(check_recipients(w, in->recipients, e));
    }
    TRY(notice_cursor_open(w, e));
    enum errc rc = db_maybe(w->tx, &rule_insert, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_UUID_OR_NULL(project), A_STR(in->name),
                            A_TEXT(notice_kind_names[in->kind]), A_STRS(notice_event_texts(w->arena, in->events),
                                in->events.n), A_STR(in->url),
                            A_UUIDS(in->recipients.items, in->recipients.n), A_I64(in->wait_minutes), A_BYTES(sealed.ptr,
                                sealed.len),
                            A_STR(zone), A_UUID(w->principal->user_id), A_I64(NOTICE_RULES_MAX)), ret, &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "A notification named %.*s already exists", STR_ARG(in->name));
    TRY(rc);
    if (!found)
        return FAIL(e, LIMIT, "An organisation has at most %d notifications; remove one first", NOTICE_RULES_MAX);
    ret->secret = secret;
    return ERR_OK;
}

enum errc notice_rule_get(struct work *w, struct uuid id, struct notice_rule *ret, struct err *e)
{
    return db_one(w->tx, &rule_get, ARGS(A_UUID(w->tenant_id), A_UUID(id)), ret, e);
}

enum errc notice_rule_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &rule_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc notice_rule_set(struct work *w, struct uuid id, const struct notice_rule_change *in, int64_t if_match,
    struct notice_rule *ret,
                          struct err *e)
{
    struct notice_rule was;
    bool found;
    TRY(notice_rule_get(w, id, &was, e));
    was.url = in->url.ptr ? in->url : was.url;
    was.recipients = in->has_recipients ? in->recipients : was.recipients;
    TRY(check_form(&was, e));
    if (in->has_events)
        TRY(check_events(in->events, was.project_id, e));
    if (in->url.ptr)
        TRY(outside_url_check(w->app->config, in->url, "/url", e));
    if (in->has_recipients)
        TRY(check_recipients(w, in->recipients, e));
    enum errc rc = db_maybe(w->tx, &rule_update, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_I64(if_match), A_STR(in->name),
                            A_TEXT(in->has_state ? notice_rule_states[in->state] : NULL), A_STR(in->url),
                            in->has_events ? A_STRS(notice_event_texts(w->arena, in->events), in->events.n) : A_NULL('S'),
                            in->has_recipients ? A_UUIDS(in->recipients.items, in->recipients.n) : A_NULL('U'),
                            A_I64(in->has_wait_minutes ? in->wait_minutes : 0)), ret, &found, e);
    if (rc == ERR_EXISTS)
        return FAIL_AT(e, EXISTS, "/name", "A notification named %.*s already exists", STR_ARG(in->name));
    TRY(rc);
    return found ? ERR_OK : FAIL(e, PRECONDITION, "The notification has changed since you read it");
}

enum errc notice_rule_secret(struct work *w, struct uuid id, struct notice_rule *ret, struct err *e)
{
    struct notice_rule was;
    struct str secret, sealed, zone;
    bool found;
    TRY(notice_rule_get(w, id, &was, e));
    TRY(secret_make(w, id, &secret, &sealed, &zone, e));
    TRY(db_maybe(w->tx, &rule_seal, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_BYTES(sealed.ptr, sealed.len), A_STR(zone)), ret,
        &found, e));
    if (!found)
        return FAIL(e, CONFLICT, "Mail is not signed: only a webhook has a secret");
    ret->secret = secret;
    return ERR_OK;
}

enum errc notice_rule_delete(struct work *w, struct uuid id, struct err *e)
{
    TRY(db_exec(w->tx, &rule_delete, ARGS(A_UUID(w->tenant_id), A_UUID(id)), NULL, e));
    return notice_delivery_give_up(w, id, e);
}

enum errc notice_rules_active(struct work *w, struct uuid tenant, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &rules_active, ARGS(A_UUID(tenant), A_I64(NOTICE_RULES_MAX)), ret, NOTICE_RULES_MAX, e);
}
