/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.c - what the parser would refuse by itself, refused before it does.
 *
 * libmicrohttpd 0.9.75 answers a Content-Length that it cannot read while it parses the head, then goes on as if nothing had been
 * answered, asks nobody (there is an answer already) and writes that answer's head a second time. http_guard_mask sees what came
 * together with the request line. For a head in pieces there is one moment left: the parser logs before it answers. Then the
 * answer is sent here, past the parser, and the connection's sending side is closed, so that its own bytes go nowhere. The daemon
 * is single-threaded per loop, so the connection that is being parsed is the one whose head is not complete and whose length is
 * no number; another one like it would be refused just the same. */
#include "core/http/server_int.h"

#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/socket.h>

#define TEXT "Content-Length is not a number\n"
static const char REPLY[] =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 31\r\n\r\n" TEXT;
_Static_assert(sizeof TEXT - 1 == 31, "the length that REPLY says");

static void answer(struct http_conn *n)
{
    const union MHD_ConnectionInfo *tls = MHD_get_connection_info(n->x->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    n->cut = true;
    if (tls && tls->tls_session) {
        ssize_t sent = gnutls_record_send(tls->tls_session, REPLY, sizeof REPLY - 1);
        (void)sent;     /* the first bytes on this connection, and few: if they do not fit, it ends without an answer */
        gnutls_bye(tls->tls_session, GNUTLS_SHUT_WR);
    } else {
        ssize_t sent = send(n->fd, REPLY, sizeof REPLY - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)sent;     /* likewise */
    }
    shutdown(n->fd, SHUT_WR);
}

void refusal_on_log(void *loop, const char *format, va_list ap)
{
    struct http_loop *l = loop;
    (void)ap;
    if (!strstr(format, "Content-Length"))
        return;
    for (struct http_conn *n = l->conns; n; n = n->next) {
        if (n->phase != CONN_HEADERS || n->cut || !n->x)
            continue;
        const char *value = MHD_lookup_connection_value(n->x->mhd, MHD_HEADER_KIND, "Content-Length");
        if (value && !http_guard_is_length(str_c(value)))
            answer(n);
    }
}
