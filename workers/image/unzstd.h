/* SPDX-License-Identifier: Apache-2.0 */
/* unzstd.h - the one door to libzstd: a Zstandard stream as the bytes in it, and no more of them than are allowed.
 *
 * Frames behind one another are one stream, as zstd(1) has them; check sums are checked where a frame has one. A frame whose
 * window is larger than UNZSTD_WINDOW_LOG says is refused: it would have to be held in memory. Errors: BAD_DATA (no Zstandard,
 * damaged, cut off, too large a window), LIMIT (more bytes than `most`). Source: RFC 8878. */
#pragma once
#include <stdint.h>
#include "workers/image/source.h"

enum { UNZSTD_WINDOW_LOG = 27 /* 128 MiB: what zstd(1) makes at most without --long */ };

struct unzstd;
MUST_CHECK enum errc unzstd_new(struct source from, uint64_t most, struct unzstd **ret, struct err *e);
void unzstd_free(struct unzstd *z);
void unzstd_freep(struct unzstd **z);
struct source unzstd_source(struct unzstd *z);
