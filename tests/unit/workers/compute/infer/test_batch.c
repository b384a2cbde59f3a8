/* SPDX-License-Identifier: Apache-2.0 */
/* test_batch.c - a trained model served: the accuracy of the run, bits independent of batching, the batcher under eight threads. */
#include "batch_kit.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>

#include "core/base/cleanup.h"

enum { THREADS = 8, PER_THREAD = 400 };

static int setup(void **st)
{
    (void)st;
    return train(8);
}

static enum errc run(struct infer_session *s, const float *x, size_t rows, float *probabilities, int32_t *labels, struct err *e)
{
    const struct infer_io io = io_of(x, probabilities, labels);
    return infer_run(s, &io, rows, e);
}

/* The served accuracy on the hold-out rows is exactly the one training reported. */
static void test_accuracy(void **st)
{
    (void)st;
    struct err e;
    struct infer_model *m = load(be);
    struct infer_session *s;
    size_t right = 0;
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    CLEANUP(buf_releasep) struct buf sig = BUF(256);
    const struct model_sig *has = &infer_model_info(m)->sig;
    assert_true(sig_print(&sig, has->inputs, has->input_count) && sig_print(&sig, has->outputs, has->output_count));
    assert_string_equal(sig.ptr, "input FP32[-1,64]probabilities FP32[-1,10], label INT64[-1]");
    assert_non_null(strstr(infer_model_info(m)->features_json, "\"p7_7\""));
    for (size_t i = 0; i < trained.holdout_count; i++) {
        uint32_t row = trained.holdout_indices[i];
        float p[CLASSES], sum = 0;
        int32_t label;
        assert_int_equal(run(s, data.table.x + (size_t)row * INPUTS, 1, p, &label, &e), ERR_OK);
        right += label == data.table.labels[row];
        for (int c = 0; c < CLASSES; c++)
            sum += p[c];
        assert_true(fabsf(sum - 1) < 1e-5f);
    }
    assert_true((double)right / (double)trained.holdout_count == trained.holdout_accuracy);
    assert_true(trained.holdout_accuracy > 0.95);
    infer_session_free(s);
    infer_model_free(m);
}

static void test_batch_bits_and_backends(void **st)
{
    (void)st;
    struct err e;
    struct infer_model *m = load(be), *ref = load(&backend_ref);
    struct infer_session *s, *sr;
    enum { N = 150 };
    float *all = malloc(N * CLASSES * sizeof *all), *want = malloc(N * CLASSES * sizeof *want), one[CLASSES];
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_session_new(ref, &sr, &e), ERR_OK);
    assert_int_equal(run(s, data.table.x, N, all, NULL, &e), ERR_OK);
    assert_int_equal(run(sr, data.table.x, N, want, NULL, &e), ERR_OK);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(run(s, data.table.x + i * INPUTS, 1, one, NULL, &e), ERR_OK);
        assert_memory_equal(one, all + i * CLASSES, sizeof one);
        for (int c = 0; c < CLASSES; c++)
            assert_true(fabsf(one[c] - want[i * CLASSES + (size_t)c]) < 1e-4f);
    }
    free(all);
    free(want);
    infer_session_free(s);
    infer_session_free(sr);
    infer_model_free(m);
    infer_model_free(ref);
}

static void test_hostile(void **st)
{
    (void)st;
    struct err e;
    struct infer_model *m;
    assert_int_equal(infer_model_load(be, NULL, "nonsense model", 14, &m, &e), ERR_BAD_DATA);
    for (size_t n = 0; n < trained.model.len; n += 997)
        assert_int_equal(infer_model_load(be, NULL, trained.model.ptr, n, &m, &e), ERR_BAD_DATA);
}

struct caller {
    struct batcher *b;
    const float *want;
    atomic_int *done, *wrong;
    unsigned seed;
};

struct async {
    struct infer_request r;
    float p[3 * CLASSES];
    const float *want;
    atomic_int *done, *wrong;
};

static void on_done(struct infer_request *r, enum errc rc)
{
    struct async *a = r->ctx;
    if (rc != ERR_OK || memcmp(a->p, a->want, r->rows * CLASSES * sizeof(float)))
        atomic_fetch_add(a->wrong, 1);
    atomic_fetch_add(a->done, 1);
    free(a);
}

static void *call_many(void *arg)
{
    struct caller *c = arg;
    struct err e;
    for (int i = 0; i < PER_THREAD; i++) {
        c->seed = c->seed * 1664525 + 1013904223;
        size_t row = (c->seed >> 8) % 1000, rows = 1 + (c->seed >> 5) % 3;
        struct async *a = calloc(1, sizeof *a);
        *a = (struct async){ .want = c->want + row * CLASSES, .done = c->done, .wrong = c->wrong };
        a->r = (struct infer_request){ .io = io_of(data.table.x + row * INPUTS, a->p, NULL), .rows = rows, .done = on_done,
                                       .ctx = a };
        if (i % 2) {
            while (batcher_submit(c->b, &a->r, &e) == ERR_RATE)
                ;
        } else {
            enum errc rc;
            while ((rc = batcher_infer(c->b, &a->r, &e)) == ERR_RATE)
                ;
            a->r.ctx = a;
            on_done(&a->r, rc);
        }
    }
    return NULL;
}

