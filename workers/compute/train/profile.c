/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - nodes' times added up by operation and part of the step. */
#include "workers/compute/train/profile.h"
#include "core/base/clock.h"

#include <stdlib.h>

enum { SIDE = 512, SIDE_MOST = 8192, COPY_BYTES = PEAKS_BYTES / 2, CARD_COPY_BYTES = 256 << 20, TRIES = 3, PATTERN = 1 << 14 };
static const double CARD_SECONDS = 1e-3;        /* launch and waiting are a hundredth of that */

static double seconds_of(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call)
{
    struct err e;
    int64_t began = clock_mono_us(&clock_system);
    (*be->kernels)[op][call->in[0]->type](c, call);
    if (be->sync(c, &e) != ERR_OK)
        return 0;
    return (double)(clock_mono_us(&clock_system) - began) * 1e-6;
}

/* Of the fastest try; 0: it does not run. */
static double best_seconds(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call)
{
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        double seconds = seconds_of(be, c, op, call);
        best = seconds > 0 && (best <= 0 || seconds < best) ? seconds : best;
    }
    return best;
}

/* Numbers of either type that are none of them zero: products of zeros take a card less power, and so less time. */
static void fill(const struct backend *be, struct backend_ctx *c, struct buffer *b)
{
    static const uint16_t number = 0x3f01;      /* 0.50 as bf16; and 0.50 as the upper half of an fp32 */
    uint16_t pattern[PATTERN];
    for (size_t i = 0; i < PATTERN; i++)
        pattern[i] = (uint16_t)(number ^ (i * 0x9e37u & 0x807f));       /* signs and fractions differ */
    for (size_t at = 0, n; at < b->size_bytes; at += n) {
        n = b->size_bytes - at < sizeof pattern ? b->size_bytes - at : sizeof pattern;
        be->put(c, QUEUE_COMPUTE, b, at, pattern, n);
    }
    struct err e;
    (void)be->sync(c, &e);                      /* what is wrong shows in the product */
}

/* Seconds of a square product; 0: it does not run, or there is no memory. */
static double product_seconds(const struct backend *be, struct backend_ctx *c, bool is_bf16, size_t side)
{
    enum elem type = is_bf16 && (be->properties & BE_NARROW) ? ELEM_BF16 : ELEM_F32;
    const size_t square[] = { side, side }, bytes = side * side * sizeof(float);
    struct buffer *b[3] = { be->alloc(c, bytes), be->alloc(c, bytes), be->alloc(c, bytes) };
    double seconds = 0;
    if (b[0] && b[1] && b[2]) {
        const struct tensor x = tensor_at(b[0], 0, type, 2, square), y = tensor_at(b[1], 0, type, 2, square);
        const struct tensor z = tensor_at(b[2], 0, ELEM_F32, 2, square);
        fill(be, c, b[0]);
        fill(be, c, b[1]);
        seconds = best_seconds(be, c, OP_MATMUL, &(struct op_call){
            .attr.flags = is_bf16 && type == ELEM_F32 ? OP_BF16 : 0, .in = { &x, &y }, .out = { &z } });
    }
    for (int i = 0; i < 3; i++)
        be->free(c, b[i]);
    return seconds;
}

static double copy_rate(const struct backend *be, struct backend_ctx *c, size_t bytes)
{
    const size_t line = bytes / sizeof(float);
    struct buffer *b = be->alloc(c, 2 * bytes);
    if (!b)
        return 0;
    const struct tensor from = tensor_at(b, 0, ELEM_F32, 1, &line), to = tensor_at(b, bytes, ELEM_F32, 1, &line);
    double seconds = best_seconds(be, c, OP_COPY, &(struct op_call){ .in = { &from }, .out = { &to } });
    be->free(c, b);
    return seconds > 0 ? 2.0 * (double)bytes / seconds : 0;
}

enum errc peaks_measure(const struct backend *be, struct backend_ctx *c, bool is_bf16, struct peaks *ret, struct err *e)
{
    bool is_card = be->properties & BE_DEVICE;
    size_t side = SIDE;
    double seconds = product_seconds(be, c, is_bf16, side), bytes = copy_rate(be, c, is_card ? CARD_COPY_BYTES : COPY_BYTES);
    if (seconds <= 0 && bytes <= 0)
        return FAIL(e, LIMIT, "no memory to measure this machine's peaks");
    while (is_card && seconds > 0 && seconds < CARD_SECONDS && side < SIDE_MOST) {
        double larger = product_seconds(be, c, is_bf16, 2 * side);
        if (larger <= 0)
            break;
        side *= 2;
        seconds = larger;
    }
    ret->flops = seconds > 0 ? 2.0 * (double)side * (double)side * (double)side / seconds : 0;
    ret->bytes = bytes;
    return ERR_OK;
}

