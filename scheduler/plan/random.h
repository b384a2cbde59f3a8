/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - numbers from a seed, the same on every machine: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Not for secrets. */
#pragma once
#include <stdint.h>

struct random { uint64_t state; };

static inline uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 … n-1, n > 0; by the high half of a product, so its bias is below n / 2^64. */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random_next(r) * n) >> 64);
}
