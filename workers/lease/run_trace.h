/* SPDX-License-Identifier: Apache-2.0 */
/* run_trace.h - a lease as spans of its job's trace: the lease, and in it one stage after the other ("inputs", "work",
 * "outputs").
 *
 * run_trace_begin -> run_trace_stage* (each ends the stage that began with the one before, or with the begin) -> run_trace_end.
 * With no collector (core/http/otlp.h) nothing happens. */
#pragma once
#include "core/base/trace.h"
#include "core/wire/lease_wire.h"

struct otlp;

struct run_trace {
    struct otlp *otlp;                  /* NULL: this lease is not told */
    const struct lease_grant *g;
    struct trace at;
    uint8_t job_span[8];
    int64_t begin_us, stage_us;
};

void run_trace_begin(struct run_trace *t, struct otlp *o, const struct lease_grant *g);
void run_trace_stage(struct run_trace *t, struct str name, bool ok);
/* error: why it has no good end; absent: it has one. */
void run_trace_end(struct run_trace *t, struct str error);
