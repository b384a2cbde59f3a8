/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_onnx.c - any bytes as an ONNX model: looked through for data outside, read, import, write, load, run one row; what
 * converts must load. */
/* USES: core_base core_data workers_compute */
#include <stdlib.h>

#include "workers/compute/infer/model.h"
#include "workers/compute/onnx/convert.h"
#include "workers/compute/onnx/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_one(struct arena *a, const struct infer_model *m)
{
    const struct model_sig *sig = &infer_model_info(m)->sig;
    struct infer_io io = { { 0 }, { 0 } };
    struct infer_session *s = NULL;
    struct err e;
    bool has_room = true;
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++) {
        const struct sig_tensor *t = i < sig->input_count ? &sig->inputs[i] : &sig->outputs[i - sig->input_count];
        void *p = sig_count(t, 1) < 1 << 16 ? arena_try(a, sig_count(t, 1) * sizeof(float)) : NULL;
        has_room = has_room && p;
        if (i < sig->input_count)
            io.in[i] = p;
        else
            io.out[i - sig->input_count] = p;
    }
    if (has_room && infer_session_new(m, &s, &e) == ERR_OK)
        (void)infer_run(s, &io, 1, &e);
    infer_session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct buf file = BUF((size_t)16 << 20);
    struct onnx_about about;
    struct infer_model *m = NULL;
    struct err e;
    (void)!onnx_is_inside(str_n((const char *)data, size), &e);
    if (onnx_convert(a, str_n((const char *)data, size), NULL, &file, &about, &e) == ERR_OK
        && infer_model_load(&backend_ref, NULL, file.ptr, file.len, &m, &e) == ERR_OK && infer_model_bytes(m) < (size_t)1 << 24)
        run_one(a, m);
    infer_model_free(m);
    buf_release(&file);
    arena_free(a);
    return 0;
}
