/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c - one input of the file in the words of the protocol. */
#include "workers/compute/onnx/signature.h"

const char *onnx_datatype(enum onnx_type t)
{
    switch (t) {
    case ONNX_FLOAT: case ONNX_DOUBLE: case ONNX_FLOAT16: case ONNX_BFLOAT16: case ONNX_UINT8: case ONNX_INT8: return "FP32";
    case ONNX_BOOL: return "BOOL";
    case ONNX_INT64: return "INT64";
    case ONNX_INT32: return "INT32";
    default: return NULL;
    }
}

static enum errc open_dim(const struct onnx_value *v, uint32_t d, const struct onnx_dims *dims, int64_t *ret, struct err *e)
{
    for (size_t i = 0; dims && i < dims->count; i++)
        if (v->param[d].len && str_eq(dims->dim[i].name, v->param[d]) && dims->dim[i].n > 0) {
            *ret = dims->dim[i].n;
            return ERR_OK;
        }
    if (d == 0) {
        *ret = -1;
        return ERR_OK;
    }
    return FAIL(e, UNPROCESSABLE, "dimension %u of input \"%.*s\" is open (\"%.*s\"): give a number for it (dims)", d,
                STR_ARG(v->name), STR_ARG(v->param[d]));
}

enum errc onnx_sig_input(const struct onnx_value *v, const struct onnx_dims *dims, struct sig_tensor *ret, struct err *e)
{
    const char *datatype = onnx_datatype(v->type);
    if (!datatype || !v->has_shape || !v->name.len || v->rank < 1 || v->name.len > SIG_NAME_MAX)
        return FAIL(e, UNPROCESSABLE, "input \"%.*s\" is %s%s: inputs are tensors of numbers with a shape", STR_ARG(v->name),
                    onnx_type_name(v->type), v->has_shape && v->rank ? "" : " without a shape");
    *ret = (struct sig_tensor){ .name = v->name, .datatype = str_c(datatype), .rank = v->rank };
    for (uint32_t d = 0; d < v->rank; d++) {
        ret->dim[d] = v->dim[d];
        if (v->dim[d] < 0)
            TRY(open_dim(v, d, dims, &ret->dim[d], e));
    }
    return ERR_OK;
}
