/* SPDX-License-Identifier: Apache-2.0 */
/* book_int.h - one held lease and the book, shared by book.c (who holds what) and book_report.c (what is said about it). */
#pragma once
#include <pthread.h>
#include "workers/agent/book.h"

struct said {                       /* a log line or a metric that waits */
    struct said *next;
    uint64_t seq;
    int64_t step;
    const char *stream;
    size_t len;
    char text[];
};

struct said_list {
    struct said *head, **tail;
    size_t n, max;
    uint64_t last_seq, dropped;
    uint64_t flying_seq, flying_dropped;    /* in the report under way: lines up to this one, and drops it tells of or outlives */
};

struct held {
    _Atomic int refs;
    struct book *book;
    struct lease_grant *grant;
    int wake_fd;
    _Atomic bool is_stale, is_cancelled;
    _Atomic int64_t preempt_us;     /* 0: it need not make room */
    /* under the book's lock */
    struct held *prev, *next;
    bool in_book, has_finished;
    bool start_waits, finish_waits;
    char *endpoint;
    struct lease_item *end;         /* one piece of memory; NULL until it has ended */
    struct said_list logs, metrics;
    int64_t taken_us, confirmed_us, said_us;
    bool has_cpu_mj, has_gpu_mj, is_energy_untold;  /* untold: a report was refused, and an older API knows no energy */
    int64_t cpu_mj, gpu_mj;         /* of one of a gang: what it has taken so far */
    bool has_idle_ms, is_idle_untold;   /* untold: a report was refused, and an older API knows no idleness */
    int64_t idle_ms;                /* kept until a report with it was acknowledged */
    int door;                       /* -1: nobody can be let in (book_door.c) */
    bool is_known;                  /* a report about it was acknowledged */
    /* what of it is in the report under way */
    int items_in_flight;
    bool idle_in_flight;
    bool start_in_flight, finish_in_flight;
    bool is_alone, is_bare;         /* a report with it was refused: it is told alone; it has lost what was refused */
};

struct book {
    const struct clock *clock;
    int64_t heartbeat_us;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_dirty;
    struct held head;               /* of the ring */
    int64_t running_slots;
    struct book_counts counts;
    struct arena *scratch;          /* of book_collect */
    int64_t refused, refused_flying;    /* given up and not told yet; told by the report under way */
    struct held *flight[REPORT_LEASES_MAX];
    size_t n_flight;
};

/* All with the lock held. */
void book_remove(struct book *b, struct held *h);
void book_tell(struct held *h, bool stale);             /* sets the flag and wakes the runner */
void book_preempt(struct held *h, int64_t preempt_ms, struct str reason);      /* once; the same */
void end_set(struct held *h, const struct lease_item *end);     /* what is said of the end, kept until it has arrived */
void book_wake_runner(struct held *h);
void book_changed(struct book *b);                      /* there is something to say */
void book_log(struct held *h, const char *stream, struct str text);
struct str book_message_cut(struct str message);
void said_drop_until(struct said_list *l, uint64_t seq);
