/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - what a lease's child process takes of the machine, as metrics of the job whose names begin with "system.".
 *
 *     system.cpu_percent     processor time since the sample before, of all the lease's slots: 100 is all of them, all the time
 *     system.memory_bytes    resident memory now; of the sample at the end, the most there was
 *
 * The step of a sample is the whole seconds since the child began. Samples come each interval; after SAMPLES_EACH of them the interval
 * doubles, so a lease of any length has a bounded number. A child that ended before the first one gets one at its end.
 * The child is one process (the sandbox lets it start no other), so its own account is the account of the lease.
 * Calling order: usage_begin -> usage_due* -> usage_end (after the child was reaped). No locks, no memory of its own. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "core/base/str.h"

enum { USAGE_SAMPLES_EACH = 720, USAGE_JSON = 128 };

struct usage {
    pid_t pid;
    int64_t slots, interval_us;         /* interval 0: off */
    int64_t began_us, last_us, last_cpu_us, next_us;
    int64_t count;
};
struct usage_sample {
    int64_t step;
    char json[USAGE_JSON];
};

void usage_begin(struct usage *u, pid_t pid, int64_t slots, int64_t interval_ms, int64_t now_us);
/* True: it was time, and *ret is the sample. u->next_us is when to come again; INT64_MAX: never. */
bool usage_due(struct usage *u, int64_t now_us, struct usage_sample *ret);
/* True: the child had no sample yet, and *ret is of its whole life. */
bool usage_end(struct usage *u, int64_t now_us, int64_t cpu_us, int64_t peak_bytes, struct usage_sample *ret);
/* Processor time and resident memory of a process, as /proc tells. */
bool usage_read(pid_t pid, int64_t *ret_cpu_us, int64_t *ret_bytes);
