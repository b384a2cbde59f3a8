/* SPDX-License-Identifier: Apache-2.0 */
/* test_link.c - Redis and Sentinels over TLS: who is let in, and in which words a wrong authority, certificate, place or password
 * is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/redis/client.h"
#include "core/redis/dial_int.h"
#include "core/redis/wake.h"
#include "tests/db/redis_site.h"
#include "tests/lib/wait.h"

static struct redis_site *site;

static int make(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    site = redis_site_new(true);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    redis_site_free(site);
    return 0;
}

static void hear(void *ctx, struct str channel, struct str payload)
{
    int64_t n = 0;
    if (channel.ptr && str_to_i64(payload, 0, 1 << 30, &n))
        atomic_store((atomic_int *)ctx, (int)n);
}

static void goes_through(struct redis_opts o)
{
    atomic_int last = 0;
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&o);
    static const char *const channels[] = { "node:*" };
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&o, channels, 1, hear, &last);
    WAIT_WHILE((wake_publish(c, STR("node:1"), STR("42")), atomic_load(&last) != 42));
    for (int i = 1; i <= 3000; i++) {               /* more than one record of TLS */
        char text[16];
        snprintf(text, sizeof text, "%d", 100 + i);
        wake_publish(c, STR("node:2"), str_c(text));
    }
    WAIT_WHILE(atomic_load(&last) != 3100);
}

static void test_both_ways_in_tls(void **state)
{
    (void)state;
    goes_through(redis_site_by_sentinels(site));
    goes_through(redis_site_by_list(site));
}

static enum errc dial_within(struct redis_opts o, int timeout_ms, struct err *e)
{
    struct redis_address a;
    struct redis_link *link = NULL;
    o.timeout_ms = timeout_ms;
    redis_address_set(&a, &o);
    struct redis_route *r = redis_route_new(&a);
    enum errc rc = redis_dial(r, &link, e);
    redis_link_free(rc == ERR_OK ? link : NULL);
    redis_route_free(r);
    redis_address_release(&a);
    return rc;
}

static enum errc dial(struct redis_opts o, struct err *e)
{
    return dial_within(o, 20000, e);                /* a busy machine is no refusal */
}

static struct redis_opts one(void)
{
    struct redis_opts o = redis_site_by_list(site);
    o.address = redis_site_place(site, 0);
    return o;
}

static void refused(struct redis_opts o, enum errc want, const char *says)
{
    struct err e;
    const enum errc rc = dial(o, &e);
    if (rc != want || (!strstr(e.msg, says) && !strstr(e.detail, says)))
        fail_msg("%s: %d: %s (%s)", says, (int)rc, e.msg, e.detail);
    assert_null(strstr(e.msg, "word"));
}

static void test_who_is_refused(void **state)
{
    (void)state;
    struct err e;
    struct redis_opts o = one();
    assert_int_equal(dial(o, &e), ERR_OK);
    o.ca_file = redis_site_file(site, "other-ca.pem");
    refused(o, ERR_FORBIDDEN, "the peer's certificate does not hold");
    o.ca_file = NULL;                               /* the system's authorities do not know this one */
    refused(o, ERR_FORBIDDEN, "the peer's certificate does not hold");
    o = redis_site_by_sentinels(site);
    o.ca_file = redis_site_file(site, "other-ca.pem");
    refused(o, ERR_UNAVAILABLE, "the peer's certificate does not hold");
    o = one();
    o.cert_file = o.key_file = NULL;
    refused(o, ERR_UPSTREAM, "certificate required");
    o.cert_file = redis_site_file(site, "stranger.pem");
    o.key_file = redis_site_file(site, "stranger.key");
    refused(o, ERR_UPSTREAM, "unknown ca");
    o = one();
    o.key_file = redis_site_file(site, "stranger.key");
    refused(o, ERR_UPSTREAM, "cannot be made of this certificate, key and authority");
    o = one();
    o.has_tls = false;
    refused(o, ERR_UPSTREAM, "");
    o = one();
    o.password = "wrong";
    refused(o, ERR_FORBIDDEN, "AUTH was refused (WRONGPASS)");
    o = one();
    o.user = NULL;
    o.password = NULL;
    refused(o, ERR_FORBIDDEN, "NOAUTH");
    o.password_file = "/nowhere/at/all";
    refused(o, ERR_IO, "cannot read /nowhere/at/all");
}

/* A server whose link is cut in the middle of its answer to ROLE: the connection stands, and no more comes. */
static void *say_half(void *arg)
{
    static const char half[] = "*3\r\n$6\r\nmas";
    char asked[512];
    int fd = accept(*(int *)arg, NULL, NULL);
    if (fd >= 0 && read(fd, asked, sizeof asked) > 0 && write(fd, half, sizeof half - 1) > 0)
        while (read(fd, asked, sizeof asked) > 0)
            continue;
    close(fd);
    return NULL;
}

static void test_half_an_answer_is_no_answer(void **state)
{
    (void)state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int listens = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listens, 4), 0);
    assert_int_equal(getsockname(listens, (struct sockaddr *)&at, &len), 0);
    pthread_t server;
    assert_int_equal(pthread_create(&server, NULL, say_half, &listens), 0);
    char place[40];
    snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(at.sin_port));
    struct err e;
    const enum errc rc = dial_within((struct redis_opts){ .address = place }, 300, &e);
    if (rc != ERR_DEADLINE)
        fail_msg("%d: %s (%s)", (int)rc, e.msg, e.detail);
    pthread_join(server, NULL);                     /* the connection was given up */
    close(listens);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_both_ways_in_tls), cmocka_unit_test(test_who_is_refused),
                                        cmocka_unit_test(test_half_an_answer_is_no_answer) };
    return cmocka_run_group_tests(tests, make, drop);
}
