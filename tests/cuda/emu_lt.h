/* SPDX-License-Identifier: Apache-2.0 */
/* emu_lt.h - the table of cuBLASLt on the processor: products in plain C, for tests only.
 *
 * It takes what its documentation says the library takes, and refuses the rest as that does: strides below a matrix's height,
 * pointers that are not aligned to their numbers or less than was wished for, types that do not go together, an end (epilogue)
 * whose pointer, type or stride is missing or wrong, a way that it did not name for this product, too little workspace. What it
 * reads and writes is judged by the checker of accesses, and it runs in the order of its stream, captured or not. */
#pragma once
#include "workers/compute/kernels/cuda/lt_int.h"

struct emu_lt {                 /* what a test may wish, and what happened */
    int answers;                /* ways that it names; at least 1 */
    int fastest;                /* of them */
    bool is_missing;            /* there is no library */
    bool takes_wide_bias;       /* a bias in fp32 with a result in bf16 */
    uint64_t refused_end;       /* no way for this end; 0: none is refused */
    uint64_t slow_end;          /* it takes ten times as long */
    int runs_left;              /* then a run fails; negative: never */
    int version;                /* its first number */
    int asks, checks, runs;
};
extern struct emu_lt emu_lt;

void emu_lt_reset(void);
const struct lt_api *emu_lt_api(void);
extern const struct product_library emu_library;
