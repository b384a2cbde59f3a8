/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - where the time of some steps goes: by operation, beside what this machine can do at most (the roofline of Williams,
 * Waterman & Patterson 2009), and the share that waits for data.
 *
 * A watched step runs its operations one after the other, each to its end, so the time is theirs; what is watched costs two
 * readings of the clock an operation. Peaks are measured, not looked up: a square product of 512 in the run's precision on the
 * run's threads, and the copy of 16 MiB (bytes read and written); on a card, by the run's library, of the smallest power of
 * two that takes a millisecond (8192 at most), and a copy of 256 MiB, which no cache holds. An operation's roof is the smaller
 * of the product's rate and (its multiplications and additions per byte) · the copy's rate; one without products is judged by
 * its bytes alone.
 * Calling order: peaks_measure -> profile_begin -> (profile_step_begins -> profile_step_ends)* -> profile_end; between two
 * steps (evaluation, checkpoints) nothing is timed. */
#pragma once
#include "core/wire/job_result.h"
#include "workers/compute/train/net.h"

struct peaks {
    double flops, bytes;        /* per second; 0: not measured */
};

struct profile {
    struct net *net;
    struct run_times *times;
    int64_t began_us, spent_us, fetch_us;       /* of watched steps; fetch: until their rows were there */
    int64_t steps;
};

/* Best of three, about 20 ms on a vector unit, in PEAKS_BYTES of memory and what a product takes; on a card in its own. LIMIT: no
 * memory. */
enum { PEAKS_BYTES = 32 << 20 };
MUST_CHECK enum errc peaks_measure(const struct backend *be, struct backend_ctx *c, bool is_bf16, struct peaks *ret,
                                   struct err *e);

MUST_CHECK enum errc profile_begin(struct profile *p, struct net *n, struct err *e);
void profile_step_begins(struct profile *p);
void profile_step_ends(struct profile *p);
/* Rows by time, the longest first, in the arena; the net is no longer watched. */
void profile_end(struct profile *p, struct arena *a, const struct peaks *peaks, struct train_profile *ret);
