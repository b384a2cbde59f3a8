/* SPDX-License-Identifier: Apache-2.0 */
/* audit_int.h - what the route files of the audit log share. */
#pragma once
#include "api/route.h"
#include "audit/filter.h"
#include "audit/head.h"
#include "audit/search.h"

struct str audit_hex(struct arena *a, const void *p, size_t n);
/* What a search asks for: members of an input struct, and their fields. */
#define AUDIT_WANT struct timestamp from, to; struct str actor, action, resource, request_id, ip; int outcome; bool has_outcome
#define AUDIT_WANT_FIELDS(T)                                                                                                  \
    FIELD(T, from, F_QUERY, .doc = "Only events from this time on"),                                                          \
    FIELD(T, to, F_QUERY, .doc = "Only events before this time"),                                                             \
    FIELD(T, actor, F_QUERY, .min = 1, .max = 128,                                                                            \
          .doc = "Only acts of this user (name or usr_…), this machine (nod_…) or this kind of actor (user, service, worker, "\
                 "system, anonymous)"),                                                                                       \
    FIELD(T, action, F_QUERY, .min = 1, .max = 64,                                                                            \
          .doc = "Only this action, such as job.submit; with a dot at its end all that begin so"),                            \
    FIELD(T, resource, F_QUERY, .min = 1, .max = 128,                                                                         \
          .doc = "Only about this thing (name or id; the name of what was deleted too) or this kind of thing"),               \
    FIELD_ENUM_OPT(T, outcome, F_QUERY, audit_verdict_names, .doc = "Only acts that ended so"),                               \
    FIELD(T, request_id, F_QUERY, .min = 1, .max = 128, .doc = "Only what this request did"),                                 \
    FIELD(T, ip, F_QUERY, .min = 2, .max = 45, .doc = "Only from this address; found for people who are not erased")
struct audit_want { AUDIT_WANT; };
#define AUDIT_WANT_OF(p)                                                                                                                     \
    (&(struct audit_want){ (p)->from, (p)->to, (p)->actor, (p)->action, (p)->resource, (p)->request_id, (p)->ip, (p)->outcome, (p)->has_outcome })
extern const char *const audit_verdict_names[];
/* Absent texts let everything through; names become what the log writes. In w->tx. UNPROCESSABLE at the member: a word or a time
 * that no event has. */
enum errc audit_filter_of(struct work *w, const struct audit_want *want, struct audit_filter *ret, struct err *e) MUST_CHECK;
/* In w->tx. Errors: those of audit_filter_of. */
enum errc audit_search_of(struct work *w, const struct audit_want *want, struct audit_search *ret, struct err *e) MUST_CHECK;
/* usr_… or nod_…, as the rest of the API writes it; STR_NULL: nobody known. */
struct str audit_actor_id(struct arena *a, const struct audit_row *row);
/* key_id: the whole SHA-256 of the public key, as the log names it. */
enum errc audit_zone_key(struct work *w, struct str zone, uint8_t public_key[AUDIT_PUB], struct str *key_id, struct err *e) MUST_CHECK;

/* audit_stream.c: an answer that is written as the log is read. */
struct audit_stream {
    struct call *call;
    bool begun, is_resumable;
    int status;
    struct str request_id, content_type, file, range;   /* range: Content-Range, or absent */
};
/* An audit_sink_fn; ctx is the stream. Waits for a slow reader. Errors: UNAVAILABLE, DEADLINE when the reader has gone or sleeps. */
enum errc audit_stream_sink(void *ctx, const void *p, size_t n, struct err *e) MUST_CHECK;
/* The event of the export, in a transaction of its own. export_id nil: the log at once. */
enum errc audit_stream_note(struct call *c, struct uuid export_id, struct err *e) MUST_CHECK;
/* rc: how the writing went. What is not whole is cut, so that no reader takes it for the end. */
void audit_stream_finish(struct call *c, struct audit_stream *s, enum errc rc, const struct err *e);
