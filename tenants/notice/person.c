/* SPDX-License-Identifier: Apache-2.0 */
/* person.c - one row a person. */
#include "tenants/notice/person.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/db/tx.h"
#include "core/http/mail.h"
#include "tenants/access/principal.h"
#include "tenants/identity/local_auth.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/event.h"
#include "tenants/notice/rule.h"

#include <stdio.h>

enum { CODE_DIGITS = 6, CODES = 1000000, HOLDERS_MAX = 1000 };

const char *const notice_languages[] = { "en", "ar", NULL };

SCHEMA_EXTERN(notice_person, "What the caller is told by mail",
    FIELD_ID(notice_person, user_id, "usr", F_ALWAYS, .doc = "Who"),
    FIELD(notice_person, address, F_ALWAYS, .max = MAIL_ADDRESS_MAX, .doc = "The mail address"),
    FIELD(notice_person, confirmed_at, 0,
        .doc = "When the code that was sent there was typed back; absent: nothing else is sent"),
    FIELD_ENUM(notice_person, language, F_ALWAYS, notice_languages, .doc = "Language of the mails"),
    FIELD_ENUMS(notice_person, events, F_ALWAYS, notice_event_names,
                .doc = "Events of the caller's own jobs, approvals and clocks"),
    FIELD(notice_person, updated_at, F_ALWAYS, .doc = "When it was set last"));

static const struct stmt person_get = { .name = "notice_person_get", .params = "uu", .row = &notice_person_schema,
    .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM notice_person WHERE tenant_id = $1 AND user_id = $2" };
struct person_sent { struct str address; bool is_confirmed; };
SCHEMA_OF(person_sent, "What was sent where", FIELD(person_sent, address, 0, .max = MAIL_ADDRESS_MAX, .doc = "Address"),
    FIELD(person_sent, is_confirmed, 0, .doc = "It is known"));
static const struct stmt person_sent = { .name = "notice_person_sent", .params = "uu", .row = &person_sent_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT address, confirmed_at IS NOT NULL AS is_confirmed FROM notice_person\n"
    " WHERE tenant_id = $1 AND user_id = $2 FOR UPDATE" };
/* Who has no row may have had one a moment ago: forgetting an address must not give another code at once, or anybody could have
 * the mail server write to anybody. The user's row is locked first, so that calls beside each other wait. */
static const struct stmt person_turn = { .name = "notice_person_turn", .params = "uu", .card = CARD_NONE, .sql =
    "SELECT FROM app_user WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE" };
struct code_sent { bool is_recent; };
SCHEMA_OF(code_sent, "Whether a code went out", FIELD(code_sent, is_recent, 0, .doc = "A moment ago"));
static const struct stmt person_code = { .name = "notice_person_code", .params = "uusi", .row = &code_sent_schema,
    .card = CARD_ONE, .sql =
    "SELECT EXISTS (SELECT FROM notice_delivery WHERE tenant_id = $1 AND target = $2 AND event = $3\n"
    "   AND created_at > clock_timestamp() - $4 * interval '1 second') AS is_recent" };
static const struct stmt person_put = { .name = "notice_person_put", .params = "uussSyi", .row = &notice_person_schema,
    .card = CARD_ONE, .sql =
    "INSERT INTO notice_person AS p (tenant_id, user_id, address, language, events, code_hash, code_until)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 second')\n"
    "    ON CONFLICT (tenant_id, user_id) DO UPDATE SET address = EXCLUDED.address, language = EXCLUDED.language, events = "
    "EXCLUDED.events,\n"
    "       confirmed_at = CASE WHEN $6 IS NULL THEN p.confirmed_at END, code_hash = coalesce($6, p.code_hash),\n"
    "       code_until = CASE WHEN $6 IS NULL THEN p.code_until ELSE EXCLUDED.code_until END,\n"
    "       code_tries = CASE WHEN $6 IS NULL THEN p.code_tries ELSE 0 END, updated_at = clock_timestamp()\n"
    "RETURNING " ROW_COLUMNS };
/* Each try counts, right or wrong: the row says which it was. */
static const struct stmt person_try = { .name = "notice_person_try", .params = "uuyi", .row = &notice_person_schema,
    .card = CARD_MAYBE, .sql =
    "UPDATE notice_person SET code_tries = code_tries + 1,\n"
    "       confirmed_at = CASE WHEN code_hash = $3 THEN clock_timestamp() ELSE confirmed_at END,\n"
    "       code_hash = CASE WHEN code_hash = $3 THEN NULL ELSE code_hash END\n"
    " WHERE tenant_id = $1 AND user_id = $2 AND code_hash IS NOT NULL AND code_until > clock_timestamp() AND code_tries < $4\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt person_delete = { .name = "notice_person_delete", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM notice_person WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt people = { .name = "notice_people", .params = "ui", .row = &notice_person_schema, .card = CARD_MANY,
    .sql =
    "SELECT " ROW_COLUMNS " FROM notice_person p WHERE tenant_id = $1 AND confirmed_at IS NOT NULL AND events <> '{}'\n"
    "   AND EXISTS (SELECT FROM app_user u WHERE u.tenant_id = $1 AND u.user_id = p.user_id AND u.state = 'ACTIVE') LIMIT $2" };
struct holder { struct uuid user_id; };
SCHEMA_OF(holder, "Who holds a role", FIELD(holder, user_id, 0, .doc = "User"));
static const struct stmt holders = { .name = "notice_holders", .params = "uSi", .row = &holder_schema, .card = CARD_MANY, .sql =
    "SELECT DISTINCT user_id FROM role_binding WHERE tenant_id = $1 AND role = ANY ($2) AND place IN ('tenant', 'platform')\n"
    "   AND coalesce(valid_from <= clock_timestamp(), true) AND coalesce(valid_until > clock_timestamp(), true) LIMIT $3" };

const struct stmt *const notice_person_stmts[] = { &person_get, &person_sent, &person_turn, &person_code,
                                                    &person_put, &person_try, &person_delete, NULL };
const struct stmt *const notice_person_daemon_stmts[] = { &people, &holders, NULL };

static enum errc code_hash(struct work *w, struct str code, uint8_t ret[SHA256_BYTES], struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 key;
    char text[UUID_HEX + CODE_DIGITS];
    TRY(local_auth_key(w, local_auth_zone(w->app->auth), "falaj-notice-code-v1", w->tenant_id, &key, e));
    hex_encode(w->principal->user_id.b, 16, text);
    memcpy(text + UUID_HEX - 1, code.ptr, CODE_DIGITS);
    hmac_sha256(key.b, sizeof key.b, text, UUID_HEX - 1 + CODE_DIGITS, ret);
    return ERR_OK;
}

/* A new code: its mail in the outbox, and how it is kept. */
static enum errc code_send(struct work *w, uint8_t ret_hash[SHA256_BYTES], struct err *e)
{
    uint32_t n;
    do {
        TRY(rand_key(&n, sizeof n, e));
    } while (n >= UINT32_MAX / CODES * CODES);
    const struct str code = str_fmt(w->arena, "%06u", n % CODES);
    TRY(code_hash(w, code, ret_hash, e));
    return notice_delivery_code(w, code, e);
}

enum errc notice_person_get(struct work *w, struct notice_person *ret, struct err *e)
{
    return db_one(w->tx, &person_get, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id)), ret, e);
}

