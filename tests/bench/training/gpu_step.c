/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_step.c - whole steps of gpt, cnn and mlp: items a second, share of the card's peak, launches, the device's time of a
 * captured step, and where the time of a step goes by operation.
 *
 * MFU is (6N + 6·layers·width·T)·tokens/s over 989.4 TFLOP/s (bf16 of the H100 and H200 by their datasheet; attention's causal
 * half is counted: llm.c's formula). host_gap: 1 - device time of the captured step / time of a step with its batch, scalars
 * and loss. resident: without the batch's way to the card, as PyTorch's steps are. */
#include "tests/bench/training/gpu_step.h"
#include "workers/compute/kernels/cards.h"

#include <dlfcn.h>

enum { PATTERN = 65521, STEPS_MOST = 400 };
static const double PEAK = 989.4e12;

static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static size_t launches;

static int count_launch(void *f, unsigned x, unsigned y, unsigned z, unsigned t, unsigned ty, unsigned tz, unsigned bytes,
                        void *stream, void **args, void **extra)
{
    launches++;
    return launch(f, x, y, z, t, ty, tz, bytes, stream, args, extra);
}

/* First values without a minute of logarithms: a run of normal numbers, repeated (its length divides no row). */
static void first_values(struct net *n)
{
    float *pattern = malloc(2 * PATTERN * sizeof *pattern), *piece = pattern + PATTERN;
    struct buffer *params = run_region(n->run, REGION_PARAMS);
    for (size_t i = 0; i < PATTERN; i++)
        pattern[i] = (float)philox_normal(7, 0, i);
    for (size_t i = 0; i < n->first_count; i++) {
        const struct net_first *p = &n->firsts[i];
        for (size_t j = 0; j < PATTERN; j++)
            piece[j] = (float)(p->deviation > 0 ? p->deviation * (double)pattern[(j + 977 * i) % PATTERN] : p->fill);
        for (size_t at = 0; at < p->count; at += PATTERN)
            gpu.put(ctx, QUEUE_COMPUTE, params, (p->at + at) * sizeof(float), piece,
                        sizeof(float) * (p->count - at < PATTERN ? p->count - at : PATTERN));
    }
    settle("first values");
    free(pattern);
}

void step_new(struct step *s, const struct train_job *job, struct net_shape shape, size_t rows)
{
    const struct net_spec spec = { ELEM_F32, job, shape, rows, .has_update = true, .is_bf16 = is_half(),
                                   .launches_each = getenv("FALAJ_GPU_EACH") != NULL };
    *s = (struct step){ .rows = rows, .at = { .lr = 1e-4, .correction1 = 0.1, .correction2 = 0.001, .clip_norm = 1,
                                              .grad_scale = 1, .loss_scale = 1, .is_training = 1 } };
    if (net_new(&gpu, ctx, &spec, &s->n, &failure) != ERR_OK)
        stop("net");
    s->items = rows * s->n->items;
    size_t inputs = rows * shape.inputs;
    s->pinned = backend_host_alloc(&gpu, ctx, inputs * sizeof(float));       /* as the engine's batches are */
    s->x = s->pinned ? s->pinned : calloc(inputs, sizeof(float));
    s->labels = calloc(s->items, sizeof(int32_t));
    for (size_t i = 0; s->x && i < inputs; i++)
        if (job->family == TRAIN_GPT)
            ((int32_t *)s->x)[i] = (int32_t)(philox(1, 1, i).v[0] % shape.outputs);
        else
            ((float *)s->x)[i] = (float)philox_normal(1, 0, i);
    for (size_t i = 0; s->labels && i < s->items; i++)
        s->labels[i] = (int32_t)(philox(1, 2, i).v[0] % shape.outputs);
    first_values(s->n);
}

void step_free(struct step *s)
{
    net_free(s->n);
    if (s->pinned)
        backend_cards(&gpu)->host_free(ctx, s->pinned);
    else
        free(s->x);
    free(s->labels);
}

static double run(struct step *s, bool is_resident)
{
    double loss = 0;
    if (!is_resident)
        net_put(s->n, s->x, s->labels, s->rows);
    net_exec(s->n, s->rows, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, false, &s->at);
    s->at.counter++;
    if (net_loss(s->n, &loss, &failure) != ERR_OK)
        stop("step");
    return loss / (double)s->items;
}

double step_run(struct step *s)
{
    return run(s, false);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median device time of a captured step alone, in seconds; 0: it cannot be told. */
static double device_seconds(struct step *s)
{
    enum { TIMES = 9 };
    int (*elapsed)(float *, void *, void *) = NULL;
    double took[TIMES];
    void *ev[2] = { 0 };
    float ms = 0;
#if !defined(EMULATED)
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&elapsed = lib ? dlsym(lib, "cuEventElapsedTime") : NULL;
#endif
    if (!elapsed || ctx->d.event_new(&ev[0], 0) || ctx->d.event_new(&ev[1], 0))
        return 0;
    for (int i = 0; i < TIMES; i++) {
        (void)ctx->d.event_record(ev[0], ctx->stream[QUEUE_COMPUTE]);
        run_exec(s->n->run, s->rows, PHASE_FORWARD | PHASE_BACKWARD | PHASE_UPDATE, false);
        (void)ctx->d.event_record(ev[1], ctx->stream[QUEUE_COMPUTE]);
        settle("device time");
        took[i] = elapsed(&ms, ev[0], ev[1]) ? 0 : 1e-3 * (double)ms;
    }
    (void)ctx->d.event_free(ev[0]), (void)ctx->d.event_free(ev[1]);
    qsort(took, TIMES, sizeof *took, by_size);
    return took[TIMES / 2];
}

/* Seconds of a step; is_resident: its batch is on the card already. */
static double median_step(struct step *s, bool is_resident, double seconds, size_t *ret_count, double *ret_loss)
{
    static double took[STEPS_MOST];
    size_t n = 0;
    for (double began = now(); n < STEPS_MOST && (n < STEPS_LEAST || now() - began < seconds); n++) {
        double at = now();
        *ret_loss = run(s, is_resident);
        took[n] = now() - at;
    }
    qsort(took, n, sizeof *took, by_size);
    *ret_count = n;
    return took[n / 2];
}

/* flops: of an item (token, row) by the stated formula; 0: those of net_flops. */
static void measure(const char *name, const struct train_job *job, struct net_shape shape, size_t rows, double flops)
{
    struct step s;
    double loss = 0, first;
    step_new(&s, job, shape, rows);
    launch = ctx->d.launch;
    ctx->d.launch = count_launch;
    first = step_run(&s);                       /* one by one; the second is captured */
    ctx->d.launch = launch;
    for (int i = 0; i < WARM; i++)
        loss = step_run(&s);
    size_t count = 0;
    double resident = median_step(&s, true, budget_s / 2, &count, &loss);
    double seconds = median_step(&s, false, budget_s, &count, &loss);
    double device = device_seconds(&s), each = flops > 0 ? flops : net_flops(s.n) / (double)s.n->items;
    double rate = (double)s.items / seconds;
    printf("{\"stage\": \"%s\", \"parameters\": %zu, \"rows\": %zu, \"type\": \"%s\", \"by\": \"%s\", \"steps\": %zu, "
           "\"ms\": %.3f, \"resident_ms\": %.3f, \"device_ms\": %.3f, "
           "\"host_gap\": %.5f, \"launches\": %zu, \"items_s\": %.0f, \"tflops\": %.2f, \"mfu\": %.4f, "
           "\"loss_first\": %.4f, \"loss\": %.4f, \"mib\": %zu}\n", name, s.n->numbers, rows, is_half() ? "bf16" : "f32",
           has_library ? "library" : "own", count, 1e3 * seconds, 1e3 * resident, 1e3 * device,
           device > 0 ? 1 - device / seconds : 0, launches, rate, 1e-12 * each * rate,
           each * rate / PEAK, first, loss, plan_bytes(s.n->plan) >> 20);
    fflush(stdout);
    const char *wants = getenv("FALAJ_GPU_PROFILE");
    if (wants && *wants)
        step_profile(&s, name);
    step_free(&s);
}

double gpt_job(struct train_job *job, struct net_shape *shape, const size_t a[4])
{
    size_t layers = a[0], c = a[1], t = a[3], words = c < 256 ? 32 : 50304;
    *job = (struct train_job){ .family = TRAIN_GPT, .layers = (int64_t)layers, .width = (int64_t)c, .heads = (int64_t)a[2],
                               .context = (int64_t)t, .accumulate = 1, .weight_decay = 0.1 };
    *shape = (struct net_shape){ t, words, NET_CLASSES };
    double n = (double)(words * c + t * c + layers * (12 * c * c + 13 * c) + 2 * c);
    return 6 * n + 6 * (double)layers * (double)c * (double)t;
}

void stage_gpt(void)
{
    struct train_job job;
    struct net_shape shape;
    double flops = gpt_job(&job, &shape, arg);
    measure("gpt", &job, shape, arg[4], flops);
}

void stage_cnn(void)
{
    int64_t image[] = { (int64_t)arg[0], (int64_t)arg[0], 3 }, blocks[] = { 1 };
    int64_t channels[] = { (int64_t)arg[1], 2 * (int64_t)arg[1], 4 * (int64_t)arg[1] };
    const struct train_job job = { .family = TRAIN_CNN, .image = { image, 3 }, .channels = { channels, 3 },
                                   .blocks = { blocks, 1 }, .residual = true };
    measure("cnn", &job, (struct net_shape){ arg[0] * arg[0] * 3, 10, NET_CLASSES }, arg[2], 0);
}

void stage_mlp(void)
{
    int64_t hidden[] = { (int64_t)arg[1], (int64_t)arg[1] };
    const struct train_job job = { .family = TRAIN_MLP, .hidden = { hidden, 2 } };
    measure("mlp", &job, (struct net_shape){ arg[0], 10, NET_CLASSES }, arg[2], 0);
}
