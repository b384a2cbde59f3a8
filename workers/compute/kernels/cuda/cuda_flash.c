/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_flash.c - the attention of one generation of cards (flash_wgmma_int.h): loaded where the card is of it, compared
 * with its twin once, and used from then on; whatever goes wrong on the way, the twin stays. */
#include "workers/compute/kernels/cuda/cuda_flash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/assert.h"

enum { MAJOR = 9 };
static const char *const images[] = { "flash_hopper", "flash_keys_hopper" };
enum { IMAGES = sizeof images / sizeof *images };
static const struct {
    const char *name;
    unsigned threads, shared_bytes;
} kernels[OWN_COUNT] = {
#define KERNEL(...)
#define FLASH_HOPPER(name, threads, shared_bytes) { "kernel_" #name, threads, shared_bytes },
#include "workers/compute/kernels/cuda/kernel.def"
#undef FLASH_HOPPER
#undef KERNEL
};

struct flash_hopper {
    void *module[IMAGES], *function[OWN_COUNT];
};

bool cuda_flash_is_own(const char *image)
{
    for (int i = 0; i < IMAGES; i++)
        if (!strcmp(image, images[i]))
            return true;
    return false;
}

static bool load(struct backend_ctx *c, struct flash_hopper *f)
{
    int major = 0, minor = 0, n = 0;
    if (c->d.device_attribute(&major, GPU_MAJOR, c->device) || c->d.device_attribute(&minor, GPU_MINOR, c->device)
        || major != MAJOR || minor)
        return false;
    for (const struct gpu_image *i = c->images; i->name; i++)
        if (cuda_flash_is_own(i->name) && c->d.module_load(&f->module[n++], i->text))
            return false;
    for (int k = 0; k < OWN_COUNT; k++) {
        for (int m = 0; m < n && !f->function[k]; m++)
            if (c->d.module_function(&f->function[k], f->module[m], kernels[k].name))
                f->function[k] = NULL;
        if (!f->function[k] || c->d.function_set(f->function[k], GPU_SHARED_MOST, (int)kernels[k].shared_bytes))
            return false;
    }
    return true;
}

void cuda_flash_launch(struct backend_ctx *c, enum flash_hopper_kernel k, size_t x, size_t y, size_t z, const void *args)
{
    void *arguments[] = { (void *)(uintptr_t)args };
    if (cuda_is_grid(c, x, y, z))
        cuda_did(c, c->d.launch(c->flash->function[k], (unsigned)x, (unsigned)y, (unsigned)z, kernels[k].threads, 1, 1,
                            kernels[k].shared_bytes, c->stream[QUEUE_COMPUTE], arguments, NULL), kernels[k].name);
}

/* A comparison: the same numbers through both. Results lie behind each other, by the twin and by wgmma. */
enum { N = 1, T = 200, HEADS = 2, KV = 1, D = 64, ROW = (HEADS + 2 * KV) * D };
enum { QKV, DY, Y, SUMS, DX, TENSORS };
struct trial {
    struct buffer *b[TENSORS][2];
    struct tensor t[TENSORS][2];
    uint16_t numbers[T * ROW], results[2][T * ROW];
};
static const size_t dims[TENSORS][3] = { { N, T, ROW }, { N, T, HEADS * D }, { N, T, HEADS * D }, { N, HEADS, T },
                                         { N, T, ROW } };

static enum elem type_of(int i)
{
    return i == SUMS ? ELEM_F32 : ELEM_BF16;
}

static struct trial *trial_new(void)
{
    return calloc(1, sizeof(struct trial));
}

static bool trial_fill(struct backend_ctx *c, struct trial *t)
{
    uint64_t random = 9;
    for (size_t i = 0; i < T * ROW; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        t->numbers[i] = bf16_of(2 * (float)((double)(int64_t)(random >> 11) / (double)(1ll << 52) - 1));
    }
    for (int i = 0; i < TENSORS; i++)
        for (int by = 0; by < 2; by++) {
            size_t n = dims[i][0] * dims[i][1] * dims[i][2];
            if (i < Y && by)                        /* inputs: one of each */
                continue;
            if (!(t->b[i][by] = cuda_alloc(c, n * elem_bytes(type_of(i)))))
                return false;
            t->t[i][by] = tensor_at(t->b[i][by], 0, type_of(i), 3, dims[i]);
            if (i < Y)
                cuda_put(c, QUEUE_COMPUTE, t->b[i][by], 0, t->numbers, n * sizeof *t->numbers);
        }
    return true;
}