enum errc notice_person_put(struct work *w, const struct notice_person *in, struct notice_person *ret, struct err *e)
{
    const int *ev = in->events.items;
    struct person_sent was = { 0 };
    struct code_sent sent;
    uint8_t hash[SHA256_BYTES];
    bool found;
    for (size_t i = 0; i < in->events.n; i++)
        if (!(notice_event_row((enum notice_event)ev[i])->whose & FOR_PEOPLE))
            return FAIL_AT(e, UNPROCESSABLE, "/events", "%s is for rules of the organisation; people choose %s",
                           notice_event_names[ev[i]],
                           "job-failed, job-completed, job-waiting, job-idle, approval-waiting, "
                           "clock-due-soon and clock-overdue");
    TRY(db_exec(w->tx, &person_turn, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id)), NULL, e));
    TRY(db_one(w->tx, &person_code, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_TEXT(NOTICE_CODE),
               A_I64(NOTICE_CODE_PAUSE_S)), &sent, e));
    TRY(db_maybe(w->tx, &person_sent, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id)), &was, &found, e));
    const bool is_known = found && was.is_confirmed && str_eq(was.address, in->address);
    if (!is_known && sent.is_recent)
        return FAIL(e, RATE, "A code was sent less than a minute ago; try again in a minute");
    if (!is_known)
        TRY(code_send(w, hash, e));
    TRY(db_one(w->tx, &person_put, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_STR(in->address),
               A_TEXT(notice_languages[in->language]), A_STRS(notice_event_texts(w->arena, in->events), in->events.n),
               is_known ? A_NULL('y') : A_BYTES(hash, sizeof hash), A_I64(NOTICE_CODE_S)), ret, e));
    return notice_cursor_open(w, e);
}

enum errc notice_person_confirm(struct work *w, struct str code, struct notice_person *ret, struct err *e)
{
    uint8_t hash[SHA256_BYTES];
    bool found;
    TRY(code_hash(w, code, hash, e));
    TRY(db_maybe(w->tx, &person_try, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_BYTES(hash, sizeof hash),
                 A_I64(NOTICE_CODE_TRIES)), ret, &found, e));
    return found ? ERR_OK : FAIL_AT(e, CONFLICT, "/code", "No code waits for you: it was used, is too old or was tried too "
        "often; set the address again");
}

enum errc notice_person_delete(struct work *w, struct err *e)
{
    return db_exec(w->tx, &person_delete, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id)), NULL, e);
}

enum errc notice_people(struct work *w, struct uuid tenant, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &people, ARGS(A_UUID(tenant), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc notice_holders(struct work *w, struct uuid tenant, const struct str *roles, size_t n, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &holders, ARGS(A_UUID(tenant), A_STRS(roles, n), A_I64(HOLDERS_MAX)), ret, HOLDERS_MAX, e);
}
