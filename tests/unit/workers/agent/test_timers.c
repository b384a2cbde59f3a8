/* SPDX-License-Identifier: Apache-2.0 */
/* test_timers.c - sleeping jobs end in the order of their times, with what they were asked for, and none before. */
#include "lease_kit.h"
#include "workers/agent/timers.h"

enum { JOBS = 50 };

static int64_t now;

static int64_t turn(void *ctx)
{
    (void)ctx;
    return now;
}

static const struct clock hand = { turn, turn, NULL };

struct bed {
    struct book *book;
    struct timers *timers;
};

static struct held *sleeper(struct bed *b, int n, int64_t ms, bool ok, struct str message)
{
    struct lease_grant g = kit_grant(n + 1, "noop", "{}");
    struct held *h = book_add(b->book, &g, false);
    timers_add(b->timers, h, ms, ok, message);
    return h;
}

static size_t running(struct bed *b)
{
    struct book_counts c;
    book_get_counts(b->book, &c);
    return c.running;
}

static struct bed bed_new(void)
{
    now = 5000000;
    return (struct bed){ .book = book_new(&hand, 10000), .timers = timers_new(&hand) };
}

static void bed_free(struct bed *b)
{
    timers_free(b->timers);
    book_free(b->book);
}

/* Fifty that were begun in no order: at each moment exactly those have ended whose time has come. */
static void test_each_ends_at_its_time(void **state)
{
    (void)state;
    struct bed b = bed_new();
    for (int i = 0; i < JOBS; i++)
        sleeper(&b, i, 1000 + i * 37 % JOBS * 100, true, STR_NULL);
    const int64_t first = now + 1000 * 1000;
    assert_true(timers_run(b.timers, false) <= first && running(&b) == JOBS);
    for (int i = 0; i < JOBS; i++) {
        now = first + i * 100000 - 1;
        timers_run(b.timers, false);
        assert_int_equal(running(&b), JOBS - i);
        now++;
        int64_t next = timers_run(b.timers, false);
        assert_int_equal(running(&b), JOBS - i - 1);
        assert_true(i == JOBS - 1 ? next == INT64_MAX : next > now && next <= first + (i + 1) * 100000);
    }
    bed_free(&b);
}

/* Those in the middle that are cancelled end at the next look, at most 100 ms later, and leave the others in order. */
static void test_cancelled_ones_leave_the_others_in_order(void **state)
{
    (void)state;
    struct bed b = bed_new();
    struct held *h[JOBS];
    for (int i = 0; i < JOBS; i++)
        h[i] = sleeper(&b, i, 60000 + i * 37 % JOBS * 1000, true, STR_NULL);
    timers_run(b.timers, false);
    for (int i = 0; i < JOBS; i += 5)
        held_cancel(h[i]);
    now += 99999;
    timers_run(b.timers, false);
    assert_int_equal(running(&b), JOBS);
    now++;
    assert_true(timers_run(b.timers, false) <= now + 100000);
    assert_int_equal(running(&b), JOBS - JOBS / 5);
    const int64_t first = 5000000 + 60000000;
    size_t left = JOBS - JOBS / 5;
    for (int at = 0; at < JOBS; at++) {
        int i = 0;
        while (i * 37 % JOBS != at)
            i++;
        now = first + at * 1000000;
        timers_run(b.timers, false);
        left -= i % 5 != 0;
        assert_int_equal(running(&b), left);
    }
    assert_int_equal(left, 0);
    bed_free(&b);
}

static void test_ends_are_told_as_they_were_asked(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)1 << 20);
    struct bed b = bed_new();
    sleeper(&b, 0, 10, true, STR_NULL);
    sleeper(&b, 1, 20, false, STR("as asked"));
    sleeper(&b, 2, 90000, true, STR_NULL);
    now += 20000;
    timers_run(b.timers, false);
    assert_int_equal(running(&b), 1);
    timers_run(b.timers, true);         /* the worker stops: what sleeps is given back for another */
    assert_int_equal(running(&b), 0);
    kit_report(b.book, &out);
    const char *succeed = strstr(out.ptr, "\"event\":\"succeed\""), *fail = strstr(out.ptr, "\"event\":\"fail\"");
    assert_true(succeed && fail && strstr(out.ptr, "\"message\":\"as asked\"") && strstr(out.ptr, "\"event\":\"return\""));
    assert_true(strstr(out.ptr, "\"exit_code\":0") && strstr(out.ptr, "\"exit_code\":1"));
    bed_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_ends_at_its_time),
        cmocka_unit_test(test_cancelled_ones_leave_the_others_in_order),
        cmocka_unit_test(test_ends_are_told_as_they_were_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
