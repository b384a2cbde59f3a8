/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_hopper.c - the products of one generation of cards (hopper_int.h): loaded where the card is of it, compared with the
 * strips once, and used from then on; whatever goes wrong on the way, strips make the products.
 *
 * The comparison: each way that factors can lie, with edges along m, n and k, more stages than there is room for, more tiles than
 * blocks; a narrow result, and the depth cut; by the norm of the difference from the strips'. */
#include "workers/compute/kernels/cuda/cuda_hopper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/assert.h"

enum { M = 136, N = 264, K = 264, CUT = 192, BLOCKS = 3, MAJOR = 9, THREADS = 256, SHARED = 196608 + 1024 };
enum { OUT_BYTES = 2 * M * N * sizeof(float) };

/* By way: whether a lies across times two, and whether b does. */
static const char *const names[] = {
#define KERNEL(...)
#define HOPPER(name) "kernel_" #name,
#include "workers/compute/kernels/cuda/kernel.def"
#undef HOPPER
#undef KERNEL
};
enum { WAYS = sizeof names / sizeof *names };

struct hopper {
    void *module, *function[WAYS];
    int processors;
};

static bool load(struct backend_ctx *c, struct hopper *h)
{
    const struct gpu_image *image = c->images;
    int major = 0, minor = 0;
    while (image->name && strcmp(image->name, HOPPER_IMAGE))
        image++;
    if (!image->name || c->d.device_attribute(&major, GPU_MAJOR, c->device)
        || c->d.device_attribute(&minor, GPU_MINOR, c->device)
        || major != MAJOR || minor || c->d.device_attribute(&h->processors, GPU_PROCESSORS, c->device) || h->processors < 1
        || c->d.module_load(&h->module, image->text))
        return false;
    for (int i = 0; i < WAYS; i++)
        if (c->d.module_function(&h->function[i], h->module, names[i])
            || c->d.function_set(h->function[i], GPU_SHARED_MOST, SHARED))
            return false;
    return true;
}

static int launch(struct backend_ctx *c, const struct hopper *h, bool a_across, bool b_across,
                  const struct product_strip_args *p, size_t parts, size_t blocks)
{
    size_t count = ((p->m + HOPPER_ROWS - 1) / HOPPER_ROWS) * (((size_t)p->n + HOPPER_COLS - 1) / HOPPER_COLS) * parts;
    blocks = blocks < count ? blocks : count;
    struct product_hopper_args a = { *p, (uint32_t)count, (uint32_t)blocks };
    void *arguments[] = { &a };
    return c->d.launch(h->function[2 * a_across + b_across], (unsigned)blocks, 1, 1, THREADS, 1, 1, SHARED,
                       c->stream[QUEUE_COMPUTE], arguments, NULL);
}

bool cuda_hopper_product(struct backend_ctx *c, bool a_across, bool b_across, const struct product_strip_args *p, size_t parts)
{
    if (!c->hopper)
        return false;
    if (!c->failed)
        cuda_did(c, launch(c, c->hopper, a_across, b_across, p, parts, (size_t)c->hopper->processors),
                 names[2 * a_across + b_across]);
    return true;
}

/* |x - y| / |y|, of bf16 or f32. */
static double off(const unsigned char *x, const unsigned char *y, size_t n, bool is_narrow)
{
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        float a, b;
        if (is_narrow) {
            uint16_t h[2];
            memcpy(&h[0], x + 2 * i, 2), memcpy(&h[1], y + 2 * i, 2);
            a = bf16_to_f32(h[0]), b = bf16_to_f32(h[1]);
        } else {
            memcpy(&a, x + 4 * i, 4), memcpy(&b, y + 4 * i, 4);
        }
        diff += ((double)a - (double)b) * ((double)a - (double)b);
        norm += (double)b * (double)b;
    }
    return sqrt(diff / norm);
}

/* Inputs and results of the comparison, on the card and here. */
struct trial {
    gpu_ptr at;
    unsigned char *host;
};
enum { AT_A, AT_B = AT_A + 2 * M * K, AT_BIAS = AT_B + 2 * N * K, AT_OUT = (AT_BIAS + 4 * N + 255) / 256 * 256,
       TRIAL_BYTES = AT_OUT + 2 * OUT_BYTES };

