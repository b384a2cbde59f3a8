/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_safetensors.c - any bytes as a model file: parse, check, load, run one row; the same in pieces says the same. Nothing may
 * crash, read out of bounds or leak. */
/* USES: core_base core_data workers_compute */
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/data/model_graph.h"
#include "core/data/model_mlp.h"
#include "workers/compute/infer/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As the registry reads it; the size of a piece follows from the input. */
static enum errc in_pieces(const uint8_t *data, size_t size)
{
    struct err e;
    struct model_mlp mlp;
    struct arena *a = arena_new((size_t)64 << 20);
    struct model_stream stream = { .arena = a, .size_bytes = size };
    size_t piece = 1 + size % 97;
    enum errc rc = ERR_OK;
    for (size_t at = 0; rc == ERR_OK && at < size; at += piece)
        rc = model_stream_add(&stream, data + at, size - at < piece ? size - at : piece, &e);
    if (rc == ERR_OK)
        rc = model_stream_end(&stream, &mlp, &e);
    model_stream_release(&stream);
    arena_free(a);
    return rc;
}

/* has_graph: its numbers are looked at in pieces alone, the rest of it when it is loaded. */
static enum errc whole(const uint8_t *data, size_t size, bool *has_graph)
{
    struct err e;
    struct st_file file;
    struct model_mlp mlp;
    struct arena *a = arena_new((size_t)64 << 20);
    enum errc rc = st_parse(a, data, size, &file, &e);
    *has_graph = rc == ERR_OK && model_graph_is(&file);
    if (rc == ERR_OK)
        rc = model_mlp_check(&file, &mlp, &e);
    arena_free(a);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;
    uint8_t *aligned = malloc(size + 1);
    if (!aligned)
        return 0;
    memcpy(aligned, data, size);
    bool has_graph;
    enum errc rc = whole(aligned, size, &has_graph);
    if (in_pieces(aligned, size) != rc && !has_graph)
        abort();
    free(aligned);
    struct infer_model *m = NULL;
    struct infer_session *s = NULL;
    if (infer_model_load(&backend_ref, NULL, data, size, &m, &e) != ERR_OK)
        return 0;
    const struct model_sig *sig = &infer_model_info(m)->sig;
    struct infer_io io = { { 0 }, { 0 } };
    struct arena *a = arena_new((size_t)64 << 20);
    bool has_room = true;
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++) {
        bool is_input = i < sig->input_count;
        const struct sig_tensor *t = is_input ? &sig->inputs[i] : &sig->outputs[i - sig->input_count];
        void *p = sig_count(t, 1) < 1 << 20 ? arena_try(a, sig_count(t, 1) * sizeof(float)) : NULL;
        has_room = has_room && p;
        if (is_input)
            io.in[i] = p;
        else
            io.out[i - sig->input_count] = p;
    }
    if (has_room && infer_session_new(m, &s, &e) == ERR_OK)
        (void)infer_run(s, &io, 1, &e);
    arena_free(a);
    infer_session_free(s);
    infer_model_free(m);
    return 0;
}
