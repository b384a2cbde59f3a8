/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside.c - which URLs may be fetched, and which addresses are the public Internet's; and whose fetches wait for whom.
 * The fetching itself is in tests/http. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/table/config.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/outside.h"

static const struct { const char *url; bool dev, prod; } urls[] = {
    { "https://id.example", true, true }, { "https://id.example:8443/a/b?c=d", true, true }, { "https://[2001:db8::1]/x", true, true },
    { "http://127.0.0.1:1234/x", true, false }, { "http://localhost", true, false }, { "http://[::1]:9/x", true, false },
    { "http://id.example", false, false }, { "http://127.0.0.1.example/", false, false }, { "http://localhost.example", false, false },
    { "http://127.0.0.2/", false, false }, { "https://", false, false }, { "https:///x", false, false }, { "https://:443/x", false, false },
    { "https://a@b/x", false, false }, { "http://127.0.0.1@evil/x", false, false }, { "https://a/b#c", false, false }, { "https://a\\b", false, false },
    { "https://a b", false, false }, { "https://a/\n", false, false }, { "file:///etc/passwd", false, false }, { "gopher://a", false, false },
    { "HTTPS://a", false, false }, { "//a", false, false }, { "", false, false }, { "https://\xc3\xa9.example", false, false },
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
    static const char *const open[] = { "1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "192.167.255.255", "2606:4700::1", "2a00:1450::1" };
    static const char *const closed[] = { "0.0.0.0", "127.0.0.1", "127.255.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1",
        "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "::127.0.0.1" };
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (!is_public(open[i]))
            fail_msg("%s is not taken for public", open[i]);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (is_public(closed[i]))
            fail_msg("%s is taken for public", closed[i]);
    struct sockaddr local = { .sa_family = AF_UNIX };
    assert_false(outside_is_public(&local));
}

static void local_paths(void **state)
{
    (void)state;
    static const char *const good[] = { "/", "/a", "/a?b=//c", "/a//b", "/a/%2f", "/#x" };
    static const char *const bad[] = { "", "a", "//a", "/\\a", "\\a", "/%2fa", "/%2Fa", "/%5ca", "/%09/a", "/\ta", "/ a", "https://a", "/\x7f", "/\xc3\xa9" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(oidc_is_local_path(str_c(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(oidc_is_local_path(str_c(bad[i])));
}

/* A provider on loopback. One that hangs takes connections (the kernel does) and never answers. */
struct provider { int fd; char url[64]; pthread_t thread; };

static void provider_open(struct provider *p)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    p->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(p->fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(p->fd, 16), 0);
    assert_int_equal(getsockname(p->fd, (struct sockaddr *)&a, &n), 0);
    snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/keys", ntohs(a.sin_port));
}

static void *answer(void *arg)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                                "Connection: close\r\n\r\n{}";
    const struct provider *p = arg;
    char request[4096];
    int fd = accept(p->fd, NULL, NULL);
    if (fd >= 0 && read(fd, request, sizeof request) > 0 && write(fd, reply, sizeof reply - 1) > 0)
        shutdown(fd, SHUT_WR);
    close(fd);
    return NULL;
}

static struct config config;
static struct app app = { .config = &config, .clock = &clock_system };
static const struct uuid hanging_tenant = { { 1 } }, other_tenant = { { 2 } };
static struct provider hangs;

static enum errc ask(struct uuid tenant, unsigned provider, const char *url, struct err *e)
{
    struct arena *a = arena_new(4 << 20);
    struct str text;
    enum errc rc = outside_document(&app, a, (struct outside_owner){ { { (uint8_t)(provider >> 8), (uint8_t)provider } },
        tenant }, str_c(url), false, &text, e);
    arena_free(a);
    return rc;
}

static void *ask_hanging(void *provider)
{
    struct err e;
    enum errc rc = ask(hanging_tenant, (unsigned)(uintptr_t)provider, hangs.url, &e);
    return (void *)(uintptr_t)rc;
}

/* Two providers of one tenant hang: a third fetch of its is refused, another tenant's is made while they
 * hang; then the host is left alone. */
static void a_tenant_has_its_slots(void **state)
{
    (void)state;
    struct provider good;
    pthread_t t[2];
    struct err e;
    void *rc;
    int waiting[2];
    config = (struct config){ .run_profile = PROFILE_DEV, .auth_provider_networks = "", .auth_provider_ca = "",
        .auth_provider_cache_ms = 1 };
    app.federation = federation_new(&config);
    provider_open(&hangs);
    provider_open(&good);
    assert_int_equal(pthread_create(&good.thread, NULL, answer, &good), 0);
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&t[i], NULL, ask_hanging, (void *)(i + 1)), 0);
    for (int i = 0; i < 2; i++)
        assert_true((waiting[i] = accept(hangs.fd, NULL, NULL)) >= 0);      /* both are at it, and nobody answers */
    assert_int_equal(ask(hanging_tenant, 3, good.url, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "The organisation has"));
    assert_int_equal(ask(other_tenant, 4, good.url, &e), ERR_OK);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], &rc);
        assert_int_equal((uintptr_t)rc, ERR_DEADLINE);
    }
    assert_int_equal(ask(hanging_tenant, 5, hangs.url, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "did not answer in time"));
    pthread_join(good.thread, NULL);
    close(waiting[0]);
    close(waiting[1]);
    close(hangs.fd);
    close(good.fd);
    federation_free(app.federation);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(urls_by_profile), cmocka_unit_test(addresses),
        cmocka_unit_test(local_paths),
                                        cmocka_unit_test(a_tenant_has_its_slots) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
