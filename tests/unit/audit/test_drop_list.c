/* SPDX-License-Identifier: Apache-2.0 */
/* test_drop_list.c - what a retention event lists is what it dropped, spelled in one way; everything else is refused. */
#include "audit/drop_list.h"
#include "tests/unit/audit/fixture.h"

static struct audit_view view;

/* The event's details are `details`; another code where `code` is given. */
static bool add(struct drop_list *l, const char *details, enum audit_code code, uint64_t tseq)
{
    struct audit_event ev = { .zone = STR("z"), .ts_us = 1, .code = code, .actor = AUDIT_SYSTEM };
    struct buf b = BUF(AUDIT_BODY_MAX);
    assert_true(audit_event_encode(&ev, &b));
    b.len -= strlen("}}");
    buf_add_c(&b, details);
    buf_add_c(&b, "}}");
    assert_true(audit_record_read(buf_str(&b), &view));
    bool is_good = drop_list_add(l, &view, tseq);
    buf_release(&b);
    return is_good;
}

static void lists_are_joined_and_asked(void **state)
{
    (void)state;
    struct drop_list l = { 0 };
    assert_false(drop_list_has(&l, 1));
    assert_true(add(&l, "\"dropped\":6,\"from_tseq\":2,\"until_tseq\":20,\"list_1\":\"2-4,7\",\"list_2\":\"9,20\"",
            AUDIT_RETENTION, 30));
    assert_true(add(&l, "\"dropped\":4,\"from_tseq\":1,\"until_tseq\":6,\"list_1\":\"1,3,5-6\"", AUDIT_RETENTION, 31));
    for (uint64_t t = 0; t < 25; t++)
        assert_int_equal(drop_list_has(&l, t), (t >= 1 && t <= 7) || t == 9 || t == 20);
    assert_int_equal(l.n, 3);
    drop_list_release(&l);
}

static void what_is_no_list_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2", "\"dropped\":2,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"2\"",
        "\"dropped\":1,\"from_tseq\":1,\"until_tseq\":2,\"list_1\":\"2\"",
                "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":3,\"list_1\":\"2\"",
        "\"dropped\":2,\"from_tseq\":2,\"until_tseq\":3,\"list_1\":\"3,2\"",
                "\"dropped\":2,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"2,2\"",
        "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"2-2\"",
                "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"02\"",
        "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"2,\"",
                "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"\"",
        "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_2\":\"2\"",
                "\"dropped\":1,\"until_tseq\":2,\"from_tseq\":2,\"list_1\":\"2\"",
        "\"dropped\":1,\"from_tseq\":0,\"until_tseq\":0,\"list_1\":\"0\"",
                "\"dropped\":\"1\",\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"2\"",
        "\"dropped\":1,\"from_tseq\":9,\"until_tseq\":9,\"list_1\":\"9\"",
                "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":2",
        "\"dropped\":2,\"from_tseq\":5,\"until_tseq\":4,\"list_1\":\"5-4\"" };
    static const char good[] = "\"dropped\":1,\"from_tseq\":2,\"until_tseq\":2,\"list_1\":\"2\"";
    struct drop_list l = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (add(&l, bad[i], AUDIT_RETENTION, 9))
            fail_msg("%s", bad[i]);
    assert_false(add(&l, good, AUDIT_HEARTBEAT, 9));
    assert_true(add(&l, good, AUDIT_RETENTION, 9));
    drop_list_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_are_joined_and_asked),
            cmocka_unit_test(what_is_no_list_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
