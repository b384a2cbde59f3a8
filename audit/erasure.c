/* SPDX-License-Identifier: Apache-2.0 */
/* erasure.c - destroying a person's key, and emptying the columns of pii.def. Each row of that table is a statement of its own, so
 * that a new column is erased and shown by its row alone. */
#include "audit/erasure.h"
#include "audit/erasure_keeper.h"
#include "audit/hold.h"
#include "audit/pii.h"
#include "core/db/tx.h"

SCHEMA_EXTERN(audit_erasure, "A person erased from the log's readable part",
    FIELD_ID(audit_erasure, user_id, "usr", 0, .doc = "Who"), FIELD(audit_erasure, erased_at, 0, .doc = "When"),
    FIELD(audit_erasure, had_fields, 0, .doc = "Whether sealed fields of that person may stand in the log"));

struct key_row { bool is_erased; };
SCHEMA_OF(key_row, "A subject's key", FIELD(key_row, is_erased, 0, .doc = "Destroyed already"));
static const struct stmt user_lock = { .name = "audit_erase_user_lock", .params = "uu", .card = CARD_NONE, .sql =
  "UPDATE app_user SET state = 'DISABLED', version = version + 1 WHERE tenant_id = $1 AND user_id = $2" };
#define ALIAS(t, c) "UPDATE " #t " SET " #c " = 'erased-' || replace($2::uuid::text, '-', '')"
#define BLANK(t, c) "UPDATE " #t " SET " #c " = ''"
#define NONE(t, c) "UPDATE " #t " SET " #c " = NULL"
#define OBJECT(t, c) "UPDATE " #t " SET " #c " = '{}'"
#define CLOSED(t, c) "UPDATE " #t " SET " #c " = CASE " #c " WHEN 'OPEN' THEN 'WITHDRAWN' ELSE " #c " END"
#define NO_NETS(t, c) OBJECT(t, c)
#define ROW(t, c) "DELETE FROM " #t
#define NOT_PII(t, columns, reason)
#define PII(t, c, whose, how, shown, text)                                                                     \
    static const struct stmt erase_##t##_##c = { .name = "audit_erase_" #t "_" #c, .params = "uu", .card = CARD_NONE, \
                                                 .sql = how(t, c) " WHERE " whose };
#include "audit/pii.def"
static const struct stmt end = { .name = "audit_erase_credentials", .params = "uu", .card = CARD_NONE, .sql = "SELECT FROM user_end_credentials($1, $2)" };
static const struct stmt key_lock = { .name = "audit_erase_key_lock", .params = "uu", .row = &key_row_schema, .card = CARD_MAYBE, .sql =
  "SELECT erased_at IS NOT NULL AS is_erased FROM audit_subject_key WHERE tenant_id = $1 AND subject_id = $2 FOR UPDATE" };
static const struct stmt key_destroy = { .name = "audit_erase_key", .params = "uuu", .card = CARD_NONE, .sql =
  "UPDATE audit_subject_key SET wrapped = NULL, erased_at = clock_timestamp(), erased_by = $3\n"
  " WHERE tenant_id = $1 AND subject_id = $2 AND erased_at IS NULL" };
/* No key yet: a row that says so, beside whatever key of the tenant there is. */
static const struct stmt key_forbid = { .name = "audit_erase_forbid", .params = "uuuu", .card = CARD_NONE, .sql =
  "INSERT INTO audit_subject_key (tenant_id, subject_id, key_id, zone, key_version, erased_at, erased_by)\n"
  "SELECT $1, $2, $3, k.zone, k.version, clock_timestamp(), $4 FROM tenant_key k WHERE k.tenant_id = $1 LIMIT 1" };
static const struct stmt get = { .name = "audit_erasure_get", .params = "uu", .row = &audit_erasure_schema, .card = CARD_ONE, .sql =
  "SELECT subject_id AS user_id, erased_at, false AS had_fields FROM audit_subject_key WHERE tenant_id = $1 AND subject_id = $2" };
static const struct stmt list = { .name = "audit_erasure_list", .params = "uui", .row = &audit_erasure_schema, .card = CARD_MANY, .sql =
  "SELECT subject_id AS user_id, erased_at, true AS had_fields FROM audit_subject_key\n"
  " WHERE tenant_id = $1 AND erased_at IS NOT NULL AND ($2::uuid IS NULL OR subject_id > $2) ORDER BY subject_id LIMIT $3" };

SCHEMA_EXTERN(person_datum, "What is kept of a person", FIELD(person_datum, place, F_ALWAYS, .doc = "The table"),
    FIELD(person_datum, field, F_ALWAYS, .doc = "Its column"), FIELD(person_datum, means, F_ALWAYS, .doc = "What it is"),
    FIELD(person_datum, value, F_ALWAYS, .max = 65536, .doc = "As it is kept"));
