/* SPDX-License-Identifier: Apache-2.0 */
/* book.h - the leases this worker holds, and what it still has to say about each.
 *
 * Runners write (start, log, metric, finish), one reporter collects what waits into one report and settles it by the verdicts.
 * Invariants: one report is under way at a time; what is said about one attempt arrives in the order it was written; a finish is
 * repeated until its verdict is ok or stale; a lease that nobody confirmed for fence_ms is given up (self-fence). Logs and metrics
 * are bounded: the oldest go first, and a line says how many; a runner never waits for the network. A report that the API refuses for
 * good is split: each lease in it is told alone, and what is refused alone is dropped, so one lease never silences the others.
 * A lease leaves the book by verdict, by fence or by book_fence_all. Whoever holds a reference may look at it afterwards.
 * The first word about a lease says since when it is held, and is told at once: only then does the database know that it was
 * taken.
 * Calling order: book_new -> book_add -> (held_start, held_log …)* -> held_finish -> held_unref; book_collect -> book_settle |
 * book_unsettle | book_refuse. All functions are thread-safe. */
#pragma once
#include <stdatomic.h>
#include "core/base/clock.h"
#include "workers/agent/client.h"

enum { HELD_LINES_MAX = 512, HELD_LINE_BYTES = 4000, HELD_METRICS_MAX = 512, REPORT_LEASES_MAX = 400 };

struct book;
struct held;

struct book_counts {
    size_t live, running;           /* in the book; not yet finished here */
    uint64_t added, finished, stale, fenced, lines_dropped, refused;
};

struct book *book_new(const struct clock *clock, int64_t heartbeat_ms);
void book_free(struct book *b);
/* wake: make an eventfd that stop requests write to. The caller owns one reference. confirmed from now on. */
struct held *book_add(struct book *b, const struct lease_grant *g, bool wake);
/* start and finish in one step, without a reference: for work that is done at once. ok false: fail with message. */
void book_add_done(struct book *b, const struct lease_grant *g, bool ok, struct str message);
bool book_has(struct book *b, struct uuid attempt_id);
void held_unref(struct held *h);

void held_start(struct held *h, struct str endpoint);
void held_log(struct held *h, const char *stream, struct str text);
void held_metric(struct held *h, int64_t step, struct str values_json);
/* What one of a gang has taken so far, in millijoules; NULL: not measured. It goes with the next word, and is none by itself. */
void held_energy(struct held *h, const int64_t *cpu_mj, const int64_t *gpu_mj);
/* So long it is idle (idle.h); 0: it is used again. It goes with the next word, once, and is none by itself. */
void held_idle(struct held *h, int64_t idle_ms);
/* Of end: event, exit_code, message, result and outputs; the rest is filled in when it is told. fail, oom and timeout also say why as an
 * error line of the log, which arrives no later than they do. */
void held_finish(struct held *h, const struct lease_item *end);
const struct lease_grant *held_grant(const struct held *h);
int held_wake_fd(const struct held *h);         /* readable when one of these became true */
bool held_is_stale(const struct held *h);       /* stop at once, say nothing */
bool held_is_cancelled(const struct held *h);   /* stop in good order, then finish */
/* Make room: the monotonic time (of the book's clock) by which it must have ended; 0: it need not. */
int64_t held_preempt_us(const struct held *h);
void held_cancel(struct held *h);

/* The one of this attempt that has not ended, with a reference for the caller; NULL: there is none. */
struct held *book_find(struct book *b, struct uuid attempt_id);
/* Where its watcher lets people in: takes fd over, -1 takes the door away. held_door: a copy, the caller's to close; -1: none. */
void held_set_door(struct held *h, int fd);
int held_door(struct held *h);

/* What came with an answer to the long poll: struct lease_notice. Those of leases that are not held, or have ended, say
 * nothing. */
void book_notify(struct book *b, struct slice notices);
/* The attempts (struct uuid) that know of theirs, at most LEASE_NOTICES_MAX. */
struct slice book_told(struct book *b, struct arena *a);

/* Append the next report's body to out; false: nothing to say. Renewals are included when due. */
bool book_collect(struct book *b, const struct node_identity *n, struct buf *out);
/* The verdicts of the report collected last; sent_us: clock_mono_us when it was sent. */
void book_settle(struct book *b, const struct lease_verdict *v, size_t n, int64_t sent_us);
/* It did not arrive, or nobody knows: all of it stays to be said. */
void book_unsettle(struct book *b);
/* It arrived and is not acceptable, and would not be another time. SPLIT: its leases are told one by one. STRIPPED: the one lease in it lost
 * what it had to say; an end is told bare, a success as a failure. GIVEN_UP: even that was refused, so the lease is stale. */
enum book_refusal { BOOK_SPLIT, BOOK_STRIPPED, BOOK_GIVEN_UP };
enum book_refusal book_refuse(struct book *b, struct str why, struct uuid *ret_attempt);
/* Wait until there is something to say, at most until the next heartbeat, or until until_us. */
void book_wait(struct book *b, int64_t until_us);
/* Give up leases not confirmed for fence_ms. Returns how many. */
size_t book_fence(struct book *b, int64_t fence_ms);
void book_fence_all(struct book *b);
void book_cancel_all(struct book *b);           /* ask every runner to stop */
void book_wake(struct book *b);
/* Are slots free? If not, wait for one, 200 ms at most. */
bool book_wait_room(struct book *b, size_t slots, size_t *ret_free);
void book_get_counts(struct book *b, struct book_counts *ret);
