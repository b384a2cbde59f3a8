/* SPDX-License-Identifier: Apache-2.0 */
/* shuffle.c - a balanced Feistel network over the next even power of two, walked until it lands below n (Black & Rogaway 2002).
 *
 * The domain is less than four times n, so the walk takes under four steps on average. Eight rounds keyed by Philox. */
#include "workers/compute/train/shuffle.h"
#include "core/base/assert.h"
#include "workers/compute/rng.h"

enum { ROUNDS = 8, STREAM = 0x5348 };

uint64_t shuffle_at(uint64_t seed, uint64_t epoch, uint64_t n, uint64_t index)
{
    ASSERT(index < n);
    unsigned half = 1;
    while (half < 32 && ((uint64_t)1 << 2 * half) < n)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = index;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            struct philox r = philox(seed ^ epoch * 0x9E3779B97F4A7C15u, STREAM + round, right);
            uint64_t next = left ^ (r.v[0] & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return x;
}
