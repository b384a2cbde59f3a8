/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - nodes' times added up by operation and part of the step. */
#include "workers/compute/train/profile.h"
#include "core/base/clock.h"

#include <stdlib.h>

enum { SIDE = 512, COPY_BYTES = PEAKS_BYTES / 2, TRIES = 3 };

static double seconds_of(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call)
{
    struct err e;
    int64_t began = clock_mono_us(&clock_system);
    (*be->kernels)[op][ELEM_F32](c, call);
    if (be->sync(c, &e) != ERR_OK)
        return 0;
    return (double)(clock_mono_us(&clock_system) - began) * 1e-6;
}

static double best_rate(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call, double work)
{
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        double seconds = seconds_of(be, c, op, call), rate = seconds > 0 ? work / seconds : 0;
        best = rate > best ? rate : best;
    }
    return best;
}

enum errc peaks_measure(const struct backend *be, struct backend_ctx *c, bool is_bf16, struct peaks *ret, struct err *e)
{
    size_t square[] = { SIDE, SIDE }, line = COPY_BYTES / sizeof(float), bytes = SIDE * SIDE * sizeof(float);
    struct buffer *b = be->alloc(c, PEAKS_BYTES);
    if (!b)
        return FAIL(e, LIMIT, "no memory to measure this machine's peaks");
    struct tensor x = tensor_at(b, 0, ELEM_F32, 2, square), y = tensor_at(b, bytes, ELEM_F32, 2, square);
    struct tensor z = tensor_at(b, 2 * bytes, ELEM_F32, 2, square);
    struct tensor from = tensor_at(b, 0, ELEM_F32, 1, &line), to = tensor_at(b, COPY_BYTES, ELEM_F32, 1, &line);
    const struct op_call product = { .attr.flags = is_bf16 ? OP_BF16 : 0, .in = { &x, &y }, .out = { &z } };
    const struct op_call copy = { .in = { &from }, .out = { &to } };
    ret->flops = best_rate(be, c, OP_MATMUL, &product, 2.0 * SIDE * SIDE * SIDE);
    ret->bytes = best_rate(be, c, OP_COPY, &copy, 2.0 * COPY_BYTES);
    be->free(c, b);
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
