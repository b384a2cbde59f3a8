/* SPDX-License-Identifier: Apache-2.0 */
/* test_book_door.c - who may be found by an attempt, and its door: a copy for each, and none once it is shut. */
#include <fcntl.h>
#include "lease_kit.h"

static void a_door_is_open_until_it_is_shut(void **state)
{
    (void)state;
    struct book *b = book_new(&clock_system, 10000);
    struct lease_grant g = kit_grant(3, "run", "{}");
    const struct lease_grant other = kit_grant(4, "run", "{}");
    struct held *h = book_add(b, &g, true);
    assert_ptr_equal(book_find(b, g.attempt_id), h);
    assert_null(book_find(b, other.attempt_id));
    assert_int_equal(held_door(h), -1);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    held_set_door(h, ends[1]);
    int copy = held_door(h);
    assert_true(copy >= 0 && copy != ends[1]);
    held_set_door(h, -1);
    assert_int_equal(held_door(h), -1);
    assert_int_equal(fcntl(ends[1], F_GETFD), -1);      /* closed, and the copy is not */
    assert_int_equal(write(copy, "x", 1), 1);
    close(copy);
    close(ends[0]);
    held_finish(h, &(struct lease_item){ .event = LE_SUCCEED });
    assert_null(book_find(b, g.attempt_id));            /* it has ended, though the book still has it */
    held_unref(h);
    held_unref(h);
    book_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_door_is_open_until_it_is_shut) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
