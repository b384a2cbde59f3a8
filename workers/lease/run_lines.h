/* SPDX-License-Identifier: Apache-2.0 */
/* run_lines.h - what a program says, from its pipes to the job's log and curves.
 *
 * A line ends at a newline or at RUN_LINE_MAX bytes. A line of standard output that begins with RUN_METRIC_MARK, and every line
 * of the
 * descriptor for metrics, is a JSON object of numbers; its member `step` is a whole number, or the lines count. What is no such
 * object
 * is a line of the log. After RUN_LOG_MAX bytes of one attempt lines are counted and dropped.
 * Calling order: run_lines_begin -> run_lines_read whenever a pipe is readable -> run_lines_end. */
#pragma once
#include "workers/lease/box.h"
#include "workers/lease/child.h"
#include "workers/lease/mask.h"

#define RUN_METRIC_MARK "::metric "
enum { RUN_LINE_MAX = 3900, RUN_LOG_MAX = 16 << 20 };

struct run_lines {
    const struct child *c;
    struct run_pipe {
        struct run_lines *of;
        enum box_pipe which;
        struct mask_stream mask;
        char text[RUN_LINE_MAX];
        size_t n;
    } part[BOX_STATUS];             /* by enum box_pipe */
    char last_error[400];           /* the last line of standard error that has a word in it */
    size_t logged, dropped;
    int64_t steps;
};

/* mask: what is kept out of all of it, before anything else is done with it; NULL: nothing. It outlives the lines. */
MUST_CHECK enum errc run_lines_begin(struct run_lines *l, const struct child *c, const struct mask *mask, struct err *e);
/* false: the pipe is at its end. */
bool run_lines_read(struct run_lines *l, enum box_pipe which, int fd);
/* Lines without a newline, and how many were dropped. Gives memory back. */
void run_lines_end(struct run_lines *l);
/* A line of ours in the log's stream "system". */
void run_note(const struct child *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
