/* SPDX-License-Identifier: Apache-2.0 */
/* test_notice_mail.c - pauses grow and have an end, and what can never be sent is not tried.
 * The rest: tests/e2e/notifications.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/table/config.h"
#include "scheduler/duty/notice_mail.h"

static void pauses(void **state)
{
    (void)state;
    static const int64_t s[] = { 5, 300, 1800, 7200, 18000, 36000, 36000, 36000 };
    for (int i = 0; i < 8; i++)
        assert_int_equal(notice_pause_ms(i + 1, 5000), s[i] * 1000);
    assert_int_equal(notice_pause_ms(0, 5000), 5000);
    assert_int_equal(notice_pause_ms(INT64_MAX, 3600000), INT64_C(604800000));
    assert_int_equal(notice_pause_ms(3, INT64_MAX), INT64_C(604800000));
}

static void what_can_never_be_sent(void **state)
{
    (void)state;
    struct config *cfg = config_new_default();
    struct arena *a = arena_new(1 << 20);
    const struct app app = { .clock = &clock_system, .config = cfg };
    struct notice_claimed d = { .tries = 1, .event = STR("test"), .address = STR("h@x.example"), .language = STR("en") };
    struct notice_result r = notice_mail(&app, a, &d, NULL);
    assert_true(str_eq_c(r.state, "DEAD") && str_starts(r.reason, "No mail server"));
    cfg->smtp_url = "smtp://127.0.0.1:1";
    cfg->smtp_from = "falaj@x.example";
    d.address = STR_NULL;
    r = notice_mail(&app, a, &d, NULL);
    assert_true(str_eq_c(r.state, "DEAD") && str_starts(r.reason, "This member has no"));
    d.address = STR("h@x.example");
    r = notice_mail(&app, a, &d, NULL);               /* nobody listens there: later perhaps */
    assert_true(str_eq_c(r.state, "WAITING") && r.pause_ms >= 4000 && r.pause_ms <= 6000);
    d.tries = cfg->notify_tries;
    r = notice_mail(&app, a, &d, NULL);
    assert_true(str_eq_c(r.state, "DEAD") && r.reason.len);
    const atomic_bool is_over = true;
    r = notice_mail(&app, a, &d, &is_over);     /* the program ends: another one sends it */
    assert_true(str_eq_c(r.state, "WAITING"));
    arena_free(a);
    config_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pauses), cmocka_unit_test(what_can_never_be_sent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
