/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - routes of the device grant. The token endpoint speaks RFC 8628's error codes, with status 400, in a body of its own. */
#include "api/signin.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/device.h"
#include "tenants/identity/login_guard.h"

enum { TOKEN_DAYS = 30 };

struct device_in { struct str client; };
SCHEMA_OF(device_in, "A program that wants to be let in",
    FIELD(device_in, client, F_REQ, .min = 1, .max = 64, .check = check_name, .doc = "What it is and where, for the person who decides"));
struct device_out { struct str device_code, user_code, verification_uri, verification_uri_complete; int64_t expires_in, interval; };
SCHEMA_OF(device_out, "What to show, and what to ask with", FIELD(device_out, device_code, 0, .doc = "For /v1/auth/device/token"),
    FIELD(device_out, user_code, 0, .doc = "Show it to the person"), FIELD(device_out, verification_uri, 0, .doc = "Where the person enters it"),
    FIELD(device_out, verification_uri_complete, 0, .doc = "The same with the code in it"),
    FIELD(device_out, expires_in, 0, .doc = "Seconds until it is too late"), FIELD(device_out, interval, 0, .doc = "Seconds between two questions"));
struct device_token_in { struct str device_code; };
SCHEMA_OF(device_token_in, "A question", FIELD(device_token_in, device_code, F_REQ | F_SECRET, .min = 1, .max = 128, .doc = "From /v1/auth/device"));
struct device_token_out { struct str access_token, token_type; int64_t expires_in; struct uuid token_id; struct str error, error_description; };
SCHEMA_OF(device_token_out, "A token, or with status 400 why there is none (RFC 8628 3.5)",
    FIELD(device_token_out, access_token, 0, .doc = "The token: shown this once"), FIELD(device_token_out, token_type, 0, .doc = "Bearer"),
    FIELD(device_token_out, expires_in, 0, .doc = "Seconds the token is good for; 0: there is none"),
    FIELD_ID(device_token_out, token_id, "tok", 0, .doc = "The token's id"),
    FIELD(device_token_out, error, 0, .doc = "authorization_pending, slow_down, expired_token, access_denied or invalid_grant"),
    FIELD(device_token_out, error_description, 0, .doc = "The same in words"));
struct device_look_in { struct str user_code; };
SCHEMA_OF(device_look_in, "Which device", FIELD(device_look_in, user_code, F_QUERY | F_REQ, .min = 1, .max = 32, .doc = "What the device shows"));
struct device_decide_in { struct str user_code; bool approve; };
SCHEMA_OF(device_decide_in, "A decision", FIELD(device_decide_in, user_code, F_REQ, .min = 1, .max = 32, .doc = "What the device shows"),
    FIELD(device_decide_in, approve, 0, .dflt = "true", .doc = "false: it is not mine"));
struct device_look_out { struct str client, ip; struct str state; };
SCHEMA_OF(device_look_out, "A device that waits", FIELD(device_look_out, client, 0, .doc = "What it says it is"),
    FIELD(device_look_out, ip, 0, .doc = "Where it asked from"), FIELD(device_look_out, state, 0, .doc = "PENDING, APPROVED or DENIED"));

static enum errc start(struct work *w, const void *in, void *out, struct err *e)
{
    char device[TOKEN_TEXT], user[USER_CODE_TEXT];
    struct str base = str_c(w->app->config->api_public_url), host = http_header_get(call_of(w)->request, "Host");
    while (base.len && base.ptr[base.len - 1] == '/')
        base.len--;
    if (!base.len)
        base = str_fmt(w->arena, "%s://%.*s", *w->app->config->api_cert ? "https" : "http", STR_ARG(host));
    TRY(signin_address(w, e));
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(device_start(w, ((const struct device_in *)in)->client, device, user, e));
    TRY(signin_commit(w, e));
    *(struct device_out *)out = (struct device_out){ str_dup(w->arena, str_c(device)), str_dup(w->arena, str_c(user)),
        str_fmt(w->arena, "%.*s/device", STR_ARG(base)), str_fmt(w->arena, "%.*s/device?user_code=%s", STR_ARG(base), user), DEVICE_TTL_S,
        DEVICE_INTERVAL_S };
    return ERR_OK;
}

static enum errc no_token(struct work *w, struct device_token_out *ret, const char *error, const char *words)
{
    *ret = (struct device_token_out){ .error = str_c(error), .error_description = str_c(words) };
    call_of(w)->status = 400;
    return ERR_OK;
}

static enum errc make_token(struct work *w, const struct device *d, struct device_token_out *ret, struct err *e)
{
    struct api_token t;
    char text[TOKEN_TEXT];
    TRY(signin_as(w, d->of_user, e));
    TRY(api_token_create(w, &(struct api_token_new){ .user_id = UUID_NIL, .name = d->client, .days = TOKEN_DAYS, .scopes = (struct slice){ 0 } }, &t, text, e));
    TRY(signin_audit(w, AUDIT_DEVICE_GRANT, ERR_OK, d->of_user, "token", e));
    *ret = (struct device_token_out){ str_dup(w->arena, str_c(text)), STR("Bearer"), (t.expires_at.us - w->now_us) / 1000000, t.token_id, STR_NULL, STR_NULL };
    return ERR_OK;
}

