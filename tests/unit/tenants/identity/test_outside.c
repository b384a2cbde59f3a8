/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside.c - whose fetches wait for whom, and which paths a sign-in may return to.
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

static void local_paths(void **state)
{
    (void)state;
    static const char *const good[] = { "/", "/a", "/a?b=//c", "/a//b", "/a/%2f", "/#x", "/~!" };
    static const char *const bad[] = { "", "a", "//a", "/\\a", "\\a", "/%2fa", "/%2Fa", "/%5ca", "/%09/a", "/\ta", "/ a", "https://a", "/\x7f", "/\xc3\xa9" };
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
static struct provider hangs;

/* A fetch of its own thread, which counts those that are over. */
struct asker { uint8_t tenant; unsigned owner; const char *url; pthread_t thread; enum errc rc; };
static _Atomic int over;

static enum errc ask(uint8_t tenant, unsigned provider, const char *url, struct err *e)
{
    struct arena *a = arena_new(4 << 20);
    struct str text;
    enum errc rc = outside_document(&app, a, (struct outside_owner){ { { (uint8_t)(provider >> 8), (uint8_t)provider } },
        { { tenant } } }, str_c(url), false, &text, e);
    arena_free(a);
    return rc;
}

static void *asker_main(void *arg)
{
    struct asker *a = arg;
    struct err e;
    a->rc = ask(a->tenant, a->owner, a->url, &e);
    over++;
    return NULL;
}

static void begin_asking(struct asker *a)
{
    assert_int_equal(pthread_create(&a->thread, NULL, asker_main, a), 0);
}

static int setup(void **state)
{
    (void)state;
    config = (struct config){ .run_profile = PROFILE_DEV, .auth_provider_networks = "", .auth_provider_ca = "",
        .auth_provider_cache_ms = 1 };
    app.federation = federation_new(&config);
    over = 0;
    provider_open(&hangs);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(hangs.fd);
    federation_free(app.federation);
    return 0;
}

/* One that answers once, to who asks as the tenant. */
static void is_answered(uint8_t tenant, unsigned owner)
{
    struct provider good;
    struct err e;
    provider_open(&good);
    assert_int_equal(pthread_create(&good.thread, NULL, answer, &good), 0);
    assert_int_equal(ask(tenant, owner, good.url, &e), ERR_OK);
    pthread_join(good.thread, NULL);
    close(good.fd);
}

/* n of them are at it, and nobody answers them. */
static void begin_hanging(struct asker *a, int *fd, int n)
{
    for (int i = 0; i < n; i++)
        begin_asking(&a[i]);
    for (int i = 0; i < n; i++)
        assert_true((fd[i] = accept(hangs.fd, NULL, NULL)) >= 0);
}

static void end_hanging(struct asker *a, int *fd, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_join(a[i].thread, NULL);
        assert_int_equal(a[i].rc, ERR_DEADLINE);
        close(fd[i]);
    }
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

/* Documents of two tenants whose names have the same remainder: the second is fetched while the first hangs. */
static void nobody_waits_for_anothers_document(void **state)
{
    (void)state;
    struct asker a = { 1, 1, hangs.url };
    struct provider good;
    struct err e;
    int fd;
    provider_open(&good);
    assert_int_equal(pthread_create(&good.thread, NULL, answer, &good), 0);
    begin_hanging(&a, &fd, 1);
    const uint8_t first[16] = { 0, 1 };
    uint64_t place = (str_hash(str_c(hangs.url)) ^ str_hash(str_n((const char *)first, 16))) % 256;
    unsigned owner = 2;
    for (uint8_t id[16] = { 0 };; owner++) {
        id[0] = (uint8_t)(owner >> 8);
        id[1] = (uint8_t)owner;
        if ((str_hash(str_c(good.url)) ^ str_hash(str_n((const char *)id, 16))) % 256 == place)
            break;
    }
    assert_int_equal(ask(2, owner, good.url, &e), ERR_OK);
    assert_int_equal(over, 0);
    end_hanging(&a, &fd, 1);
    pthread_join(good.thread, NULL);
    close(good.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(local_paths),
                                        cmocka_unit_test_setup_teardown(a_tenant_has_its_slots, setup, teardown),
                                        cmocka_unit_test_setup_teardown(who_hangs_holds_few_places, setup, teardown),
                                        cmocka_unit_test_setup_teardown(nobody_waits_for_anothers_document, setup, teardown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
