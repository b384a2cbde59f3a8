/* SPDX-License-Identifier: Apache-2.0 */
/* test_prefetch.c - rows that are fetched ahead are those that would be fetched, and a run with them makes the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "run_kit.h"
#include "workers/compute/train/prefetch.h"

enum { N = 5, WIDE = 64 };

static void test_what_was_asked_for_is_taken_and_nothing_else(void **st)
{
    static const uint32_t rows[N] = { 3, 9, 1, 700, 2 }, others[N] = { 3, 9, 1, 700, 4 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 28);
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct prefetch *p;
    struct err e;
    float x[N * WIDE], ahead[N * WIDE], want[N * WIDE];
    int32_t target[N], target_ahead[N], labels[N];
    struct prefetch_batch b = { x, target, NULL };
    (void)st;
    assert_int_equal(prefetch_new(a, &d, NULL, N, (struct prefetch_batch){ ahead, target_ahead, NULL }, &p, &e), ERR_OK);
    assert_false(prefetch_take(p, rows, N, &b));            /* nobody asked */
    prefetch_ask(p, rows, N);
    assert_false(prefetch_take(p, others, N, &b));
    assert_false(prefetch_take(p, rows, N - 1, &b));
    assert_ptr_equal(b.x, x);
    assert_true(prefetch_take(p, rows, N, &b));             /* an evaluation in between costs it nothing */
    d.fetch(&d, rows, N, want, labels);
    assert_memory_equal(b.x, want, sizeof want);
    assert_memory_equal(b.target, labels, sizeof labels);
    assert_ptr_not_equal(b.x, x);
    assert_false(prefetch_take(p, rows, N, &b));            /* once */
    prefetch_ask(p, rows, N);
    prefetch_ask(p, others, N);                             /* the first for nothing */
    assert_true(prefetch_take(p, others, N, &b));
    assert_ptr_equal(b.x, x);
    prefetch_ask(p, rows, N);                               /* under way when it ends */
    prefetch_free(p);
}

static void (*fetch_really)(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target);
static pthread_t loop;
static _Atomic int here;                /* fetches by the thread of the step loop */

static void fetch_and_count(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target)
{
    here += pthread_equal(pthread_self(), loop) != 0;
    fetch_really(d, rows, n, x, target);
}

static struct train_result run(struct arena *a, struct train_job s, const struct train_data *d, bool prefetches)
{
    struct train_result r;
    struct err e = { 0 };
    const struct train_task job = { .spec = &s, .data = d, .backend = kit_backend(), .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit"), .prefetches = prefetches };
    if (train_run(a, &job, NULL, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return r;
}

static void test_a_run_has_the_same_bytes(void **st)
{
    static const struct { int64_t batch, accumulate, ranks, eval_every; } cut[] = { { 32, 1, 1, 0 }, { 16, 3, 1, 7 },
                                                                                    { 16, 4, 2, 5 }, { 65536, 1, 1, 0 } };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    (void)st;
    s.epochs = 3;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        s.batch_size = cut[i].batch;
        s.accumulate = cut[i].accumulate;
        s.ranks = cut[i].ranks;
        s.eval_every = cut[i].eval_every;
        struct train_result with = run(a, s, &d, true), without = run(a, s, &d, false);
        assert_int_equal(with.model.len, without.model.len);
        assert_memory_equal(with.model.ptr, without.model.ptr, with.model.len);
        train_result_release(&with);
        train_result_release(&without);
    }
}

/* 1438 rows are 45 batches of 32; 359 are 12, held out. */
static void test_only_the_first_batch_and_evaluations_are_fetched_by_the_loop(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    (void)st;
    s.epochs = 3;
    fetch_really = d.fetch;
    loop = pthread_self();
    d.fetch = fetch_and_count;
    struct train_result r = run(a, s, &d, true);
    assert_int_equal(r.steps, 3 * 45);
    assert_int_equal(here, 1 + 3 * 12);
    train_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_asked_for_is_taken_and_nothing_else),
        cmocka_unit_test(test_a_run_has_the_same_bytes),
        cmocka_unit_test(test_only_the_first_batch_and_evaluations_are_fetched_by_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