static void trial_free(struct backend_ctx *c, struct trial *t)
{
    for (int i = 0; t && i < TENSORS; i++)
        cuda_free(c, t->b[i][0]), cuda_free(c, t->b[i][1]);
    free(t);
}

/* |x - y| / |y| of both results, from the card. */
static double off(struct backend_ctx *c, struct trial *t, int i)
{
    size_t n = tensor_count(&t->t[i][0]);
    struct err e;
    double diff = 0, norm = 0;
    for (int by = 0; by < 2; by++)
        cuda_get(c, QUEUE_COMPUTE, t->b[i][by], 0, t->results[by], n * elem_bytes(type_of(i)));
    if (cuda_sync(c, &e) != ERR_OK)
        return (double)NAN;
    for (size_t j = 0; j < n; j++) {
        double x[2];
        for (int by = 0; by < 2; by++) {
            float f;
            memcpy(&f, (const char *)t->results[by] + (i == SUMS ? 4 * j : 0), sizeof f);
            x[by] = (double)(i == SUMS ? f : bf16_to_f32(t->results[by][j]));
        }
        diff += (x[1] - x[0]) * (x[1] - x[0]);
        norm += x[0] * x[0];
    }
    return sqrt(diff / norm);
}

static bool agrees(struct backend_ctx *c, struct flash_hopper *f, struct trial *t, bool is_causal, double *worst)
{
    const struct op_attr attr = { .heads = HEADS, .kv_heads = KV, .flags = is_causal ? ATTN_CAUSAL : 0 };
    for (int by = 0; by < 2; by++) {
        const struct op_call forward = { attr, { &t->t[QKV][0] }, { &t->t[Y][by], &t->t[SUMS][by] } };
        const struct op_call backward = { attr, { &t->t[QKV][0], &t->t[Y][0], &t->t[SUMS][0], &t->t[DY][0] }, { &t->t[DX][by] } };
        c->flash = by ? f : NULL;
        cuda_kernels[OP_ATTENTION][ELEM_BF16](c, &forward);
        cuda_kernels[OP_ATTENTION_BWD][ELEM_BF16](c, &backward);
    }
    c->flash = NULL;
    for (int i = Y; i < TENSORS; i++) {
        double by = off(c, t, i);
        *worst = by <= *worst ? *worst : by;
        if (!(by <= (i == SUMS ? 1e-5 : 4e-3)))                 /* NaN is not */
            return false;
    }
    return true;
}

static struct flash_hopper *flash_hopper_new(void)
{
    return calloc(1, sizeof(struct flash_hopper));
}

bool cuda_flash_use(struct backend_ctx *c, char *ret, size_t size)
{
    struct flash_hopper *f = flash_hopper_new();
    struct trial *t = trial_new();
    double worst = 0;
    struct err e;
    cuda_flash_close(c);
    snprintf(ret, size, "attention by mma.sync: no card of compute capability 9.0, or no code for it");
    bool is_good = f && t && !c->d.context_use(c->context) && load(c, f);
    if (is_good) {
        is_good = trial_fill(c, t) && agrees(c, f, t, true, &worst) && agrees(c, f, t, false, &worst);
        snprintf(ret, size, is_good ? "attention by wgmma: at most %.1e off its twin's"
                                    : "attention by wgmma: %g off its twin's: not used", worst);
    }
    trial_free(c, t);
    (void)cuda_sync(c, &e);                     /* what went wrong was wgmma's, and it is not used */
    c->flash = f;
    if (!is_good)
        cuda_flash_close(c);
    return is_good;
}

void cuda_flash_close(struct backend_ctx *c)
{
    for (int i = 0; c->flash && i < IMAGES; i++)
        if (c->flash->module[i])
            (void)c->d.module_unload(c->flash->module[i]);
    free(c->flash);
    c->flash = NULL;
}
