/* SPDX-License-Identifier: Apache-2.0 */
/* test_sequencer_pages.c - full pages of every log are summed up once, in passes of 64; the log of heads has none. */
#include "tests/db/audit/fixture.h"

static void number_all(void)
{
    while (tick(20000))
        ;
}

static void a_page_is_made_when_it_is_full(void **state)
{
    (void)state;
    append_committed(tenant_a, 255);
    number_all();
    assert_false(make_pages());
    assert_int_equal(number("SELECT count(*) FROM audit_page"), 0);
    append_committed(tenant_a, 2);
    append_committed(tenant_b, 512);
    number_all();
    assert_false(make_pages());
    assert_int_equal(number("SELECT count(*) FROM audit_page"), 3);
    assert_int_equal(number("SELECT sum(paged) FROM audit_log_state"), 3 * 256);
    assert_false(make_pages());
    assert_int_equal(number("SELECT count(*) FROM audit_page"), 3);
}

static void many_pages_take_passes_and_lie_side_by_side(void **state)
{
    (void)state;
    append_committed(tenant_b, 70 * 256);
    number_all();
    assert_true(make_pages());
    assert_false(make_pages());
    assert_int_equal(number("SELECT count(*) FROM audit_page"), 73);
    assert_int_equal(number("SELECT count(*) FROM audit_page p JOIN audit_seq s ON s.tenant_id = p.tenant_id AND"
                            " s.tseq BETWEEN p.first_tseq AND p.last_tseq AND s.at BETWEEN p.min_at AND p.max_at"), 73 * 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_page_is_made_when_it_is_full),
        cmocka_unit_test(many_pages_take_passes_and_lie_side_by_side) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
