/* SPDX-License-Identifier: Apache-2.0 */
/* clock_int.h - the sums by zone of a queue clock (clock_lines.c), for clock.c. */
#pragma once
#include "scheduler/jobs/clock.h"
#include "scheduler/mirror/board.h"

struct clock_step { int64_t at_us; int64_t slots, gpus; };

struct clock_lines {
    const struct board *b;
    bool is_platform;
    size_t *line_of;                    /* of the platform: by tenant */
    size_t n;
    struct clock_line *lines;           /* their names */
    struct clock_step *steps;                 /* room for those of one line: there are as many lines as zones times who */
};

extern const struct schema clock_zone_schema;

/* nstarts: those of the run ahead that will be told. */
void clock_lines_find(const struct board *b, bool is_platform, size_t nstarts, struct arena *a, struct clock_lines *l);
void clock_lines_tell(const struct clock_lines *l, const struct ahead *x, struct str zone, struct arena *a,
                      struct clock_zone *ret);
