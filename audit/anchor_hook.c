/* SPDX-License-Identifier: Apache-2.0 */
/* anchor_hook.c - the zone's head to a webhook, signed as Standard Webhooks 1.0.0 says. */
#include "audit/anchor.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/webhook.h"
#include "core/http/client.h"

#include <stdio.h>
#include <time.h>

enum { BODY_MAX = 8192, TRIES_MOST = 8, TIMEOUT_MS = 10000 };

static bool is_loopback(struct str host)
{
    struct str name = host, rest;
    if (str_starts(host, "[::1]"))
        return host.len == 5 || host.ptr[5] == ':';
    (void)str_cut(host, ':', &name, &rest);
    return str_eq_c(name, "localhost") || str_eq_c(name, "127.0.0.1");
}

enum errc audit_anchor_check_url(const char *url, struct err *e)
{
    struct str s = str_c(url), host, rest;
    bool is_tls = str_starts(s, "https://");
    if (!is_tls && !str_starts(s, "http://"))
        return FAIL(e, UNPROCESSABLE, "A webhook is an https URL");
    size_t skip = is_tls ? 8 : 7;
    host = str_n(s.ptr + skip, s.len - skip);
    struct str head = host;
    (void)str_cut(host, '/', &head, &rest);
    if (!head.len || memchr(head.ptr, '@', head.len))
        return FAIL(e, UNPROCESSABLE, "A webhook's URL names a host and no user");
    return is_tls || is_loopback(head) ? ERR_OK : FAIL(e, UNPROCESSABLE, "A webhook is an https URL");
}

static enum errc post(struct arena *a, const char *base, const char *path, const char *const *headers, struct str body, struct err *e)
{
    struct http_client_options o = { .base_url = base, .timeout_ms = TIMEOUT_MS, .connect_timeout_ms = TIMEOUT_MS };
    CLEANUP(http_client_freep) struct http_client *c = http_client_new(&o, e);
    struct http_result r;
    if (!c)
        return e->code;
    struct http_call call = { .method = "POST", .path = path, .headers = headers, .body = body, .response_max = 64 << 10 };
    TRY(http_client_call(c, a, &call, &r, e));
    return r.status >= 200 && r.status < 300 ? ERR_OK : FAIL(e, UPSTREAM, "the webhook answered %d", r.status);
}

enum errc audit_anchor_webhook(struct arena *a, const struct anchor_head *h, const char *url, const char *secret, int tries, int64_t now_us, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    char id[64], at[24], mac[WEBHOOK_SIGNATURE];
    TRY(audit_anchor_check_url(url, e));
    struct uuid u = uuid_v7(now_us);
    snprintf(id, sizeof id, "msg_");
    hex_encode(u.b, 16, id + 4);
    snprintf(at, sizeof at, "%lld", (long long)(now_us / 1000000));
    buf_printf(&b, "{\"type\":\"audit.head\",\"timestamp\":%s,\"data\":{", at);
    anchor_members(&b, h);
    buf_add_c(&b, "}}");
    TRY(webhook_sign(str_c(secret), str_c(id), now_us / 1000000, buf_str(&b), mac, e));
    const char *headers[] = { arena_printf(a, "webhook-id: %s", id), arena_printf(a, "webhook-timestamp: %s", at),
                              arena_printf(a, "webhook-signature: %s", mac), NULL };
    const char *slash = strchr(strstr(url, "://") + 3, '/');
    const char *base = slash ? arena_printf(a, "%.*s", (int)(slash - url), url) : url;
    enum errc rc = ERR_OK;
    for (int i = 0; i < tries && i < TRIES_MOST; i++) {
        struct timespec pause = { 1 << (i ? i - 1 : 0), 0 };
        if (i)
            nanosleep(&pause, NULL);
        rc = post(a, base, slash ? slash : "/", headers, buf_str(&b), e);
        if (rc == ERR_OK)
            break;
    }
    return rc;
}
