/* SPDX-License-Identifier: Apache-2.0 */
/* text_read_int.h - one call for text between its reading (text_read.c) and its answer (job_text.c). All memory is the exchange's
 * arena but what text_out and answer hold. */
#pragma once
#include "core/json/jsonvalue.h"
#include "workers/compute/text/text_engine.h"
#include "workers/compute/text/text_out.h"

struct text_call {
    struct text_request request;        /* prompt, limits and how it is drawn are read; the rest is the server's */
    struct str id;
    struct str stops[TEXT_STOPS_MAX];
    size_t stop_count;
    uint64_t seed;                      /* that of request.how */
};

/* random: the seed where none is given. Every refusal names its member and what is taken. INVALID. */
enum errc text_read(struct arena *a, const struct text_info *info, struct str body, uint64_t random, struct text_call *ret,
                    struct err *e) MUST_CHECK;
