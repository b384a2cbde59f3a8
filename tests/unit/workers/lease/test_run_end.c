/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_end.c - the ends of a real training: out of time, too large, cancelled, and stale, of which nothing is said. */
#include "executor_kit.h"
#include "../../../lib/wait.h"

#include <pthread.h>

#define SPEC(more) \
    "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"label_column\":\"label\"," more "}"

static struct held *add(struct fixture *f, const char *spec, int64_t max_runtime_s)
{
    return add_kind(f, "train", spec, max_runtime_s);
}

static void *run_thread(void *p)
{
    void **both = p;
    executor_run(both[0], both[1]);
    return NULL;
}

static void test_time_is_up(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "1g");
    run_and_expect(&f, add(&f, SPEC("\"epochs\":10000,\"hidden\":[512,512]"), 1), "\"event\":\"timeout\"",
                   "\"text\":\"error: out of time: the job may run 1 s\"");
    teardown(&f);
}

static void test_too_large_a_model_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "64m");
    run_and_expect(&f, add(&f, SPEC("\"epochs\":3,\"hidden\":[2500,2500]"), 0), "\"event\":\"fail\"", "does not fit");
    teardown(&f);
}

/* What is told so far; it stays to be told. */
static bool has_begun(struct book *b)
{
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(b, &report);
    book_unsettle(b);
    return report.len && strstr(report.ptr, "data opened");
}

static void stop_and_expect(bool stale, const char *event)
{
    struct fixture f;
    setup(&f, "1g");
    struct held *h = add(&f, SPEC("\"epochs\":10000,\"hidden\":[512,512]"), 0);
    pthread_t t;
    void *both[2] = { &f.env, h };
    pthread_create(&t, NULL, run_thread, both);
    WAIT_WHILE(!has_begun(f.book));
    int64_t began = clock_mono_us(&clock_system);
    if (stale)
        book_fence_all(f.book);
    else
        book_cancel_all(f.book);
    pthread_join(t, NULL);
    assert_true(clock_mono_us(&clock_system) - began < 60000000);        /* it would train for many minutes */
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(f.book, &report);
    if (event)
        assert_non_null(strstr(report.ptr, event));
    else
        assert_int_equal(report.len, 0);
    teardown(&f);
}

static void test_cancelled(void **state)
{
    (void)state;
    stop_and_expect(false, "\"event\":\"cancel\"");
}

static void test_stale_is_killed_and_silent(void **state)
{
    (void)state;
    stop_and_expect(true, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_time_is_up), cmocka_unit_test(test_too_large_a_model_is_refused),
                                        cmocka_unit_test(test_cancelled), cmocka_unit_test(test_stale_is_killed_and_silent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
