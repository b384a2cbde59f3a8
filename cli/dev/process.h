/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - one process: start it as an account that dies with us, tell it from a later one with the same pid, end it. */
#pragma once
#include "cli/dev/dev.h"

/* Start; standard output to out_fd (-1: the log). The child gets a small environment and no descriptors of ours. */
enum errc process_start(const struct dev *d, struct child *p, int out_fd, struct err *e) MUST_CHECK;
/* Field 22 of /proc/PID/stat; 0: there is no such process, or it has ended and only waits to be reaped. */
uint64_t process_start_ticks(pid_t pid);
bool process_is(pid_t pid, uint64_t start_ticks);
/* Signal, wait up to ms, then SIGKILL. For processes that need not be our children. */
void process_end(pid_t pid, uint64_t start_ticks, int signal_number, int ms);
/* Move NAME.log to NAME.log.1. */
void log_rotate(struct arena *a, const char *path);
/* Keep a growing log below its bound: copy it aside and start it anew. */
void log_bound(struct arena *a, const char *path);
/* The last lines of a log, for an error message; "" when there are none. */
const char *log_tail(struct arena *a, const char *path);
