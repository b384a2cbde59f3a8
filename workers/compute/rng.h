/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - random numbers that are a function of where they are used: no state to carry, store or race for.
 *
 * Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011): key = seed, counter = (stream, index).
 * A stream is one purpose (the weights of tensor 3); index counts within it. */
#pragma once
#include <math.h>
#include <stdint.h>

#ifndef RNG_CALL                      /* GPU code says where its copy runs, and has no logarithm of the C library */
#define RNG_CALL static inline
#define RNG_HAS_NORMAL
#endif

struct philox {
    uint32_t v[4];
};

RNG_CALL struct philox philox(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct philox r = { { c0, c1, c2, c3 } };
    return r;
}

#ifdef RNG_HAS_NORMAL
/* A standard normal number (Box & Muller 1958) from 53 + 32 random bits. */
static inline double philox_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    struct philox r = philox(seed, stream, index);
    double u = ((double)((uint64_t)r.v[0] << 21 ^ r.v[1] >> 11) + 1) * 0x1p-53;      /* (0, 1] */
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * (double)r.v[2] * 0x1p-32);
}
#endif
