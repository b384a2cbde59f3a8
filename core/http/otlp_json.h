/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_json.h - the bodies of OTLP requests, as text. Pure. 64-bit numbers are strings and ids are hexadecimal, as the JSON
 * mapping of OTLP says. */
#pragma once
#include "core/http/otlp.h"

/* One span; text that is no UTF-8 is left out. */
void otlp_json_span(struct buf *out, const struct span *s);
/* Around a list of spans or of metrics: what sends them. */
struct otlp_source { const char *service, *version; struct uuid instance; };
void otlp_json_spans_begin(struct buf *out, const struct otlp_source *by);
void otlp_json_metrics_begin(struct buf *out, const struct otlp_source *by);
void otlp_json_end(struct buf *out);
/* Of the answer to spans: how many the collector did not take; 0 when it does not say. */
int64_t otlp_json_rejected(struct str body);
