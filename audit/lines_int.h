/* SPDX-License-Identifier: Apache-2.0 */
/* lines_int.h - the lines of a bundle from a reader, and the SHA-256 of those that were taken.
 *
 * Two buffers take turns: while the lines of one are looked at, a thread sums the lines of the other, so that the sum of a large
 * bundle costs no time of its own. The thread starts with the second buffer; a small bundle, or a machine that gives no thread, is
 * summed in place. Calling order: lines_open -> lines_next* -> lines_sum once -> lines_close. A line borrows until the next call.
 * Memory: at most two buffers of LINES_BYTES, whatever the length of the bundle. Not thread-safe. */
#pragma once
#include <pthread.h>
#include "audit/verify.h"
#include "core/base/str.h"
#include "core/crypto/hash.h"

enum { LINES_BYTES = 256 << 10 };
enum line_state { LINE_HERE, LINE_END, LINE_PARTIAL, LINE_LONG, LINE_ERROR };

struct line_summer {
    pthread_t thread;
    bool is_running;
    pthread_mutex_t lock;          /* guards what follows */
    pthread_cond_t changed;
    struct str todo;               /* ptr NULL: nothing to do */
    bool is_stopping;
};
struct line_feed {
    verify_read_fn read;
    void *ctx;
    char *half[2];                 /* half[1] only once it is needed */
    int at;
    size_t start, len, scanned;    /* bytes not yet given out: half[at] + start, len; no newline in the first `scanned` */
    size_t unsummed;               /* where in half[at] the lines begin that are not yet in the sum */
    size_t line_at;                /* where the line last given out begins */
    bool is_eof;
    struct sha256 sum;             /* the summer's while it has something to do */
    struct line_summer summer;
};

void lines_open(struct line_feed *l, verify_read_fn read, void *ctx);
/* LINE_PARTIAL: bytes without a newline at the end. A line longer than AUDIT_LINE_MAX is LINE_LONG. */
enum line_state lines_next(struct line_feed *l, struct str *ret);
/* Of all lines before the one last returned. */
void lines_sum(struct line_feed *l, uint8_t ret[SHA256_BYTES]);
void lines_close(struct line_feed *l);
