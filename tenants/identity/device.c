/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the alphabet has no vowels, so that no code is a word, and no letter that is taken for another. */
#include "tenants/identity/device.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/token.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tenants/access/principal.h"
#include "tenants/identity/api_token.h"

#include <stdio.h>

static const char letters[] = "BCDFGHJKLMNPQRSTVWXZ";

struct device_row { struct str client, ip, state; struct uuid of_tenant, of_user; bool is_too_fast, is_expired; };
SCHEMA_OF(device_row, "A device that asks to be let in", FIELD(device_row, client, 0, .doc = "Program"), FIELD(device_row, ip, 0, .doc = "Address"),
    FIELD(device_row, state, 0, .doc = "State"), FIELD(device_row, of_tenant, 0, .doc = "Tenant"), FIELD(device_row, of_user, 0, .doc = "User"),
    FIELD(device_row, is_too_fast, 0, .doc = "Asks too often"), FIELD(device_row, is_expired, 0, .doc = "Too late"));

#define LOOK "client, ip, state, of_tenant, of_user, false AS is_too_fast, expires_at <= now() AS is_expired"

static const struct stmt device_insert = { .name = "device_insert", .params = "yysst", .card = CARD_NONE, .sql =
    "INSERT INTO device_grant (device_hash, user_hash, client, ip, expires_at) VALUES ($1, $2, $3, $4, $5)" };
