/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda.c - the backend over the driver's table: memory, queues, events, what goes wrong; and that the access checker
 * reports what it is there for. */
#include "emu_kit.h"

#include <math.h>
#include <string.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/emu_int.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/cuda/gpu.h"

enum { N = 96 };

static struct tensor vector_of(struct buffer *b, size_t n)
{
    return tensor_at(b, 0, ELEM_F32, 2, (size_t[]){ 1, n });
}

static void add(struct backend_ctx *c, struct tensor *x, struct tensor *y, struct tensor *z)
{
    cuda_kernels[OP_ADD][ELEM_F32](c, &(struct op_call){ .in = { x, y }, .out = { z } });
}

/* Up on one queue, summed on another, read on a third, in the order that events give. */
static void test_queues_and_events(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct err e;
    float x[N], y[N];
    struct buffer *b[2] = { be->alloc(c, sizeof x), be->alloc(c, sizeof x) };
    struct tensor in = vector_of(b[0], N), out = vector_of(b[1], N);
    struct event *is_up = be->event_new(c), *is_done = be->event_new(c);
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    be->put(c, QUEUE_COPY, b[0], 0, x, sizeof x);
    be->record(c, QUEUE_COPY, is_up);
    be->wait(c, QUEUE_COMPUTE, is_up);
    add(c, &in, &in, &out);
    be->record(c, QUEUE_COMPUTE, is_done);
    be->wait(c, QUEUE_COMM, is_done);
    be->get(c, QUEUE_COMM, b[1], 0, y, sizeof y);
    assert_int_equal(be->sync(c, &e), ERR_OK);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 2 * x[i]);
    be->event_free(c, is_up), be->event_free(c, is_done);
    be->free(c, b[0]), be->free(c, b[1]);
    kit_close(c);
}

static void expect(struct backend_ctx *c, const char *what)
{
    struct err e;
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_INTERNAL);
    if (!strstr(e.msg, what))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, what);
    assert_non_null(emu_report());
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_OK);        /* it was told once */
}

/* The same without events: each of the three borders is found by itself. */
static void test_unordered(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    float x[N] = { 1 };
    struct buffer *b[2] = { be->alloc(c, sizeof x), be->alloc(c, sizeof x) };
    struct tensor in = vector_of(b[0], N), out = vector_of(b[1], N);
    be->put(c, QUEUE_COPY, b[0], 0, x, sizeof x);
    add(c, &in, &in, &out);
    expect(c, "add: queue 1 touches byte 0 of 384, which queue 2 writes, and no event orders the two");
    add(c, &in, &in, &out);
    be->get(c, QUEUE_COMM, b[1], 0, x, sizeof x);
    expect(c, "a copy from the card: queue 3 touches");
    add(c, &in, &in, &out);
    be->put(c, QUEUE_COPY, b[0], 64, x, 4);
    expect(c, "a copy to the card: queue 2 writes byte 0 of 4, which queue 1 reads");
    be->free(c, b[0]), be->free(c, b[1]);
    kit_close(c);
}

static void test_unwritten(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    float x[N] = { 1 };
    struct buffer *b[2] = { be->alloc(c, sizeof x), be->alloc(c, sizeof x) };
    struct tensor in = vector_of(b[0], N), out = vector_of(b[1], N), half = vector_of(b[0], N / 2);
    add(c, &in, &in, &out);                         /* zeroed when it was given out */
    be->forget(c, b[0]);
    be->put(c, QUEUE_COMPUTE, b[0], 0, x, sizeof x / 2);
    half = vector_of(b[0], N / 2);
    struct tensor part = vector_of(b[1], N / 2);
    add(c, &half, &half, &part);
    struct err e;
    assert_int_equal(be->sync(c, &e), ERR_OK);
    add(c, &in, &in, &out);
    expect(c, "add: reads byte 192 of 384, which nothing has written");
    be->free(c, b[0]), be->free(c, b[1]);
    kit_close(c);
}

