/* SPDX-License-Identifier: Apache-2.0 */
/* each_kit.h - every backend that this machine has, alone and with threads, beside the fp64 reference; random sizes.
 * Included after cmocka.h. */
#pragma once
#include "workers/compute/kernels/backend.h"
#include "workers/compute/pool.h"

static uint64_t kit_state = 5;

static inline size_t below(size_t n)
{
    kit_state = kit_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(kit_state >> 33) % n;
}
static inline struct backend_ctx *kit_open(const struct backend *be, struct pool *pool)
{
    struct backend_ctx *c;
    struct err e;
    assert_int_equal(be->open(be, pool, &c, &e), ERR_OK);
    return c;
}
static inline void kit_each(int threads, void (*check)(const struct backend *be, struct backend_ctx *alone,
                                                       struct backend_ctx *many, struct backend_ctx *ref))
{
    struct hw hw;
    struct err e;
    struct pool *pool;
    hw_read(&hw);
    assert_int_equal(pool_new(threads, &pool, &e), ERR_OK);
    struct backend_ctx *ref = kit_open(&backend_ref, NULL);
    for (const struct backend *const *it = backend_list(); *it; it++) {
        if (!(*it)->probe(&hw))
            continue;
        struct backend_ctx *alone = kit_open(*it, NULL), *many = kit_open(*it, pool);
        check(*it, alone, many, ref);
        (*it)->close(alone);
        (*it)->close(many);
    }
    backend_ref.close(ref);
    pool_free(pool);
}