static void test_batcher(void **st)
{
    (void)st;
    struct err e;
    struct infer_model *m = load(be);
    struct infer_session *s;
    struct batcher *b;
    float *want = malloc(1010 * CLASSES * sizeof *want);
    atomic_int done = 0, wrong = 0;
    pthread_t t[THREADS];
    struct caller c[THREADS];
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(run(s, data.table.x, 1010, want, NULL, &e), ERR_OK);
    assert_int_equal(batcher_new(m, &(struct batcher_options){ .threads = 2, .queue_rows = 200 }, &b, &e), ERR_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        c[i] = (struct caller){ b, want, &done, &wrong, i * 77 + 1 };
        assert_int_equal(pthread_create(&t[i], NULL, call_many, &c[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    struct batcher_stats stats;
    batcher_get_stats(b, &stats);
    batcher_free(b);
    assert_int_equal(done, THREADS * PER_THREAD);
    assert_int_equal(wrong, 0);
    assert_int_equal(stats.requests, THREADS * PER_THREAD);
    assert_true(stats.batched_rows_max <= INFER_ROWS);
    print_message("%llu requests in %llu batches, largest %llu rows\n", (unsigned long long)stats.requests,
                  (unsigned long long)stats.batches, (unsigned long long)stats.batched_rows_max);
    free(want);
    infer_session_free(s);
    infer_model_free(m);
}

static sem_t gate;

/* Holds the batcher's only thread, so that what is submitted stays in the queue. */
static void wait_at_gate(struct infer_request *r, enum errc rc)
{
    (void)r, (void)rc;
    atomic_fetch_add(&answered, 1);
    sem_wait(&gate);
}

static void test_the_queue_has_its_length(void **st)
{
    (void)st;
    enum { QUEUE = 10 };
    struct err e;
    struct infer_model *m = load(be);
    struct batcher *b;
    struct batcher_stats stats;
    float p[(QUEUE + 1) * CLASSES];
    struct infer_request r[5];
    static const size_t rows[5] = { 1, QUEUE - 1, 1, 1, QUEUE + 1 };
    for (size_t i = 0; i < 5; i++)
        r[i] = (struct infer_request){ .io = io_of(data.table.x, p, NULL), .rows = rows[i], .done = wait_at_gate };
    sem_init(&gate, 0, 0);
    atomic_store(&answered, 0);
    assert_int_equal(batcher_new(m, &(struct batcher_options){ .threads = 1, .queue_rows = QUEUE }, &b, &e), ERR_OK);
    assert_int_equal(batcher_submit(b, &r[0], &e), ERR_OK);
    WAIT_WHILE(!atomic_load(&answered));
    assert_int_equal(answered, 1);
    assert_int_equal(batcher_submit(b, &r[1], &e), ERR_OK);
    assert_int_equal(batcher_submit(b, &r[2], &e), ERR_OK);     /* exactly full */
    assert_int_equal(batcher_submit(b, &r[3], &e), ERR_RATE);
    assert_non_null(strstr(e.msg, "10 rows waiting"));
    assert_int_equal(batcher_infer(b, &r[3], &e), ERR_RATE);
    batcher_get_stats(b, &stats);
    assert_int_equal(stats.rows_waiting, QUEUE);
    sem_post(&gate);
    WAIT_WHILE(atomic_load(&answered) < 2);
    assert_int_equal(batcher_submit(b, &r[4], &e), ERR_OK);     /* longer than the queue, and nothing waits */
    for (int i = 0; i < 4; i++)
        sem_post(&gate);
    batcher_free(b);
    assert_int_equal(answered, 4);
    sem_destroy(&gate);
    infer_model_free(m);
}

/* A batch that waits for company goes when it is full, or when its oldest request has waited so long; what is late is refused. */
static void test_the_knobs(void **st)
{
    (void)st;
    enum { FULL = 8 };
    struct err e;
    struct infer_model *m = load(be);
    struct batcher *b;
    struct batcher_stats stats;
    float p[FULL][CLASSES];
    struct infer_request r[FULL + 1];
    for (size_t i = 0; i <= FULL; i++)
        r[i] = (struct infer_request){ .io = io_of(data.table.x, p[i % FULL], NULL), .rows = 1, .done = note };
    atomic_store(&answered, 0);
    atomic_store(&late, 0);
    const struct batcher_options slow = { .threads = 2, .batch_rows = FULL, .delay_us = INT64_C(600) * 1000000 };
    assert_int_equal(batcher_new(m, &slow, &b, &e), ERR_OK);
    for (size_t i = 0; i < FULL - 1; i++)
        assert_int_equal(batcher_submit(b, &r[i], &e), ERR_OK);
    assert_int_equal(atomic_load(&answered), 0);        /* ten minutes are not over */
    assert_int_equal(batcher_submit(b, &r[FULL - 1], &e), ERR_OK);
    WAIT_WHILE(atomic_load(&answered) < FULL);
    batcher_get_stats(b, &stats);
    assert_int_equal(stats.batches, 1);
    assert_int_equal(stats.batched_rows_max, FULL);
    batcher_free(b);
    const struct batcher_options soon = { .threads = 1, .batch_rows = FULL, .delay_us = 2000 };
    assert_int_equal(batcher_new(m, &soon, &b, &e), ERR_OK);
    assert_int_equal(batcher_submit(b, &r[0], &e), ERR_OK);
    WAIT_WHILE(atomic_load(&answered) < FULL + 1);
    r[1].timeout_us = 1;
    assert_int_equal(batcher_submit(b, &r[1], &e), ERR_OK);     /* waits two milliseconds for company, and may wait one microsecond */
    WAIT_WHILE(!atomic_load(&late));
    batcher_free(b);
    infer_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy), cmocka_unit_test(test_batch_bits_and_backends), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_batcher), cmocka_unit_test(test_the_queue_has_its_length), cmocka_unit_test(test_the_knobs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
