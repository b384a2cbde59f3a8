/* SPDX-License-Identifier: Apache-2.0 */
/* test_tune.c - ways that are tried, the one that is kept, and what of it shows in bits. Time is a clock of the test's, which
 * moves when the step loop of rank 0 reads it: twice a batch, and for sums over batches. So a step of fewer batches is faster,
 * one that is shared, too, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "run_kit.h"
#include "store_kit.h"
#include "workers/compute/train/net.h"
#include "workers/compute/train/tune.h"

enum { TICK_US = 100 };
static int64_t now_us;
static pthread_t loop;

static int64_t test_now(void *ctx)
{
    (void)ctx;
    return pthread_equal(pthread_self(), loop) ? now_us += TICK_US : 0;
}
static const struct clock test_clock = { .wall_us = test_now, .mono_us = test_now };

struct fixture {
    struct arena *arena;
    struct train_job spec;
    struct train_data data;
    struct train_task task;
    struct train_observer obs;
    struct tuned tuned;
};

static bool stops;
static bool should_stop(void *ctx)
{
    (void)ctx;
    return stops;
}

static int set_up(void **st)
{
    static struct fixture f;
    f = (struct fixture){ .arena = arena_new((size_t)1 << 30), .spec = kit_spec() };
    f.spec.epochs = 2;
    f.spec.batch_size = 8;
    f.spec.accumulate = 4;
    f.spec.ranks = 1;
    f.spec.tune_steps = 6;
    f.data = kit_digits(f.arena, &f.spec);
    loop = pthread_self();
    f.task = (struct train_task){ .spec = &f.spec, .data = &f.data, .backend = kit_backend(), .clock = &test_clock,
                                  .dataset_digest = STR("sha256:kit") };
    f.obs = (struct train_observer){ .on_log = kit_log, .should_stop = should_stop };
    stops = false;
    *st = &f;
    return 0;
}

static int tear_down(void **st)
{
    struct fixture *f = *st;
    tuned_release(&f->tuned);
    arena_free(f->arena);
    return 0;
}

static void tune_it(struct fixture *f, int cores)
{
    struct err e = { 0 };
    tuned_release(&f->tuned);
    if (tune(f->arena, &f->task, cores, true, &f->obs, &f->tuned, &e) != ERR_OK)
        fail_msg("%s", e.msg);
}

static const struct train_tuning_row *row_of(const struct fixture *f, const char *setting, const char *value)
{
    const struct train_tuning_row *rows = f->tuned.table.rows.items;
    for (size_t i = 0; i < f->tuned.table.rows.n; i++)
        if (str_eq_c(rows[i].setting, setting) && (!value || str_eq_c(rows[i].value, value)))
            return &rows[i];
    return NULL;
}

static int chosen(const struct fixture *f)
{
    const struct train_tuning_row *rows = f->tuned.table.rows.items;
    int n = 0;
    for (size_t i = 0; i < f->tuned.table.rows.n; i++)
        n += rows[i].chosen;
    return n;
}

static void test_the_fastest_cut_is_kept(void **st)
{
    struct fixture *f = *st;
    f->spec.tune_batches = true;
    tune_it(f, 2);
    const struct train_tuning *t = &f->tuned.table;
    const struct train_tuning_row *half = row_of(f, "batches", "2 of 16 rows"), *one = row_of(f, "batches", "1 of 32 rows");
    const struct train_tuning_row *more = row_of(f, "batches", "8 of 4 rows"), *first = t->rows.items;
    assert_true(str_eq_c(first->setting, "defaults") && first->gain == 1);
    assert_true(half && one && more && row_of(f, "threads", "1") && row_of(f, "ranks", "2") && row_of(f, "prefetch", "true"));
    assert_null(row_of(f, "precision", NULL));              /* it is not auto */
    assert_true(half->gain > 1.2 && half->gain < 1.8 && one->gain > 3.5 && one->gain < 5 && more->gain < 0.8);
    assert_true(row_of(f, "prefetch", "true")->gain == 1 && row_of(f, "threads", "1")->gain == 1);
    assert_true(one->chosen && chosen(f) == 1);
    assert_true(f->tuned.way.batch_size == 32 && f->tuned.way.accumulate == 1 && !t->bits_kept);
    assert_true(f->tuned.task.spec == &f->tuned.spec && f->tuned.spec.batch_size == 32);
    assert_true(t->ms_before == first->ms && t->ms_after == one->ms && t->steps == 6 && t->seconds > 0);
    assert_true(str_eq_c(f->tuned.task.tuned, "fp32 32 1"));
}

