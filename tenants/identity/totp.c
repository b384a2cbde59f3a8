/* SPDX-License-Identifier: Apache-2.0 */
/* totp.c - the step is taken by an UPDATE that only moves it forward: of two calls with the same code one changes no row. */
#include "tenants/identity/totp.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/seal.h"
#include "core/crypto/totp.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tenants/identity/local_auth.h"

enum { RECOVERY_BYTES = 10 };

struct totp_row { struct bytes sealed; struct str zone; struct timestamp confirmed_at; int64_t last_step; };
SCHEMA_OF(totp_row, "A second factor", FIELD(totp_row, sealed, 0, .doc = "Secret"), FIELD(totp_row, zone, 0, .doc = "Of its key"),
    FIELD(totp_row, confirmed_at, 0, .doc = "Since when it counts"), FIELD(totp_row, last_step, 0, .doc = "Newest step used"));

static const struct stmt totp_get = { .name = "totp_get", .params = "uu", .row = &totp_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT sealed, zone, confirmed_at, last_step FROM totp WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt totp_put = { .name = "totp_put", .params = "uuys", .card = CARD_NONE, .sql =
    "INSERT INTO totp (tenant_id, user_id, sealed, zone) VALUES ($1, $2, $3, $4)\n"
    "ON CONFLICT (tenant_id, user_id) DO UPDATE SET sealed = excluded.sealed, zone = excluded.zone, last_step = 0 WHERE totp.confirmed_at IS NULL" };
static const struct stmt totp_take_step = { .name = "totp_take_step", .params = "uui", .card = CARD_NONE, .sql =
    "UPDATE totp SET last_step = $3, confirmed_at = coalesce(confirmed_at, now()) WHERE tenant_id = $1 AND user_id = $2 AND last_step < $3" };
static const struct stmt totp_delete = { .name = "totp_delete", .params = "uu", .card = CARD_ONE, .sql =
    "DELETE FROM totp WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt recovery_delete = { .name = "recovery_delete", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM recovery_code WHERE tenant_id = $1 AND user_id = $2" };
static const struct stmt recovery_put = { .name = "recovery_put", .params = "uuY", .card = CARD_NONE, .sql =
    "INSERT INTO recovery_code (tenant_id, user_id, hash) SELECT $1, $2, h FROM unnest($3) h" };
static const struct stmt recovery_take = { .name = "recovery_take", .params = "uuy", .card = CARD_NONE, .sql =
    "UPDATE recovery_code SET used_at = now() WHERE tenant_id = $1 AND user_id = $2 AND hash = $3 AND used_at IS NULL\n"
    "   AND EXISTS (SELECT FROM totp o WHERE o.tenant_id = $1 AND o.user_id = $2 AND o.confirmed_at IS NOT NULL)" };

const struct stmt *const totp_stmts[] = { &totp_get, &totp_put, &totp_take_step, &totp_delete, &recovery_delete, &recovery_put, &recovery_take, NULL };

static void place_of(struct work *w, struct str zone, struct uuid user_id, struct blob_head *head, struct aad *aad)
{
    *head = (struct blob_head){ .zone = zone_tag(zone), .tenant = w->tenant_id, .version = 1 };
    aad_init(aad, "falaj-totp-v1");
    aad_str(aad, zone);
    aad_uuid(aad, w->tenant_id);
    aad_uuid(aad, user_id);
}

static enum errc open_secret(struct work *w, struct uuid user_id, const struct totp_row *row, uint8_t ret[TOTP_SECRET], struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 key;
    struct blob_head head;
    struct aad aad;
    size_t n;
    TRY(local_auth_key(w, row->zone, "falaj-totp-v1", w->tenant_id, &key, e));
    place_of(w, row->zone, user_id, &head, &aad);
    TRY(blob_open(&key, &head, &aad, row->sealed.data.ptr, row->sealed.data.len, ret, TOTP_SECRET, &n, e));
    return n == TOTP_SECRET ? ERR_OK : FAIL(e, DAMAGED, "The stored second factor has a wrong size");
}

enum errc totp_begin(struct work *w, struct uuid user_id, struct str user_name, struct str tenant_name, struct str *ret_secret, struct str *ret_uri,
                     struct err *e)
{
    uint8_t secret[TOTP_SECRET], sealed[TOTP_SECRET + BLOB_OVERHEAD];
    char text[BASE32_SECRET];
    CLEANUP(secret32_wipe) struct secret32 key;
    struct blob_head head;
    struct aad aad;
    size_t n;
    int64_t made;
    struct str zone = local_auth_zone(w->app->auth);
    TRY(local_auth_key(w, zone, "falaj-totp-v1", w->tenant_id, &key, e));
    TRY(rand_key(secret, sizeof secret, e));
    place_of(w, zone, user_id, &head, &aad);
    TRY(blob_seal(&key, &head, &aad, secret, sizeof secret, sealed, sizeof sealed, &n, e));
    base32_secret(secret, text);
    secret_wipe(secret, sizeof secret);
    TRY(db_exec(w->tx, &totp_put, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_BYTES(sealed, n), A_STR(zone)), &made, e));
    if (!made)
        return FAIL(e, CONFLICT, "A second factor is already set up; remove it first");
    struct buf label = BUF(2048);
    for (int part = 0; part < 2; part++) {
        struct str s = part ? user_name : tenant_name;
        buf_add_c(&label, part ? "%20" : "");
        for (size_t i = 0; i < s.len; i++) {
            char c = s.ptr[i];
            bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
            plain ? buf_add_char(&label, c) : buf_printf(&label, "%%%02X", (unsigned char)c);
        }
    }
    *ret_secret = str_dup(w->arena, str_c(text));
    *ret_uri = str_fmt(w->arena, "otpauth://totp/Falaj:%.*s?secret=%s&issuer=Falaj&algorithm=SHA1&digits=6&period=30", STR_ARG(buf_str(&label)), text);
    buf_release(&label);
    return ERR_OK;
}

