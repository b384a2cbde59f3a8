/* SPDX-License-Identifier: Apache-2.0 */
/* model_sig.h - the signature of a model: names, datatypes and shapes of what it takes and gives, in the words of the Open
 * Inference Protocol. It stands in the model file (__metadata__ "signature"), with the version in the registry, and is what a
 * request is checked against.
 *
 * JSON, members in this order: {"inputs":[{"name":"x","datatype":"FP32","shape":[-1,784]}],"outputs":[…]}. -1 stands for the
 * rows of a request, in the first dimension only; a model whose inputs have none takes exactly these shapes.
 * Memory: the arena. Errors: BAD_DATA with what is wrong. */
#pragma once
#include <stdint.h>
#include "core/base/str.h"

enum { SIG_TENSORS_MAX = 64, SIG_DIMS_MAX = 6, SIG_NAME_MAX = 255, SIG_JSON_MAX = 65536 };

struct sig_tensor {
    struct str name, datatype;
    uint32_t rank;
    int64_t dim[SIG_DIMS_MAX];
};

struct model_sig {
    struct sig_tensor inputs[SIG_TENSORS_MAX], outputs[SIG_TENSORS_MAX];
    size_t input_count, output_count;
};

enum errc model_sig_parse(struct arena *a, struct str json, struct model_sig *ret, struct err *e);
/* What every perceptron of our own training takes and gives: input, probabilities, label. */
void model_sig_perceptron(struct model_sig *ret, size_t inputs, size_t classes);
bool model_sig_write(struct buf *out, const struct model_sig *s);
/* The place of a name among n tensors, or -1. */
int sig_find(const struct sig_tensor *t, size_t n, struct str name);
/* Numbers in a tensor for so many rows (1 where it has none); shapes were checked to stay below 2^40. */
size_t sig_count(const struct sig_tensor *t, size_t rows);
static inline bool sig_has_rows(const struct sig_tensor *t)
{
    return t->rank > 0 && t->dim[0] == -1;
}
/* For people: x FP32[-1,784], y INT64[-1] */
bool sig_print(struct buf *out, const struct sig_tensor *t, size_t n);