static struct str model(const struct fixture *f, const struct train_task *task)
{
    struct train_result r = { 0 };
    struct err e = { 0 };
    if (train_run(f->arena, task, NULL, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    struct str bytes = str_dup(f->arena, buf_str(&r.model));
    train_result_release(&r);
    return bytes;
}

static void test_without_leave_no_bit_changes(void **st)
{
    struct fixture *f = *st;
    struct str untuned = model(f, &f->task);
    for (int cores = 1; cores <= 4; cores *= 2) {
        tune_it(f, cores);
        assert_int_equal(f->tuned.way.ranks, cores);        /* they share the time of this test */
        assert_null(row_of(f, "batches", NULL));
        assert_true(f->tuned.table.bits_kept && chosen(f) == 1);
        assert_true((row_of(f, "ranks", "4") != NULL) == (cores == 4));
        assert_true(str_eq(model(f, &f->tuned.task), untuned));
    }
    f->tuned.task.prefetches = true;            /* whatever was chosen */
    f->tuned.spec.ranks = 4;
    assert_true(str_eq(model(f, &f->tuned.task), untuned));
}

static void test_precision_is_tried_where_it_is_auto(void **st)
{
    struct fixture *f = *st;
    f->spec.precision = TRAIN_AUTO;
    tune_it(f, 1);
    assert_true((row_of(f, "precision", "bf16") != NULL) == ((f->task.backend->properties & BE_BF16) != 0));
    assert_true(f->tuned.spec.precision != TRAIN_AUTO);     /* decided */
    f->task.backend = &backend_ref;                         /* as fast in this time: nothing is gained */
    tune_it(f, 1);
    assert_true(f->tuned.spec.precision == TRAIN_FP32 && f->tuned.table.bits_kept);
}

static void test_what_cannot_run_says_why_and_costs_nothing(void **st)
{
    struct fixture *f = *st;
    f->task.memory_max_bytes = 420000;
    tune_it(f, 4);
    const struct train_tuning_row *four = row_of(f, "ranks", "4");
    assert_true(four && four->ms == 0 && four->gain == 0 && !four->chosen && four->why.len);
    assert_true(f->tuned.way.ranks != 4 && chosen(f) == 1);
    f->task.memory_max_bytes = 0;
    f->spec.epochs = 1;
    f->spec.batch_size = 4096;
    tune_it(f, 1);
    assert_int_equal(f->tuned.table.rows.n, 1);             /* one step in all: nothing can be told apart, and the run goes on */
    assert_non_null(strstr(row_of(f, "defaults", NULL)->why.ptr, "no more than 2 steps"));
}

static void test_told_to_stop_it_goes_on_by_the_defaults(void **st)
{
    struct fixture *f = *st;
    f->spec.tune_batches = true;
    stops = true;
    tune_it(f, 2);
    assert_true(f->tuned.was_stopped && f->tuned.table.rows.n == 0);
    assert_true(f->tuned.way.batch_size == 8 && f->tuned.way.accumulate == 4 && f->tuned.table.bits_kept);
}

/* A second has 10,000 ticks: enough of them for the run, not for all trials. */
static void test_trials_count_into_the_budget_of_time(void **st)
{
    struct fixture *f = *st;
    struct train_result r = { 0 };
    struct err e = { 0 };
    f->spec.tune_batches = true;
    f->spec.tune_steps = 60;
    f->spec.epochs = 1000;
    f->spec.max_seconds = 1;
    int64_t began = now_us;
    tune_it(f, 2);
    assert_true(!f->tuned.was_stopped && chosen(f) == 1 && row_of(f, "defaults", NULL)->ms > 0);
    assert_true(f->tuned.table.rows.n < 6);                 /* there would be nine */
    assert_true(now_us - began >= 250000 && now_us - began < 300000);
    assert_true(f->tuned.task.tuned_seconds == f->tuned.table.seconds && f->tuned.task.tuned_seconds > 0.2);
    assert_int_equal(train_run(f->arena, &f->tuned.task, NULL, &r, &e), ERR_OK);
    assert_true(now_us - began >= 1000000 && now_us - began < 1050000);
    train_result_release(&r);
    f->spec.tune_steps = 1000;
    f->spec.precision = TRAIN_AUTO;
    f->spec.accumulate = 32;
    tune_it(f, 1);                                          /* not even the defaults: as if it were not tuned */
    assert_true(f->tuned.table.rows.n == 0 && f->tuned.way.is_bf16 == net_is_bf16(&f->spec, f->task.backend));
}

static void test_a_checkpoint_binds_what_shows_in_bits(void **st)
{
    struct fixture *f = *st;
    struct kit_store kept;
    struct train_result r = { 0 };
    struct err e = { 0 };
    f->spec.tune_batches = true;
    f->task.store = kit_store_init(&kept);
    tune_it(f, 2);
    assert_int_equal(f->tuned.way.batch_size, 32);
    struct str whole = model(f, &f->tuned.task);
    kit_store_release(&kept);
    f->tuned.task.checkpoint_every_steps = 20;
    stops = false;
    assert_int_equal(train_run(f->arena, &f->tuned.task, NULL, &r, &e), ERR_OK);        /* 90 steps: the last is at 80 */
    train_result_release(&r);
    tune_it(f, 2);
    assert_true(f->tuned.way.batch_size == 32 && f->tuned.way.accumulate == 1);
    assert_null(row_of(f, "batches", NULL));
    assert_non_null(row_of(f, "prefetch", NULL));
    assert_int_equal(train_run(f->arena, &f->tuned.task, NULL, &r, &e), ERR_OK);
    assert_int_equal(r.resumed_at_step, 80);
    assert_true(str_eq(buf_str(&r.model), whole));
    train_result_release(&r);
    kit_store_release(&kept);
}

static void test_what_a_checkpoint_says_is_read_strictly(void **st)
{
    static const char *const bad[] = { "", "fp32", "fp32 8", "fp32 8 ", "fp16 8 4", "fp32 0 4", "fp32 8 4097", "fp32 65537 1",
                                       "fp32 8 4 2", "fp32  8 4" };
    struct fixture *f = *st;
    struct tune_way w = { .is_bf16 = true, .batch_size = 16, .accumulate = 2 }, got = { 0 };
    assert_true(tune_parse(tune_text(f->arena, &w), &got));
    assert_true(got.is_bf16 && got.batch_size == 16 && got.accumulate == 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tune_parse(str_c(bad[i]), &got))
            fail_msg("'%s' was taken", bad[i]);
    assert_false(tune_parse(STR_NULL, &got));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_fastest_cut_is_kept),
        TEST(test_without_leave_no_bit_changes),
        TEST(test_precision_is_tried_where_it_is_auto),
        TEST(test_what_cannot_run_says_why_and_costs_nothing),
        TEST(test_told_to_stop_it_goes_on_by_the_defaults),
        TEST(test_trials_count_into_the_budget_of_time),
        TEST(test_a_checkpoint_binds_what_shows_in_bits),
        TEST(test_what_a_checkpoint_says_is_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
