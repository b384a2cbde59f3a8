/* SPDX-License-Identifier: Apache-2.0 */
/* batches_int.h - the lines of a bundle in their order, each with what it says by itself (verify_look_int.h), and their SHA-256.
 *
 *   caller:   read a block -> …                               … -> take the blocks' lines in order
 *   threads:                 look at each line | sum the block
 *
 * Looking at a line is most of what a verification costs and knows nothing of other lines, so any number of threads can look
 * at different blocks; the sum goes from block to block, one thread at a time. What depends on the order stays with the
 * caller, who is the only one to call the reader, and who looks and sums too when the block that it needs is not ready. So what a
 * caller gets does not depend on the number of threads nor on their timing.
 * The threads start with the second block: a small bundle, and a machine that gives no thread, are done by the caller alone.
 * Calling order: batches_open -> batches_first -> batches_look -> batches_next* -> batches_sum once -> batches_close, which
 * may come at any point. A line and its facts borrow until the next call. Memory: at most BATCHES blocks and their
 * facts (2.3 MB), whatever the length of the bundle. One caller. */
#pragma once
#include <pthread.h>
#include "audit/lines_int.h"
#include "audit/verify_look_int.h"
#include "core/crypto/hash.h"

enum { BATCHES = 6, BATCH_LINES = 1024, BATCH_THREADS_MAX = 3 };

struct batch {
    struct line_block block;
    size_t skip;                    /* before it: a line that an earlier block has given out */
    size_t sum_to;                  /* where the last whole line begins; it is carried, and summed with the next block */
    struct line_facts *facts;       /* of the first fact_count lines */
    size_t fact_count;
    struct str rest;                /* the lines behind those */
    bool is_looked;                 /* under the lock */
};
struct batches {
    verify_read_fn read;
    void *ctx;
    const struct look_case *look;
    struct look_room *room;         /* the caller's */
    enum line_state after;          /* the caller's: what follows the last block that was read */
    struct batch *current;          /* the caller's, with how many of its facts were given out */
    size_t at;
    struct line_facts extra;        /* of a line that its batch has no room for */
    struct sha256 sum;              /* of who set is_summing */
    struct batch batch[BATCHES];    /* block n is batch[n % BATCHES]; its looker's until is_looked */
    int threads_max, threads;
    pthread_t thread[BATCH_THREADS_MAX];
    pthread_mutex_t lock;           /* guards what follows */
    pthread_cond_t changed;
    uint64_t filled, claimed, summed, given;    /* blocks, from the first on */
    bool is_summing, is_stopping;
};

/* threads: beside the caller; 0: as many as the machine has processors, less one, at most BATCH_THREADS_MAX; below 0: none. */
void batches_open(struct batches *b, verify_read_fn read, void *ctx, int threads, struct look_room *room);
/* The first line, which nobody looks at: what it says, the look at the others needs. */
enum line_state batches_first(struct batches *b, struct str *ret);
/* What to look with; it must stay where and as it is until batches_close. */
void batches_look(struct batches *b, const struct look_case *look);
/* The next line; what follows the last one as lines_next says it. */
enum line_state batches_next(struct batches *b, const struct line_facts **ret);
/* Of all lines but the last, with their newlines: that is what the end line of a bundle names. Once, and after the last line. */
void batches_sum(struct batches *b, uint8_t ret[SHA256_BYTES]);
void batches_close(struct batches *b);
