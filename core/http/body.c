/* SPDX-License-Identifier: Apache-2.0 */
/* body.c - what is kept of a body while it arrives, and what is thrown away.
 *
 * libmicrohttpd takes no answer while a body arrives, so an over-long body is thrown away up to BODY_DISCARD_MAX first, and one
 * for which there is no memory to its end: who may send it again shall read why it was not taken. A length that is said is paid
 * before the first byte, so nobody sends much in vain; one that is not, in steps. */
#include "core/http/server_int.h"

#include <stdio.h>

enum { HOLD_STEP = 256 * 1024 };

void body_give_back(struct http_exchange *x)
{
    if (x->hold.share)
        body_budget_give(x->loop->server->o.bodies, &x->hold);
}

bool body_hold(struct http_exchange *x, size_t bytes)
{
    const struct http_server_options *o = &x->loop->server->o;
    if (!o->bodies || bytes <= BODY_UNCOUNTED || bytes <= x->hold.bytes)
        return true;
    if (!x->owner.n)
        x->owner = o->body_owner ? o->body_owner(o->ctx, &x->req) : body_owner_address(x->req.remote_addr);
    enum body_room room = body_budget_take(o->bodies, &x->owner, bytes - x->hold.bytes, &x->hold);
    if (room == BODY_TAKEN)
        return true;
    x->refused = room == BODY_SHARE_USED ? ERR_RATE : ERR_UNAVAILABLE;
    snprintf(x->refused_why, sizeof x->refused_why, "%s; send it again a little later, or fewer at once",
             room == BODY_ALL_USED ? "The server has no memory for another body of this size now"
             : x->owner.is_known ? "Your tenant's bodies that are being sent or worked on have all the memory it may use now"
                                 : "Bodies of your address that are being sent or worked on have all the memory it may use now");
    return false;
}

/* A body whose length was not said is paid for in steps. */
static bool keep_body(struct http_exchange *x, const char *data, size_t n)
{
    size_t len = x->body.len + n;
    if (len > x->body.max) {
        snprintf(x->refused_why, sizeof x->refused_why, "The body is larger than %zu bytes", x->body.max);
        x->refused = ERR_TOO_LARGE;
        return false;
    }
    size_t step = len + HOLD_STEP < x->body.max ? len + HOLD_STEP : x->body.max;
    return (len <= x->hold.bytes || len <= BODY_UNCOUNTED || body_hold(x, step)) && buf_add(&x->body, data, n);
}

enum MHD_Result body_came(struct http_exchange *x, const char *data, size_t n)
{
    if (x->conn)
        conn_body_came(x->conn, n);
    if (x->refused == ERR_OK && keep_body(x, data, n))
        return MHD_YES;
    body_give_back(x);
    buf_release(&x->body);
    x->discarded += n;
    return x->discarded <= (x->refused == ERR_TOO_LARGE ? (size_t)BODY_DISCARD_MAX : x->body.max) ? MHD_YES : MHD_NO;
}
