/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.h - spans and metrics to a collector, by OTLP 1 over HTTP in JSON. Off unless otlp.endpoint is set: then *ret is NULL, and
 * every function takes NULL and does nothing.
 *
 *     struct trace at = trace_child(&given);
 *     ... work ...
 *     if (otlp_wants(o, &at))
 *         otlp_tell(o, &(struct span){ .at = at, .name = STR("fetch inputs"), .kind = SPAN_INTERNAL, … });
 *
 * Calling order: otlp_new -> otlp_tell* from any thread -> otlp_free, which sends what waits, once.
 * Nobody waits for the collector: spans stand in memory, at most OTLP_WAITING of them and OTLP_SHARE of one owner, and are sent
 * by a thread of its own every second. What comes above that is dropped and counted (otlp_spans_total); a collector that is
 * away is tried again OTLP_TRIES times, longer apart each time, then its batch is dropped and counted.
 * No personal data: a span has ids, routes, states and times, never names, addresses or contents.
 * Source: OTLP Specification 1, opentelemetry/proto/trace/v1/trace.proto and metrics/v1/metrics.proto in their JSON mapping. */
#pragma once
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/trace.h"

struct config;
struct otlp;

enum { OTLP_WAITING = 8192, OTLP_SHARE = OTLP_WAITING / 4, OTLP_BATCH = 512, OTLP_TRIES = 5, SPAN_ATTRS = 12 };

enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER, SPAN_CLIENT, SPAN_PRODUCER, SPAN_CONSUMER };   /* OTLP's numbers */

struct span_attr {
    const char *key;
    struct str text;                    /* absent: number is the value */
    int64_t number;
};

struct span {
    struct trace at;
    uint8_t parent[8];                  /* all zero: it is the first of its trace */
    enum span_kind kind;
    struct str name;
    int64_t start_us, end_us;           /* wall clock */
    struct str error;                   /* absent: it went well */
    struct span_attr attrs[SPAN_ATTRS];
    int nattrs;
    struct trace link;                  /* another trace that this is about; unset: none */
    struct uuid owner;                  /* a tenant, for the shares */
};

/* program: falaj-api, …; its spans and metrics are sent as this service's. INVALID: otlp.endpoint is no URL, or in the prod
 * profile plain HTTP to another machine. */
MUST_CHECK enum errc otlp_new(const struct config *c, const char *program, struct otlp **ret, struct err *e);
void otlp_free(struct otlp *o);

bool otlp_wants(const struct otlp *o, const struct trace *t);
void otlp_tell(struct otlp *o, const struct span *s);
void span_text(struct span *s, const char *key, struct str text);      /* absent text, or no room: nothing */
void span_number(struct span *s, const char *key, int64_t number);
/* The trace of a job, sampled as the settings say; with no collector, not sampled. */
struct trace otlp_job(const struct otlp *o, struct uuid job_id);
/* What was given, or a trace of its own where nothing was. The caller makes its child. */
struct trace otlp_given(const struct otlp *o, struct str traceparent);
