/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats_int.h - what infer_stats.c (counts, writes) and infer_hour.c (reads, adds up) share. */
#pragma once
#include <pthread.h>
#include "serving/infer_stats.h"

enum { MINUTES = INFER_MINUTES, CLASSES = INFER_CLASSES, PER_OCTAVE = 4, MINUTE_US = 60000000, SECOND_US = 1000000 };
enum { ROWS_AT_ONCE = 200, WRITERS_MAX = 64 };

struct minute {
    int64_t number;                     /* since 1970; 0: never used */
    uint64_t requests, errors, refused, classes[CLASSES];
    bool is_written;                    /* as it is now */
    uint64_t tokens;                    /* this and below: of texts */
    uint32_t first[CLASSES], gaps[CLASSES];
};
struct entry {
    struct uuid tenant_id, deployment_id, writer_id;
    int64_t last_us;
    struct minute minutes[MINUTES];
};
struct infer_stats {
    const struct app *app;
    pthread_mutex_t lock;               /* guards entries, n */
    pthread_mutex_t flushing;           /* one at a time, so that an older count never follows a newer one */
    struct entry *entries[INFER_STATS_MAX];
    size_t n;
    struct beat *beat;
};
struct infer_hour {
    int64_t since_us, now_us;
    struct minute minutes[MINUTES];     /* oldest first; number is set in each */
};

#define INFER_LEAST_US 64.0             /* the end of the first class */

/* Of the tenant's deployment; NULL: nothing was counted. The lock is held. */
struct entry *infer_stats_find(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id);
extern const struct stmt infer_minutes_read;
