/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue.c - rows are dealt out evenly whoever sends how much, a full queue has room for who has less, and what is late
 * or waits
 * for company is told by times alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "workers/compute/infer/queue.h"

static struct infer_queue *queue_of(size_t rows, size_t requests, size_t batch)
{
    struct infer_queue *q = calloc(1, sizeof *q);
    q->rows_max = rows;
    q->requests_max = requests;
    q->batch_rows = batch;
    return q;
}

static struct infer_request *put(struct infer_queue *q, struct infer_request *r, uint64_t caller, size_t rows, int64_t now)
{
    struct infer_request *gone;
    *r = (struct infer_request){ .caller = caller, .rows = rows };
    assert_true(queue_put(q, r, now, &gone));
    return gone;
}

/* Jain: 1 when all have the same. */
static double fairness(const double *x, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return sum * sum / ((double)n * squares);
}

/* One sends sixteen times as much as each of three others, all the time, in requests of its own length. */
static void test_fair_to_all(void **st)
{
    (void)st;
    enum { CALLERS = 4, EACH = 8, BATCHES = 400, BATCH = 16 };
    struct infer_queue *q = queue_of(100000, 10000, BATCH);
    struct infer_request *all = calloc(CALLERS * EACH * 16, sizeof *all), *late;
    double had[CALLERS] = { 0 };
    size_t n = 0;
    for (size_t c = 0; c < CALLERS; c++)
        for (size_t i = 0; i < (c == 0 ? EACH * 16 : EACH); i++)
            assert_null(put(q, &all[n++], c + 1, c == 1 ? 3 : 1, 0));
    for (int i = 0; i < BATCHES; i++) {
        size_t rows = 0;
        for (struct infer_request *r = queue_cut(q, i, &late), *next; r; r = next) {
            next = r->next;
            size_t of = r->rows;
            rows += of;
            had[r->caller - 1] += (double)of;
            assert_null(put(q, r, r->caller, of, i));       /* who was answered asks again at once */
        }
        assert_true(rows <= BATCH && rows > BATCH - 3);
    }
    assert_true(fairness(had, CALLERS) >= 0.99);
    free(all);
    free(q);
}

/* Who comes late begins where the others stand, and does not have what it missed. */
static void test_no_credit_for_absence(void **st)
{
    (void)st;
    struct infer_queue *q = queue_of(1000, 1000, 2);
    struct infer_request a[20], b[8], *late;
    for (size_t i = 0; i < 20; i++)
        put(q, &a[i], 1, 1, 0);
    for (int i = 0; i < 5; i++)
        assert_non_null(queue_cut(q, 0, &late));
    for (size_t i = 0; i < 8; i++)
        put(q, &b[i], 2, 1, 1);
    size_t of_b = 0;
    for (int i = 0; i < 4; i++)
        for (struct infer_request *r = queue_cut(q, 1, &late); r; r = r->next)
            of_b += r->caller == 2;
    assert_in_range(of_b, 4, 5);
    free(q);
}

static void test_room_for_who_has_less(void **st)
{
    (void)st;
    struct infer_queue *q = queue_of(1000, 4, 8);
    struct infer_request a[5], b[3], *gone;
    for (size_t i = 0; i < 4; i++)
        assert_null(put(q, &a[i], 1, 1, 0));
    a[4] = (struct infer_request){ .caller = 1, .rows = 1 };
    assert_false(queue_put(q, &a[4], 0, &gone));
    assert_null(gone);
    assert_ptr_equal(put(q, &b[0], 2, 1, 0), &a[3]);        /* the newest of the one with the most */
    assert_ptr_equal(put(q, &b[1], 2, 1, 0), &a[2]);
    b[2] = (struct infer_request){ .caller = 2, .rows = 1 };
    assert_false(queue_put(q, &b[2], 0, &gone));            /* now both have the same */
    assert_int_equal(q->requests, 4);
    assert_int_equal(q->rows, 4);
    q->requests_max = 100;
    q->rows_max = 8;
    b[2].rows = 5;
    assert_false(queue_put(q, &b[2], 0, &gone));            /* it would have more than the other */
    assert_null(gone);
    free(q);
}

