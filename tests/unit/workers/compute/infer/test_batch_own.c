/* SPDX-License-Identifier: Apache-2.0 */
/* test_batch_own.c - who asks computes what is worth no other thread, with the same bits, and says so in the numbers. */
#include "batch_kit.h"

#include <pthread.h>

/* Any model will do. */
static int setup(void **st)
{
    (void)st;
    return train(1);
}

static void note_thread(struct infer_request *r, enum errc rc)
{
    *(pthread_t *)r->ctx = pthread_self();
    note(r, rc);
}

static void submit_and_wait(struct batcher *b, struct infer_request *r)
{
    struct err e;
    int before = atomic_load(&answered);
    assert_int_equal(batcher_submit(b, r, &e), ERR_OK);
    WAIT_WHILE(atomic_load(&answered) == before);
}

/* What costs less than a hand-over is computed by who asks, with the same bits; what is longer is not. */
static void test_short_requests_need_no_thread(void **st)
{
    (void)st;
    enum { MINUTE_US = 60 * 1000 * 1000 };
    struct err e;
    struct infer_model *m = load(be);
    struct batcher *b;
    struct batcher_stats stats;
    float p[INFER_ROWS + 1][CLASSES], want[1][CLASSES];
    pthread_t by[3] = { 0 };
    size_t rows;
    struct infer_request r[3];
    for (size_t i = 0; i < 3; i++)
        r[i] = (struct infer_request){ .io = io_of(data.table.x, p[0], NULL), .rows = i == 2 ? INFER_ROWS + 1 : 1,
                                       .done = note_thread, .ctx = &by[i] };
    assert_int_equal(batcher_new(m, &(struct batcher_options){ .threads = 1 }, &b, &e), ERR_OK);
    submit_and_wait(b, &r[0]);
    memcpy(want[0], p[0], sizeof p[0]);
    assert_false(pthread_equal(by[0], pthread_self()));
    assert_int_equal(batcher_own(b, 0, &rows, &e), ERR_OK);
    assert_int_equal(rows, 0);
    submit_and_wait(b, &r[0]);
    assert_false(pthread_equal(by[0], pthread_self()));
    assert_int_equal(batcher_own(b, MINUTE_US, &rows, &e), ERR_OK);
    assert_int_equal(rows, infer_model_info(m)->max_rows);          /* no more than a batch has */
    memset(p, 0, sizeof p);
    assert_int_equal(batcher_submit(b, &r[1], &e), ERR_OK);
    assert_true(pthread_equal(by[1], pthread_self()));              /* it was answered by then */
    assert_memory_equal(want[0], p[0], sizeof p[0]);
    assert_true(r[1].taken_us && r[1].batch_rows == 1);
    submit_and_wait(b, &r[2]);
    assert_false(pthread_equal(by[2], pthread_self()));
    batcher_get_stats(b, &stats);
    assert_int_equal(stats.own, 1);
    assert_int_equal(stats.requests, 4);
    batcher_free(b);
    const struct batcher_options patient = { .threads = 1, .delay_us = 1000 };
    assert_int_equal(batcher_new(m, &patient, &b, &e), ERR_OK);
    assert_int_equal(batcher_own(b, MINUTE_US, &rows, &e), ERR_OK);
    assert_int_equal(rows, 0);                                      /* it waits for company */
    batcher_free(b);
    infer_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_short_requests_need_no_thread) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
