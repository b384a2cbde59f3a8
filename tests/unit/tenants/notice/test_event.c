/* SPDX-License-Identifier: Apache-2.0 */
/* test_event.c - which entries of the log are which events, and that what is asked of the log covers them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "tenants/notice/event.h"

static void entries(void **state)
{
    (void)state;
    static const struct { const char *code, *step; int64_t missing; int event; } rows[] = {
        { "FLJ-JOB-006S", NULL, 0, NE_JOB_FAILED }, { "FLJ-JOB-007S", NULL, 0, NE_JOB_FAILED }, { "FLJ-JOB-001S", NULL, 0, -1 },
        { "FLJ-JOB-009S", NULL, 0, NE_JOB_FAILED },
        { "FLJ-DEP-003S", "given_up", 0, NE_DEPLOYMENT_ROLL }, { "FLJ-DEP-003S", "turned", 0, -1 },
        { "FLJ-APR-001S", NULL, 0, NE_APPROVAL }, { "FLJ-APR-001D", NULL, 0, -1 }, { "FLJ-QUO-003S", NULL, 0, NE_BUDGET },
        { "FLJ-AUD-007S", NULL, 0, -1 }, { "FLJ-AUD-007F", NULL, 0, NE_AUDIT_ALERT }, { "FLJ-AUD-009S", NULL, 0, -1 },
        { "FLJ-AUD-009S", NULL, 3, NE_AUDIT_ALERT }, { "FLJ-AUD-008S", NULL, 0, NE_AUDIT_ALERT }, { "", NULL, 0, -1 }, { "S",
            NULL, 0, -1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(notice_event_of_entry(str_c(rows[i].code), str_c(rows[i].step), rows[i].missing), rows[i].event);
}

static void ends_of_jobs(void **state)
{
    (void)state;
    assert_int_equal(notice_job_event(STR("COMPLETED")), NE_JOB_COMPLETED);
    assert_int_equal(notice_job_event(STR("OUT_OF_MEMORY")), NE_JOB_FAILED);
    assert_int_equal(notice_job_event(STR("DEADLINE")), NE_JOB_FAILED);
    assert_int_equal(notice_job_event(STR("CANCELLED")), -1);
    assert_int_equal(notice_job_event(STR_NULL), -1);
}

static bool asks(uint32_t wanted, const char *code)
{
    struct str codes[NOTICE_CODES];
    const size_t n = notice_codes(wanted, codes);
    for (size_t i = 0; i < n; i++)
        if (str_eq_c(codes[i], code))
            return true;
    return false;
}

static void only_wanted_codes_are_asked_for(void **state)
{
    (void)state;
    assert_true(asks(1u << NE_JOB_COMPLETED, "FLJ-JOB-006"));       /* an end is told by the job */
    assert_true(asks(1u << NE_JOB_FAILED, "FLJ-JOB-007"));
    assert_false(asks(1u << NE_JOB_FAILED, "FLJ-APR-001"));
    assert_false(asks(1u << NE_JOB_WAITING, "FLJ-JOB-006"));
    assert_true(asks(UINT32_MAX, "FLJ-NOD-006"));
}

static void names_are_whole_and_once(void **state)
{
    (void)state;
    for (int i = 0; i < NOTICE_EVENTS; i++) {
        const struct notice_event_row *r = notice_event_row((enum notice_event)i);
        assert_int_equal(notice_event_by_wire(str_c(r->wire)), i);
        assert_true(r->whose & FOR_RULES && *r->en && *r->ar && *r->doc);
        for (const char *c = r->ar; *c; c++)
            assert_false((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'));
    }
    assert_int_equal(notice_event_by_wire(STR("job")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(entries), cmocka_unit_test(ends_of_jobs),
                                        cmocka_unit_test(only_wanted_codes_are_asked_for),
                                            cmocka_unit_test(names_are_whole_and_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
