/* SPDX-License-Identifier: Apache-2.0 */
/* call_trace.h - a call as a span of its trace, and the first span of the job that it submitted.
 *
 * flight_trace_begin when the call is there; flight_trace_end once, when its answer's status is known (of calls that ask a model:
 * model_trace.h). Without a collector (core/http/otlp.h) nothing is measured; a caller's traceparent is answered all the same. */
#pragma once
#include "api/api_int.h"

void flight_trace_begin(struct flight *f);
void flight_trace_end(struct flight *f, int status, const struct err *e);
/* The wall's time of a moment of the monotonic clock, as of now. */
int64_t call_wall_us(const struct call *c, int64_t mono_us);
