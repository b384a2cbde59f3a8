/* SPDX-License-Identifier: Apache-2.0 */
/* body_owner.c - whose a body is while it arrives, by what is in memory: the question comes on the HTTP loop, before anything may
 * block. Who was let in within the last seconds is its tenant, a verified machine itself; else it is an address, and a body
 * stays its address's though its sender is known a moment later. */
#include "api/api_int.h"
#include "core/http/body_budget.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/session_authn.h"

static struct principal *remembered(const struct pipeline *p, const struct http_request *r, struct str address)
{
    struct str cookie;
    struct err e;
    if (!http_header_get(r, "Cookie").ptr)
        return authn_cached(p->authn, bearer_token(r), address);
    return p->sessions && browser_cookie(r, &cookie, &e) == ERR_OK && cookie.ptr ? session_cached(p->sessions, cookie) : NULL;
}

struct body_owner pipeline_body_owner(void *ctx, const struct http_request *r)
{
    const struct listener *l = ctx;
    struct body_owner o = { .n = SHARE_KEY_MAX, .is_known = true };
    if (l->is_node && r->peer_fingerprint.len >= 2 * SHARE_KEY_MAX &&
        hex_decode(str_n(r->peer_fingerprint.ptr, 2 * SHARE_KEY_MAX), o.key, SHARE_KEY_MAX))
        return o;
    struct str address = client_address(&l->pipeline->proxies, r);
    struct principal *p = remembered(l->pipeline, r, address);
    if (!p)
        return body_owner_address(address);
    memcpy(o.key, p->tenant_id.b, SHARE_KEY_MAX);
    principal_unref(p);
    return o;
}
