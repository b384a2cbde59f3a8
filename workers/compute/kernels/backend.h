/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - the one vtable between models and machines: a kernel variant is one file and one line in registry.c.
 *
 * Calling order: backend_choose -> backend_require for what a plan needs -> open (one context per thread) -> alloc, put,
 * kernels, get, sync -> free -> close. What a backend can do is a table of kernels by operation (op.def) and type
 * (elem.def); a missing one is refused by name before anything runs, never replaced in silence. Queues: work on one queue
 * runs in order, queues run beside each other; an event recorded on one and waited for on another orders them. A CPU backend
 * runs everything at once on the caller's thread and the pool. Results are valid after sync, which also reports what went
 * wrong on the device. A context is used by one thread at a time. Shapes are the caller's duty: a kernel asserts them,
 * because data from outside was checked when it was read.
 *
 * Properties (declared, tested): SAME_BITS: a row has the same bits in any batch, since a product is one fp32 chain over
 * ascending k per element (vector variants: fused multiply-add), whatever the blocking. DETERMINISTIC: same input, same
 * backend, same bits, for any number of threads: work is split by shape alone and partial sums are added in a fixed order.
 * BF16: products know OP_BF16; FAST_BF16: by instructions that make them faster than those of fp32: `auto` goes by it. NARROW:
 * products, attention and the cells between them take tensors of bf16 (graph_narrow); sums and norms inside stay fp32.
 * avx2 and avx512 agree bit for bit in products, relu_bwd and colsum; elsewhere within the tolerance. Adding an operation: a
 * row of op.def, its loop in ref_int.h, the variants' loops, a line in selftest.c and in the shape test. */
#pragma once
#include <stdbool.h>
#include "core/base/err.h"
#include "workers/compute/hw.h"
#include "workers/compute/kernels/step.h"
#include "workers/compute/kernels/tensor.h"

struct backend_ctx;
struct decode;
struct pool;

enum op {
#define OP(NAME, name, ...) OP_##NAME,
#include "workers/compute/kernels/op.def"
#undef OP
    OP_COUNT
};

enum { OP_INPUTS_MAX = 6, OP_OUTPUTS_MAX = 5 };
enum { Q8_DEPTH_MAX = 65536 };                      /* of products of bytes: 65,536 · 255 · 128 < 2^31 */
enum { OP_ADDS = 1, OP_ROWS = 2, OP_VIEW = 4, OP_LATER = 8, OP_ROUNDS = 16 };   /* flags of op.def */

enum op_flag {                  /* of one use of an operation */
    MM_TRANS_A = 1,             /* a is stored [k, m] */
    MM_TRANS_B = 2,             /* b is stored [n, k]: how weights lie, [out, in] */
    OP_ACCUMULATE = 4,          /* out += … */
    MM_BIAS = 8,                /* + bias[n] in every row */
    MM_RELU = 16,               /* max(0, …) at the end */
    NORM_RMS = 32,              /* NORM_SCALE_BWD of RMSNORM */
    ATTN_CAUSAL = 64,           /* a token sees itself and what came before it */
    ROTARY_BACK = 128,          /* turns back: the gradient */
    CONV_ADD = 256,             /* + in[3] (QCONV2D: in[4]), of the result's shape: behind the bias, before MM_RELU */
    OP_BF16 = 512,              /* both factors of a product are rounded to bf16 first; sums, and all else, stay as they are */
    Q8_ITEM = 1024              /* QMATMUL with alpha 0: a range for each item of the first dimension, not for each row */
};

struct op_attr {                /* what an operation is told beside its inputs; zero where it has no use for it */
    unsigned flags;             /* enum op_flag */
    double beta1, beta2, eps, weight_decay, momentum;
    size_t n, k, bytes;         /* of packed weights; n: rows of an embedding table, groups of a norm, type of a cast */
    size_t heads, kv_heads;     /* of attention; heads: those that ROTARY turns */
    size_t window[2], stride, pad;      /* of convolution and pooling: height and width, the same stride and padding both ways */
    size_t image[2];            /* height and width of a convolution's or pool's input, for its backward form */
    double rate;                /* of DROPOUT: the share that becomes 0 */
    uint64_t stream;            /* of DROPOUT: one for each use */
    unsigned fn;                /* of UNARY, BINARY, REDUCE: a row of nd_fn.def (nd.h) */
    double alpha, gamma;        /* of UNARY */
    size_t axes;                /* of REDUCE: a bit for each dimension; of CONCAT: the dimension */
    size_t at[TENSOR_DIMS_MAX], step[TENSOR_DIMS_MAX], len[TENSOR_DIMS_MAX];    /* of TRANSPOSE (at) and SLICE, by dimension */
};

