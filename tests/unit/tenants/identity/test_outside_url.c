/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside_url.c - which URLs may be fetched, and which addresses are the public Internet's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include "core/table/config.h"
#include "tenants/identity/outside.h"

static const struct { const char *url; bool dev, prod; } urls[] = {
    { "https://id.example", true, true },
    { "https://id.example:8443/a/b?c=d", true, true },
    { "https://[2001:db8::1]/x", true, true },
    { "http://127.0.0.1:1234/x", true, false },
    { "http://localhost", true, false },
    { "http://[::1]:9/x", true, false },
    { "http://id.example", false, false },
    { "http://127.0.0.1.example/", false, false },
    { "http://localhost.example", false, false },
    { "http://127.0.0.2/", false, false },
    { "https://", false, false },
    { "https:///x", false, false },
    { "https://:443/x", false, false },
    { "https://a@b/x", false, false },
    { "http://127.0.0.1@evil/x", false, false },
    { "https://a/b#c", false, false },
    { "https://a\\b", false, false },
    { "https://a b", false, false },
    { "https://a/\n", false, false },
    { "file:///etc/passwd", false, false },
    { "gopher://a", false, false },
    { "HTTPS://a", false, false },
    { "//a", false, false },
    { "", false, false },
    { "https://\xc3\xa9.example", false, false },
};

static void urls_by_profile(void **state)
{
    (void)state;
    for (int prod = 0; prod < 2; prod++) {
        struct config cfg = { .run_profile = prod ? PROFILE_PROD : PROFILE_DEV };
        for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
            struct err e;
            bool ok = outside_url_check(&cfg, str_c(urls[i].url), "/url", &e) == ERR_OK;
            if (ok != (prod ? urls[i].prod : urls[i].dev))
                fail_msg("%s is %s in %s", urls[i].url, ok ? "taken" : "refused", prod ? "prod" : "dev");
        }
    }
}

static bool is_public(const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return outside_is_public((const struct sockaddr *)(const void *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return outside_is_public((const struct sockaddr *)(const void *)&v6);
}

static void addresses(void **state)
{
    (void)state;
    static const char *const open[] = { "1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "192.167.255.255", "2606:4700::1",
        "2a00:1450::1" };
    static const char *const closed[] = { "0.0.0.0", "127.0.0.1", "127.255.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.255",
        "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255",
        "::1", "::", "fe80::1",
        "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
        "2001:db8::1", "::127.0.0.1" };
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (!is_public(open[i]))
            fail_msg("%s is not taken for public", open[i]);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (is_public(closed[i]))
            fail_msg("%s is taken for public", closed[i]);
    struct sockaddr local = { .sa_family = AF_UNIX };
    assert_false(outside_is_public(&local));
}

static bool reaches(const char *networks, int profile, const char *address)
{
    struct outside_reach r;
    const struct config cfg = { .run_profile = profile };
    struct sockaddr_in to = { .sin_family = AF_INET };
    outside_reach_init(&r, &cfg, str_c(networks));
    assert_int_equal(inet_pton(AF_INET, address, &to.sin_addr), 1);
    return outside_may_connect(&r, (const struct sockaddr *)(const void *)&to);
}

static void private_networks_that_the_operator_names(void **state)
{
    (void)state;
    assert_true(reaches("", PROFILE_PROD, "8.8.8.8"));
    assert_false(reaches("", PROFILE_PROD, "10.1.2.3"));
    assert_true(reaches("192.168.7.0/24, 10.1.0.0/16", PROFILE_PROD, "10.1.2.3"));
    assert_false(reaches("192.168.7.0/24, 10.1.0.0/16", PROFILE_PROD, "10.2.2.3"));
    assert_false(reaches("nonsense", PROFILE_PROD, "127.0.0.1"));
    assert_true(reaches("", PROFILE_DEV, "127.0.0.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(urls_by_profile), cmocka_unit_test(addresses),
                                        cmocka_unit_test(private_networks_that_the_operator_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
