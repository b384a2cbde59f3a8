/* SPDX-License-Identifier: Apache-2.0 */
/* ws_hello.h - how a request for a WebSocket looks, and the answer that proves that it was understood.
 *
 * Pure. Source: RFC 6455 §4.2. Errors: INVALID. */
#pragma once
#include <stdbool.h>
#include "core/http/server.h"

enum { WS_KEY_BYTES = 24, WS_ACCEPT_BYTES = 28 };

/* Its Sec-WebSocket-Key; INVALID where it is no request for a WebSocket, or of another version. */
MUST_CHECK enum errc ws_hello_key(const struct http_request *r, struct str *ret_key, struct err *e);
/* Sec-WebSocket-Accept for a key. */
void ws_hello_accept(struct str key, char out[WS_ACCEPT_BYTES + 1]);
/* What follows `prefix` in the one of its words of Sec-WebSocket-Protocol that begins so; empty: none does. */
struct str ws_hello_protocol(const struct http_request *r, const char *prefix);
/* Is `word` one of a header's words between commas? In any case. */
bool ws_hello_has(struct str header, struct str word);