static enum errc poll(struct work *w, const void *in, void *out, struct err *e)
{
    struct str code = ((const struct device_token_in *)in)->device_code;
    struct uuid tenant;
    struct device d;
    bool found;
    TRY(signin_address(w, e));
    TRY(signin_begin(w, UUID_NIL, e));
    TRY(device_tenant(w, code, &tenant, e));
    TRY(signin_commit(w, e));
    if (!uuid_is_nil(tenant))       /* apart from its sign-ins: a device that asks in a loop locks nobody out */
        TRY(signin_tenant(w, id_text(w->arena, "device", tenant), e));
    TRY(signin_begin(w, tenant, e));
    TRY(device_poll(w, code, &d, &found, e));
    bool is_ready = found && !d.is_expired && !d.is_too_fast && str_eq_c(d.state, "APPROVED");
    if (is_ready && make_token(w, &d, out, e) != ERR_OK) {
        if (e->code != ERR_UNAUTHENTICATED && e->code != ERR_TENANT_SUSPENDED)
            return e->code;
        db_rollback(TAKE(w->tx));
        return no_token(w, out, "access_denied", "The person who let it in is no longer active");
    }
    TRY(signin_commit(w, e));
    if (is_ready)
        return ERR_OK;
    if (!found || str_eq_c(d.state, "USED"))
        return no_token(w, out, "invalid_grant", "That device code is not known, or was used");
    if (d.is_expired)
        return no_token(w, out, "expired_token", "Nobody let the device in within ten minutes; begin again");
    if (str_eq_c(d.state, "DENIED"))
        return no_token(w, out, "access_denied", "The person said no");
    return d.is_too_fast ? no_token(w, out, "slow_down", "Ask less often: 5 seconds more between two questions")
                         : no_token(w, out, "authorization_pending", "Nobody has decided yet");
}

static enum errc need_session(struct work *w, struct err *e)
{
    return w->principal->method == AUTH_SESSION ? ERR_OK : FAIL(e, INVALID, "A device is approved from a browser session; this call was made with an access token");
}

/* Looking and deciding count as guesses alike, by the person who guesses. */
static enum errc count(struct work *w, struct err *e)
{
    const struct principal *p = w->principal;
    TRY(need_session(w, e));
    return signin_try(w, p->tenant_id, p->user_id, "device", str_n((const char *)p->tenant_id.b, 16), str_n((const char *)p->user_id.b, 16), e);
}

static void counted(struct work *w)
{
    const struct principal *p = w->principal;
    guard_clear(w, "device", str_n((const char *)p->tenant_id.b, 16), str_n((const char *)p->user_id.b, 16));
}

static enum errc look(struct work *w, const void *in, void *out, struct err *e)
{
    struct device d;
    TRY(count(w, e));
    TRY(signin_begin(w, w->principal->tenant_id, e));
    TRY(device_look(w, ((const struct device_look_in *)in)->user_code, &d, e));
    counted(w);
    *(struct device_look_out *)out = (struct device_look_out){ d.client, d.ip, d.state };
    return signin_commit(w, e);
}

static enum errc decide(struct work *w, const void *in, void *out, struct err *e)
{
    const struct device_decide_in *i = in;
    struct device d;
    TRY(count(w, e));
    TRY(signin_begin(w, w->principal->tenant_id, e));
    TRY(device_decide(w, i->user_code, i->approve, &d, e));
    counted(w);
    TRY(signin_audit(w, AUDIT_DEVICE_GRANT, ERR_OK, w->principal->user_id, i->approve ? "approved" : "denied", e));
    *(struct device_look_out *)out = (struct device_look_out){ d.client, d.ip, d.state };
    return signin_commit(w, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/auth/device", .lane = LANE_SIGN_IN,
      .op = "device_start", .perm = PERM_PUBLIC, .handler = start, .in = &device_in_schema,
      .status = 200, .out = &device_out_schema, .flags = R_NO_TX | R_SECRET, .rate = RL_WRITE, .audited = true, .audit = AUDIT_DEVICE_GRANT,
      .doc = "Begin to let in a program that has no browser (RFC 8628)" },
    { .method = HTTP_POST, .path = "/v1/auth/device/token", .lane = LANE_SIGN_IN,
      .op = "device_token", .perm = PERM_PUBLIC, .handler = poll, .in = &device_token_in_schema,
      .status = 200, .out = &device_token_out_schema, .flags = R_NO_TX | R_SECRET, .rate = RL_WRITE, .resource = "token", .audited = true,
      .audit = AUDIT_DEVICE_GRANT, .doc = "Ask whether the program was let in; the token comes once" },
    { .method = HTTP_GET, .path = "/v1/auth/device", .lane = LANE_CALLS,
      .op = "device_look", .perm = PERM_TOKEN_OWN, .handler = look, .in = &device_look_in_schema,
      .status = 200, .out = &device_look_out_schema, .flags = R_NO_TX, .rate = RL_WRITE, .doc = "Which program waits with this code" },
    { .method = HTTP_POST, .path = "/v1/auth/device/approve", .lane = LANE_CALLS,
      .op = "device_decide", .perm = PERM_TOKEN_OWN, .handler = decide,
      .in = &device_decide_in_schema, .status = 200, .out = &device_look_out_schema, .flags = R_NO_TX | R_STEP_UP, .rate = RL_WRITE, .audited = true,
      .audit = AUDIT_DEVICE_GRANT, .doc = "Let a program in as yourself, or refuse it" },
};
extern const struct route_table device_routes;
ROUTE_TABLE(device_routes, rows);
