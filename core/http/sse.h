/* SPDX-License-Identifier: Apache-2.0 */
/* sse.h - text/event-stream: an incremental parser and a writer.
 *
 * Parser: sse_parser_new -> sse_parser_feed* -> sse_parser_free; on_event gets each complete event, its strings borrowed until
 * it returns. last_event_id and retry persist as the standard says. An event larger than event_max fails as LIMIT.
 * Source: WHATWG HTML §9.2 (server-sent events). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/err.h"
#include "core/base/str.h"

struct sse_event {
    struct str type;        /* "message" when none was named */
    struct str data;        /* lines joined by '\n' */
    struct str id;          /* the last event id so far; len 0: none */
};

struct sse_parser;

struct sse_parser *sse_parser_new(size_t event_max, bool (*on_event)(void *ctx, const struct sse_event *ev), void *ctx);
/* OK or LIMIT (event too large). on_event saying false stops quietly: *stopped (if given) becomes true. */
enum errc sse_parser_feed(struct sse_parser *p, const char *bytes, size_t n, bool *stopped, struct err *e) MUST_CHECK;
struct str sse_parser_last_id(const struct sse_parser *p);
int sse_parser_retry_ms(const struct sse_parser *p);        /* -1: never said */
void sse_parser_free(struct sse_parser *p);

/* Append one event. type and id may be STR_NULL; newlines in data become several data lines; newlines in type or id are
 * refused (false, as when the buffer overflows). */
bool sse_write_event(struct buf *b, struct str type, struct str id, struct str data);
bool sse_write_comment(struct buf *b, const char *text);    /* ":text\n\n": a heartbeat */
bool sse_write_retry(struct buf *b, int ms);
