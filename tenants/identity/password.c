/* SPDX-License-Identifier: Apache-2.0 */
/* password.c - the list holds what is common and yet long enough to pass: shorter ones are refused by their length. */
#include "tenants/identity/password.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

static const char *const common[] = {
    "000000000000", "111111111111", "112233445566", "121212121212", "123123123123", "123412341234", "1234512345", "123456123456",
    "123456789012", "1234567890123", "12345678901234", "123456789012345", "1234567890123456", "12345678910", "123456789101112", "123456789abc",
    "123456789qwe", "123qweasdzxc", "147258369147", "1q2w3e4r5t6y", "1q2w3e4r5t6y7u", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "987654321098",
    "abc123456789", "abcdefghijkl", "abcdefghijklm", "abcdefghijklmnop", "administrator", "administrator1", "adminadminadmin", "adminpassword",
    "asdfasdfasdf", "asdfghjkl123", "asdfghjklqwe", "changemechangeme", "changeme1234", "changemenow1", "charlie12345", "correcthorsebatterystaple",
    "defaultpassword", "dragondragon", "football1234", "iloveyou1234", "iloveyouiloveyou", "letmein12345", "letmeinletmein", "liverpool123",
    "michael12345", "mypassword12", "mypassword123", "password0000", "password1234", "password12345", "password123456", "password1234567",
    "password12345678", "password123456789", "passw0rd1234", "p@ssw0rd1234", "p@ssword1234", "passwordpassword", "princess1234", "q1w2e3r4t5y6",
    "qazwsxedcrfv", "qazwsxedc123", "qwer1234qwer", "qwerasdfzxcv", "qwerty123456", "qwerty1234567", "qwerty12345678", "qwertyqwerty",
    "qwertyuiop12", "qwertyuiop123", "qwertyuiop[]", "qwertyuiopas", "qwertyuiopasdfghjkl", "secretpassword", "superman1234", "sunshine1234",
    "thisisapassword", "trustno1trustno1", "welcome12345", "welcomewelcome", "whatever1234", "zaq12wsxcde3", "zxcvbnm12345", "zxcvbnmasdfg",
};

struct login_row { struct uuid tenant_id, user_id; struct str tenant_state, user_state, phc, zone; bool has_totp; };
SCHEMA_OF(login_row, "An account", FIELD(login_row, tenant_id, 0, .doc = "Tenant"), FIELD(login_row, user_id, 0, .doc = "User"),
    FIELD(login_row, tenant_state, 0, .doc = "Tenant's state"), FIELD(login_row, user_state, 0, .doc = "User's state"),
    FIELD(login_row, phc, 0, .doc = "Hash"), FIELD(login_row, zone, 0, .doc = "Of the pepper"), FIELD(login_row, has_totp, 0, .doc = "Second factor"));

static const struct stmt login_find_stmt = { .name = "login_find", .params = "ss", .row = &login_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT tenant_id, tenant_state, user_id, user_state, phc, zone, has_totp FROM login_find($1, $2)" };
static const struct stmt password_get_stmt = { .name = "password_get", .params = "uu", .row = &login_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT p.tenant_id, p.user_id, p.phc, p.zone, EXISTS (SELECT FROM totp o WHERE o.tenant_id = $1 AND o.user_id = $2 AND o.confirmed_at IS NOT NULL)\n"
    "       AS has_totp FROM password p WHERE p.tenant_id = $1 AND p.user_id = $2" };
static const struct stmt password_put_stmt = { .name = "password_put", .params = "uuss", .card = CARD_NONE, .sql =
    "INSERT INTO password (tenant_id, user_id, phc, zone) VALUES ($1, $2, $3, $4)\n"
    "ON CONFLICT (tenant_id, user_id) DO UPDATE SET phc = excluded.phc, zone = excluded.zone, set_at = now()" };

const struct stmt *const password_stmts[] = { &login_find_stmt, &password_get_stmt, &password_put_stmt, NULL };

static void account_of(const struct login_row *r, struct login_account *ret)
{
    *ret = (struct login_account){ r->tenant_id, r->user_id, r->tenant_state, r->user_state, r->phc, r->zone, r->has_totp };
}

enum errc login_find(struct work *w, struct str tenant, struct str name, struct login_account *ret, bool *ret_found, struct err *e)
{
    struct login_row row = { 0 };
    TRY(db_maybe(w->tx, &login_find_stmt, ARGS(A_STR(tenant), A_STR(name)), &row, ret_found, e));
    account_of(&row, ret);
    return ERR_OK;
}

enum errc password_get(struct work *w, struct uuid user_id, struct login_account *ret, bool *ret_found, struct err *e)
{
    struct login_row row = { 0 };
    TRY(db_maybe(w->tx, &password_get_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id)), &row, ret_found, e));
    account_of(&row, ret);
    return ERR_OK;
}

static bool same_word(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        char x = a.ptr[i], y = b.ptr[i];
        if ((x >= 'A' && x <= 'Z' ? x + 32 : x) != (y >= 'A' && y <= 'Z' ? y + 32 : y))
            return false;
    }
    return true;
}

enum errc password_is_acceptable(struct str password, struct str name, const char *field, struct err *e)
{
    bool is_one = true;
    if (password.len < PASSWORD_MIN)
        return FAIL_AT(e, INVALID, field, "A password has at least %d bytes", PASSWORD_MIN);
    if (password.len > PASSWORD_MAX)
        return FAIL_AT(e, INVALID, field, "A password has at most %d bytes", PASSWORD_MAX);
    for (size_t i = 1; i < password.len; i++)
        is_one &= password.ptr[i] == password.ptr[0];
    bool is_common = is_one || same_word(password, name);
    for (size_t i = 0; i < sizeof common / sizeof *common && !is_common; i++)
        is_common = same_word(password, str_c(common[i]));
    return is_common ? FAIL_AT(e, INVALID, field, "That password is among the most common ones; choose another") : ERR_OK;
}

enum errc password_put(struct work *w, struct uuid user_id, struct str phc, struct str zone, struct err *e)
{
    return db_exec(w->tx, &password_put_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_STR(phc), A_STR(zone)), NULL, e);
}

enum errc password_make(char ret[21], struct err *e)
{
    static const char digits[] = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_+=.";
    uint8_t raw[64];
    size_t n = 0, radix = sizeof digits - 1;
    while (n < 20) {
        TRY(rand_key(raw, sizeof raw, e));
        for (size_t i = 0; i < sizeof raw && n < 20; i++)
            if (raw[i] < 256 / radix * radix)
                ret[n++] = digits[raw[i] % radix];
    }
    ret[20] = '\0';
    secret_wipe(raw, sizeof raw);
    return ERR_OK;
}
