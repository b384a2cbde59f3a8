/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - the steps in their order. */
#include "workers/compute/onnx/convert.h"
#include "core/base/cleanup.h"
#include "workers/compute/infer/graph_file.h"

/* The graph must come out of its own text as it went in: who stores the file need not run it to know that it loads. */
static enum errc read_back(struct arena *a, const struct buf *file, size_t from, struct err *e)
{
    CLEANUP(graph_freep) struct graph *g = NULL;
    struct model_sig *sig = ARENA_NEW(a, struct model_sig);
    struct st_file f;
    TRY(st_parse(a, file->ptr + from, file->len - from, &f, e));
    return graph_file_read(a, &f, sig, &g, e);
}

enum errc onnx_convert(struct arena *a, struct str bytes, const struct onnx_dims *dims, struct buf *out, struct onnx_about *ret,
                       struct err *e)
{
    CLEANUP(graph_freep) struct graph *g = NULL;
    struct model_sig *sig = arena_try(a, sizeof *sig);
    struct onnx_file *m = arena_try(a, sizeof *m);
    size_t from = out->len;
    if (!sig || !m)
        return FAIL(e, LIMIT, "the model does not fit in memory");
    TRY(onnx_parse(a, bytes, m, e));
    TRY(onnx_import(a, m, dims, &g, sig, e));
    struct str producer = m->producer.ptr ? m->producer : STR("");
    const struct st_pair meta[] = {
        { STR("source"), STR("onnx") },
        { STR("producer"), producer },
        { STR("opset"), str_fmt(a, "%ld", (long)m->opset) },
        { STR("falaj"), STR(FALAJ_VERSION) },
    };
    TRY(graph_file_write(a, g, sig, meta, sizeof meta / sizeof *meta, out, e));
    *ret = (struct onnx_about){ m->ir, m->opset, producer, m->node_count, (size_t)g->node_count };
    graph_freep(&g);
    return read_back(a, out, from, e);
}