/* Images are [n, height, width, channels], weights of a convolution [out, window height, window width, in].
 *
 * MATMUL a, b, bias?          out[m,n] = op(a)[m,k] · op(b)[k,n], then the epilogue in the order accumulate, bias, relu
 * MATMUL_GELU a, b, bias      GELU of MATMUL's result, with MM_BIAS; and that result itself, which the backward form reads
 * MATMUL_GELU_BWD a, b, x     GELU_BWD of x and MATMUL's result
 * MATMUL_SUM a, b             MATMUL with MM_TRANS_A; and COLSUM of a. All three are made by join.c where a backend has them
 * PACK w[n,k]                 the backend's own order, of pack_bytes(n, k) bytes; padded, so batch 1 streams whole cache lines
 * MATMUL_PACKED x, w, bias?   x[m,k] · wᵀ; attr n, k; MM_BIAS, MM_RELU
 * ADD_BIAS x, b[n]   ADD a, b   RELU x   RELU_BWD y, dy: y > 0 ? dy : 0
 * STANDARDISE x, mean, scale  (x - mean)/scale by column
 * GELU x                      ½x(1 + tanh(√(2/π)(x + 0.044715x³))), as in GPT-2
 * GELU_BWD x, dy
 * LAYERNORM x, scale, shift   (x - mean)/√(var + eps)·scale + shift by row (Ba et al. 2016); LAYERNORM_BWD x, scale, dy
 * NORM_SCALE_BWD x, dy        [cols] = Σ rows dy·(x - mean)/√(var + eps)
 * RMSNORM x, scale            x/√(mean(x²) + eps)·scale by row (Zhang & Sennrich 2019); RMSNORM_BWD x, scale, dy
 * ADD_NORM x, y, scale, shift?    LAYERNORM of x + y, or with NORM_RMS RMSNORM; and x + y
 * NORM_ADD_BWD x, scale, dy, more?   of either: NORM_SCALE_BWD x, dy; COLSUM dy; COLSUM of the last; that in another type;
 *                             LAYERNORM_BWD (RMSNORM_BWD) x, scale, dy, + more. GELU_BWD_SUM x, dy: COLSUM of GELU_BWD, that
 *                             Each but the last result where it is asked for; OP_ACCUMULATE is for the sums
 * GROUPNORM x, scale, shift   an image's channels in attr.n groups, mean and deviation of a group over the whole image (Wu & He
 * 2018),
 *                             then as LAYERNORM by channel; GROUPNORM_BWD x, scale, dy; GROUPNORM_SCALE_BWD x, dy -> [channels]
 * ROTARY x, table             x [n, t, cols]: in each of the first attr.heads heads of d columns, the pair (i, i + d/2) of token
 * t turned by
 *                             the angle whose cosine and sine are table[t][i] and table[t][d/2 + i] (Su et al. 2021); d =
 * table's columns
 * ATTENTION qkv               [n, t, (heads + 2·kv_heads)·d] -> y [n, t, heads·d], and log Σ exp of the scores, [n, heads, t],
 * for the
 *                             backward form; softmax(q·kᵀ/√d)·v by head, heads in groups share keys and values; ATTN_CAUSAL
 * ATTENTION_BWD qkv, y, sums, dy
 * SWIGLU x                    [.., 2n] -> [.., n]: silu(x[..n])·x[n..] (Shazeer 2020); SWIGLU_BWD x, dy
 * CONV2D x, w, bias?, add?    w [out, height, width, in], zero padding; MM_BIAS, CONV_ADD, MM_RELU. CONV2D_PACKED: w packed as a
 *                             matrix [attr.n, attr.k], of attr.window
 * WINO_PACK w [out, 3, 3, in] turned for CONV2D_WINO x, packed, bias?, add?: CONV2D_PACKED by a quarter of its
 *                             multiplications (ADR 0164), where windows_bytes has a size for it
 * DEPTHWISE x, w, bias?       w [height, width, channels]: each channel by its own window; MM_BIAS, MM_RELU
 * QMATMUL x, w i8 [n,k], scale[n], bias?   x quantised to u8 by attr.alpha (its scale) and attr.gamma (what 0 becomes), or with
 *                             alpha 0 each row (Q8_ITEM: all rows of an item) by its own range; x[m,k] · wᵀ in whole numbers,
 *                             then times both scales; QMATMUL_PACKED: w packed by QPACK. Exact sums: the same bits everywhere
 * QCONV2D x, w i8, scale[out], bias?, add?   CONV2D so; alpha 0: each image by its own range. QCONV2D_PACKED likewise
 * QWINO_PACK w, QCONV2D_WINO  as WINO_PACK and CONV2D_WINO, of QCONV2D_PACKED: its bits by 16 multiplications for 36
 * QPACK w                     i8 weights of attr.n columns of attr.k numbers, attr.window[0] slices (0: one)
 * CONV2D_BWD_X w, dy (attr.image); CONV2D_BWD_W x, dy (attr.window)
 * MAXPOOL x, AVGPOOL x        padding counts for neither; MAXPOOL_BWD x, dy gives all to the first of equals; AVGPOOL_BWD dy
 * (attr.image)
 * DROPOUT x, step             0 with probability attr.rate, else x/(1 - rate): Philox by (seed, stream and counter, index); its
 * own gradient
 * CAST x                      to the type attr.n; to bf16 it rounds to the nearest
 * EMBED table, tokens i32     rows of the table
 * EMBED_BWD tokens, dy        [n, cols], attr n: the sum of the rows of dy by token
 * RESHAPE x   COPY x, or out += x   COLSUM x -> [cols]   SOFTMAX x by row   SOFTMAX_BWD y, dy: y·(dy - Σ y·dy)
 * ARGMAX x                    i32 [rows], the first of equals
 * SOFTMAX_XENT logits, labels i32, step?   loss f64 [1] = Σ rows -log softmax[label]; dlogits = (softmax - onehot)·loss_scale/rows
 * MSE y, t, step?             loss f64 [1] = Σ (y-t)²; dy = 2(y-t)·loss_scale/rows
 * SIGMOID_XENT logits, t, step?   loss f64 [1] = Σ -t·log σ(x) - (1-t)·log(1-σ(x)); dx = (σ(x) - t)·loss_scale/rows
 *                             dlogits and dy where asked for; loss_scale 1 without step
 * SOFTMAX_TAUGHT logits, labels i32, soft, step?   a = attr.alpha, T = attr.gamma: loss f64 [1] = Σ rows (1-a)·SOFTMAX_XENT +
 *                             a·T²·(-Σ soft·log softmax(logits/T)); dlogits likewise (Hinton et al. 2015)
 * SUMSQ x -> f64 [1]          CLIP sum f64 [1], step: grad_scale = min(1, clip_norm/√sum); no number where the sum is none or
 * infinite
 * ADAMW w, g, m, v, step      Loshchilov & Hutter 2019, decoupled decay; g is taken times grad_scale
 * SGD w, g, v, step           v = momentum·v + g·grad_scale + decay·w;  w -= lr·v
 * UNARY x                     attr.fn of each number
 * BINARY x, y   SELECT is, x, y   shapes aligned at their last dimension, a dimension of 1 is repeated (numpy); is: not 0
 * TRANSPOSE x                 dimension d of the result is dimension attr.at[d] of x
 * SLICE x                     attr.len[d] of dimension d from attr.at[d] on, attr.step[d] apart; len 0: all of it
 * CONCAT x, …                 behind each other in dimension attr.axes
 * REDUCE x                    attr.fn over the dimensions in attr.axes, which become 1
 * TREES_PACK nodes, roots, base, sets?   u8: an ensemble of trees (trees.h) as it is walked; TREES x, packed -> [rows, outputs]
 * BMM a, b                    out[…,m,n] = a[…,m,k] · b[…,k,n], or b[…,n,k] with MM_TRANS_B
 * ADAMW and SGD change nothing when grad_scale is no number: a step that went wrong is left out on the device.
 * `step` is a u8 tensor that holds struct step_scalars. */
