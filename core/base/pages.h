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

/* done: told of bytes that nobody reads again, in pieces of any order, each once. bring: whole pages that hold nothing yet and
 * will be written from end to end; pages that are done with may come there, instead of new ones. NULL: pages_bring. */
struct read_once {
    void (*done)(void *ctx, const void *p, size_t n);
    void *ctx;
    void (*bring)(void *ctx, const void *p, size_t n);
};

void pages_drop(const void *p, size_t n);
/* Brings all pages of the range with one call, instead of a fault for each when it is touched; what is there stays as it is. */
void pages_bring(const void *p, size_t n, bool is_written);
/* Whole pages of private memory go from one place to another with what they hold, which costs less than new ones; where they
 * were reads as zeros then. What was at `to` is gone. False (Linux before 5.7): nothing went, and `to` reads as zeros. */
bool pages_move(const void *to, const void *from, size_t n);
/* Large pages for what lies whole within the range, which has been written: fewer misses of the TLB while it is read. It takes as
 * long as the kernel needs to move the pages of others out of the way, a second for some hundred MiB at worst, so it is for a
 * thread that nobody waits for; others may read the range meanwhile. stop: where it becomes true, the rest stays as it is; NULL:
 * nobody stops it. Kernels before 6.1 do it later by themselves. */
void pages_large(const void *p, size_t n, const _Atomic bool *stop);
/* Of the program and its libraries, what nobody may write: it comes back from the files when it is used. For who has begun and
 * stays: most of what the start read is never read again. */
void pages_drop_code(void);
/* Where the page that p is in ends; p itself, if it begins one. */
const void *pages_end(const void *p);
/* The whole pages within a range: where they begin, and how many bytes they have. */
const void *pages_within(const void *p, size_t n, size_t *ret_bytes);
