/* SPDX-License-Identifier: Apache-2.0 */
/* tool_infer.c - one call of a model with arrays from files. */
#include "workers/tool/tool_text.h"
#include "workers/tool/packed.h"
#include "core/data/npy.h"
#include "core/json/encode.h"
#include "core/wire/infer_wire.h"
#include "workers/compute/pool.h"

#include <stdio.h>

static const size_t INPUT_MAX = (size_t)1 << 30;

static enum errc no_fit(const char *file, const struct sig_tensor *t, struct err *e)
{
    CLEANUP(buf_releasep) struct buf want = BUF(1024);
    sig_print(&want, t, 1);
    return FAIL(e, INVALID, "%.100s: the model takes %s", file, want.ptr);
}

/* The array as the model computes with it; *rows: of all inputs alike. */
static enum errc read_array(struct arena *a, const char *file, const struct sig_tensor *t, size_t limit, const void **ret,
                            size_t *rows,
                            struct err *e)
{
    CLEANUP(buf_releasep) struct buf bytes = BUF(INPUT_MAX);
    struct npy n;
    TRY(tool_read(file, &bytes, e));
    TRY(npy_parse(buf_str(&bytes), &n, e));
    bool fits = n.rank == t->rank || (n.rank == 0 && t->rank == 1);
    for (uint32_t d = 0; fits && d < n.rank; d++)
        fits = t->dim[d] < 0 ? n.dim[d] > 0 && (!*rows || *rows == n.dim[d]) : (uint64_t)t->dim[d] == n.dim[d];
    if (!fits || (infer_is_whole(t) && n.kind == 'f'))
        return no_fit(file, t, e);
    *rows = sig_has_rows(t) ? n.dim[0] : *rows;
    float *real = arena_try(a, (n.count + 1) * sizeof *real);
    int32_t *whole = (int32_t *)(void *)real;
    if (!real)
        return FAIL(e, LIMIT, "%s does not fit in memory", file);
    for (size_t i = 0; i < n.count; i++) {
        int64_t v = infer_is_whole(t) ? npy_whole(&n, i) : 0;
        if (v < INT32_MIN || v > INT32_MAX || (limit && (v < 0 || (uint64_t)v >= limit)))
            return FAIL(e, INVALID, "%s: number %zu, %ld, is beyond what the model takes (below %zu)", file, i, (long)v, limit);
        if (infer_is_whole(t))
            whole[i] = (int32_t)v;
        else
            real[i] = (float)npy_real(&n, i);
    }
    *ret = real;
    return ERR_OK;
}

static enum errc read_inputs(struct arena *a, const struct tool_args *t, const struct infer_model *m, struct infer_io *io,
                             size_t *rows,
                             struct err *e)
{
    const struct model_sig *sig = &infer_model_info(m)->sig;
    for (size_t i = 0; i < t->input_count; i++) {
        struct str name, file;
        bool named = str_cut(str_c(t->inputs[i]), '=', &name, &file);
        int at = named ? sig_find(sig->inputs, sig->input_count, name) : i < sig->input_count ? (int)i : -1;
        if (at < 0 || io->in[at])
            return FAIL(e, INVALID, "--input %.100s: there is no such input, or it is given twice", t->inputs[i]);
        TRY(read_array(a, named ? file.ptr : t->inputs[i], &sig->inputs[at], infer_index_limit(m, (size_t)at), &io->in[at], rows,
                       e));
    }
    for (size_t i = 0; i < sig->input_count; i++)
        if (!io->in[i]) {
            CLEANUP(buf_releasep) struct buf want = BUF(4096);
            sig_print(&want, sig->inputs, sig->input_count);
            return FAIL(e, INVALID, "input \"%.*s\" is missing; the model takes %.200s", STR_ARG(sig->inputs[i].name),
                        want.ptr ? want.ptr : "");
        }
    *rows = *rows ? *rows : 1;
    return ERR_OK;
}

