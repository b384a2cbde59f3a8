/* SPDX-License-Identifier: Apache-2.0 */
/* test_event.c - events taken from a unit of work, and many at once for a combiner. The INSERT itself: tests/db/audit. */
#include "audit/event.h"
#include "core/base/work.h"
#include "tests/unit/audit/fixture.h"

static void an_event_takes_what_the_work_knows(void **state)
{
    (void)state;
    struct work w = { .tenant_id = uuid_v7(5), .now_us = 1700000000000000, .request_id = STR("r1"), .source_ip = STR("::1") };
    struct audit_event a = audit_event_of(&w, AUDIT_JOB_CANCEL), b = audit_event_of(&w, AUDIT_JOB_CANCEL);
    assert_true(uuid_eq(a.tenant_id, w.tenant_id) && a.ts_us == w.now_us && a.code == AUDIT_JOB_CANCEL);
    assert_true(str_eq_c(a.request_id, "r1") && str_eq_c(a.src_ip, "::1") && a.error == ERR_OK && !a.denied);
    assert_false(uuid_eq(a.event_id, b.event_id) || uuid_is_nil(a.event_id));
}

static void many_events_have_the_bytes_of_one(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct work w = { .tenant_id = uuid_v7(5), .now_us = 1700000000000000 };
    struct audit_event evs[7];
    struct audit_rows rows;
    struct err e;
    for (int i = 0; i < 7; i++)
        evs[i] = audit_event_of(&w, (enum audit_code)i);
    assert_int_equal(audit_encode_many(a, evs, 7, &rows, &e), ERR_OK);
    assert_int_equal(rows.count, 7);
    for (int i = 0; i < 7; i++) {
        struct buf b = BUF(AUDIT_BODY_MAX);
        assert_true(audit_event_encode(&evs[i], &b));
        assert_true(str_eq(buf_str(&b), rows.bodies[i]) && uuid_eq(rows.event_ids[i], evs[i].event_id));
        buf_release(&b);
    }
    assert_int_equal(audit_encode_many(a, NULL, 0, &rows, &e), ERR_OK);
    assert_int_equal(rows.count, 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_event_takes_what_the_work_knows),
        cmocka_unit_test(many_events_have_the_bytes_of_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
