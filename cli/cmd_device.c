/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_device.c - falaj login without a token at hand: the device grant (RFC 8628). The person decides on a browser, here or elsewhere; the
 * API is asked every few seconds, as often as it allows. */
#include <time.h>
#include "cli/client.h"
#include "cli/device.h"
#include "core/base/clock.h"
#include "core/base/cleanup.h"
#include "core/crypto/token.h"

enum { INTERVAL_MAX_S = 60 };

static enum errc post(struct cli *c, const char *path, const char *member, struct str value, struct api_reply *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    buf_printf(&b, "{\"%s\":", member);
    buf_add_json(&b, value);
    buf_add_char(&b, '}');
    struct api_req q = { .method = "POST", .path = path, .body = str_dup(c->arena, buf_str(&b)), .token = "" };
    return api_send(c, &q, ret, e);
}

static const char *who_asks(struct cli *c)
{
    char host[64] = "this machine";
    if (gethostname(host, sizeof host - 1) < 0)
        snprintf(host, sizeof host, "this machine");
    for (char *p = host; *p; p++)
        if (*p < 0x20 || *p > 0x7e)
            *p = '?';
    return arena_printf(c->arena, "falaj on %.40s", host);
}

/* What the answer says: CLI_OK with *ret_token, CLI_RATE to go on asking, another code after a message. */
static int judge(struct cli *c, const struct api_reply *r, int64_t *interval_s, const char **ret_token)
{
    struct str error = r->json ? jval_str(jval_get(r->json, "error")) : STR_NULL;
    if (r->status == 200 && r->json) {
        struct str token = jval_str(jval_get(r->json, "access_token"));
        if (!token_check(token, NULL))
            return cli_fail(c, CLI_NETWORK, NULL, "the API let this machine in but sent no token");
        *ret_token = str_z(c->arena, token);
        return CLI_OK;
    }
    if (r->status == 429 || r->status >= 500 || str_eq_c(error, "authorization_pending"))
        return CLI_RATE;
    if (str_eq_c(error, "slow_down")) {
        *interval_s = *interval_s + 5 < INTERVAL_MAX_S ? *interval_s + 5 : INTERVAL_MAX_S;
        return CLI_RATE;
    }
    if (str_eq_c(error, "access_denied"))
        return cli_fail(c, CLI_FORBIDDEN, NULL, "the login was refused on the browser");
    if (str_eq_c(error, "expired_token"))
        return cli_fail(c, CLI_TIMEOUT, "run falaj login again", "nobody let this machine in within the time");
    return api_tell(c, r);
}

int device_login(struct cli *c, const char **ret_token)
{
    struct err e = { 0 };
    struct api_reply r;
    if (post(c, "/v1/auth/device", "client", str_c(who_asks(c)), &r, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (r.status != 200 || !r.json)
        return api_tell(c, &r);
    struct str device = jval_str(jval_get(r.json, "device_code")), user = jval_str(jval_get(r.json, "user_code"));
    struct str uri = jval_str(jval_get(r.json, "verification_uri"));
    int64_t interval_s = jval_i64(jval_get(r.json, "interval"), 5), ttl_s = jval_i64(jval_get(r.json, "expires_in"), 600);
    interval_s = interval_s < 1 ? 1 : interval_s > INTERVAL_MAX_S ? INTERVAL_MAX_S : interval_s;
    fprintf(c->err, "Open %.*s and enter the code\n\n    %.*s\n\nWaiting for you, at most %lld minutes. Ctrl-C stops.\n", STR_ARG(uri), STR_ARG(user),
            (long long)(ttl_s / 60));
    fflush(c->err);
    int64_t end_us = clock_mono_us(&clock_system) + ttl_s * 1000000;
    while (clock_mono_us(&clock_system) < end_us) {
        struct timespec pause = { (time_t)interval_s, 0 };
        nanosleep(&pause, NULL);
        if (post(c, "/v1/auth/device/token", "device_code", device, &r, &e) != ERR_OK)
            continue;       /* a lost connection is no answer: ask again until the time is over */
        int rc = judge(c, &r, &interval_s, ret_token);
        if (rc != CLI_RATE)
            return rc;
    }
    return cli_fail(c, CLI_TIMEOUT, "run falaj login again", "nobody let this machine in within the time");
}
