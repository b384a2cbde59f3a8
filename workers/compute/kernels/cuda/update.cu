/* SPDX-License-Identifier: Apache-2.0 */
/* update.cu - the optimisers over one flat segment, however many parameters lie in it: one launch, four numbers a thread.
 *
 * Rate, corrections and the clip factor come from device memory (step.h). A factor that is no number changes nothing. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

GPU_CALL float adamw_one(const struct adamw_args *a, float w, float g, float *m, float *v)
{
    float b1 = (float)a->beta1, b2 = (float)a->beta2, gj = (float)a->step->grad_scale * g;
    *m = b1 * *m + (1.0f - b1) * gj;
    *v = b2 * *v + (1.0f - b2) * gj * gj;
    float root = __builtin_sqrtf(*v * (float)(1 / a->step->correction2)) + (float)a->eps;
    return (float)(1 - a->step->lr * a->weight_decay) * w - (float)(a->step->lr / a->step->correction1) * *m / root;
}

GPU_KERNEL(adamw, struct adamw_args, a)
{
    size_t i = gpu_index() * 4;
    if (i < a.n && gpu_is_finite(a.step->grad_scale)) {
        if (a.is_wide && i + 4 <= a.n) {
            struct gpu_four w = gpu_load4(a.w + i), g = gpu_load4(a.g + i), m = gpu_load4(a.m + i), v = gpu_load4(a.v + i);
            for (int l = 0; l < 4; l++)
                w.v[l] = adamw_one(&a, w.v[l], g.v[l], &m.v[l], &v.v[l]);
            gpu_store4(a.w + i, w);
            gpu_store4(a.m + i, m);
            gpu_store4(a.v + i, v);
        } else {
            for (size_t end = i + 4 < a.n ? i + 4 : a.n; i < end; i++)
                a.w[i] = adamw_one(&a, a.w[i], a.g[i], &a.m[i], &a.v[i]);
        }
    }
}

GPU_CALL float sgd_one(const struct sgd_args *a, float w, float g, float *v)
{
    *v = (float)a->momentum * *v + (float)a->step->grad_scale * g + (float)a->weight_decay * w;
    return w - (float)a->step->lr * *v;
}

GPU_KERNEL(sgd, struct sgd_args, a)
{
    size_t i = gpu_index() * 4;
    if (i < a.n && gpu_is_finite(a.step->grad_scale)) {
        if (a.is_wide && i + 4 <= a.n) {
            struct gpu_four w = gpu_load4(a.w + i), g = gpu_load4(a.g + i), v = gpu_load4(a.v + i);
            for (int l = 0; l < 4; l++)
                w.v[l] = sgd_one(&a, w.v[l], g.v[l], &v.v[l]);
            gpu_store4(a.w + i, w);
            gpu_store4(a.v + i, v);
        } else {
            for (size_t end = i + 4 < a.n ? i + 4 : a.n; i < end; i++)
                a.w[i] = sgd_one(&a, a.w[i], a.g[i], &a.v[i]);
        }
    }
}
