/* SPDX-License-Identifier: Apache-2.0 */
/* import_int.h - between the files of workers/compute/onnx: values by name, constants, and small steps that handlers share.
 *
 * A value is known (numbers in host memory, exact for whole numbers) or made by the graph. Among known whole numbers, which
 * are mostly shapes, "n for each row of the batch" is ROWS + n: it goes through Gather, Concat, Slice and products, and ends in
 * a Reshape or Expand. */
#pragma once
#include "workers/compute/kernels/nd.h"
#include "workers/compute/onnx/import.h"

#define ROWS_BASE (INT64_MIN / 2)
enum { KNOWN_COUNT_MAX = 1 << 28 };

struct known {
    bool is_whole;
    uint32_t rank;
    int64_t dim[ONNX_DIMS_MAX];
    size_t count;
    float *real;                /* one of both; NULL until it is read (tensor) */
    int64_t *whole;
    const struct onnx_tensor *tensor;
};

/* What eight-bit whole numbers are of (import_q8.c). */
struct quant {
    struct named *from;         /* f32 that was quantised */
    double scale, zero;         /* the zero point as of numbers without a sign */
    bool is_whole;              /* the value is the whole numbers; else them times their scale */
};
struct weights8 {               /* constants around 0, and what they were scaled by */
    const int8_t *w;
    uint32_t rank;
    int64_t dim[ONNX_DIMS_MAX];
    const float *scale;
    size_t scales;              /* 1, or as many as the axis has */
    unsigned axis;
};
struct dynamic {                /* made by DynamicQuantizeLinear from `from`, or a product of that by weights */
    enum { DYNAMIC_WHOLE, DYNAMIC_SCALE, DYNAMIC_ZERO, DYNAMIC_PRODUCT } what;
    struct named *from;
    const struct weights8 *w;
    const float *factor;        /* of a scale: what it was multiplied by */
    size_t factors;
};

struct named {
    struct str name;
    bool is_set;
    struct known *known;        /* NULL: of the graph */
    int value;
    int last;                   /* 1 + the same image with its channels last; 0: there is none */
    bool is_truth;              /* BOOL in ONNX */
    bool is_byte;               /* an input of UINT8 or INT8, which are computed with in another way than f32 */
    bool is_normed;             /* a convolution that has taken in the batch norm behind it */
    const struct quant *quant;  /* these three: NULL where it is none */
    const struct weights8 *weights;
    const struct dynamic *dynamic;
};

struct import {
    struct arena *a;
    const struct onnx_file *file;
    struct graph *g;
    const struct onnx_node *node;       /* the one at work */
    struct named *table;        /* open addressing, a power of two */
    size_t table_size;
    struct err *e;
};

typedef enum errc (*import_fn)(struct import *x, unsigned arg);

#define UNSUPPORTED(x, ...) FAIL((x)->e, UNPROCESSABLE, __VA_ARGS__)
static inline bool is_rows(int64_t v) { return v > ROWS_BASE && v < ROWS_BASE / 2; }
static inline int64_t rows_of_dim(struct dim d) { return d.is_batched ? ROWS_BASE + (int64_t)d.n : (int64_t)d.n; }

/* --- values: import.c --- */
struct named *import_name(struct import *x, struct str name);           /* its place, set or not */
bool import_has(const struct import *x, size_t i);                      /* input i of the node is given */
struct named *import_in(struct import *x, size_t i);                    /* it; set, checked before the handler runs */
enum errc import_set(struct import *x, size_t out, int value);          /* output of the node: a value of the graph */
enum errc import_set_known(struct import *x, size_t out, struct known *k);
/* Input i as a value of the graph; known numbers become a constant. */
enum errc import_value(struct import *x, size_t i, int *ret);
enum errc import_value_of(struct import *x, struct named *n, int *ret);
const struct shape *import_shape_of(const struct import *x, int value);
int64_t import_attr(const struct import *x, const char *name, int64_t dflt);
double import_attr_real(const struct import *x, const char *name, double dflt);
/* The dimensions of input 0, rows among them; returns how many. */
uint32_t import_dims(struct import *x, int64_t dim[ONNX_DIMS_MAX]);
/* An axis, counted from the end when it is negative. */
enum errc import_axis(struct import *x, int64_t axis, unsigned rank, unsigned *ret);

