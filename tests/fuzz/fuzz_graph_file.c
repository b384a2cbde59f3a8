/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_graph_file.c - any bytes as a model file of ours: what loads runs on one row of zeros. */
/* USES: core_base core_data workers_compute */
#include <stdlib.h>

#include "workers/compute/infer/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct infer_model *m = NULL;
    struct infer_session *s = NULL;
    struct err e;
    char *copy = malloc(size + 1);      /* at a place of its own, as a file that was read */
    memcpy(copy, data, size);
    struct arena *a = arena_new((size_t)64 << 20);
    if (infer_model_load(&backend_ref, NULL, copy, size, &m, &e) == ERR_OK && infer_model_bytes(m) < (size_t)1 << 24) {
        const struct model_sig *sig = &infer_model_info(m)->sig;
        struct infer_io io = { { 0 }, { 0 } };
        bool has_room = true;
        for (size_t i = 0; i < sig->input_count; i++)
            has_room = has_room && sig_count(&sig->inputs[i], 1) < 1 << 16
                       && (io.in[i] = arena_try(a, sig_count(&sig->inputs[i], 1) * sizeof(float) + 4));
        for (size_t i = 0; i < sig->output_count; i++)
            has_room = has_room && sig_count(&sig->outputs[i], 1) < 1 << 16
                       && (io.out[i] = arena_try(a, sig_count(&sig->outputs[i], 1) * sizeof(float) + 4));
        if (has_room && infer_session_new(m, &s, &e) == ERR_OK)
            (void)!infer_run(s, &io, 1, &e);
    }
    infer_session_free(s);
    infer_model_free(m);
    arena_free(a);
    free(copy);
    return 0;
}
