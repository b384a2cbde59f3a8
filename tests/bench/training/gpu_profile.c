/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_profile.c - where the time of a step goes: operations run to their end one after the other, added up by kind and shape.
 *
 * Of each call the time that an operation on nothing takes is taken off: launch, and waiting for it. */
#include "core/base/clock.h"
#include "tests/bench/training/gpu_step.h"

enum { KINDS = 256, TEXT = 160, SHOWN = 48 };

struct kind {
    char text[TEXT];
    double us, flops, bytes;
    size_t calls;
};

static const char *const phases[] = { [PHASE_FORWARD] = "forward", [PHASE_EVAL] = "evaluation", [PHASE_BACKWARD] = "backward",
                                      [PHASE_UPDATE] = "update" };

static double empty_us(void)
{
    enum { TIMES = 100 };
    struct buffer *b = room(64, ELEM_F32);
    struct tensor x = tensor(b, ELEM_F32, DIMS(16)), y = tensor_at(b, 128, ELEM_F32, DIMS(16));
    struct use u = { OP_COPY, ELEM_F32, { .in = { &x }, .out = { &y } } };
    int64_t began = 0;
    for (int i = -8; i < TIMES; i++) {
        began = i ? began : clock_mono_us(&clock_system);
        call_use(&u);
        settle("profile");
    }
    double us = (double)(clock_mono_us(&clock_system) - began) / TIMES;
    gpu.free(ctx, b);
    return us;
}

static void describe(const struct graph *g, const struct node *o, char text[TEXT])
{
    char shape[80];
    size_t at = (size_t)snprintf(text, TEXT, "%s %s%s%s", op_name(o->op), phases[o->phase], o->is_again ? " again" : "",
                                 o->attr.flags & OP_BF16 ? " rounded" : "");
    for (int i = 0; i < 2 && o->in[i] != VALUE_NONE && at < TEXT; i++)
        at += (size_t)snprintf(text + at, TEXT - at, "%s%s", i ? " x " : " ",
                               shape_text(&g->values[o->in[i]].shape, shape, sizeof shape));
    if (o->out[0] != VALUE_NONE && at < TEXT)
        snprintf(text + at, TEXT - at, " -> %s", shape_text(&g->values[o->out[0]].shape, shape, sizeof shape));
}

/* Inputs that an operation also writes (an optimiser's): their bytes move twice. */
static double written_in_place(const struct graph *g, const struct node *o, size_t rows)
{
    double sum = 0;
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        if (o->in[i] != VALUE_NONE && op_row(o->op)->writes >> i & 1)
            sum += (double)shape_bytes(&g->values[o->in[i]].shape, rows);
    return sum;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct kind *)a)->us, y = ((const struct kind *)b)->us;
    return x < y ? 1 : x > y ? -1 : 0;
}

void step_profile(struct step *s, const char *name)
{
    static struct kind kinds[KINDS];
    double empty = empty_us(), all = 0;
    size_t n = 0, calls = 0;
    struct run_times *t = run_watch_begin(s->n->run);
    if (!t)
        return;
    for (int i = 0; i < PROFILE_STEPS; i++)
        (void)step_run(s);
    for (int i = 0; i < t->count; i++) {
        const struct node *o = t->of[i].node;
        char text[TEXT];
        size_t at = 0;
        if (!t->of[i].calls)
            continue;
        describe(s->n->g, o, text);
        while (at < n && strcmp(kinds[at].text, text) != 0)
            at++;
        if (at == KINDS)
            continue;
        if (at == n)
            kinds[n++] = (struct kind){ 0 };
        memcpy(kinds[at].text, text, TEXT);
        double us = (double)t->of[i].spent_us - empty * (double)t->of[i].calls;
        kinds[at].us += us > 0 ? us : 0;
        kinds[at].calls += (size_t)t->of[i].calls;
        kinds[at].flops += net_node_flops(s->n, o, 1) * (double)t->of[i].rows;
        kinds[at].bytes += t->of[i].bytes + written_in_place(s->n->g, o, s->rows) * (double)t->of[i].calls;
        all += us > 0 ? us : 0;
        calls += (size_t)t->of[i].calls;
    }
    run_watch_end(s->n->run);
    qsort(kinds, n, sizeof *kinds, by_time);
    printf("{\"stage\": \"profile\", \"of\": \"%s\", \"rows\": %zu, \"ms\": %.3f, \"calls\": %zu, \"empty_us\": %.1f}\n", name,
           s->rows, 1e-3 * all / PROFILE_STEPS, calls / PROFILE_STEPS, empty);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct kind *k = &kinds[i];
        printf("{\"stage\": \"profile\", \"operation\": \"%s\", \"calls\": %zu, \"us\": %.1f, \"share\": %.4f, \"tflops\": %.1f, "
               "\"gb_s\": %.0f}\n", k->text, k->calls / PROFILE_STEPS, k->us / PROFILE_STEPS, all > 0 ? k->us / all : 0,
               k->us > 0 ? 1e-6 * k->flops / k->us : 0, k->us > 0 ? 1e-3 * k->bytes / k->us : 0);
    }
    fflush(stdout);
}
