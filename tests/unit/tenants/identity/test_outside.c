/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside.c - whose fetches wait for whom, and which paths a sign-in may return to.
 * The fetching itself is in tests/http. */
#include "outside_kit.h"
#include "tenants/identity/oidc.h"

static void local_paths(void **state)
{
    (void)state;
    static const char *const good[] = { "/", "/a", "/a?b=//c", "/a//b", "/a/%2f", "/#x", "/~!" };
    static const char *const bad[] = { "", "a", "//a", "/\\a", "\\a", "/%2fa", "/%2Fa", "/%5ca", "/%09/a", "/\ta", "/ a",
                                      "https://a", "/\x7f", "/\xc3\xa9" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(oidc_is_local_path(str_c(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(oidc_is_local_path(str_c(bad[i])));
    char longest[RETURN_TO_MAX + 1];
    memset(longest, '/', 1);
    memset(longest + 1, 'a', sizeof longest - 1);
    assert_true(oidc_is_local_path(str_n(longest, RETURN_TO_MAX)));
    assert_false(oidc_is_local_path(str_n(longest, RETURN_TO_MAX + 1)));
}

/* Two providers of one tenant hang: a third fetch of its is refused, another tenant's is made while they
 * hang; then the host is left alone. */
static void a_tenant_has_its_slots(void **state)
{
    (void)state;
    struct asker a[] = { { 1, 1, hangs.url }, { 1, 2, hangs.url } };
    struct err e;
    int fd[2];
    begin_hanging(a, fd, 2);
    assert_int_equal(ask(1, 3, hangs.url, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "The organisation has"));
    is_answered(2, 4);
    assert_int_equal(over, 0);
    end_hanging(a, fd, 2);
    assert_int_equal(ask(1, 5, hangs.url, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "did not answer in time"));
}

/* As many strangers hang as may: a tenant that answered before is answered; and those that hung get two places from then on. */
static void who_hangs_holds_few_places(void **state)
{
    (void)state;
    enum { STRANGERS = 12 };
    struct asker a[STRANGERS];
    struct provider more;
    struct err e;
    int fd[STRANGERS];
    is_answered(100, 1);
    for (int i = 0; i < STRANGERS; i++)
        a[i] = (struct asker){ (uint8_t)(1 + i / 2), (unsigned)(1 + i), hangs.url };
    begin_hanging(a, fd, 8);                        /* four tenants */
    is_answered(50, 1);                             /* a fifth, of whom nothing is known */
    begin_hanging(a + 8, fd + 8, STRANGERS - 8);
    assert_int_equal(ask(51, 1, hangs.url, &e), ERR_UNAVAILABLE);
    is_answered(100, 2);
    end_hanging(a, fd, STRANGERS);
    over = 0;
    provider_open(&more);
    for (int i = 0; i < 4; i++) {
        a[i] = (struct asker){ (uint8_t)(1 + i), 200, more.url };
        begin_asking(&a[i]);
    }
    while (over < 2)                                /* refused at once: two of the four are at it */
        usleep(1000);
    is_answered(51, 2);
    assert_int_equal(over, 2);
    int hung = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(a[i].thread, NULL);
        hung += a[i].rc == ERR_DEADLINE;
        assert_true(a[i].rc == ERR_DEADLINE || a[i].rc == ERR_UNAVAILABLE);
    }
    assert_int_equal(hung, 2);
    close(more.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(local_paths),
                                        cmocka_unit_test_setup_teardown(a_tenant_has_its_slots, setup, teardown),
                                        cmocka_unit_test_setup_teardown(who_hangs_holds_few_places, setup, teardown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