static const struct stmt device_look_stmt = { .name = "device_look", .params = "y", .row = &device_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT " LOOK " FROM device_grant WHERE user_hash = $1 AND state = 'PENDING' AND expires_at > now()" };
static const struct stmt device_decide_stmt = { .name = "device_decide", .params = "ysuu", .row = &device_row_schema, .card = CARD_MAYBE, .sql =
    "UPDATE device_grant SET state = $2, of_tenant = $3, of_user = $4\n"
    " WHERE user_hash = $1 AND state = 'PENDING' AND expires_at > now() RETURNING " LOOK };
static const struct stmt device_tenant_stmt = { .name = "device_tenant", .params = "y", .row = &device_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT " LOOK " FROM device_grant WHERE device_hash = $1" };
static const struct stmt device_poll_stmt = { .name = "device_poll", .params = "y", .row = &device_row_schema, .card = CARD_MAYBE, .sql =
    "WITH old AS (SELECT state, interval_s, expires_at <= now() AS late,\n"
    "                    coalesce(polled_at > now() - interval '1 second' * interval_s, false) AS fast\n"
    "               FROM device_grant WHERE device_hash = $1 FOR UPDATE)\n"
    "UPDATE device_grant g SET polled_at = now(), interval_s = least(60, g.interval_s + CASE WHEN old.fast THEN 5 ELSE 0 END),\n"
    "       state = CASE WHEN old.state = 'APPROVED' AND NOT old.fast AND NOT old.late THEN 'USED' ELSE old.state END\n"
    "  FROM old WHERE g.device_hash = $1\n"
    "RETURNING g.client, g.ip, old.state AS state, g.of_tenant, g.of_user, old.fast AS is_too_fast, old.late AS is_expired" };

const struct stmt *const device_stmts[] = { &device_insert, &device_look_stmt, &device_decide_stmt, &device_tenant_stmt, &device_poll_stmt, NULL };

bool user_code_read(struct str text, char ret[USER_CODE_LETTERS + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == ' ' || c == '-')
            continue;
        c = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
        if (n == USER_CODE_LETTERS || !c || !strchr(letters, c))
            return false;
        ret[n++] = c;
    }
    ret[n] = '\0';
    return n == USER_CODE_LETTERS && text.len <= 2 * USER_CODE_LETTERS;
}

static struct device device_of(const struct device_row *r)
{
    return (struct device){ r->client, r->ip, r->state, r->of_tenant, r->of_user, r->is_too_fast, r->is_expired };
}

static void user_hash(const char *plain, uint8_t ret[SHA256_BYTES])
{
    sha256(plain, USER_CODE_LETTERS, ret);
}

enum errc device_start(struct work *w, struct str client, char *device_code, char user_code[USER_CODE_TEXT], struct err *e)
{
    enum { RADIX = sizeof letters - 1 };
    uint8_t device[32], user[SHA256_BYTES], raw[64];
    char plain[USER_CODE_LETTERS + 1] = { 0 };
    size_t n = 0;
    while (n < USER_CODE_LETTERS) {
        TRY(rand_key(raw, sizeof raw, e));
        for (size_t i = 0; i < sizeof raw && n < USER_CODE_LETTERS; i++)
            if (raw[i] < 256 / RADIX * RADIX)
                plain[n++] = letters[raw[i] % RADIX];
    }
    TRY(token_make("dev", device_code, e));
    token_hash(str_c(device_code), device);
    user_hash(plain, user);
    snprintf(user_code, USER_CODE_TEXT, "%.4s-%.4s", plain, plain + 4);
    return db_exec(w->tx, &device_insert, ARGS(A_BYTES(device, sizeof device), A_BYTES(user, sizeof user), A_STR(client),
                   A_STR(w->source_ip.ptr ? w->source_ip : STR("")), A_TIME_US(w->now_us + DEVICE_TTL_S * INT64_C(1000000))), NULL, e);
}

static enum errc no_such_code(struct err *e)
{
    return FAIL(e, NOT_FOUND, "No device is waiting with that code: check the code, or start again on the device, codes expire");
}

enum errc device_look(struct work *w, struct str user_code, struct device *ret, struct err *e)
{
    char plain[USER_CODE_LETTERS + 1];
    uint8_t hash[SHA256_BYTES];
    struct device_row row;
    bool found;
    if (!user_code_read(user_code, plain))
        return no_such_code(e);
    user_hash(plain, hash);
    TRY(db_maybe(w->tx, &device_look_stmt, ARGS(A_BYTES(hash, sizeof hash)), &row, &found, e));
    if (!found)
        return no_such_code(e);
    *ret = device_of(&row);
    return ERR_OK;
}

enum errc device_decide(struct work *w, struct str user_code, bool approve, struct device *ret, struct err *e)
{
    char plain[USER_CODE_LETTERS + 1];
    uint8_t hash[SHA256_BYTES];
    struct device_row row;
    bool found;
    if (approve)
        TRY(credential_may_make(w, e));
    if (!user_code_read(user_code, plain))
        return no_such_code(e);
    user_hash(plain, hash);
    TRY(db_maybe(w->tx, &device_decide_stmt, ARGS(A_BYTES(hash, sizeof hash), A_TEXT(approve ? "APPROVED" : "DENIED"),
                 A_UUID(w->principal->tenant_id), A_UUID(w->principal->user_id)), &row, &found, e));
    if (!found)
        return no_such_code(e);
    *ret = device_of(&row);
    return ERR_OK;
}

static bool device_hash(struct str code, uint8_t ret[32])
{
    struct str kind;
    if (!token_check(code, &kind) || !str_eq_c(kind, "dev"))
        return false;
    token_hash(code, ret);
    return true;
}

enum errc device_tenant(struct work *w, struct str device_code, struct uuid *ret, struct err *e)
{
    uint8_t hash[32];
    struct device_row row = { 0 };
    bool found = false;
    if (device_hash(device_code, hash))
        TRY(db_maybe(w->tx, &device_tenant_stmt, ARGS(A_BYTES(hash, sizeof hash)), &row, &found, e));
    *ret = found ? row.of_tenant : UUID_NIL;
    return ERR_OK;
}

enum errc device_poll(struct work *w, struct str device_code, struct device *ret, bool *ret_found, struct err *e)
{
    uint8_t hash[32];
    struct device_row row = { 0 };
    *ret_found = false;
    if (!device_hash(device_code, hash))
        return ERR_OK;
    TRY(db_maybe(w->tx, &device_poll_stmt, ARGS(A_BYTES(hash, sizeof hash)), &row, ret_found, e));
    *ret = device_of(&row);
    return ERR_OK;
}
