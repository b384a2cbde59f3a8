/* SPDX-License-Identifier: Apache-2.0 */
/* test_text.c - what a webhook and a mail say, and what they never do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "tenants/notice/text.h"

static struct arena *a;
static struct err e;
static const struct notice_claimed job = { .tenant_id = { { 1 } }, .delivery_id = { { 2 } }, .project_id = { { 3 } },
    .event = { "job-failed", 10 }, .resource_kind = { "job", 3 }, .resource_id = { "job_04000000000000000000000000000000", 36 },
    .name = { "\"night\" run\n", 12 }, .detail = { { "{\"state\": \"TIMEOUT\", \"secret\": \"x\"}", 36 } },
    .at = { INT64_C(1795722961000000) }, .language = { "en", 2 } };

static int setup(void **state)
{
    (void)state;
    a = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

static void a_webhook_is_canonical_and_tells_no_more(void **state)
{
    (void)state;
    struct str body;
    struct notice_claimed d = job;
    d.detail.text = STR("{\"state\":\"TIMEOUT\",\"client\":\"10.1.1.1\",\"percent\":80}");
    assert_int_equal(notice_text_webhook(a, &d, "https://falaj.example", &body, &e), ERR_OK);
    assert_string_equal(str_z(a, body),
        "{\"data\":{\"detail\":{\"percent\":80,\"state\":\"TIMEOUT\"},\"name\":\"\\\"night\\\" run\\n\","
        "\"project_id\":\"prj_03000000000000000000000000000000\",\"resource_id\":\"job_04000000000000000000000000000000\","
        "\"resource_kind\":\"job\",\"tenant_id\":\"tnt_01000000000000000000000000000000\","
        "\"url\":\"https://falaj.example/jobs/job_04000000000000000000000000000000\"},\"event\":\"job-failed\","
        "\"id\":\"ntd_02000000000000000000000000000000\",\"timestamp\":\"2026-11-26T19:56:01.000Z\",\"version\":1}");
}

static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    struct str body;
    const struct notice_claimed d = { .delivery_id = { { 2 } }, .event = STR("test"), .at = { 1000000 } };
    assert_int_equal(notice_text_webhook(a, &d, "", &body, &e), ERR_OK);
    assert_string_equal(str_z(a, body),
        "{\"data\":{\"detail\":{}},\"event\":\"test\",\"id\":\"ntd_02000000000000000000000000000000\","
                                        "\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"version\":1}");
}

static void a_mail_in_either_language(void **state)
{
    (void)state;
    struct str subject, text;
    struct notice_claimed d = job;
    d.name = STR("night");
    d.detail.text = STR("{\"state\":\"TIMEOUT\"}");
    notice_text_mail(a, &d, "https://falaj.example", &subject, &text);
    assert_string_equal(str_z(a, subject), "[Falaj] Job failed: night");
    assert_non_null(strstr(str_z(a, text), "State: TIMEOUT\n"));
    assert_non_null(strstr(str_z(a, text), "https://falaj.example/jobs/job_0400"));
    d.language = STR("ar");
    notice_text_mail(a, &d, "", &subject, &text);
    assert_non_null(strstr(str_z(a, subject), "فشل مهمة"));
    assert_non_null(strstr(str_z(a, text), "الحالة: TIMEOUT"));
    assert_null(strstr(str_z(a, text), "http"));
}

static void a_clock_is_found_in_its_register(void **state)
{
    (void)state;
    struct str subject, text;
    const struct notice_claimed d = { .event = STR("clock-overdue"), .resource_kind = STR("clock"), .resource_id = STR("clk_1"),
        .name = STR("case 2026/17"), .language = STR("ar"), .at = { 1 },
        .detail = { STR("{\"deadline\":\"2026-02-28T10:00:00.000Z\",\"kind\":\"access\"}") } };
    notice_text_mail(a, &d, "https://falaj.example", &subject, &text);
    assert_non_null(strstr(str_z(a, subject), "فوات موعد مهلة قانونية: case 2026/17"));
    assert_non_null(strstr(str_z(a, text), "\nhttps://falaj.example/audit/legal-clocks\n"));
    assert_non_null(strstr(str_z(a, text), "2026-02-28T10:00:00.000Z"));
}

static void a_code_stands_in_its_mail_alone(void **state)
{
    (void)state;
    struct str subject, text, body;
    struct notice_claimed d = { .event = STR(NOTICE_CODE), .language = STR("en"), .at = { 1 } };
    d.detail.text = STR("{\"code\":\"012345\"}");
    notice_text_mail(a, &d, "", &subject, &text);
    assert_non_null(strstr(str_z(a, text), "Your code is 012345\n"));
    assert_null(strstr(str_z(a, subject), "012345"));
    assert_int_equal(notice_text_webhook(a, &d, "", &body, &e), ERR_OK);
    assert_null(strstr(str_z(a, body), "012345"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_webhook_is_canonical_and_tells_no_more),
        cmocka_unit_test(what_is_not_known_is_left_out),
                                        cmocka_unit_test(a_mail_in_either_language),
                                        cmocka_unit_test(a_clock_is_found_in_its_register),
                                            cmocka_unit_test(a_code_stands_in_its_mail_alone) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