static void test_times(void **st)
{
    (void)st;
    struct infer_queue *q = queue_of(100, 100, 3);
    struct infer_request r[4], *late;
    q->delay_us = 50;
    q->timeout_us = 200;
    assert_true(queue_due_us(q) == INT64_MAX);
    put(q, &r[0], 1, 1, 1000);
    put(q, &r[1], 2, 1, 1010);
    assert_int_equal(queue_due_us(q), 1050);
    put(q, &r[2], 3, 1, 1020);
    assert_int_equal(queue_due_us(q), 0);                   /* full */
    r[3] = (struct infer_request){ .caller = 4, .rows = 1, .timeout_us = 100 };
    assert_true(queue_put(q, &r[3], 1030, &late));
    struct infer_request *batch = queue_cut(q, 1205, &late);
    assert_ptr_equal(late, &r[3]);                          /* its own limit is shorter; beside it the oldest is late, too */
    assert_ptr_equal(late->next, &r[0]);
    assert_ptr_equal(batch, &r[1]);
    assert_ptr_equal(batch->next, &r[2]);
    assert_int_equal(q->requests, 0);
    assert_null(queue_cut(q, 1205, &late));
    free(q);
}

static void test_what_is_longer_goes_alone(void **st)
{
    (void)st;
    struct infer_queue *q = queue_of(10, 100, 4);
    struct infer_request r[3], *late, *gone;
    put(q, &r[0], 1, 50, 0);
    r[1] = (struct infer_request){ .caller = 1, .rows = 1 };
    assert_false(queue_put(q, &r[1], 0, &gone));
    assert_ptr_equal(queue_cut(q, 0, &late), &r[0]);
    assert_null(r[0].next);
    free(q);
}

/* Priorities order what one caller has waiting, equal ones stay in the order of arrival, and another caller loses nothing by
 * them. */
static void test_priorities_order_the_callers_own(void **st)
{
    (void)st;
    enum { OWN = 6 };
    static const int64_t priority[OWN] = { 0, 100, 1, 50, 1, 51 };
    static const int order[OWN] = { 2, 4, 0, 3, 5, 1 };
    struct infer_queue *q = queue_of(1000, 1000, 1);
    struct infer_request own[OWN], others[OWN], *gone, *late;
    for (int i = 0; i < OWN; i++) {
        own[i] = (struct infer_request){ .caller = 1, .rows = 1, .priority = priority[i] };
        assert_true(queue_put(q, &own[i], i, &gone));
        assert_null(put(q, &others[i], 2, 1, i));
    }
    for (int i = 0, mine = 0, theirs = 0; i < 2 * OWN; i++) {
        struct infer_request *r = queue_cut(q, 10, &late);
        assert_ptr_equal(r, r->caller == 1 ? &own[order[mine]] : &others[theirs]);
        *(r->caller == 1 ? &mine : &theirs) += 1;
        assert_in_range(mine - theirs + 1, 0, 2);
    }
    assert_null(queue_cut(q, 10, &late));
    free(q);
}

/* Times of two callers: what is over goes, what is not stays, and one of no end is never late. */
static void test_the_late_of_all_lines(void **st)
{
    (void)st;
    static const int64_t timeout[] = { 10, 0, 30, INT64_MAX, 10, 20 };
    enum { N = sizeof timeout / sizeof *timeout };
    struct infer_queue *q = queue_of(100, 100, 1);
    struct infer_request r[N], *gone, *late;
    for (size_t i = 0; i < N; i++) {
        r[i] = (struct infer_request){ .caller = 1 + i % 2, .rows = 1, .timeout_us = timeout[i] };
        assert_true(queue_put(q, &r[i], 100, &gone) && !gone);
    }
    assert_null(queue_late(q, 110));
    size_t n = 0;
    for (late = queue_late(q, 111); late; late = late->next, n++)
        assert_true(late == &r[0] || late == &r[4]);
    assert_true(n == 2 && q->requests == 4 && q->rows == 4 && q->late_us == 120);
    late = queue_late(q, 121);
    assert_true(late == &r[5] && !late->next && q->late_us == 130);
    late = queue_late(q, 1000000);
    assert_true(late == &r[2] && !late->next && q->requests == 2 && q->busy_count == 1);
    assert_null(queue_late(q, INT64_MAX));
    for (size_t i = 0; i < 2; i++)
        assert_non_null(queue_cut(q, INT64_MAX, &late));
    assert_int_equal(q->requests, 0);
    free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fair_to_all), cmocka_unit_test(test_the_late_of_all_lines),
                                        cmocka_unit_test(test_no_credit_for_absence),
                                        cmocka_unit_test(test_room_for_who_has_less), cmocka_unit_test(test_times),
                                        cmocka_unit_test(test_what_is_longer_goes_alone),
                                        cmocka_unit_test(test_priorities_order_the_callers_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
