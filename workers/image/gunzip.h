/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.h - the one door to zlib: a gzip stream as the bytes in it, and no more of them than are allowed.
 *
 * Members behind one another are one stream, as gzip(1) has them; check sums are checked. Errors: BAD_DATA (no gzip, damaged,
 * cut off), LIMIT (more bytes than `most`). Source: RFC 1952. */
#pragma once
#include <stdint.h>
#include "workers/image/source.h"

struct gunzip;
MUST_CHECK enum errc gunzip_new(struct source from, uint64_t most, struct gunzip **ret, struct err *e);
void gunzip_free(struct gunzip *g);
void gunzip_freep(struct gunzip **g);
struct source gunzip_source(struct gunzip *g);
