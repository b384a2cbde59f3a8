/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - where a piece of work stands in a distributed trace: the W3C trace context, as plain values.
 *
 * A trace is what one call or one job caused, wherever it ran; a span is one piece of it. Who begins a piece makes a child of
 * what it was given (trace_child), tells its times by core/http/otlp.h, and gives its own on as `traceparent`.
 * A job's trace is its id: every program that knows the job knows its trace, and whether it is told, without a message or a row
 * (docs/adr/0100-a-jobs-trace-is-its-id.md).
 * Pure but for trace_begin and trace_child, which draw random names.
 * Source: W3C Trace Context, level 1 and the random flag of level 2 (the last seven bytes of a trace id are random). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"

enum { TRACE_TEXT = 56, TRACE_ALL = 1000 };

struct trace {
    uint8_t trace_id[16];               /* all zero: none */
    uint8_t span_id[8];
    bool is_sampled;                    /* its spans are told */
};

bool trace_is_set(const struct trace *t);
/* The header's value; a version that is not known yet is read as far as this one goes. False: no such thing, *ret untouched. */
bool trace_parse(struct str traceparent, struct trace *ret);
void trace_print(const struct trace *t, char out[TRACE_TEXT]);
/* A trace of its own; of TRACE_ALL so many are sampled. */
struct trace trace_begin(int64_t sample);
/* A piece of the same trace. */
struct trace trace_child(const struct trace *of);
/* The first span of a job's trace. Whoever asks with the same `sample` gets the same answer. */
struct trace trace_of_job(struct uuid job_id, int64_t sample);
