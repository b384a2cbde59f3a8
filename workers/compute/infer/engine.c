/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - a file that carries an ONNX model becomes a model by the engine behind the door. */
#include "workers/compute/infer/model_int.h"
#include "core/data/model_onnx.h"

static enum errc open_engine(const struct infer_load *how, const struct st_file *f, const struct infer_engine **ret,
                             struct err *e)
{
    struct str why = st_meta(f, MODEL_ONNX_UNSUPPORTED);
    if (how->door)
        return how->door->open(how->door->ctx, ret, e);
    return FAIL(e, UNPROCESSABLE, "%.*s; such a model is computed by ONNX Runtime, and none is named here (worker.onnxruntime)",
                (int)(why.len < 150 ? why.len : 150), why.ptr ? why.ptr : "");
}

static size_t largest_row(const struct model_sig *sig)
{
    size_t most = 1;
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++) {
        size_t n = sig_count(i < sig->input_count ? &sig->inputs[i] : &sig->outputs[i - sig->input_count], 1) * sizeof(float);
        most = n > most ? n : most;
    }
    return most;
}

enum errc engine_read(struct infer_model *m, struct arena *a, const struct st_file *f, struct err *e)
{
    struct model_sig *sig = ARENA_NEW(a, struct model_sig);
    TRY(model_onnx_check(a, f, sig, e));
    TRY(model_own_sig(m, sig, e));
    struct str onnx = model_onnx_bytes(f);
    int64_t numbers;
    m->info.parameters = str_to_i64(st_meta(f, MODEL_ONNX_PARAMETERS), 0, INT64_MAX, &numbers) ? (size_t)numbers : 0;
    m->info.max_rows = m->info.has_rows ? model_rows_that_fit(largest_row(sig)) : 1;
    m->engine_bytes = onnx.len;
    if (!m->be)
        return ERR_OK;
    TRY(open_engine(&m->how, f, &m->engine, e));
    m->info.engine = m->engine->name;
    return m->engine->model_new(m->engine->ctx, onnx, &m->info.sig, &m->engine_model, e);
}
