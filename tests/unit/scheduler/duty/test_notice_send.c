/* SPDX-License-Identifier: Apache-2.0 */
/* test_notice_send.c - who does not lead touches nothing, and its threads end. What is sent, and to whom it is not:
 * tests/e2e/notifications.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <cmocka.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(who_does_not_lead_touches_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
