/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - large memory that is read once: its pages go back to the system while it is read, so that what is made of it does
 * not lie in memory beside all of it.
 *
 * pages_drop gives up the whole pages within a range; what they held is gone: memory reads as zeros, a private mapping of a file
 * as the file. The range stays allocated. Pages that the range only touches keep their content. */
#pragma once
#include <stddef.h>

enum { PAGES_SLAB = 1 << 20 };          /* who reads once says so about this many bytes at a time */

/* Told of bytes that nobody reads again, in pieces of any order, each once. */
struct read_once {
    void (*done)(void *ctx, const void *p, size_t n);
    void *ctx;
};

void pages_drop(const void *p, size_t n);
/* Large pages for what lies whole within the range, before it is written: fewer faults now, fewer misses of the TLB later. It
 * takes no more memory than the range has. */
void pages_large(void *p, size_t n);
/* Of the program and its libraries, what nobody may write: it comes back from the files when it is used. For who has begun and
 * stays: most of what the start read is never read again. */
void pages_drop_code(void);
/* The whole pages within a range: where they begin, and how many bytes they have. */
const void *pages_within(const void *p, size_t n, size_t *ret_bytes);
