/* SPDX-License-Identifier: Apache-2.0 */
/* comm_tcp_int.h - the connections of a rank, between who joins them (comm_join.c) and who uses them (comm_tcp.c). */
#pragma once
#include "workers/gang/comm_frame.h"
#include "workers/gang/comm_tcp.h"

enum { LAST_WORDS_MS = 200, STRANGER_MS = 10000, CALLERS_MAX = 32, CALLER_YOUNG_MS = 250 };

struct gang {
    struct comm comm;                   /* first: comm_ops give it back */
    struct tls *to[COMM_RANKS_MAX];     /* own: NULL */
    uint32_t sequence;
    bool is_over, was_lost;             /* was_lost: another rank ended it */
    struct err why;                     /* of is_over */
    float *parts;                       /* of others, while sums are made */
    size_t parts_count;
};

extern const struct comm_ops comm_tcp_ops;