static enum errc write_arrays(struct arena *a, const struct tool_args *t, const struct model_sig *sig, const struct infer_io *io,
                              size_t rows, struct err *e)
{
    for (size_t i = 0; i < sig->output_count; i++) {
        const struct sig_tensor *s = &sig->outputs[i];
        CLEANUP(buf_releasep) struct buf b = BUF(INPUT_MAX);
        uint64_t dim[SIG_DIMS_MAX];
        for (uint32_t d = 0; d < s->rank; d++)
            dim[d] = s->dim[d] < 0 ? rows : (uint64_t)s->dim[d];
        if (!npy_write(&b, infer_is_whole(s) ? 'i' : 'f', 4, s->rank, dim, io->out[i], sig_count(s, rows) * 4))
            return FAIL(e, LIMIT, "output \"%.*s\" is too large", STR_ARG(s->name));
        TRY(tool_write(arena_printf(a, "%s/%zu.npy", t->output_dir, i), &b, e));
    }
    return ERR_OK;
}

static enum errc print_json(struct arena *a, const struct model_sig *sig, const struct infer_io *io, size_t rows, struct err *e)
{
    struct infer_tensor *out = ARENA_ARRAY(a, struct infer_tensor, sig->output_count);
    CLEANUP(buf_releasep) struct buf b = BUF(INPUT_MAX);
    for (size_t i = 0; i < sig->output_count; i++) {
        const struct sig_tensor *s = &sig->outputs[i];
        CLEANUP(buf_releasep) struct buf data = BUF(INPUT_MAX);
        int64_t *dim = ARENA_ARRAY(a, int64_t, s->rank);
        for (uint32_t d = 0; d < s->rank; d++)
            dim[d] = s->dim[d] < 0 ? (int64_t)rows : s->dim[d];
        if (infer_is_whole(s))
            json_add_i32s(&data, io->out[i], sig_count(s, rows));
        else
            json_add_f32s(&data, io->out[i], sig_count(s, rows));
        out[i] = (struct infer_tensor){ .name = s->name, .datatype = s->datatype, .shape = { dim, s->rank },
                                        .data = { str_dup(a, buf_str(&data)) } };
    }
    json_encode_list(&infer_tensor_schema, out, sig->output_count, &b);
    if (b.overflow)
        return FAIL(e, LIMIT, "the outputs are too large to be printed; use --output DIR");
    printf("%s\n", b.ptr);
    return ERR_OK;
}

static enum errc call(struct arena *a, const struct tool_args *t, const struct infer_model *m, struct err *e)
{
    const struct model_sig *sig = &infer_model_info(m)->sig;
    struct infer_session *s = NULL;
    struct infer_io io = { { 0 }, { 0 } };
    size_t rows = 0;
    TRY(read_inputs(a, t, m, &io, &rows, e));
    for (size_t i = 0; i < sig->output_count; i++)
        if (!(io.out[i] = arena_try(a, sig_count(&sig->outputs[i], rows) * 4 + 4)))
            return FAIL(e, LIMIT, "the outputs do not fit in memory");
    TRY(infer_session_new(m, &s, e));
    enum errc rc = infer_run(s, &io, rows, e);
    infer_session_free(s);
    TRY(rc);
    return t->output_dir ? write_arrays(a, t, sig, &io, rows, e) : print_json(a, sig, &io, rows, e);
}

enum errc tool_infer(struct arena *a, const struct tool_args *t, struct err *e)
{
    CLEANUP(pool_freep) struct pool *pool = NULL;
    const struct backend *be;
    CLEANUP(packed_closep) struct packed *packed = ARENA_NEW(a, struct packed);
    struct infer_model *m = NULL;
    size_t bytes;
    if (t->prompt && t->packed)
        return FAIL(e, INVALID, "--packed %.100s: a decoder's weights are not kept", t->packed);
    if (t->prompt) {
        CLEANUP(tool_unmap) struct tool_map file = { NULL, 0 };
        struct st_file st;
        return tool_is_text(a, t->model, &file, &st) ? tool_text_infer(a, t, &st, e)
                                                     : FAIL(e, UNPROCESSABLE, "%.100s is no decoder: it takes --input", t->model);
    }
    TRY(tool_backend(t, &be, &pool, e));
    TRY(packed_open(t->packed, t->model, be->name, packed, e));
    TRY(tool_load(a, t, pool, be, t->packed ? &packed->kept : NULL, &m, &bytes, e));
    enum errc rc = call(a, t, m, e);
    if (rc == ERR_OK)
        rc = packed_keep(packed, m, e);
    infer_model_free(m);
    return rc;
}
