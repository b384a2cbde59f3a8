/* SPDX-License-Identifier: Apache-2.0 */
/* import_q8_int.h - between the files about whole numbers of eight bits: import_q8.c, import_q8_op.c and import_dynamic.c. */
#pragma once
#include "workers/compute/onnx/import_int.h"

struct scales {
    float *scale;
    int64_t *zero;              /* NULL: 0 */
    size_t count, zeros;
    int low, high;              /* of the type of the whole numbers */
};

/* Known whole numbers as bytes with a sign around 0, if they fit: how weights of a product are kept. */
enum errc q8_keep_weights(struct import *x, struct named *to, const struct known *k, const int64_t *whole,
                          const struct scales *s, unsigned axis);
/* QMATMUL of value v by the weights; scale: 1, or as many as it has columns. */
enum errc q8_product_of(struct import *x, int v, const struct op_attr *attr, const struct weights8 *w, bool is_out_in,
                        const float *scale, size_t scales, int *ret);
/* The value's last dimension is k, which a product of bytes can sum. */
bool q8_is_deep_as(const struct import *x, int value, int64_t k);
/* import_dynamic.c. Output 0, where the node's inputs are what DynamicQuantizeLinear made and constants: waits for its scales. */
enum errc q8_wait_for_scales(struct import *x);