/* The axes of an attribute or of an input, as bits. */
enum errc import_axes(struct import *x, size_t input, uint32_t rank, unsigned *ret, bool *ret_given);

/* --- known numbers: import_known.c --- */
enum errc known_new(struct import *x, bool is_whole, uint32_t rank, const int64_t *dim, struct known **ret);
enum errc known_real(struct import *x, struct known *k, float **ret);           /* whole ones are converted */
enum errc known_whole(struct import *x, struct known *k, int64_t **ret);
enum errc known_value(struct import *x, struct known *k, int *ret);             /* a constant of the graph */
/* Input i, which must be known, as whole numbers. */
enum errc import_whole(struct import *x, size_t i, int64_t **ret, size_t *ret_n);
/* Operations on known numbers; *done false: not among what is computed here. */
enum errc known_binary(struct import *x, unsigned fn, struct known *p, struct known *q, struct known **ret, bool *done);
enum errc known_take(struct import *x, struct known *k, unsigned axis, const int64_t *index, struct known *shape,
                     struct known **ret);
enum errc known_transpose(struct import *x, struct known *k, const size_t *order, struct known **ret);
/* The same numbers in another shape. */
enum errc known_reshape(struct import *x, struct known *k, uint32_t rank, const int64_t *dim, struct known **ret);

/* --- small steps over the graph --- */
enum errc step_reshape(struct import *x, int value, uint32_t rank, const int64_t *dim, int *ret);      /* dims may be rows */
enum errc step_op(struct import *x, enum op op, const struct op_attr *attr, const int *in, size_t ins, int *ret);
enum errc step_binary(struct import *x, unsigned fn, int p, int q, int *ret);
enum errc step_transpose(struct import *x, int value, const size_t *order, int *ret);
/* Output 0 from v, input 0, by an operation that looks at one number at a time. */
enum errc import_each(struct import *x, enum op op, const struct op_attr *attr, int v);
/* A vector of n equal numbers as a constant. */
enum errc step_fill(struct import *x, size_t n, float number, int *ret);

/* --- images with their channels last: import_conv.c --- */
enum errc import_last(struct import *x, size_t i, int *ret);            /* input i, turned if it is not */
enum errc import_last_of(struct import *x, struct named *n, int *ret);
enum errc import_set_last(struct import *x, int value);                 /* output 0, from a value that is turned */
/* Of a batch norm of constants: result = input * a + b by channel. import_norm.c */
enum errc import_norm_factors(struct import *x, size_t channels, float **ret_a, float **ret_b);

/* --- whole numbers of eight bits: import_q8.c; *done false: input 0 and 1 are not of that kind --- */
enum errc import_q8_product(struct import *x, bool is_out_in, int *ret, bool *done);
enum errc import_dynamic_mul(struct import *x, bool *done);
/* Output 0 has the numbers of `in`. */
void import_pass_dynamic(struct import *x, const struct named *in);

/* --- ai.onnx.ml: import_linear.c --- */
/* post_transform. */
enum errc import_post(struct import *x, int v, int *ret);
/* How many classes there are, if they are 0, 1, 2 … */
enum errc import_class_count(struct import *x, const char *attr, int64_t *ret);
/* Output 0, the label, and 1 from one score [rows, 1]: the second class is above `least`. is_share: the first has what is left of
 * 1, else the score turned round. */
enum errc import_two_classes(struct import *x, int score, float least, bool is_share);

/* x·½(1 + erf(x/√2)) in pieces becomes one node; once the graph is whole. import_gelu.c */
enum errc import_find_gelu(struct import *x);

#define HANDLER(name) enum errc import_##name(struct import *x, unsigned arg_)       /* of a row of op_onnx.def */

#define ONNX_OP(Name, domain, in_min, in_max, handler, arg, limits) \
    HANDLER(handler);
#include "workers/compute/onnx/op_onnx.def"
#undef ONNX_OP