/* Letters and digits of base32 count, in either case; everything between them is decoration. */
static void recovery_hash(struct work *w, struct uuid user_id, struct str code, uint8_t ret[SHA256_BYTES])
{
    struct sha256 h;
    sha256_init(&h);
    sha256_add(&h, "falaj-recovery-v1", 18);
    sha256_add(&h, w->tenant_id.b, 16);
    sha256_add(&h, user_id.b, 16);
    for (size_t i = 0; i < code.len; i++) {
        char c = code.ptr[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        if ((c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'))
            sha256_add(&h, &c, 1);
    }
    sha256_final(&h, ret);
}

static enum errc make_recovery(struct work *w, struct uuid user_id, struct str ret_codes[RECOVERY_CODES], struct err *e)
{
    struct str hashes[RECOVERY_CODES];
    for (int i = 0; i < RECOVERY_CODES; i++) {
        uint8_t raw[TOTP_SECRET] = { 0 }, *hash = arena_alloc(w->arena, SHA256_BYTES);
        char text[BASE32_SECRET];
        TRY(rand_key(raw, RECOVERY_BYTES, e));
        base32_secret(raw, text);
        for (char *c = text; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        ret_codes[i] = str_fmt(w->arena, "%.4s-%.4s-%.4s-%.4s", text, text + 4, text + 8, text + 12);
        recovery_hash(w, user_id, ret_codes[i], hash);
        hashes[i] = str_n((char *)hash, SHA256_BYTES);
    }
    db_queue(w->tx, &recovery_delete, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), false);
    return db_exec(w->tx, &recovery_put, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_BYTESS(hashes, RECOVERY_CODES)), NULL, e);
}

/* Takes the code's step, or says no. */
static enum errc take(struct work *w, struct uuid user_id, const struct totp_row *row, struct str code, bool *ret, struct err *e)
{
    uint8_t secret[TOTP_SECRET];
    int64_t taken = 0;
    enum errc rc = open_secret(w, user_id, row, secret, e);
    int64_t step = rc == ERR_OK ? totp_step_of(secret, code, w->now_us / 1000000) : -1;
    secret_wipe(secret, sizeof secret);
    if (rc != ERR_OK)
        return rc;
    if (step > row->last_step)
        TRY(db_exec(w->tx, &totp_take_step, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_I64(step)), &taken, e));
    *ret = taken == 1;
    return ERR_OK;
}

enum errc totp_confirm(struct work *w, struct uuid user_id, struct str code, struct str ret_codes[RECOVERY_CODES], struct err *e)
{
    struct totp_row row;
    bool found, is_right;
    TRY(db_maybe(w->tx, &totp_get, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &row, &found, e));
    if (!found || row.confirmed_at.us)
        return FAIL(e, CONFLICT, "No second factor is waiting for its first code; start its setup first");
    TRY(take(w, user_id, &row, code, &is_right, e));
    if (!is_right)
        return FAIL_AT(e, UNAUTHENTICATED, "/code", "The code is wrong; check that the clock of your phone is right");
    return make_recovery(w, user_id, ret_codes, e);
}

enum errc totp_prove(struct work *w, struct uuid user_id, struct str code, bool *ret, struct err *e)
{
    struct totp_row row;
    uint8_t hash[SHA256_BYTES];
    bool found;
    int64_t taken;
    *ret = false;
    TRY(db_maybe(w->tx, &totp_get, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &row, &found, e));
    if (!found || !row.confirmed_at.us)
        return ERR_OK;
    TRY(take(w, user_id, &row, code, ret, e));
    if (*ret)
        return ERR_OK;
    recovery_hash(w, user_id, code, hash);
    TRY(db_exec(w->tx, &recovery_take, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_BYTES(hash, sizeof hash)), &taken, e));
    *ret = taken == 1;
    return ERR_OK;
}

enum errc totp_is_set(struct work *w, struct uuid user_id, bool *ret, struct err *e)
{
    struct totp_row row;
    bool found;
    TRY(db_maybe(w->tx, &totp_get, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &row, &found, e));
    *ret = found && row.confirmed_at.us;
    return ERR_OK;
}

enum errc totp_remove(struct work *w, struct uuid user_id, struct err *e)
{
    db_queue(w->tx, &recovery_delete, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), false);
    return db_exec(w->tx, &totp_delete, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), NULL, e);
}
