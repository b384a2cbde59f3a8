/* SPDX-License-Identifier: Apache-2.0 */
/* test_book_notice.c - what others want of held leases, with a clock that is turned by hand. */
#include "lease_kit.h"

static int64_t now;

static int64_t turn(void *ctx)
{
    (void)ctx;
    return now;
}

static const struct clock hand = { turn, turn, NULL };

/* A notice of a lease wakes its runner once and is told of; others, and those of ended leases, say nothing. */
static void test_notices(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct book *b = book_new(&hand, 10000);
    struct lease_grant g = kit_grant(3, "train", "{}"), other = kit_grant(4, "train", "{}");
    struct held *h = book_add(b, &g, true), *k = book_add(b, &other, true);
    const struct lease_grant gone = kit_grant(9, "train", "{}");
    struct lease_notice n[3] = { { g.attempt_id, false, 60000, STR("makes room") }, { gone.attempt_id, true, 0, STR("") },
                                 { other.attempt_id, true, 0, STR("") } };
    assert_int_equal(book_told(b, a).n, 0);
    book_notify(b, (struct slice){ n, 3 });
    const int64_t until = held_preempt_us(h);
    assert_true(until == clock_mono_us(&hand) + 60000000 && !held_is_cancelled(h));
    assert_true(held_is_cancelled(k) && !held_preempt_us(k));
    assert_int_equal(book_told(b, a).n, 2);
    n[0].preempt_ms = 90000;            /* it is told once: nobody gains time by asking again */
    book_notify(b, (struct slice){ n, 1 });
    assert_int_equal(held_preempt_us(h), until);
    held_finish(k, &(struct lease_item){ .event = LE_SUCCEED });
    n[2].preempt_ms = 1000;
    n[2].cancel = false;
    book_notify(b, (struct slice){ n, 3 });
    assert_int_equal(held_preempt_us(k), 0);
    held_unref(h);
    held_unref(k);
    book_free(b);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_notices) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