enum errc profile_begin(struct profile *p, struct net *n, struct err *e)
{
    *p = (struct profile){ .net = n, .times = run_watch_begin(n->run) };
    if (!p->times)
        return FAIL(e, LIMIT, "no memory for the times of operations");
    p->times->is_resting = true;
    return ERR_OK;
}

void profile_step_begins(struct profile *p)
{
    p->times->is_resting = false;
    p->began_us = clock_mono_us(&clock_system);
}

void profile_step_ends(struct profile *p)
{
    p->spent_us += clock_mono_us(&clock_system) - p->began_us;
    p->times->is_resting = true;
    p->steps++;
}

static const char *const phase_names[] = { [PHASE_FORWARD] = "forward", [PHASE_EVAL] = "evaluation",
                                           [PHASE_BACKWARD] = "backward", [PHASE_UPDATE] = "update" };

struct sum {
    enum op op;
    enum phase phase;
    double seconds, flops, bytes;
    int64_t calls;
};

static int by_time(const void *x, const void *y)
{
    const struct train_profile_row *a = x, *b = y;
    return a->share < b->share ? 1 : a->share > b->share ? -1 : 0;
}

static struct train_profile_row row_of(const struct sum *s, const struct profile *p, const struct peaks *peaks)
{
    double all = (double)p->spent_us * 1e-6, steps = (double)p->steps;
    double by_bytes = s->bytes > 0 && peaks->bytes > 0 ? s->bytes / peaks->bytes : 0;
    double by_flops = peaks->flops > 0 ? s->flops / peaks->flops : 0, least = by_flops > by_bytes ? by_flops : by_bytes;
    return (struct train_profile_row){
        .operation = str_c(op_name(s->op)), .phase = str_c(phase_names[s->phase]), .calls = s->calls / p->steps,
        .ms = s->seconds / steps * 1e3, .share = all > 0 ? s->seconds / all : 0, .gflops = s->flops / s->seconds * 1e-9,
        .gbytes = s->bytes / s->seconds * 1e-9, .roof = least / s->seconds,
        .limit = by_flops > by_bytes ? STR("products") : STR("memory") };
}

void profile_end(struct profile *p, struct arena *a, const struct peaks *peaks, struct train_profile *ret)
{
    const struct run_times *t = p->times;
    struct sum *sums = ARENA_ARRAY(a, struct sum, (size_t)t->count + 1);
    struct train_profile_row *rows = ARENA_ARRAY(a, struct train_profile_row, (size_t)t->count + 1);
    size_t n = 0, kept = 0;
    for (int i = 0; i < t->count; i++) {
        const struct node *o = t->of[i].node;
        size_t at = 0;
        while (at < n && (sums[at].op != o->op || sums[at].phase != o->phase))
            at++;
        n += at == n;
        sums[at].op = o->op;
        sums[at].phase = o->phase;
        sums[at].seconds += (double)t->of[i].spent_us * 1e-6;
        sums[at].calls += t->of[i].calls;
        sums[at].flops += net_node_flops(p->net, o, 1) * (double)t->of[i].rows;
        sums[at].bytes += t->of[i].bytes;
    }
    for (size_t i = 0; i < n && p->steps; i++)
        if (sums[i].calls && sums[i].seconds > 0)
            rows[kept++] = row_of(&sums[i], p, peaks);
    qsort(rows, kept, sizeof *rows, by_time);
    kept = kept < TRAIN_PROFILE_ROWS_MAX ? kept : TRAIN_PROFILE_ROWS_MAX;
    *ret = (struct train_profile){
        .steps = p->steps, .ms = p->steps ? (double)p->spent_us * 1e-3 / (double)p->steps : 0,
        .data_wait = p->spent_us ? (double)p->fetch_us / (double)p->spent_us : 0, .peak_gflops = peaks->flops * 1e-9,
        .peak_gbytes = peaks->bytes * 1e-9, .rows = { rows, kept } };
    run_watch_end(p->net->run);
    p->times = NULL;
}
