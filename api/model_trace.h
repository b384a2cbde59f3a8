/* SPDX-License-Identifier: Apache-2.0 */
/* model_trace.h - the spans of a call that asks a model: asking, and within it the queue and the batch of the serving child.
 *
 * The child has no way out but its answer, whose Server-Timing says how long the request waited there and how long its batch
 * took, and in how many rows. Without a collector (core/http/otlp.h), and for calls that are not sampled, nothing is measured. */
#pragma once
#include "api/model_call.h"

/* Before a try: the header that the child gets, or NULL. Then its answer; at the end all is told, and the call itself when its
 * answer has a status here (0: flight_fail tells it). */
const char *model_trace_ask(struct call *c, struct model_call *q);
void model_trace_answered(struct call *c, struct model_call *q);
void model_trace_end(struct call *c, int status);
/* Milliseconds of a metric of Server-Timing (W3C) as microseconds; -1: it is not there. */
int64_t server_timing_us(struct str header, const char *metric);
