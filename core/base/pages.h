/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - large memory that is read once: its pages go back to the system while it is read, so that what is made of it does
 * not lie in memory beside all of it.
 *
 * pages_drop gives up the whole pages within a range; what they held is gone: memory reads as zeros, a private mapping of a file
 * as the file. The range stays allocated. Pages that the range only touches keep their content. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { PAGES_SLAB = 1 << 20 };          /* who reads once says so about this many bytes at a time */

/* Told of bytes that nobody reads again, in pieces of any order, each once. */
struct read_once {
    void (*done)(void *ctx, const void *p, size_t n);
    void *ctx;
};

void pages_drop(const void *p, size_t n);
/* Brings all pages of the range with one call, instead of a fault for each when it is touched; what is there stays as it is. */
void pages_bring(const void *p, size_t n, bool is_written);
/* Large pages for what lies whole within the range, which has been written: fewer misses of the TLB while it is read. It takes as
 * long as the kernel needs to move the pages of others out of the way, a second for some hundred MiB at worst, so it is for a
 * thread that nobody waits for; others may read the range meanwhile. stop: where it becomes true, the rest stays as it is; NULL:
 * nobody stops it. Kernels before 6.1 do it later by themselves. */
void pages_large(const void *p, size_t n, const _Atomic bool *stop);
/* Of the program and its libraries, what nobody may write: it comes back from the files when it is used. For who has begun and
 * stays: most of what the start read is never read again. */
void pages_drop_code(void);
/* The whole pages within a range: where they begin, and how many bytes they have. */
const void *pages_within(const void *p, size_t n, size_t *ret_bytes);
