/* SPDX-License-Identifier: Apache-2.0 */
/* idempotency.c - one effect per key: the record is written in the transaction of the effect.
 *
 * The INSERT waits for a call in flight with the same key (unique index), so the second call sees the first one's answer. The
 * answer of a row with R_SECRET is never kept: its replay is a conflict that says so. Keys live 24 h (falaj-scheduler purges). */
#include "api/api_int.h"
#include "core/db/tx.h"

struct idem_row {
    struct bytes request_sha;
    int32_t status;
    struct str body;
};
SCHEMA_OF(idem_row, "A kept answer", FIELD(idem_row, request_sha, 0, .doc = "Hash of the request"),
          FIELD(idem_row, status, 0, .doc = "Status of the answer"), FIELD(idem_row, body, 0, .doc = "The answer"));

static const struct stmt idempotency_insert = { .name = "idempotency_insert", .params = "uussy", .card = CARD_NONE, .sql =
    "INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING" };

static const struct stmt idempotency_get = { .name = "idempotency_get", .params = "uuss", .row = &idem_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT request_sha, status, body FROM idempotency WHERE tenant_id = $1 AND principal_id = $2 AND route = $3 AND key = $4" };

static const struct stmt idempotency_finish = { .name = "idempotency_finish", .params = "uussis", .card = CARD_NONE, .sql =
    "UPDATE idempotency SET status = $5::bigint::int, body = $6\n"
    " WHERE tenant_id = $1 AND principal_id = $2 AND route = $3 AND key = $4" };

const struct stmt *const idempotency_stmts[] = { &idempotency_insert, &idempotency_get, &idempotency_finish, NULL };

enum errc idempotency_key_read(struct call *c, struct err *e)
{
    struct str key = http_header_get(c->request, "Idempotency-Key");
    if (!key.ptr)
        return FAIL(e, IDEMPOTENCY_MISSING, "This call creates something: send a fresh Idempotency-Key header (1 to 255 characters), "
                                            "and the same one when you repeat it");
    if (key.len >= 2 && key.ptr[0] == '"' && key.ptr[key.len - 1] == '"')
        key = str_n(key.ptr + 1, key.len - 2);
    if (key.len < 1 || key.len > 255)
        return FAIL(e, INVALID, "The Idempotency-Key must have 1 to 255 characters");
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] < 0x21 || key.ptr[i] > 0x7E)
            return FAIL(e, INVALID, "The Idempotency-Key must be printable ASCII without spaces");
    c->idempotency_key = key;
    return ERR_OK;
}

enum errc idempotency_claim(struct call *c, bool *ret_first, struct err *e)
{
    struct work *w = &c->work;
    int64_t inserted;
    TRY(db_exec(w->tx, &idempotency_insert, ARGS(A_UUID(w->tenant_id), A_UUID(c->principal->user_id), A_TEXT(c->route->op),
        A_STR(c->idempotency_key), A_BYTES(c->request_sha, 32)), &inserted, e));
    *ret_first = inserted != 0;
    if (inserted)
        return ERR_OK;
    struct idem_row row = { 0 };
    bool found;
    TRY(db_maybe(w->tx, &idempotency_get, ARGS(A_UUID(w->tenant_id), A_UUID(c->principal->user_id), A_TEXT(c->route->op),
        A_STR(c->idempotency_key)), &row, &found, e));
    if (!found)
        return FAIL(e, IN_PROGRESS, "The first call with this Idempotency-Key is still running");
    if (row.request_sha.data.len != 32 || memcmp(row.request_sha.data.ptr, c->request_sha, 32))
        return FAIL(e, IDEMPOTENCY_REUSE, "This Idempotency-Key was used for a different request");
    if (row.status == 0)
        return ERR_OK;
    if (c->route->flags & R_SECRET)
        return FAIL(e, CONFLICT, "This was done already and its answer held a secret that is shown once; use a new Idempotency-Key to make another");
    c->replayed = true;
    c->replay_body = row.body;
    c->status = row.status;
    return ERR_OK;
}

enum errc idempotency_begin(struct call *c, struct err *e)
{
    bool is_first;
    TRY(idempotency_claim(c, &is_first, e));
    if (!is_first && !c->replayed)
        return FAIL(e, IN_PROGRESS, "The first call with this Idempotency-Key is still running");
    return ERR_OK;
}

void idempotency_end(struct call *c, int status, struct str body)
{
    struct work *w = &c->work;
    struct str kept = c->route->flags & R_SECRET ? STR_NULL : body;
    db_queue(w->tx, &idempotency_finish, ARGS(A_UUID(w->tenant_id), A_UUID(c->principal->user_id), A_TEXT(c->route->op),
        A_STR(c->idempotency_key), A_I64(status), A_STR(kept)), false);
}
