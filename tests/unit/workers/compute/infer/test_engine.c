/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine.c - a model of another engine behind the usual calls: without the engine it is refused with its first node, with it
 * requests are batched, and one whose numbers the engine refuses spoils nobody's answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>
#include "../ort/ort_kit.h"
#include "tests/lib/wait.h"
#include "workers/compute/infer/batch.h"
#include "workers/compute/optimise/optimise.h"

static void test_without(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES), small = BUF(KIT_BYTES);
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct infer_model *m;
    struct err e;
    assert_int_equal(kit_odd_file(&k, kit_odd_model("Twice", ONNX_FLOAT, KIT_DIMS(-1, 3)), &file, &e), ERR_OK);
    assert_int_equal(infer_model_load(&backend_ref, NULL, file.ptr, file.len, &m, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "node 0 \"the node\" (Twice)"));
    assert_non_null(strstr(e.msg, "ONNX Runtime"));
    assert_int_equal(optimise_direct(a, buf_str(&file), OPTIMISE_INT8, &small, &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "there is no graph of ours in it"));
    assert_int_equal(infer_model_describe(file.ptr, file.len, &m, &e), ERR_OK);
    assert_string_equal(infer_model_info(m)->family, "onnx");
    infer_model_free(m);
    ort_free(k.ort);
}

struct asked {
    struct infer_request r;
    float x[2], y[2];
    _Atomic int *left;
};

static void on_done(struct infer_request *r, enum errc rc)
{
    struct asked *q = r->ctx;
    assert_int_equal(rc, r->rc);
    (*q->left)--;
}

/* All wait for one full batch, of which the third is refused. */
static void test_one_of_a_batch(void **st)
{
    (void)st;
    enum { N = 4, BAD = 2 };
    struct kit_engine k = { 0 };
    struct asked all[N];
    _Atomic int left = N;
    struct batcher *b;
    struct batcher_stats stats;
    struct err e;
    struct infer_model *m = kit_odd(&k, "Angry", ONNX_FLOAT, KIT_DIMS(-1, 2));
    const struct batcher_options o = { .threads = 1, .batch_rows = N, .delay_us = 60000000 };
    assert_int_equal(batcher_new(m, &o, &b, &e), ERR_OK);
    for (int i = 0; i < N; i++) {
        all[i] = (struct asked){ .x = { (float)i, i == BAD ? 101 : 1 }, .left = &left };
        all[i].r = (struct infer_request){ .io = { .in = { all[i].x }, .out = { all[i].y } }, .rows = 1, .done = on_done,
                                           .ctx = &all[i] };
        assert_int_equal(batcher_submit(b, &all[i].r, &e), ERR_OK);
    }
    WAIT_WHILE(left);
    batcher_get_stats(b, &stats);
    assert_int_equal(stats.batched_requests_max, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(all[i].r.rc, i == BAD ? ERR_UNPROCESSABLE : ERR_OK);
        assert_true(i == BAD || all[i].y[0] == (float)(2 * i));
    }
    assert_string_equal(all[BAD].r.why, "ONNX Runtime: a call: a number is beyond 100");
    batcher_free(b);
    infer_model_free(m);
    ort_free(k.ort);
    assert_int_equal(kit_told()->alive, 0);
}

/* One keeps the engine busy for ever: it is told so, and the others of its batch have their answers all the same. */
static void test_who_keeps_it_busy(void **st)
{
    (void)st;
    enum { N = 4, BAD = 1 };
    struct kit_engine k = { 0 };
    struct asked all[N];
    _Atomic int left = N;
    struct batcher *b;
    struct err e;
    struct infer_model *m = kit_odd(&k, "Endless", ONNX_FLOAT, KIT_DIMS(-1, 2));
    const struct batcher_options o = { .threads = 1, .batch_rows = N, .delay_us = 60000000 };
    assert_int_equal(batcher_new(m, &o, &b, &e), ERR_OK);
    for (int i = 0; i < N; i++) {
        all[i] = (struct asked){ .x = { (float)i, i == BAD ? 101 : 1 }, .left = &left };
        all[i].r = (struct infer_request){ .io = { .in = { all[i].x }, .out = { all[i].y } }, .rows = 1, .done = on_done,
                                           .timeout_us = i == BAD ? 4000000 : 0, .ctx = &all[i] };
        assert_int_equal(batcher_submit(b, &all[i].r, &e), ERR_OK);
    }
    while (left) {
        batcher_watch(b);
        usleep(1000);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(all[i].r.rc, i == BAD ? ERR_DEADLINE : ERR_OK);
        assert_true(i == BAD || all[i].y[0] == (float)(2 * i));
    }
    assert_non_null(strstr(all[BAD].r.why, "still computing these numbers when their time was over"));
    struct infer_request again = { .io = { .in = { all[0].x }, .out = { all[0].y } }, .rows = 1 };
    assert_int_equal(batcher_infer(b, &again, &e), ERR_OK);        /* the session is as before */
    batcher_free(b);
    infer_model_free(m);
    ort_free(k.ort);
    assert_int_equal(kit_told()->alive, 0);
}

/* What runs when the batcher is freed is stopped too, and needs nobody who watches. */
static void test_the_end(void **st)
{
    (void)st;
    struct kit_engine k = { 0 };
    _Atomic int left = 1;
    struct asked one = { .x = { 101, 1 }, .left = &left };
    struct batcher *b;
    struct err e;
    struct infer_model *m = kit_odd(&k, "Endless", ONNX_FLOAT, KIT_DIMS(-1, 2));
    assert_int_equal(batcher_new(m, &(struct batcher_options){ .threads = 1, .engine_us = 100000 }, &b, &e), ERR_OK);
    one.r = (struct infer_request){ .io = { .in = { one.x }, .out = { one.y } }, .rows = 1, .done = on_done, .ctx = &one };
    assert_int_equal(batcher_submit(b, &one.r, &e), ERR_OK);
    batcher_free(b);
    assert_int_equal(one.r.rc, ERR_DEADLINE);
    infer_model_free(m);
    ort_free(k.ort);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_without), cmocka_unit_test(test_one_of_a_batch),
                                        cmocka_unit_test(test_who_keeps_it_busy), cmocka_unit_test(test_the_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
