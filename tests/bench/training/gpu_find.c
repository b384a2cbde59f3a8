/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_find.c - which operation, and which launch of it, breaks on a card: each is waited for as soon as it was asked for
 * (FALAJ_GPU_FIND, together with FALAJ_GPU_EACH). */
#include "tests/bench/training/gpu_kit.h"

static const char *const names[KERNEL_COUNT] = {
#define KERNEL(name, ...) #name,
#include "workers/compute/kernels/cuda/kernel.def"
#undef KERNEL
};

static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static void (*about)(const char *, void *, const struct gpu_use *, size_t);    /* of the emulated driver; else NULL */
static int (*done)(void);
static const char *operation = "none", *kernel = "none";
static struct gpu_use used[GPU_USES_MAX];
static size_t uses, calls;
static unsigned grid[3];

static int launch_told(void *f, unsigned x, unsigned y, unsigned z, unsigned t, unsigned ty, unsigned tz, unsigned bytes,
                       void *stream, void **args, void **extra)
{
    for (int k = 0; k < KERNEL_COUNT; k++)
        kernel = ctx->function[k] == f ? names[k] : kernel;
    grid[0] = x, grid[1] = y, grid[2] = z;
    int code = launch(f, x, y, z, t, ty, tz, bytes, stream, args, extra);
    return code ? code : ctx->d.stream_sync(stream);
}

static void about_told(const char *what, void *stream, const struct gpu_use *u, size_t n)
{
    if (about)
        about(what, stream, u, n);
    if (!what)
        return;                 /* scratch memory of the same operation */
    operation = what;
    kernel = "none";
    uses = n < GPU_USES_MAX ? n : GPU_USES_MAX;
    memcpy(used, u, uses * sizeof *u);
    calls++;
}

static int done_told(void)
{
    int judged = done ? done() : 0, code = ctx->d.stream_sync(ctx->stream[QUEUE_COMPUTE]);
    code = judged ? judged : code;
    if (!code && !ctx->failed)
        return 0;
    printf("{\"stage\": \"find\", \"failed\": \"operation %zu, %s, kernel %s of %u x %u x %u blocks: code %d; tensors of", calls,
           operation, kernel, grid[0], grid[1], grid[2], code ? code : ctx->code);
    for (size_t i = 0; i < uses; i++)
        printf(" %zu", used[i].size_bytes);
    printf(" bytes\"}\n");
    fflush(stdout);
    _Exit(1);
}

void find_begin(void)
{
    const char *wants = getenv("FALAJ_GPU_FIND");
    if (!wants || !*wants)
        return;
    launch = ctx->d.launch;
    about = ctx->d.about;
    done = ctx->d.done;
    ctx->d.launch = launch_told;
    ctx->d.about = about_told;
    ctx->d.done = done_told;
}
