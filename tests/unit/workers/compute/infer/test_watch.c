/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch.c - who runs past the last moment is told to stop each time somebody looks, and nobody else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../ort/ort_kit.h"
#include "workers/compute/infer/watch.h"

static void test_the_late_alone(void **st)
{
    (void)st;
    static const struct { int64_t now_us; int stops; } looks[] = { { 100, 0 }, { 101, 1 }, { 200, 1 }, { 201, 2 } };
    struct kit_engine k = { 0 };
    struct infer_session *one, *two;
    struct err e;
    struct infer_model *m = kit_odd(&k, "Twice", ONNX_FLOAT, KIT_DIMS(-1, 3));
    struct fake_ort_told *told = kit_told();
    struct infer_watch *w = watch_new(2);
    assert_int_equal(infer_session_new(m, &one, &e), ERR_OK);
    assert_int_equal(infer_session_new(m, &two, &e), ERR_OK);
    watch_begin(w, one, 100);
    watch_begin(w, two, 200);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        told->stops = 0;
        watch_stop_late(w, looks[i].now_us);
        assert_int_equal(told->stops, looks[i].stops);
    }
    watch_end(w, one);
    told->stops = 0;
    watch_stop_late(w, 300);
    assert_int_equal(told->stops, 1);
    watch_end(w, two);
    watch_begin(w, one, 400);                   /* a place that was given back is there again */
    watch_begin(w, two, 400);
    watch_stop_late(w, 400);
    assert_int_equal(told->stops, 1);
    watch_end(w, two);
    watch_end(w, one);
    infer_session_free(one);
    infer_session_free(two);
    infer_model_free(m);
    ort_free(k.ort);
    watch_free(w);
}

static void test_nothing_watched(void **st)
{
    (void)st;
    watch_begin(NULL, NULL, 1);
    watch_stop_late(NULL, 2);
    watch_end(NULL, NULL);
    watch_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_late_alone), cmocka_unit_test(test_nothing_watched) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