struct op_call {
    struct op_attr attr;
    const struct tensor *in[OP_INPUTS_MAX];     /* NULL: not given */
    const struct tensor *out[OP_OUTPUTS_MAX];   /* NULL: not asked for */
};

typedef void (*kernel_fn)(struct backend_ctx *c, const struct op_call *call);
typedef const kernel_fn kernel_table[OP_COUNT][ELEM_COUNT];

enum queue { QUEUE_COMPUTE, QUEUE_COPY, QUEUE_COMM, QUEUE_COUNT };
struct event;

/* DEVICE: on a card, which a lease must have; it is chosen by name alone, never by "auto". */
enum backend_property { BE_SAME_BITS = 1, BE_DETERMINISTIC = 2, BE_HOST_MEMORY = 4, BE_DEVICE = 8, BE_BF16 = 16,
                        BE_FAST_BF16 = 32, BE_NARROW = 64 };

struct backend {
    const char *name;
    int rank;                   /* higher is preferred */
    unsigned properties;        /* enum backend_property */
    kernel_table *kernels;
    bool (*probe)(const struct hw *hw);
    /* pool: threads for inside operations, shared by all contexts of a process and longer-lived; NULL: the caller's thread alone. */
    enum errc (*open)(const struct backend *be, struct pool *pool, struct backend_ctx **ret, struct err *e);
    void (*close)(struct backend_ctx *c);

