/* SPDX-License-Identifier: Apache-2.0 */
/* download.h - an answer of any length to one reader, piece by piece at the reader's pace, in bounded memory.
 *
 * Calling order: download_begin -> download_send* -> download_end. After download_begin the exchange is taken over, and so is the call's
 * principal: a failure can no more be an answer, so it cuts the stream, which the reader sees, and is logged. */
#pragma once
#include "api/route.h"

struct download {
    struct call *call;
    struct principal *principal;
};

/* file: its name for a browser that saves it; STR_NULL: shown as it is. */
enum errc download_begin(struct download *d, struct call *c, struct str content_type, struct str file, struct err *e) MUST_CHECK;
/* Until the reader has room for n bytes, at most 30 s. false: it has gone or is too slow, or falaj-api stops. For rows of LANE_PACED: where several work, each rests first, so that they take about one processor together. */
bool download_wait(struct call *c, size_t n);
/* Waits as download_wait does. */
bool download_send(struct download *d, struct str s);
/* rc not OK: cut. */
void download_end(struct download *d, enum errc rc, const struct err *e);
