/* SPDX-License-Identifier: Apache-2.0 */
/* lt_int.h - between the files of products by cuBLASLt: what is asked (lt_call.c), how it is done (lt_product.c: descriptors and
 * the choice of a way, once for each kind of product), what of that is kept (lt_keep.c). */
#pragma once
#include "workers/compute/kernels/cuda/cuda_int.h"
#include "workers/compute/kernels/cuda/lt.h"
#include "workers/compute/kernels/product_library.h"

/* A kind of product: all that a way may depend on. Sizes and strides in numbers, alignments in bytes, 256 at most. */
enum lt_part {
    KIND_M, KIND_N, KIND_K, KIND_STRIDE_A, KIND_STRIDE_B, KIND_STRIDE_OUT,
    KIND_BATCH, KIND_STEP_A, KIND_STEP_B, KIND_STEP_OUT,
    KIND_TYPES,                 /* of factors, result and bias, a byte each: cudaDataType */
    KIND_END,                   /* cublasLtEpilogue_t */
    KIND_FLAGS,                 /* enum lt_flag */
    KIND_ALIGN,                 /* of a, b, out, bias: 16 bits each */
    KIND_STRIDE_AUX,
    KIND_PARTS
};
enum lt_flag { LT_TURNS_A = 1, LT_TURNS_B = 2, LT_ADDS = 4 };

struct lt_kind {
    uint64_t of[KIND_PARTS];
};

struct lt_product {             /* one product; bias and aux: 0 for none */
    struct lt_kind kind;
    gpu_ptr a, b, out, bias, aux;
    size_t out_bytes;
    bool is_try;                        /* there is another way to ask: nobody is told when it is refused */
};

enum lt_state { LT_CHOSEN, LT_REFUSED, LT_KEPT };       /* kept: a way of before, which nobody has used yet */

struct lt_entry {
    struct lt_kind kind;
    enum lt_state state;
    struct lt_way way;
    uint64_t room_bytes;
    void *product, *a, *b, *out;        /* descriptors; NULL where state is not CHOSEN */
};

enum { LT_ENTRIES_MAX = 512, LT_NEWS = 256 };

struct lt {
    struct lt_api api;
    void *handle, *wish;
    void *from, *to;                    /* events with times; NULL: nothing is timed */
    gpu_ptr room;
    char name[96];                      /* library, version and card: what a kept way is bound to */
    char news[LT_NEWS];
    bool has_news, was_told, was_told_full;
    size_t count;
    struct lt_entry of[LT_ENTRIES_MAX];
};

/* A table filled already, and what is done with it (product_library.h). UNAVAILABLE: the library takes no card of this
 * process. */
enum errc cuda_lt_open(struct backend_ctx *c, const struct lt_api *api, bool is_timed, struct err *e);
void cuda_lt_close(struct backend_ctx *c);
extern const struct product_library cuda_library;
const char *cuda_lt_news(struct backend_ctx *c);
void cuda_lt_keep(const struct backend_ctx *c, struct buf *ret);
bool cuda_lt_bind(struct backend_ctx *c, struct str text);

/* Inside an operation (cuda_begin). false: not by the library, and nothing was asked for that an own kernel would not do
 * again. */
bool lt_do(struct backend_ctx *c, const struct lt_product *p);
bool lt_is_refused(const struct backend_ctx *c, const struct lt_kind *k);       /* known to be */
/* MATMUL and BMM as the library's; false: the own kernels are to make it. */
bool cuda_lt_matmul(struct backend_ctx *c, const struct op_call *o);
bool cuda_lt_bmm(struct backend_ctx *c, const struct op_call *o);
/* The joined operations. apart: the same in more passes; where the clock finds that faster, false from then on. */
typedef void lt_apart(struct backend_ctx *c, const struct op_call *o);
bool cuda_lt_gelu(struct backend_ctx *c, const struct op_call *o, lt_apart *apart);
bool cuda_lt_gelu_bwd(struct backend_ctx *c, const struct op_call *o, lt_apart *apart);
bool cuda_lt_sum(struct backend_ctx *c, const struct op_call *o, lt_apart *apart);
bool lt_do_or(struct backend_ctx *c, const struct lt_product *p, const struct op_call *o, lt_apart *apart);
