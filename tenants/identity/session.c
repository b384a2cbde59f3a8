/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - rows of sessions; who is believed is in session_authn.c. */
#include "tenants/identity/session.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "tenants/access/authz.h"

enum { AGENT_MAX = 200 };

SCHEMA_EXTERN(session, "A sign-in on a browser",
    FIELD_ID(session, session_id, "ses", F_ALWAYS, .doc = "The session"),
    FIELD_ID(session, user_id, "usr", F_ALWAYS, .doc = "Whose"),
    FIELD(session, method, F_ALWAYS, .doc = "password, oidc or break-glass"),
    FIELD(session, stage, F_ALWAYS,
          .doc = "full; code: waits for the second factor; enrol: a second factor must be set up first"),
    FIELD(session, ip, F_ALWAYS, .doc = "Where the login came from"),
    FIELD(session, user_agent, F_ALWAYS, .doc = "What the browser said it is"),
    FIELD(session, created_at, F_ALWAYS, .doc = "When"),
    FIELD(session, last_seen, F_ALWAYS, .doc = "Last request, within seconds"),
    FIELD_AS(session, until, "expires_at", F_NOCOL, .doc = "Its end at the latest"), FIELD(session, is_current, F_NOCOL, .doc = "The one that asks"));

struct session_row { struct uuid session_id, user_id; struct str method, stage, ip, user_agent; struct timestamp created_at, last_seen, until; };
SCHEMA_OF(session_row, "A session", FIELD(session_row, session_id, 0, .doc = "Id"), FIELD(session_row, user_id, 0, .doc = "Whose"),
    FIELD(session_row, method, 0, .doc = "How"), FIELD(session_row, stage, 0, .doc = "How far"), FIELD(session_row, ip, 0, .doc = "Address"),
    FIELD(session_row, user_agent, 0, .doc = "Browser"), FIELD(session_row, created_at, 0, .doc = "When"),
    FIELD(session_row, last_seen, 0, .doc = "Last"), FIELD(session_row, until, 0, .doc = "End"));

static const char *const stage_names[] = { "full", "code", "enrol" };

static const struct stmt session_insert = { .name = "session_insert", .params = "uuuysstbsst", .card = CARD_NONE, .sql =
    "INSERT INTO session (tenant_id, session_id, user_id, hash, method, stage, proved_at, mfa_at, ip, user_agent, until, created_at, last_seen)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN $7 END, $9, $10, $11, $7, $7)" };
static const struct stmt session_proved = { .name = "session_proved", .params = "uuystb", .card = CARD_ONE, .sql =
    "UPDATE session SET hash = $3, stage = $4, proved_at = $5, mfa_at = CASE WHEN $6 THEN $5 ELSE mfa_at END, last_seen = $5\n"
    " WHERE tenant_id = $1 AND session_id = $2 AND ended_at IS NULL" };
static const struct stmt session_end_stmt = { .name = "session_end", .params = "uuus", .card = CARD_ONE, .sql =
    "UPDATE session SET ended_at = now(), reason = $4\n"
    " WHERE tenant_id = $1 AND session_id = $2 AND ($3::uuid IS NULL OR user_id = $3) AND ended_at IS NULL" };
static const struct stmt session_end_all_stmt = { .name = "session_end_all", .params = "uuus", .card = CARD_NONE, .sql =
    "UPDATE session SET ended_at = now(), reason = $4\n"
    " WHERE tenant_id = $1 AND user_id = $2 AND ($3::uuid IS NULL OR session_id <> $3) AND ended_at IS NULL" };
static const struct stmt session_list_stmt = { .name = "session_list", .params = "uuutti", .row = &session_row_schema, .card = CARD_MANY, .sql =
    "SELECT session_id, user_id, method, stage, ip, user_agent, created_at, last_seen, until FROM session\n"
    " WHERE tenant_id = $1 AND user_id = $2 AND ($3::uuid IS NULL OR session_id < $3) AND ended_at IS NULL AND until > $4 AND last_seen > $5\n"
    " ORDER BY session_id DESC LIMIT $6" };

const struct stmt *const session_stmts[] = { &session_insert, &session_proved, &session_end_stmt, &session_end_all_stmt, &session_list_stmt, NULL };

void session_cookie_hash(struct str cookie, uint8_t ret[32])
{
    sha256(cookie.ptr, cookie.len, ret);
}

void session_csrf(struct str cookie, char ret[CSRF_TEXT])
{
    uint8_t mac[SHA256_BYTES];
    hmac_sha256(cookie.ptr, cookie.len, "falaj-csrf-v1", 13, mac);
    base64_encode(mac, sizeof mac, ret, true);
}