    struct buffer *(*alloc)(struct backend_ctx *c, size_t size_bytes);      /* zeroed, aligned to 64 bytes; NULL: no memory */
    void (*free)(struct backend_ctx *c, struct buffer *b);
    void (*put)(struct backend_ctx *c, enum queue q, struct buffer *b, size_t offset_bytes, const void *src, size_t n);
    void (*get)(struct backend_ctx *c, enum queue q, const struct buffer *b, size_t offset_bytes, void *dst, size_t n);
    enum errc (*sync)(struct backend_ctx *c, struct err *e);    /* all queues; then the errors since the last sync */
    struct event *(*event_new)(struct backend_ctx *c);
    void (*event_free)(struct backend_ctx *c, struct event *ev);
    void (*record)(struct backend_ctx *c, enum queue q, struct event *ev);
    void (*wait)(struct backend_ctx *c, enum queue q, const struct event *ev);      /* never recorded: sync says so (INTERNAL) */
    size_t (*pack_bytes)(size_t n, size_t k);
    /* Of weights for CONV2D_WINO by a window (attr: n, k, window, stride, pad) over images of that size; NULL or 0: there are
     * none, CONV2D_PACKED it is. */
    size_t (*windows_bytes)(const struct op_attr *a, size_t high, size_t wide);
    size_t (*q8_windows_bytes)(const struct op_attr *a, size_t high, size_t wide);      /* the same for QCONV2D_WINO */
    size_t (*pack_q8_bytes)(size_t n, size_t slices, size_t depth);         /* slices · depth: numbers of a column */
    /* NULL, or: b holds nothing any more, whoever reads it before it is written is wrong and is told so (tests). */
    void (*forget)(struct backend_ctx *c, struct buffer *b);
    const struct capturing *capturing;  /* of sequences of operations (capturing.h); NULL: none */
    const struct product_library *library;      /* a vendor's, for who asks (product_library.h); NULL: none */
    const struct decode *decode;        /* of text (decode.h); NULL: it makes none */
};

extern const struct backend backend_ref;
extern const struct backend backend_avx2;
extern const struct backend backend_avx512;
extern const struct backend backend_avx512vnni;
extern const struct backend backend_avx512bf16;
extern const struct backend backend_cuda;

struct op_row {                 /* a row of op.def; its columns are told there */
    const char *name;
    unsigned key, in_min, in_max, outs, writes;
    int takes_over;
    unsigned flags;
};

const struct op_row *op_row(enum op op);
const char *op_name(enum op op);
bool backend_can(const struct backend *be, enum op op, enum elem type);
/* UNPROCESSABLE with backend, operation and type named. */
enum errc backend_require(const struct backend *be, enum op op, enum elem type, struct err *e);

/* The variants of the processor that are compiled in, best first, NULL at the end. */
const struct backend *const *backend_list(void);
/* setting: "auto" (or NULL, "") or a name. A forced variant that this machine cannot run is UNAVAILABLE, an unknown one INVALID.
 * on_skip (may be NULL) is told of every variant passed over and why. */
enum errc backend_choose(const char *setting, const struct hw *hw, void (*on_skip)(void *ctx, const char *name, const char *why),
                         void *ctx, const struct backend **ret, struct err *e);
/* Every operation on small awkward shapes against the fp64 reference. */
enum errc backend_selftest(const struct backend *be, struct err *e);
