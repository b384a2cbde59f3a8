/* SPDX-License-Identifier: Apache-2.0 */
/* test_notice_send.c - who does not lead touches nothing, and its threads end. What is sent, and to whom it is not:
 * tests/e2e/notifications.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/base/log.h"
#include "core/table/config.h"
#include "scheduler/duty/notice_send.h"
#include "tests/lib/wait.h"

static _Atomic int asked;

static bool never(void *ctx)
{
    (void)ctx;
    asked++;
    return false;
}

static void who_does_not_lead_touches_nothing(void **state)
{
    (void)state;
    struct config *cfg = config_new_default();
    const struct app app = { .clock = &clock_system, .config = cfg };       /* no pool: a statement would be a crash */
    struct notice_sender *s = notice_sender_new(&app, never, NULL);
    WAIT_WHILE(asked < 6);
    notice_sender_free(s);
    notice_sender_free(NULL);
    config_free(cfg);
}

/* What it says when it begins, of mails and their links. */
static bool warns(const char *smtp, const char *public_url)
{
    struct config *cfg = config_new_default();
    struct app app = { .clock = &clock_system, .config = cfg };
    char said[4096] = "";
    int ends[2];
    cfg->smtp_url = smtp;
    cfg->api_public_url = public_url;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    log_setup("test", LOG_WARN, LOGFMT, ends[1]);
    notice_sender_free(notice_sender_new(&app, never, NULL));
    log_setup("test", LOG_WARN, LOGFMT, STDERR_FILENO);
    close(ends[1]);
    assert_true(read(ends[0], said, sizeof said - 1) >= 0);
    close(ends[0]);
    config_free(cfg);
    return strstr(said, "notices.no_links") && strstr(said, "api.public_url");
}

static void mails_without_links_are_told_of(void **state)
{
    (void)state;
    assert_true(warns("smtps://mail.example.org", ""));
    assert_false(warns("smtps://mail.example.org", "https://falaj.example"));
    assert_false(warns("", ""));            /* no mail at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(who_does_not_lead_touches_nothing),
                                        cmocka_unit_test(mails_without_links_are_told_of) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