#define SHOWN(t, c, whose, text) \
    " UNION ALL SELECT '" #t "', '" #c "', '" text "', " #c "::text FROM " #t " WHERE " whose \
    " AND nullif(" #c "::text, '') IS NOT NULL\n"
#define HIDDEN(t, c, whose, text) ""
#define NOT_PII(t, columns, reason)
#define PII(t, c, whose, how, shown, text) shown(t, c, whose, text)
static const struct stmt person = { .name = "audit_person_data", .params = "uui", .row = &person_datum_schema, .card =
    CARD_MANY, .sql =
  "SELECT place, field, means, value FROM (SELECT '' AS place, '' AS field, '' AS means, '' AS value WHERE false\n"
#include "audit/pii.def"
  ") x ORDER BY place, field, value LIMIT $3" };
SCHEMA_EXTERN(audit_person, "What is kept of a person",
    FIELD_LIST(audit_person, data, &person_datum_schema, F_ALWAYS, .max = AUDIT_PERSON_MAX,
               .doc = "Each value with its table and column"),
    FIELD(audit_person, erased_at, 0, .doc = "When the person was erased; absent: not yet"),
    FIELD(audit_person, held, F_ALWAYS, .doc = "A legal hold forbids the erasure"));
struct person_state { struct timestamp erased_at; bool held; };
SCHEMA_OF(person_state, "Where a person's erasure stands", FIELD(person_state, erased_at, 0, .doc = "When"),
    FIELD(person_state, held, 0, .doc = "By a legal hold"));
static const struct stmt state = { .name = "audit_person_state", .params = "uu", .row = &person_state_schema, .card = CARD_ONE,
                                   .sql =
  "SELECT (SELECT k.erased_at FROM audit_subject_key k WHERE k.tenant_id = $1 AND k.subject_id = $2) AS erased_at,\n"
  "       subject_has_hold($1, $2) AS held" };

#define NOT_PII(t, columns, reason)
#define PII(t, c, whose, how, shown, text) &erase_##t##_##c,
static const struct stmt *const columns[] = {
#include "audit/pii.def"
    NULL };
const struct stmt *const audit_erasure_stmts[] = { &user_lock, &end, &key_lock, &key_destroy, &key_forbid, &get, &list, &person,
                                                   &state,
#define NOT_PII(t, columns, reason)
#define PII(t, c, whose, how, shown, text) &erase_##t##_##c,
#include "audit/pii.def"
    NULL };

enum errc audit_erase_restored(struct work *w, struct uuid user_id, struct uuid by, struct audit_erasure *ret, struct err *e)
{
    struct key_row key = { 0 };
    bool has_key;
    int64_t n;
    TRY(audit_hold_refuse_subject(w, user_id, e));
    TRY(db_exec(w->tx, &user_lock, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &n, e));
    if (n == 0)
        return FAIL(e, NOT_FOUND, "There is no such object");
    db_queue(w->tx, &end, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), false);
    TRY(db_maybe(w->tx, &key_lock, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &key, &has_key, e));
    if (has_key && key.is_erased)
        return FAIL(e, CONFLICT, "That person was erased already");
    for (size_t i = 0; columns[i]; i++)
        db_queue(w->tx, columns[i], ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), false);
    TRY(has_key ? db_exec(w->tx, &key_destroy, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_UUID(by)), &n, e)
                : db_exec(w->tx, &key_forbid, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_UUID(uuid_v7(w->now_us)), A_UUID(by)), &n, e));
    if (n == 0) {       /* a tenant without any key has sealed nothing */
        *ret = (struct audit_erasure){ user_id, { w->now_us }, false };
        return ERR_OK;
    }
    TRY(db_one(w->tx, &get, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), ret, e));
    ret->had_fields = has_key;
    return ERR_OK;
}

enum errc audit_erase_person(struct work *w, struct uuid user_id, struct uuid by, struct audit_erasure *ret, struct err *e)
{
    TRY(audit_erase_restored(w, user_id, by, ret, e));
    return erasure_keeper_order(w, user_id, by, e);
}

enum errc audit_person_data(struct work *w, struct uuid user_id, struct audit_person *ret, struct err *e)
{
    struct person_state at;
    struct slice data;
    TRY(db_many(w->tx, &person, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_I64(AUDIT_PERSON_MAX)), &data, AUDIT_PERSON_MAX,
                e));
    if (!data.n)
        return FAIL(e, NOT_FOUND, "There is no such object");       /* everybody has a name */
    TRY(db_one(w->tx, &state, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &at, e));
    *ret = (struct audit_person){ data, at.erased_at, at.held };
    return ERR_OK;
}

enum errc audit_erasure_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}
