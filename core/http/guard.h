/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - the request guard: what libmicrohttpd 0.9.75 lets through and a careful server must not.
 *
 * Pure: looks at the parsed request line and header list, allocates nothing. Refused requests are answered once and the
 * connection is closed, so nothing that was smuggled behind them is ever read as a request.
 * Source of the rules: RFC 9112 §2.2, §3.2, §5, §6.3, §11.2; RFC 9110 §5.5, §5.6.2; RFC 3986 §3.3.
 * Errors: MALFORMED (400), HEADERS (431). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/http/server.h"

enum { GUARD_PATH_MAX = 2048, GUARD_QUERY_MAX = 8192, GUARD_HEADERS_MAX = 100 };

struct http_guard_input {
    struct str method;              /* as sent */
    struct str uri;                 /* as sent: path and query, not decoded */
    struct str version;             /* "HTTP/1.1" */
    const struct http_header *headers;      /* values with surrounding blanks as the parser gave them */
    size_t nheaders;
    const char *uri_end;            /* layout check only: where the target ended in the parser's buffer */
};

enum errc http_guard_check(const struct http_guard_input *in, struct err *e) MUST_CHECK;

/* The parser answers a Content-Length that is no number by itself, before anybody is asked, and 0.9.75 writes the head of that
 * answer twice. So such a header is given another name of the same length before the parser comes to it, and http_guard_check
 * refuses that name: one answer, of the server's own form. p: behind the NUL of the request target in the parser's buffer, where
 * version and header lines follow; at most max bytes are looked at. A head that arrives in pieces is seen as far as it has come;
 * a bad length in a later piece is answered by refusal.c, once, in plain text. Only for the version whose layout is known. */
void http_guard_mask(char *p, size_t max);
/* 1 to 15 digits and nothing else. */
bool http_guard_is_length(struct str s);

/* What libmicrohttpd hides, read off where its parser put the pieces: a NUL that cut a value, a folded or bare-LF line.
 * Only for the version whose layout is known (http_guard_layout_known); names, values and version must be the
 * parser's own pointers (the four bytes after the last value are read). */
bool http_guard_layout_known(const char *mhd_version);
enum errc http_guard_layout(const struct http_guard_input *in, struct err *e) MUST_CHECK;
