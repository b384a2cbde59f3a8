/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_int.h - one call of an operation of networks on random tensors, by a variant in fp32 and by the reference in fp64. */
#pragma once
#include "workers/compute/kernels/selftest_faults.h"

struct net_shape {
    unsigned rank;
    size_t dim[4];
};

struct net_case {
    enum op op;
    struct op_attr attr;
    struct net_shape in[4], out[OP_OUTPUTS_MAX];     /* rank 0: none */
    unsigned narrow;                    /* bits of those that are bf16: inputs from 0, outputs from NARROW_OUT */
};
enum { NARROW_OUT = 4 };

/* The cases of each operation at one size; *ret_count of them in ret. */
enum { NET_CASES_MAX = 40 };
struct net_size {
    size_t n, t, heads, kv_heads, d;            /* attention */
    size_t side, window, stride, pad, in, out, groups;      /* images; groups share `in` */
};
size_t net_cases(const struct net_size *s, struct net_case ret[NET_CASES_MAX]);
/* Those of tensors that are bf16 (selftest_narrow.c), for backends that have BE_NARROW. */
size_t narrow_cases(const struct net_size *s, struct net_case ret[NET_CASES_MAX]);
/* The backend has the operation, and in bf16 where the case is. */
static inline bool net_case_runs(const struct backend *be, const struct net_case *k)
{
    return backend_can(be, k->op, k->narrow >> op_row(k->op)->key & 1 ? ELEM_BF16 : ELEM_F32)
           && (!(k->attr.flags & OP_BF16) || (be->properties & BE_BF16));
}
/* INTERNAL: the result is off by more than `tolerance` of its norm, or where it is bf16 of what rounding may do.
 * *ret_hash (may be NULL): of the bytes of the result. */
enum errc net_check(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, const struct net_case *k,
                    uint64_t seed,
                    double tolerance, uint64_t *ret_hash, struct err *e);
/* A few awkward sizes of all, under a millisecond. */
enum errc net_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                       struct err *e);
/* The same of tensors that are bf16. */
enum errc narrow_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                          struct err *e);
/* Products of whole numbers, bit by bit. */
enum errc q8_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                      struct err *e);
/* Attention over bf16, forward and backward, against the reference over the same numbers. */
struct flash_case {
    size_t n, t, heads, kv_heads, d;
    bool is_causal;
};
struct flash_result {           /* of the reference's norm; the hash is of the bytes of y and dx */
    double y, sums, dx;
    uint64_t hash;
};
enum errc flash_check(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, const struct flash_case *k,
                      uint64_t seed, struct flash_result *ret, struct err *e);
/* Where the backend has it: heads of a width that has kernels of its own, and of one that has none. */
enum errc flash_selftest(const struct backend *be, struct backend_ctx *ctx, struct backend_ctx *ref, struct selftest_faults *f,
                         struct err *e);
