/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_learn.c - what a model on the card learns, for PyTorch to learn it, too (gpu_gates.py): first weights, batches, the
 * gradients of the first, the losses of many, as files in $FALAJ_GPU_FOLDER.
 *
 * model.safetensors is the model file that a training writes; gradients_f32 and gradients_bf16 have its names. batches.i32:
 * [steps][rows][T + 1] tokens, a row's answers being its tokens from the second on; they are bytes of this repository's own
 * documents, at random places. grads: arg as of gpt; curve: arg[5] steps in bf16, a quarter of them in fp32. */
#include "core/data/safetensors.h"
#include "tests/bench/training/gpu_step.h"
#include "workers/compute/train/model_file.h"

#include <math.h>

enum { ALPHABET = 256 };

static struct train_job job;
static struct net_shape shape;
static size_t rows, steps;
static int32_t *batches;

static void write_file(const char *name, const void *bytes, size_t n)
{
    const char *to = getenv("FALAJ_GPU_FOLDER");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", to && *to ? to : ".", name);
    FILE *f = fopen(path, "we");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) {
        FAIL(&failure, UNAVAILABLE, "%.200s: %zu bytes cannot be written", path, n);
        stop("learn");
    }
}

static void set_up(size_t words)
{
    size_t n, t = arg[3];
    (void)gpt_job(&job, &shape, arg);
    shape.outputs = words;
    rows = arg[4];
    char *text = bench_text(&n);
    batches = malloc(steps * rows * (t + 1) * sizeof *batches);
    if (!batches || n < t + 2) {
        FAIL(&failure, UNPROCESSABLE, "no text to learn from: run in the repository's folder");
        stop("learn");
    }
    for (size_t r = 0; r < steps * rows; r++) {
        size_t at = philox(11, 1, r).v[0] % (n - t - 1);
        for (size_t i = 0; i <= t; i++)
            batches[r * (t + 1) + i] = (unsigned char)text[at + i] % (int)(words < ALPHABET ? words : ALPHABET);
    }
    free(text);
    write_file("batches.i32", batches, steps * rows * (t + 1) * sizeof *batches);
}

static void put_batch(struct step *s, size_t step)
{
    size_t t = shape.inputs;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < t; i++) {
            const int32_t *row = batches + (step * rows + r) * (t + 1);
            ((int32_t *)s->x)[r * t + i] = row[i];
            s->labels[r * t + i] = row[i + 1];
        }
}

/* A net of that precision with the same first values as every other. */
static void begin(struct step *s, bool is_bf16)
{
    setenv("FALAJ_GPU_BF16", is_bf16 ? "1" : "", 1);
    step_new(s, &job, shape, rows);
}

static float *region(struct step *s, enum region which)
{
    float *numbers = malloc(s->n->numbers * sizeof *numbers);
    if (!numbers)
        abort();
    gpu.get(ctx, QUEUE_COMPUTE, run_region(s->n->run, which), 0, numbers, s->n->numbers * sizeof *numbers);
    settle("learn");
    return numbers;
}

static void write_weights(struct step *s)
{
    struct arena *a = arena_new((size_t)1 << 36);
    float *numbers = region(s, REGION_PARAMS);
    const struct train_data d = { .shape = shape };
    const struct model_about about = { .holdout_accuracy = (double)NAN, .seed = 7 };
    struct buf out = BUF((size_t)1 << 33);
    if (model_file_write(a, s->n, numbers, &d, &about, &out, &failure) != ERR_OK)
        stop("learn");
    struct str all = buf_str(&out);
    write_file("model.safetensors", all.ptr, all.len);
    buf_release(&out);
    arena_free(a);
    free(numbers);
}

static void write_gradients(struct step *s, const char *name)
{
    struct arena *a = arena_new((size_t)1 << 36);
    float *numbers = region(s, REGION_GRADS);
    struct st_tensor *t = ARENA_ARRAY(a, struct st_tensor, s->n->tensor_count);
    struct st_pair format = { STR("format"), STR("pt") };
    struct buf out = BUF((size_t)1 << 33);
    if (model_file_tensors(a, s->n, numbers, "", t, &failure) != ERR_OK
        || st_write(&out, t, s->n->tensor_count, &format, 1, &failure) != ERR_OK)
        stop("learn");
    struct str all = buf_str(&out);
    write_file(name, all.ptr, all.len);
    buf_release(&out);
    arena_free(a);
    free(numbers);
}

void stage_grads(void)
{
    steps = 1;
    set_up(arg[1] < 256 ? 32 : 50304);
    for (int half = 0; half < 2; half++) {
        struct step s;
        double loss;
        begin(&s, half);
        put_batch(&s, 0);
        if (!half)
            write_weights(&s);
        net_put(s.n, s.x, s.labels, rows);
        net_exec(s.n, rows, PHASE_FORWARD | PHASE_BACKWARD, false, &s.at);
        if (net_loss(s.n, &loss, &failure) != ERR_OK)
            stop("grads");
        write_gradients(&s, half ? "gradients_bf16.safetensors" : "gradients_f32.safetensors");
        printf("{\"stage\": \"grads\", \"type\": \"%s\", \"parameters\": %zu, \"rows\": %zu, \"t\": %zu, \"loss\": %.6f}\n",
               half ? "bf16" : "f32", s.n->numbers, rows, shape.inputs, loss / (double)s.items);
        fflush(stdout);
        step_free(&s);
    }
}

static void learn(bool is_bf16, size_t count, struct buf *out)
{
    struct step s;
    double beta1 = 1, beta2 = 1, first = 0, last = 0, began = now();
    begin(&s, is_bf16);
    if (!is_bf16)
        write_weights(&s);
    s.at.lr = 3e-4;
    buf_printf(out, "%s\"%s\": [", is_bf16 ? ", " : "{", is_bf16 ? "bf16" : "f32");
    for (size_t i = 0; i < count; i++) {
        put_batch(&s, i);
        beta1 *= TRAIN_BETA1;
        beta2 *= TRAIN_BETA2;
        s.at.correction1 = 1 - beta1;
        s.at.correction2 = 1 - beta2;
        last = step_run(&s);
        first = i ? first : last;
        buf_printf(out, "%s%.7f", i ? ", " : "", last);
    }
    buf_printf(out, "]");
    printf("{\"stage\": \"curve\", \"type\": \"%s\", \"parameters\": %zu, \"steps\": %zu, \"first\": %.4f, \"last\": %.4f, "
           "\"seconds\": %.2f}\n", is_bf16 ? "bf16" : "f32", s.n->numbers, count, first, last, now() - began);
    fflush(stdout);
    step_free(&s);
}

void stage_curve(void)
{
    struct buf out = BUF(1 << 20);
    steps = arg[5];
    set_up(ALPHABET);
    learn(false, (steps + 3) / 4, &out);
    learn(true, steps, &out);
    buf_printf(&out, "}\n");
    struct str all = buf_str(&out);
    write_file("losses.json", all.ptr, all.len);
    buf_release(&out);
}
