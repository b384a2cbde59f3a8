/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_kit.c - clock, memory and medians of bench_gpu. */
#include "tests/bench/training/gpu_kit.h"

#include <time.h>

#include "workers/compute/kernels/cuda/cuda_flash.h"
#include "workers/compute/kernels/cuda/cuda_hopper.h"

bool has_library;

static bool is_without(const char *what)
{
    const char *s = getenv("FALAJ_GPU_WITHOUT");
    return s && strstr(s, what);
}

#if defined(EMULATED)
#define CARD backend_cuda_emu
#else
#define CARD backend_cuda
#endif

struct backend gpu;

void choose_backend(void)
{
    gpu = CARD;
    if (is_without("narrow"))
        gpu.properties &= ~(unsigned)BE_NARROW;
}

void use_hopper(struct backend_ctx *c)
{
    char line[256] = "";
    const char *is_asked = getenv("FALAJ_GPU_HOPPER");
    if (is_without("hopper"))
        c->tries_hopper = false;
    if (!is_asked || !*is_asked)
        return;
    bool is_flash = cuda_flash_use(c, line, sizeof line);
    printf("{\"stage\": \"hopper\", \"ok\": %s, \"what\": \"%s\"}\n", is_flash ? "true" : "false", line);
    bool is_used = cuda_hopper_use(c, line, sizeof line);
    printf("{\"stage\": \"hopper\", \"ok\": %s, \"what\": \"%s\"}\n", is_used ? "true" : "false", line);
    fflush(stdout);
}

const char *products_by(void)
{
    return has_library ? "library" : ctx->hopper ? "wgmma" : "strips";
}

bool use_library(struct backend_ctx *c)
{
#if defined(HAS_LIBRARY) && !defined(EMULATED)
    char line[256] = "";
    bool is_used = gpu.library && !is_without("library") && gpu.library->use(c, "auto", true, line, sizeof line);
    fprintf(stderr, "%s\n", line);
    return is_used;
#else
    (void)c;
    return false;
#endif
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void stop(const char *stage)
{
    for (char *s = failure.msg; *s; s++)
        if (*s == '"' || *s == '\\' || *s < ' ')
            *s = ' ';
    printf("{\"stage\": \"%s\", \"failed\": \"%s\"}\n", stage, failure.msg);
    fflush(stdout);
    _Exit(1);                               /* a card that failed may not let go */
}

void settle(const char *stage)
{
    if (gpu.sync(ctx, &failure) != ERR_OK)
        stop(stage);
}

struct buffer *room(size_t numbers, enum elem type)
{
    enum { PIECE = 1 << 18 };
    static float piece[PIECE];              /* never zeros: they make products faster than they are */
    static uint16_t half[PIECE];
    static size_t filled;
    size_t each = elem_bytes(type), count = numbers < PIECE ? numbers : PIECE;
    struct buffer *b = gpu.alloc(ctx, numbers * each);
    if (!b) {
        FAIL(&failure, LIMIT, "no memory for %zu numbers of %zu bytes", numbers, each);
        stop("memory");
    }
    for (; filled < count; filled++) {
        union { float f; uint32_t u; } bits = { .f = piece[filled] = (float)philox_normal(3, 0, filled) };
        half[filled] = (uint16_t)((bits.u + 0x8000) >> 16);
    }
    for (size_t at = 0; at < numbers; at += PIECE)
        gpu.put(ctx, QUEUE_COMPUTE, b, at * each, type == ELEM_BF16 ? (const void *)half : (const void *)piece,
                    each * (numbers - at < PIECE ? numbers - at : PIECE));
    return b;
}

struct tensor tensor(struct buffer *b, enum elem type, unsigned rank, const size_t *dim)
{
    return tensor_at(b, 0, type, rank, dim);
}

void call_use(void *with)
{
    const struct use *u = with;
    (*gpu.kernels)[u->op][u->type](ctx, &u->call);
}

double seconds_of(const char *stage, void (*call)(void *), void *with)
{
    double took[ROUNDS], began = now();
    for (int i = 0; i < WARM; i++) {
        began = now();                      /* the last one: the first loads code and grows scratch memory */
        call(with);
        settle(stage);
    }
    double each = now() - began;
    size_t count = (size_t)(budget_s / ROUNDS / (each > 0 ? each : 1e-6));
    count = count < 1 ? 1 : count > 1000 ? 1000 : count;
    for (int r = 0; r < ROUNDS; r++) {
        began = now();
        for (size_t i = 0; i < count; i++)
            call(with);
        settle(stage);
        took[r] = (now() - began) / (double)count;
        for (int k = r; k && took[k] < took[k - 1]; k--) {
            double t = took[k];
            took[k] = took[k - 1];
            took[k - 1] = t;
        }
    }
    return took[ROUNDS / 2];
}

bool is_half(void)
{
    const char *s = getenv("FALAJ_GPU_BF16");
    return s && *s;
}

const char *type_name(enum elem t)
{
    return t == ELEM_BF16 ? "bf16" : "f32";
}

char *bench_text(size_t *ret_n)
{
    static const char *const files[] = { "CHANGELOG.md", "docs/performance/job-path.md", "docs/ARCHITECTURE.md" };
    enum { TEXT_MOST = 4 << 20, MADE = 1 << 18 };
    char *text = malloc(TEXT_MOST);
    size_t n = 0;
    for (size_t i = 0; text && i < sizeof files / sizeof *files; i++) {
        FILE *f = fopen(files[i], "re");
        n += f ? fread(text + n, 1, TEXT_MOST - n, f) : 0;
        if (f)
            fclose(f);
    }
    for (; text && n < MADE; n++)           /* away from the repository: a chain that can be learnt */
        text[n] = n ? (char)((unsigned char)text[n - 1] * 5u + philox(13, 1, n).v[0] % 3) : 1;
    *ret_n = n;
    return text;
}
