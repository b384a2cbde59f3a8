/* SPDX-License-Identifier: Apache-2.0 */
/* model_onnx.c - a model file that carries another one. */
#include "core/data/model_onnx.h"

#include <string.h>
#include "core/base/cleanup.h"

#define TENSOR "onnx"

bool model_onnx_is(const struct st_file *f)
{
    return str_eq_c(st_meta(f, "family"), "onnx");
}

/* Rows of several callers are computed together: what has none would be one caller's for all of them. */
static enum errc check_rows(const struct model_sig *sig, struct err *e)
{
    const bool has_rows = sig_has_rows(&sig->inputs[0]);
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++) {
        const struct sig_tensor *t = i < sig->input_count ? &sig->inputs[i] : &sig->outputs[i - sig->input_count];
        if (sig_has_rows(t) != has_rows)
            return FAIL(e, BAD_DATA, "the signature has rows in some tensors, and \"%.*s\" is otherwise; all of them or none",
                        STR_ARG(t->name));
    }
    return ERR_OK;
}

enum errc model_onnx_check(struct arena *a, const struct st_file *f, struct model_sig *ret, struct err *e)
{
    const struct st_tensor *t = st_find(f, STR(TENSOR));
    if (!str_eq_c(st_meta(f, "onnx_format"), MODEL_ONNX_FORMAT))
        return FAIL(e, BAD_DATA, "the model file is no ONNX model of the format " MODEL_ONNX_FORMAT);
    if (!t || f->tensor_count != 1 || t->dtype != ST_U8 || t->rank != 1 || !t->size_bytes)
        return FAIL(e, BAD_DATA, "a model file of the family onnx has one tensor, \"" TENSOR "\" of U8 [bytes]");
    TRY(model_sig_parse(a, st_meta(f, "signature"), ret, e));
    return check_rows(ret, e);
}

struct str model_onnx_bytes(const struct st_file *f)
{
    const struct st_tensor *t = st_find(f, STR(TENSOR));
    return str_n((const char *)t->data, t->size_bytes);
}

enum errc model_onnx_write(struct arena *a, struct str onnx, const struct model_sig *sig, const struct st_pair *meta,
                           size_t meta_count, struct buf *out, struct err *e)
{
    CLEANUP(buf_releasep) struct buf signature = BUF(SIG_JSON_MAX);
    struct st_pair *pairs = ARENA_ARRAY(a, struct st_pair, meta_count + MODEL_ONNX_PAIRS);
    struct st_tensor t = { .name = STR(TENSOR), .dtype = ST_U8, .rank = 1, .shape = { onnx.len },
                           .data = (const unsigned char *)onnx.ptr, .size_bytes = onnx.len };
    if (!model_sig_write(&signature, sig))
        return FAIL(e, LIMIT, "the model's signature has more than %d bytes", SIG_JSON_MAX);
    if (meta_count)
        memcpy(pairs, meta, meta_count * sizeof *meta);
    pairs[meta_count++] = (struct st_pair){ STR("family"), STR("onnx") };
    pairs[meta_count++] = (struct st_pair){ STR("onnx_format"), STR(MODEL_ONNX_FORMAT) };
    pairs[meta_count++] = (struct st_pair){ STR("signature"), str_dup(a, buf_str(&signature)) };
    return st_write(out, &t, 1, pairs, meta_count, e);
}