static void fill(unsigned char *to)
{
    uint64_t random = 9;
    for (size_t i = 0; i < AT_OUT / 2; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint16_t b = bf16_of((float)((double)(int64_t)(random >> 11) / (double)(1ll << 52) - 1));
        memcpy(to + 2 * i, &b, 2);
    }
    for (size_t i = 0; i < N; i++) {
        float bias = (float)(i % 7) - 3;
        memcpy(to + AT_BIAS + 4 * i, &bias, 4);
    }
    for (size_t i = 0; i < 2 * OUT_BYTES / 4; i++) {            /* what is accumulated: the same for both */
        float before = (float)(i % (OUT_BYTES / 4) % 11) - 5;
        memcpy(to + AT_OUT + 4 * i, &before, 4);
    }
}

static bool is_same(struct backend_ctx *c, const struct hopper *h, const struct trial *t, int way, size_t parts, bool is_narrow,
                    double *ret)
{
    bool a_across = way & 2, b_across = way & 1, has_end = parts == 1;
    char *at = (char *)(uintptr_t)t->at;
    struct product_strip_args p = { (void *)(at + AT_A), (void *)(at + AT_B), has_end ? (void *)(at + AT_BIAS) : NULL,
                                    at + AT_OUT, a_across ? M : K, b_across ? N : K, N, 0, 0, M * N, M, N, K,
                                    parts == 1 ? K : CUT, is_narrow, true, has_end && !is_narrow, has_end && is_narrow };
    const struct gpu_use use = { t->at, TRIAL_BYTES, true, true, false };
    size_t n = parts * M * N;
    void *stream = c->stream[QUEUE_COMPUTE];
    unsigned char *got = t->host + TRIAL_BYTES;
    if (c->d.copy_in(t->at, t->host, TRIAL_BYTES, stream))
        return false;
    if (c->d.about)
        c->d.about("a comparison of products", stream, &use, 1);
    bool is_launched = !launch(c, h, a_across, b_across, &p, parts, BLOCKS);
    p.out = at + AT_OUT + OUT_BYTES;
    cuda_strip_launch(c, a_across, b_across, &p, parts, 1);
    cuda_end(c);
    if (!is_launched || c->failed || c->d.copy_out(got, t->at + AT_OUT, 2 * OUT_BYTES, stream) || c->d.stream_sync(stream))
        return false;
    *ret = off(got, got + OUT_BYTES, n, is_narrow);
    return *ret <= (is_narrow ? 4e-3 : 2e-5);                   /* NaN is not */
}

static bool trial_new(struct backend_ctx *c, struct trial *t)
{
    *t = (struct trial){ 0, malloc(TRIAL_BYTES + 2 * OUT_BYTES) };
    return t->host && !c->d.memory_get(&t->at, TRIAL_BYTES);
}

static bool agrees(struct backend_ctx *c, const struct hopper *h, char *ret, size_t size)
{
    struct trial t;
    bool is_good = trial_new(c, &t);
    double worst = 0;
    if (is_good)
        fill(t.host);
    for (int i = 0; i < WAYS + 2 && is_good; i++) {
        int way = i < WAYS ? i : i == WAYS ? 0 : WAYS - 1;      /* the last is what a weight's gradient is */
        double by = NAN;
        is_good = is_same(c, h, &t, way, i > WAYS ? 2 : 1, i == WAYS, &by);
        worst = is_good && by <= worst ? worst : by;
        if (!is_good)
            snprintf(ret, size, "products by wgmma: comparison %d is %g off the strips': not used", i, by);
    }
    if (is_good)
        snprintf(ret, size, "products by wgmma: at most %.1e off the strips'", worst);
    if (t.at)
        (void)c->d.memory_free(t.at);           /* a card that fails here fails at what comes next, too */
    free(t.host);
    return is_good;
}

static struct hopper *hopper_new(void)
{
    return calloc(1, sizeof(struct hopper));
}

bool cuda_hopper_use(struct backend_ctx *c, char *ret, size_t size)
{
    struct hopper *h = hopper_new();
    cuda_hopper_close(c);
    snprintf(ret, size, "products by strips: no card of compute capability 9.0, or no code for it");
    if (h && !c->d.context_use(c->context) && load(c, h) && agrees(c, h, ret, size)) {
        c->hopper = h;
        return true;
    }
    if (h && h->module)
        (void)c->d.module_unload(h->module);
    free(h);
    return false;
}

void cuda_hopper_try(struct backend_ctx *c)
{
    char line[256];
    if (c->capture || c->failed)
        return;
    c->tries_hopper = false;
    (void)cuda_hopper_use(c, line, sizeof line);        /* either way there are products */
}

void cuda_hopper_close(struct backend_ctx *c)
{
    if (c->hopper)
        (void)c->d.module_unload(c->hopper->module);
    free(c->hopper);
    c->hopper = NULL;
}
