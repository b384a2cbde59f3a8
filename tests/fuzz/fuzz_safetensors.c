/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_safetensors.c - any bytes as a model file: parse, check, load, run one row. Nothing may crash, read out of bounds or leak. */
/* USES: core_base core_data workers_compute */
#include <stdlib.h>

#include "workers/compute/infer/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;
    struct infer_model *m = NULL;
    struct infer_session *s = NULL;
    if (infer_model_load(&backend_ref, data, size, &m, &e) != ERR_OK)
        return 0;
    const struct infer_info *info = infer_model_info(m);
    if (infer_session_new(m, &s, &e) == ERR_OK) {
        float *x = calloc(info->inputs, sizeof *x), *p = calloc(info->classes, sizeof *p);
        int32_t label;
        if (x && p)
            (void)infer_run(s, x, 1, NULL, p, &label, &e);
        free(x);
        free(p);
    }
    infer_session_free(s);
    infer_model_free(m);
    return 0;
}
