/* SPDX-License-Identifier: Apache-2.0 */
/* test_capture.c - sequences of operations as one: nothing runs while it is captured, each replay reads what lies there now,
 * the access checker judges replays as it does launches, and what cannot be captured is launched as ever. */
#include "emu_kit.h"

#include <string.h>

#include "tests/cuda/emu_int.h"

enum { N = 96 };

struct fixture {
    const struct backend *be;
    struct backend_ctx *c;
    struct buffer *b[3];
    struct tensor x, y, z;
    float at[N];
};

static int set_up(void **st)
{
    static struct fixture f;
    f = (struct fixture){ .be = &backend_cuda_emu, .c = kit_emu() };
    for (int i = 0; i < 3; i++)
        f.b[i] = f.be->alloc(f.c, sizeof f.at);
    struct tensor *const t[] = { &f.x, &f.y, &f.z };
    for (int i = 0; i < 3; i++)
        *t[i] = tensor_at(f.b[i], 0, ELEM_F32, 2, (size_t[]){ 1, N });
    *st = &f;
    return 0;
}

static int tear_down(void **st)
{
    struct fixture *f = *st;
    for (int i = 0; i < 3; i++)
        f->be->free(f->c, f->b[i]);
    kit_close(f->c);
    return 0;
}

static void put(struct fixture *f, float first)
{
    for (int i = 0; i < N; i++)
        f->at[i] = first + (float)i;
    f->be->put(f->c, QUEUE_COMPUTE, f->b[0], 0, f->at, sizeof f->at);
}

static float got(struct fixture *f, int i)
{
    struct err e;
    f->be->get(f->c, QUEUE_COMPUTE, f->b[i], 0, f->at, sizeof f->at);
    if (f->be->sync(f->c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return f->at[5];
}

static void add(struct fixture *f, const struct tensor *x, const struct tensor *y, const struct tensor *z)
{
    cuda_kernels[OP_ADD][ELEM_F32](f->c, &(struct op_call){ .in = { x, y }, .out = { z } });
}

/* y = x + x; z = y + x. */
static struct captured *capture(struct fixture *f)
{
    assert_true(f->be->capturing->begin(f->c));
    add(f, &f->x, &f->x, &f->y);
    add(f, &f->y, &f->x, &f->z);
    return f->be->capturing->end(f->c);
}

static void test_replays(void **st)
{
    struct fixture *f = *st;
    size_t launches = emu_launches(), replays = emu_replays();
    put(f, 1);
    struct captured *g = capture(f);
    assert_non_null(g);
    assert_int_equal(emu_launches(), launches);
    assert_true(got(f, 1) == 0 && got(f, 2) == 0);          /* nothing has run */
    assert_true(f->be->capturing->replay(f->c, g));
    assert_true(got(f, 1) == 2 * 6 && got(f, 2) == 3 * 6);
    put(f, 10);
    assert_true(f->be->capturing->replay(f->c, g));
    assert_true(got(f, 2) == 3 * 15);                       /* of what lies there now */
    assert_int_equal(emu_launches(), launches + 4);
    assert_int_equal(emu_replays(), replays + 2);
    f->be->capturing->free(f->c, g);
    f->be->capturing->free(f->c, NULL);
}

static void test_replays_are_judged(void **st)
{
    struct fixture *f = *st;
    struct err e;
    put(f, 1);
    assert_int_equal(f->be->sync(f->c, &e), ERR_OK);
    struct captured *g = capture(f);
    f->be->put(f->c, QUEUE_COPY, f->b[0], 0, f->at, sizeof f->at);
    assert_true(f->be->capturing->replay(f->c, g));
    assert_int_equal(f->be->sync(f->c, &e), ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "graph_run: add: queue 1 touches byte 0 of 384, which queue 2 writes"));
    assert_non_null(emu_report());
    f->be->capturing->free(f->c, g);
}

/* Scratch memory that has moved since: the sequence is not run. */
static void test_out_of_date(void **st)
{
    struct fixture *f = *st;
    put(f, 1);
    struct captured *g = capture(f);
    assert_non_null(cuda_scratch(f->c, 1 << 16));
    add(f, &f->x, &f->x, &f->y);
    assert_false(f->be->capturing->replay(f->c, g));
    f->be->capturing->free(f->c, g);
    g = capture(f);
    assert_true(f->be->capturing->replay(f->c, g));
    assert_true(got(f, 2) == 3 * 6);
    f->be->capturing->free(f->c, g);
}

/* A sequence that asks for more than launches: told of by the test form, dropped by the backend, which then launches. */
static void test_what_cannot_be_captured_is_not(void **st)
{
    struct fixture *f = *st;
    struct err e;
    put(f, 1);
    assert_true(f->be->capturing->begin(f->c));
    add(f, &f->x, &f->x, &f->y);
    f->be->put(f->c, QUEUE_COMPUTE, f->b[0], 0, f->at, sizeof f->at);
    assert_null(f->be->capturing->end(f->c));
    const char *report = emu_report();
    assert_true(report && !strcmp(report, "a copy to the card is asked for while a sequence is captured"));
    assert_false(f->be->capturing->begin(f->c));            /* not again */
    add(f, &f->x, &f->x, &f->y);
    assert_true(got(f, 1) == 12);
    assert_int_equal(f->be->sync(f->c, &e), ERR_OK);        /* nothing is left of it */
}

static void test_memory_stays_as_it_is(void **st)
{
    struct fixture *f = *st;
    put(f, 1);
    assert_true(f->be->capturing->begin(f->c));
    assert_null(cuda_scratch(f->c, 1 << 20));
    assert_null(f->be->capturing->end(f->c));
    add(f, &f->x, &f->x, &f->y);
    assert_true(got(f, 1) == 12);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = { T(test_replays), T(test_replays_are_judged), T(test_out_of_date),
                                        T(test_what_cannot_be_captured_is_not), T(test_memory_stays_as_it_is) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
