/* SPDX-License-Identifier: Apache-2.0 */
/* ws_link.h - the client's end of a WebSocket, over the same targets and TLS as client.h.
 *
 * ws_dial blocks until the server has answered; all else does not: what is sent lies in a bounded buffer until the socket takes
 * it, and who sends asks first whether there is room. One link is one thread's.
 * Calling order: ws_dial -> (poll for ws_link_fd, POLLOUT while ws_link_waits -> ws_link_flush, ws_link_read | ws_link_send)* ->
 * ws_link_free. Read until it says that there is nothing: TLS may hold bytes for which the descriptor is not readable.
 * Errors: those of client.h; UPSTREAM: it answered something else (*ret_status says what, ret_body its text); UNAVAILABLE: the
 * connection is lost; MALFORMED, TOO_LARGE: what came is no WebSocket. Source: RFC 6455 §4.1. */
#pragma once
#include "core/http/client.h"
#include "core/http/ws_frame.h"

struct ws_link;

enum { WS_LINK_ROOM = 256 * 1024 };

/* headers as in struct http_call. ret_status: of the answer, 0 where there was none; ret_body lies in the arena. */
MUST_CHECK enum errc ws_dial(const struct http_client_options *o, const char *path, const char *const *headers, struct arena *a,
                             struct ws_link **ret, int *ret_status, struct str *ret_body, struct err *e);
int ws_link_fd(const struct ws_link *l);
/* The next message; *ret_step WS_MORE: nothing is there now. A ping is answered here and not given out. */
MUST_CHECK enum errc ws_link_read(struct ws_link *l, enum ws_step *ret_step, struct ws_message *ret, struct err *e);
/* A binary message of first and rest, WS_MESSAGE_MAX in all. LIMIT: there is no room for it. */
MUST_CHECK enum errc ws_link_send(struct ws_link *l, char first, struct str rest, struct err *e);
/* A ping; a close with a code. Nothing is sent where there is no room. */
void ws_link_ping(struct ws_link *l);
void ws_link_close(struct ws_link *l, int code);
size_t ws_link_room(const struct ws_link *l);       /* of a message that ws_link_send takes now; 0: none */
bool ws_link_waits(const struct ws_link *l);        /* something lies in the buffer */
MUST_CHECK enum errc ws_link_flush(struct ws_link *l, struct err *e);
void ws_link_free(struct ws_link *l);
