/* SPDX-License-Identifier: Apache-2.0 */
/* ort_convert.c - ours first; the other engine for what ours has no operation for. */
#include "workers/compute/ort/ort_convert.h"
#include "core/base/cleanup.h"
#include "core/data/model_onnx.h"
#include "workers/compute/ort/ort_model.h"

#include <string.h>

enum { WHY_MAX = 150 };

static enum errc keep(struct arena *a, struct str bytes, const struct onnx_file *m, const struct onnx_dims *dims,
                      const struct infer_door *door, const char *why, struct buf *out, struct onnx_about *ret, struct err *e)
{
    const struct infer_engine *engine;
    struct model_sig *sig = arena_try(a, 2 * sizeof *sig);
    if (!sig)
        return FAIL(e, LIMIT, "the model does not fit in memory");
    TRY(door->open(door->ctx, &engine, e));
    TRY(ort_learn(a, engine->ctx, bytes, m, dims, sig, e));
    struct str producer = m->producer.ptr ? m->producer : STR("");
    size_t numbers = 0;
    for (size_t i = 0; i < m->tensor_count; i++)
        numbers += m->tensors[i].count;
    const struct st_pair meta[] = {
        { STR(MODEL_ONNX_PARAMETERS), str_fmt(a, "%zu", numbers) },
        { STR(MODEL_ONNX_UNSUPPORTED), str_c(why) }, { STR("source"), STR("onnx") }, { STR("producer"), producer },
        { STR("opset"), str_fmt(a, "%ld", (long)m->opset) }, { STR("falaj"), STR(FALAJ_VERSION) },
    };
    const size_t from = out->len;
    TRY(model_onnx_write(a, bytes, sig, meta, sizeof meta / sizeof *meta, out, e));
    *ret = (struct onnx_about){ m->ir, m->opset, producer, m->node_count, 0 };
    struct st_file made;                        /* as it will be read: its signature has limits of its own */
    TRY(st_parse(a, out->ptr + from, out->len - from, &made, e));
    return model_onnx_check(a, &made, &sig[1], e);
}

enum errc ort_convert(struct arena *a, struct str bytes, const struct onnx_dims *dims, const struct infer_door *door,
                      struct buf *out, struct onnx_about *ret, struct err *e)
{
    const size_t from = out->len;
    enum errc rc = onnx_convert(a, bytes, dims, out, ret, e);
    if (rc != ERR_UNPROCESSABLE)
        return rc;
    out->len = from;
    const struct err first = *e;
    struct onnx_file *m = arena_try(a, sizeof *m);
    if (!m)
        return FAIL(e, LIMIT, "the model does not fit in memory");
    TRY(onnx_parse(a, bytes, m, e));
    const char *why = arena_printf(a, "%.*s", WHY_MAX, first.msg);
    if (!str_is_utf8(str_c(why)))
        why = "an operator is not supported";
    if (!door)
        return err_set(e, first.code, first.file, first.line, "%s; a machine with worker.onnxruntime takes it: "
                       "submit with engine onnxruntime", why);
    rc = keep(a, bytes, m, dims, door, why, out, ret, e);
    const struct err second = *e;
    if (rc == ERR_UNAVAILABLE || rc == ERR_UNPROCESSABLE)
        return err_set(e, first.code, second.file, second.line, "%.130s; and %.110s", why, second.msg);
    return rc;
}
