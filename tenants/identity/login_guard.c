/* SPDX-License-Identifier: Apache-2.0 */
/* login_guard.c - one statement counts and decides under the row's lock, so a hundred guesses at once are counted as a hundred. */
#include "tenants/identity/login_guard.h"
#include "core/crypto/hash.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/schema.h"

struct guard_row { bool refused; int64_t wait_s; };
SCHEMA_OF(guard_row, "A verdict", FIELD(guard_row, refused, 0, .doc = "Was it refused?"), FIELD(guard_row, wait_s, 0, .doc = "Seconds to wait"));

static const struct stmt guard_count = { .name = "guard_count", .params = "yiff", .row = &guard_row_schema, .card = CARD_ONE, .sql =
    "INSERT INTO login_guard AS g (key, tries, until) VALUES ($1, 1, now())\n"
    "ON CONFLICT (key) DO UPDATE SET refused = g.until > now(),\n"
    "  tries = CASE WHEN g.until > now() THEN g.tries WHEN g.seen_at < now() - interval '1 day' THEN 1 ELSE g.tries + 1 END,\n"
    "  until = CASE WHEN g.until > now() THEN g.until WHEN g.seen_at < now() - interval '1 day' OR g.tries + 1 < $2 THEN now()\n"
    "               ELSE now() + interval '1 millisecond' * least($4, $3 * power(2, least(g.tries + 1 - $2, 30))) END,\n"
    "  seen_at = CASE WHEN g.until > now() THEN g.seen_at ELSE now() END\n"
    "RETURNING refused, greatest(1, ceil(extract(epoch FROM until - now())))::bigint AS wait_s" };
static const struct stmt guard_delete = { .name = "guard_delete", .params = "y", .card = CARD_NONE, .sql = "DELETE FROM login_guard WHERE key = $1" };
static const struct stmt guard_old = { .name = "guard_old", .params = "", .card = CARD_NONE, .sql =
    "DELETE FROM login_guard WHERE key IN (SELECT key FROM login_guard WHERE seen_at < now() - interval '1 day' LIMIT 10000)" };
static const struct stmt guard_devices = { .name = "guard_devices", .params = "", .card = CARD_NONE, .sql =
    "DELETE FROM device_grant WHERE expires_at < now() - interval '1 hour'" };

const struct stmt *const login_guard_stmts[] = { &guard_count, &guard_delete, &guard_old, &guard_devices, NULL };

static void key_of(const char *kind, struct str a, struct str b, uint8_t ret[SHA256_BYTES])
{
    uint64_t lens[2] = { a.len, b.len };
    struct sha256 h;
    sha256_init(&h);
    sha256_add(&h, kind, strlen(kind) + 1);
    sha256_add(&h, lens, sizeof lens);
    sha256_add(&h, a.ptr, a.len);
    sha256_add(&h, b.ptr, b.len);
    sha256_final(&h, ret);
}

enum errc guard_try(struct work *w, const char *kind, struct str a, struct str b, int64_t *ret_wait_s, struct err *e)
{
    const struct config *cfg = w->app->config;
    uint8_t key[SHA256_BYTES];
    struct guard_row row;
    key_of(kind, a, b, key);
    TRY(db_one(w->tx, &guard_count, ARGS(A_BYTES(key, sizeof key), A_I64(cfg->auth_lock_after), A_F64((double)cfg->auth_lock_first_ms),
               A_F64((double)cfg->auth_lock_max_ms)), &row, e));
    *ret_wait_s = row.wait_s;
    return row.refused ? FAIL(e, RATE, "Too many failed attempts; try again in %ld s", (long)row.wait_s) : ERR_OK;
}

void guard_clear(struct work *w, const char *kind, struct str a, struct str b)
{
    uint8_t key[SHA256_BYTES];
    key_of(kind, a, b, key);
    db_queue(w->tx, &guard_delete, ARGS(A_BYTES(key, sizeof key)), false);
}

void guard_sweep(struct work *w)
{
    db_queue(w->tx, &guard_old, NO_ARGS, false);
    db_queue(w->tx, &guard_devices, NO_ARGS, false);
}
