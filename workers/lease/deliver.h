/* SPDX-License-Identifier: Apache-2.0 */
/* deliver.h - the sealed bytes of an output or a checkpoint, sent in parts while the lease is good. */
#pragma once
#include "workers/lease/executor_int.h"

struct delivery {
    struct client *client;              /* the calling thread's; NULL with tests' io */
    struct arena *arena;
    int fd;                             /* all of it, sealed */
    struct uuid object_id;
    int64_t part_bytes_max;
    struct frame_result about;          /* of the plaintext */
};

MUST_CHECK enum errc run_deliver(const struct run *r, const struct delivery *d, struct err *e);
