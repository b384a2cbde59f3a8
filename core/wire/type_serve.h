/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve.h - the spec of a serving job, made by a deployment. */
#pragma once
#include "core/wire/job_type.h"

/* How requests wait and are computed together, in the words of Triton's batcher. Zero is the default of each. */
struct serve_knobs {
    int64_t max_batch_size, max_queue_delay_microseconds, max_queue_size, default_timeout_microseconds;
    int64_t max_sequences, max_context, weight_bits;        /* of decoders */
};
enum { SERVE_KNOB_COUNT = 7, SERVE_BATCH_MAX = 16384, SERVE_QUEUE_MAX = 65536, SERVE_QUEUE = 4096, SERVE_SEQUENCES_MAX = 32,
       SERVE_CONTEXT_MAX = 16384, SERVE_WEIGHT_BITS = 16 };
/* The fields of a member `struct serve_knobs knobs`. HAS(T, i): further words of the field of the i-th. */
#define SERVE_KNOB_SET(T, i)
#define SERVE_KNOBS(T, fl, HAS)                                                                                                  \
    FIELD_AS(T, knobs.max_batch_size, "max_batch_size", fl, HAS(T, 0) .min = 0, .max = SERVE_BATCH_MAX,                          \
        .doc = "Rows that are computed together at most; 0: as many as pay off for the model"),                                  \
    FIELD_AS(T, knobs.max_queue_delay_microseconds, "max_queue_delay_microseconds", fl, HAS(T, 1) .min = 0, .max = 10000000,     \
        .doc = "How long a request waits for others to be computed with; 0: not at all"),                                        \
    FIELD_AS(T, knobs.max_queue_size, "max_queue_size", fl, HAS(T, 2) .min = 0, .max = SERVE_QUEUE_MAX,                          \
        .doc = "Requests that may wait; more are refused with 429. 0: 4096"),                                                    \
    FIELD_AS(T, knobs.default_timeout_microseconds, "default_timeout_microseconds", fl, HAS(T, 3) .min = 0, .max = 30000000,     \
        .doc = "A request that has waited so long is refused with 503; its own parameter `timeout` may say less. An outside "    \
               "engine that still computes it then is stopped, with 504 (after 25 s at most). 0: no limit"),                     \
    FIELD_AS(T, knobs.max_sequences, "max_sequences", fl, HAS(T, 4) .min = 0, .max = SERVE_SEQUENCES_MAX,                        \
        .doc = "Of decoders: texts that are made at a time, each with room for max_context tokens. 0: 8"),                       \
    FIELD_AS(T, knobs.max_context, "max_context", fl, HAS(T, 5) .min = 0, .max = SERVE_CONTEXT_MAX,                              \
        .doc = "Of decoders: tokens of a prompt and its answer at most. 0: the model's context, which is the most"),             \
    FIELD_AS(T, knobs.weight_bits, "weight_bits", fl, HAS(T, 6) .min = 0, .max = 32,                                             \
        .doc = "Of decoders: bits of a weight in memory at most: 32 (fp32), 16 (bf16), 8 (int8). 0: 16")

struct serve_job {
    struct str name;                /* of the deployment: what clients call */
    struct uuid model_id;
    int64_t model_version;
    struct uuid model_object_id;
    struct serve_knobs knobs;
};