bool session_csrf_is(struct str cookie, struct str token)
{
    char want[CSRF_TEXT];
    session_csrf(cookie, want);
    return token.len == CSRF_LEN && mem_eq_ct(token.ptr, want, CSRF_LEN);
}

static enum errc cookie_make(char ret[COOKIE_TEXT], uint8_t ret_hash[32], struct err *e)
{
    uint8_t raw[32];
    TRY(rand_key(raw, sizeof raw, e));
    base64_encode(raw, sizeof raw, ret, true);
    secret_wipe(raw, sizeof raw);
    session_cookie_hash(str_n(ret, COOKIE_LEN), ret_hash);
    return ERR_OK;
}

/* What a browser calls itself, without what is no text and at most 200 bytes of it. */
static struct str agent_of(struct arena *a, struct str given)
{
    struct str s = str_dup(a, str_n(given.ptr ? given.ptr : "", given.len < AGENT_MAX ? given.len : AGENT_MAX));
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < 0x20 || s.ptr[i] > 0x7e)
            ((char *)(uintptr_t)s.ptr)[i] = '?';
    return s;
}

enum errc session_open(struct work *w, const struct session_new *in, char ret_cookie[COOKIE_TEXT], struct uuid *ret_id, struct err *e)
{
    uint8_t hash[32];
    int64_t max_ms = in->max_ms ? in->max_ms : w->app->config->auth_session_max_ms;
    *ret_id = uuid_v7(w->now_us);
    TRY(cookie_make(ret_cookie, hash, e));
    return db_exec(w->tx, &session_insert, ARGS(A_UUID(w->tenant_id), A_UUID(*ret_id), A_UUID(in->user_id), A_BYTES(hash, sizeof hash), A_TEXT(in->method),
                   A_TEXT(stage_names[in->stage]), A_TIME_US(w->now_us), A_BOOL(in->has_mfa), A_STR(w->source_ip.ptr ? w->source_ip : STR("")),
                   A_STR(agent_of(w->arena, in->user_agent)), A_TIME_US(w->now_us + max_ms * 1000)), NULL, e);
}

enum errc session_prove(struct work *w, struct uuid session_id, enum auth_stage stage, bool with_mfa, char ret_cookie[COOKIE_TEXT], struct err *e)
{
    uint8_t hash[32];
    TRY(cookie_make(ret_cookie, hash, e));
    return db_exec(w->tx, &session_proved, ARGS(A_UUID(w->tenant_id), A_UUID(session_id), A_BYTES(hash, sizeof hash), A_TEXT(stage_names[stage]),
                   A_TIME_US(w->now_us), A_BOOL(with_mfa)), NULL, e);
}

enum errc session_end(struct work *w, struct uuid session_id, struct uuid user_id, const char *reason, struct err *e)
{
    return db_exec(w->tx, &session_end_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(session_id), A_UUID_OR_NULL(user_id), A_TEXT(reason)), NULL, e);
}

enum errc session_end_all(struct work *w, struct uuid user_id, struct uuid but, const char *reason, struct err *e)
{
    return db_exec(w->tx, &session_end_all_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_UUID_OR_NULL(but), A_TEXT(reason)), NULL, e);
}

enum errc session_list(struct work *w, struct uuid user_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct slice rows;
    TRY(db_many(w->tx, &session_list_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(user_id), A_UUID_OR_NULL(position), A_TIME_US(w->now_us),
                A_TIME_US(w->now_us - w->app->config->auth_session_idle_ms * 1000), A_I64(limit)), &rows, (size_t)limit, e));
    struct session *items = ARENA_ARRAY(w->arena, struct session, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct session_row *r = &((struct session_row *)rows.items)[i];
        items[i] = (struct session){ r->session_id, r->user_id, r->method, r->stage, r->ip, r->user_agent, r->created_at, r->last_seen, r->until,
                                     uuid_eq(r->session_id, w->principal->session_id) };
    }
    *ret = (struct slice){ items, rows.n };
    return ERR_OK;
}

bool session_needs_mfa(const struct config *cfg, const struct principal *p)
{
    struct str list = str_c(cfg->auth_require_mfa_roles), one;
    if (str_eq_c(list, "auto"))
        list = cfg->run_profile == PROFILE_DEV ? STR("") : STR("platform-admin,compliance-officer");
    for (bool more = list.len > 0; more;) {
        more = str_cut(list, ',', &one, &list);
        int role = role_by_wire(str_trim(one));
        if (role >= 0 && p->roles & UINT32_C(1) << role)
            return true;
    }
    return false;
}
