/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade.c - connections that another protocol takes over.
 *
 * libmicrohttpd hands the socket out and keeps the connection suspended; under TLS it hands out one end of a pair and moves the
 * bytes in its own turns. Giving it back is an act of the loop, so it goes by the list of what is ready. Two references: the
 * loop's and the caller's. */
#include "core/http/server_int.h"

#include <sys/socket.h>

static void on_upgrade(void *cls, struct MHD_Connection *c, void *con_cls, const char *first, size_t n, MHD_socket fd,
                       struct MHD_UpgradeResponseHandle *handle)
{
    (void)c;
    (void)con_cls;
    struct http_exchange *x = cls;
    x->upgrade.handle = handle;
    x->upgrade.was_opened = true;
    x->upgrade.fd = fd;
    x->upgrade.opened(x->upgrade.ctx, fd, str_n(first ? first : "", n));
}

void http_upgrade(struct http_exchange *x, const struct http_header *headers, size_t nheaders,
                  void (*opened)(void *ctx, int fd, struct str first), void *ctx)
{
    exchange_keep_request(x);
    x->upgrade = (struct http_upgrade){ .opened = opened, .ctx = ctx };
    atomic_fetch_add(&x->refs, 1);
    struct MHD_Response *m = MHD_create_response_for_upgrade(on_upgrade, x);
    exchange_answered(x, response_headers(m, STR_NULL, headers, nheaders), MHD_HTTP_SWITCHING_PROTOCOLS);
}

void http_upgrade_end(struct http_exchange *x)
{
    if (atomic_exchange(&x->upgrade.is_over, true))
        return;                     /* the server ended it */
    exchange_wake(x);
}

bool upgrade_close(struct http_exchange *x)
{
    if (!x->upgrade.opened || !atomic_load(&x->upgrade.is_over))
        return false;
    if (x->upgrade.handle)
        MHD_upgrade_action(x->upgrade.handle, MHD_UPGRADE_ACTION_CLOSE);
    x->upgrade.handle = NULL;
    exchange_unref(x);
    return true;
}

/* Under TLS the daemon does not tell the caller's end of the pair that the peer has left. */
void upgrade_peer_gone(struct http_exchange *x)
{
    if (x->upgrade.handle && x->loop->server->cert)
        shutdown(x->upgrade.fd, SHUT_RD);
}

void upgrade_missed(struct http_exchange *x)
{
    if (!x->upgrade.opened || x->upgrade.was_opened)
        return;
    x->upgrade.was_opened = true;
    x->upgrade.opened(x->upgrade.ctx, -1, STR_NULL);
}
