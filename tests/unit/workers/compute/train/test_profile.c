/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile.c - a profile names the operations of a step with times that add up to it, and changes no bit of the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "run_kit.h"

static void run(struct arena *a, const struct train_job *s, const struct train_data *d, const struct peaks *peaks,
                struct train_result *r)
{
    struct err e = { 0 };
    const struct train_task t = { .spec = s, .data = d, .backend = kit_backend(), .clock = &clock_system, .peaks = peaks,
                                  .dataset_digest = STR("sha256:kit") };
    if (train_run(a, &t, NULL, r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
}

static void test_peaks(void **st)
{
    (void)st;
    struct backend_ctx *c;
    struct err e = { 0 };
    struct peaks p = { 0 };
    const struct backend *be = kit_backend();
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    assert_int_equal(peaks_measure(be, c, false, &p, &e), ERR_OK);
    print_message("%s: %.1f GFLOP/s, %.1f GB/s\n", be->name, p.flops * 1e-9, p.bytes * 1e-9);
    assert_true(p.flops > 1e7 && p.flops < 1e14 && p.bytes > 1e7 && p.bytes < 1e13);
    be->close(c);
}

static void test_a_profile(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    static const struct peaks peaks = { 1e15, 1e15 };   /* so high that no share of a roof is above 1 */
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result plain, watched;
    s.epochs = 2;
    run(a, &s, &d, &peaks, &plain);
    s.profile_steps = 20;
    run(a, &s, &d, &peaks, &watched);
    assert_int_equal(plain.profile.steps, 0);
    const struct train_profile *p = &watched.profile;
    const struct train_profile_row *row = p->rows.items;
    double share = 0, last = 1;
    int products = 0, updates = 0;
    assert_int_equal(p->steps, 20);
    for (size_t i = 0; i < p->rows.n; i++, row++) {
        share += row->share;
        assert_true(row->share <= last && row->calls >= 1 && row->ms > 0 && row->gbytes > 0 && row->roof < 1);
        last = row->share;
        bool is_product = str_eq_c(row->operation, "matmul");
        assert_true(is_product == (row->gflops > 0));
        products += is_product;
        updates += str_eq_c(row->phase, "update");
        if (is_product && str_eq_c(row->phase, "backward"))     /* two layers: of the first the weights' gradient alone */
            assert_int_equal(row->calls, 3);
    }
    print_message("%zu operations are %.3f of %.3f ms, data %.3f\n", p->rows.n, share, p->ms, p->data_wait);
    assert_true(products == 2 && updates >= 2);
    assert_true(share > 0.2 && share <= 1 && p->data_wait >= 0 && p->data_wait < 1 && p->ms > 0);
    assert_int_equal(plain.model.len, watched.model.len);
    assert_memory_equal(plain.model.ptr, watched.model.ptr, plain.model.len);
    train_result_release(&plain);
    train_result_release(&watched);
}

/* A run that is over before its profile tells what there was. */
static void test_a_short_run(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    static const struct peaks peaks = { 1e12, 1e12 };
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    s.max_steps = 5;
    s.profile_steps = 100;
    run(a, &s, &d, &peaks, &r);
    assert_int_equal(r.profile.steps, 3);       /* behind two of warm-up */
    train_result_release(&r);
    s.max_steps = 1;
    run(a, &s, &d, &peaks, &r);
    assert_int_equal(r.profile.steps, 0);
    train_result_release(&r);
}

/* What is computed between two watched steps, as the evaluation of an epoch is, is not theirs. */
static void test_over_epochs(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    static const struct peaks peaks = { 1e15, 1e15 };
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    s.batch_size = 512;
    s.epochs = 4;
    s.profile_steps = 6;
    run(a, &s, &d, &peaks, &r);
    assert_true(r.epochs == 4 && r.profile.steps == 6 && (int64_t)d.train_count <= 4 * s.batch_size);
    const struct train_profile_row *row = r.profile.rows.items;
    for (size_t i = 0; i < r.profile.rows.n; i++, row++) {
        assert_false(str_eq_c(row->phase, "evaluation"));
        if (str_eq_c(row->operation, "matmul") && str_eq_c(row->phase, "forward"))
            assert_int_equal(row->calls, 2);
    }
    train_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_peaks), cmocka_unit_test(test_a_profile),
                                        cmocka_unit_test(test_a_short_run), cmocka_unit_test(test_over_epochs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