static void test_failures_by_name(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct err e;
    struct event *ev = be->event_new(c);
    be->wait(c, QUEUE_COPY, ev);
    assert_int_equal(be->sync(c, &e), ERR_INTERNAL);
    assert_string_equal(e.msg, "backend cuda-emu: a queue waits for an event that nothing recorded");
    be->event_free(c, ev);
    emu_set_memory(1000);
    struct buffer *b = be->alloc(c, 900);
    assert_non_null(b);
    assert_null(be->alloc(c, 101));
    assert_int_equal(be->sync(c, &e), ERR_OK);      /* who asked was told */
    be->free(c, b);
    emu_set_memory(0);
    kit_close(c);
}

/* A kernel that reads past what its operation named, inside the same piece of memory: the sanitizer ends the program there. */
static void test_outside(void **st)
{
    (void)st;
#if defined(__SANITIZE_ADDRESS__)
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct buffer *b = be->alloc(c, 2 * N * sizeof(float));
    struct tensor x = vector_of(b, N), y = x;
    y.offset_bytes = N * sizeof(float);
    float *at = (float *)b->handle;
    const struct cells_args a = { .x = { at, false }, .out = { at + N, false }, .rows = 1, .cols = N, .x_stride = N,
                                  .out_stride = N, .fn = CELL_COPY };
    int status;
    for (int is_short = 0; is_short < 2; is_short++) {
        x.dim[1] = is_short ? N - 8 : N;
        pid_t child = fork();
        if (!child) {
            (void)!freopen("/dev/null", "w", stderr);
            alarm(60);
            cuda_begin(c, OP_COPY, &(struct op_call){ .in = { &x }, .out = { &y } });
            cuda_launch(c, KERNEL_cells, 1, 1, 1, &a);
            cuda_end(c);
            _exit(c->failed != NULL);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == (is_short ? 1 : 0));
    }
    be->free(c, b);
    kit_close(c);
#endif
}

struct shared_args {
    float *out;
    int what;
};
void gpu_emu_shared_test(const void *at);
GPU_KERNEL(shared_test, struct shared_args, a)
{
    GPU_SHARED(float, room, 64);
    unsigned i = gpu_place().thread;
    room[i] = (float)i;
    if (a.what == 1 && i == 5)
        return;
    if (a.what == 2 && i == 5)
        (void)GPU_BARRIER_OR(true);
    else if (a.what != 3)
        GPU_BARRIER();
    if (a.what == 4 && i > 60)
        (void)GPU_SHUFFLE_DOWN(1.0f, 1);
    a.out[i] = room[63 - i];
}

/* What the runner of grids says of kernels that break the rules of gpu.h. */
static void test_rules(void **st)
{
    (void)st;
    float out[64];
    static const char *const want[] = { NULL, "1 of 64 threads have ended and the others wait at a barrier",
                                        "wait at different barriers", NULL, "threads of a warp shuffle and" };
    for (int what = 0; what < 5; what++) {
        const struct shared_args a = { out, what };
        for (int descends = 0; descends < 2; descends++) {
            emu_set_descending(descends);
            int code = emu_run_grid("shared", gpu_emu_shared_test, &a, 1, 1, 1, 64, 0);
            const char *report = emu_report();
            assert_int_equal(code != 0, want[what] != NULL);
            assert_true(want[what] ? report && strstr(report, want[what]) : !report);
            for (int i = 0; i < 64 && what == 0; i++)
                assert_true(out[i] == (float)(63 - i));
            if (what == 3)              /* without a barrier: what the other half has not written yet is no number */
                assert_true(isnan(out[descends ? 63 : 0]));
        }
    }
    emu_set_descending(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_queues_and_events), cmocka_unit_test(test_unordered),
                                        cmocka_unit_test(test_unwritten),         cmocka_unit_test(test_failures_by_name),
                                        cmocka_unit_test(test_outside),           cmocka_unit_test(test_rules) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
