/* SPDX-License-Identifier: Apache-2.0 */
/* update.cu - the optimisers over one flat segment, however many parameters lie in it: one launch, four numbers a thread.
 *
 * Rate, corrections and the clip factor come from device memory (step.h). A factor that is no number changes nothing. */
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/gpu_math.h"

struct adamw_same {             /* for all numbers of a step */
    float b1, b2, scale, eps, inverse2, keep, rate;
};

GPU_CALL struct adamw_same adamw_same(const struct adamw_args *a)
{
    struct adamw_same s;
    s.b1 = (float)a->beta1;
    s.b2 = (float)a->beta2;
    s.scale = (float)a->step->grad_scale;
    s.eps = (float)a->eps;
    s.inverse2 = (float)(1 / a->step->correction2);
    s.keep = (float)(1 - a->step->lr * a->weight_decay);
    s.rate = (float)(a->step->lr / a->step->correction1);
    return s;
}

GPU_CALL float adamw_one(const struct adamw_same *s, float w, float g, float *m, float *v)
{
    float gj = s->scale * g;
    *m = s->b1 * *m + (1.0f - s->b1) * gj;
    *v = s->b2 * *v + (1.0f - s->b2) * gj * gj;
    float root = __builtin_sqrtf(*v * s->inverse2) + s->eps;
    return s->keep * w - s->rate * *m / root;
}

/* A block takes UPDATE_TURNS times four numbers a thread, so that what is the same for all of them is worth making. */
GPU_KERNEL(adamw, struct adamw_args, a)
{
    struct gpu_place p = gpu_place();
    size_t from = ((size_t)p.block[0] * UPDATE_TURNS * p.threads + p.thread) * 4, step = (size_t)p.threads * 4;
    if (!gpu_is_finite(a.step->grad_scale))
        return;
    struct adamw_same same = adamw_same(&a);
    for (size_t turn = 0, i = from; turn < UPDATE_TURNS && i < a.n; turn++, i += step) {
        if (a.is_wide && i + 4 <= a.n) {
            struct gpu_four w = gpu_load4(a.w + i), g = gpu_load4(a.g + i), m = gpu_load4(a.m + i), v = gpu_load4(a.v + i);
            GPU_UNROLL
            for (int l = 0; l < 4; l++)
                w.v[l] = adamw_one(&same, w.v[l], g.v[l], &m.v[l], &v.v[l]);
            gpu_store4(a.w + i, w);
            gpu_store4(a.m + i, m);
            gpu_store4(a.v + i, v);
        } else {
            for (size_t k = i; k < i + 4 && k < a.n; k++)
                a.w[k] = adamw_one(&same, a.w[k], a.g[k], &a.m[k], &a.v[k]);
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
