/* SPDX-License-Identifier: Apache-2.0 */
/* test_webhook.c - the signature of the standard's own example, and secrets that are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/crypto/webhook.h"

static struct err e;

/* Vector of the Standard Webhooks reference libraries. */
static void the_published_vector(void **state)
{
    (void)state;
    char got[WEBHOOK_SIGNATURE];
    assert_int_equal(webhook_sign(STR("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), STR("msg_p5jXN8AQM9LWM0D4loKWxJek"), 1614265330,
                                  STR("{\"test\": 2432232314}"), got, &e), ERR_OK);
    assert_string_equal(got, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

static void each_secret_is_new_and_signs(void **state)
{
    (void)state;
    char one[WEBHOOK_SECRET_TEXT], two[WEBHOOK_SECRET_TEXT], a[WEBHOOK_SIGNATURE], b[WEBHOOK_SIGNATURE];
    assert_int_equal(webhook_secret_new(one, &e), ERR_OK);
    assert_int_equal(webhook_secret_new(two, &e), ERR_OK);
    assert_string_not_equal(one, two);
    assert_int_equal(strlen(one), WEBHOOK_SECRET_TEXT - 1);
    assert_int_equal(webhook_sign(str_c(one), STR("ntd_1"), 1, STR("{}"), a, &e), ERR_OK);
    assert_int_equal(webhook_sign(str_c(two), STR("ntd_1"), 1, STR("{}"), b, &e), ERR_OK);
    assert_string_not_equal(a, b);
}

static void a_body_above_its_size_is_refused(void **state)
{
    (void)state;
    static char body[WEBHOOK_BODY_MAX + 512];
    char got[WEBHOOK_SIGNATURE];
    memset(body, 'x', sizeof body);
    assert_int_equal(webhook_sign(STR("s"), STR("i"), 1, str_n(body, sizeof body), got, &e), ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_published_vector), cmocka_unit_test(each_secret_is_new_and_signs),
                                        cmocka_unit_test(a_body_above_its_size_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
