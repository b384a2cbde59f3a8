/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt.c - boosted trees learn the digits and a table of each target; the same bytes for any threads, and after a stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "gbdt_kit.h"
#include "store_kit.h"

static void learn(struct train_job *s, const struct train_data *d, struct train_result *r, int threads)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
    struct pool *pool;
    struct err e = { 0 };
    assert_int_equal(pool_new(threads, &pool, &e), ERR_OK);
    const struct train_task task = { .spec = s, .data = d, .pool = pool, .clock = &clock_system,
                                     .dataset_digest = STR("sha256:kit") };
    if (train_run(a, &task, NULL, r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    pool_free(pool);
}

static void test_digits(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
    struct train_job s = kit_trees(25);
    struct train_data d = kit_digits(a, &s);
    struct train_result one, three;
    s.learning_rate = 0.2;
    s.eval_every = 25;
    learn(&s, &d, &one, 1);
    print_message("digits: %.4f\n", one.holdout_accuracy);
    assert_true(one.holdout_accuracy >= 0.96 && one.steps == 25);
    learn(&s, &d, &three, 3);
    assert_true(str_eq(buf_str(&one.model), buf_str(&three.model)));
    train_result_release(&one);
    train_result_release(&three);
}

static void test_each_target(void **st)
{
    (void)st;
    static const struct { int target, objective; double least; } all[] = {
        { TARGET_NUMBER, TRAIN_REGRESSION, 0.96 }, { TARGET_CLASS, TRAIN_CLASSIFICATION, 0.9 },
        { TARGET_FLAGS, TRAIN_MULTI_LABEL, 0.94 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
        struct train_job s = kit_trees(60);
        struct train_result r, sampled;
        s.objective = all[i].objective;
        struct train_data d = kit_friedman(a, &s, all[i].target, 3000);
        learn(&s, &d, &r, 2);
        print_message("%s: %.4f, loss %.4f\n", job_objective_names[s.objective], r.holdout_accuracy, r.holdout_loss);
        assert_true(r.holdout_accuracy >= all[i].least);
        s.row_share = 0.6;
        s.column_share = 0.7;
        learn(&s, &d, &sampled, 2);
        assert_true(sampled.holdout_accuracy >= all[i].least - 0.02);
        assert_false(str_eq(buf_str(&r.model), buf_str(&sampled.model)));
        train_result_release(&r);
        train_result_release(&sampled);
    }
}

static void test_early_stop_keeps_the_best(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct train_job s = kit_trees(500);
    struct train_data d = kit_friedman(a, &s, TARGET_CLASS, 400);
    struct train_result r, cut;
    s.early_stop_patience = 5;
    s.learning_rate = 0.5;
    s.leaf_rows = 2;
    learn(&s, &d, &r, 2);
    assert_true(r.end == TRAIN_EARLY_STOPPED && r.steps < 500);
    s.trees = r.steps - 5;
    s.early_stop_patience = 0;
    learn(&s, &d, &cut, 2);
    assert_true(cut.holdout_loss == r.holdout_loss && cut.parameters == r.parameters);
    train_result_release(&r);
    train_result_release(&cut);
}

static bool stop_soon(void *ctx)
{
    int *left = ctx;
    return --*left == 0;
}

static void test_a_resumed_run_gives_the_same_bytes(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
    struct kit_store kept;
    struct train_job s = kit_trees(20);
    struct train_result whole, part;
    struct err e = { 0 };
    const struct ckpt_store *store = kit_store_init(&kept);
    s.row_share = 0.8;
    s.objective = TRAIN_REGRESSION;
    struct train_data d = kit_friedman(a, &s, TARGET_NUMBER, 1000);
    learn(&s, &d, &whole, 2);
    int left = 7;
    const struct train_observer stops = { .ctx = &left, .should_stop = stop_soon };
    assert_int_equal(kit_run_in(a, &s, &d, store, 3, &stops, &part, &e), ERR_OK);
    assert_true(part.end == TRAIN_PREEMPTED && part.steps == 7 && part.model.len == 0);
    train_result_release(&part);
    s.l2 = 1;                   /* another run must not take this checkpoint */
    assert_int_equal(kit_run_in(a, &s, &d, store, 3, NULL, &part, &e), ERR_CONFLICT);
    s.l2 = 0;
    assert_int_equal(kit_run_in(a, &s, &d, store, 3, NULL, &part, &e), ERR_OK);
    assert_true(part.resumed_at_step == 7 && str_eq(buf_str(&whole.model), buf_str(&part.model)));
    train_result_release(&part);
    train_result_release(&whole);
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_digits), cmocka_unit_test(test_each_target),
                                        cmocka_unit_test(test_early_stop_keeps_the_best),
                                        cmocka_unit_test(test_a_resumed_run_gives_the_same_bytes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
