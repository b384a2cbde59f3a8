/* SPDX-License-Identifier: Apache-2.0 */
/* test_cut.c - a real Redis whose connection ends at each byte of what it says: while one is made, in an answer, in a message
 * of a subscription. Nothing torn is taken for whole, each command has one answer, and all goes on with the next connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "core/redis/client.h"
#include "core/redis/dial_int.h"
#include "core/redis/wake.h"
#include "tests/db/harness.h"
#include "tests/lib/cut_link.h"
#include "tests/lib/share.h"
#include "tests/lib/wait.h"

static struct redis_harness *redis;
static struct cut_link wire;
static char place[32];
static struct redis_opts opts;

/* The client's way is TCP, on which it asks for the role, too. */
static int setup(void **state)
{
    (void)state;
    redis = redis_harness_new("pass word");
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un there = { .sun_family = AF_UNIX };
    snprintf(there.sun_path, sizeof there.sun_path, "%s", redis_harness_address(redis) + strlen("unix:"));
    cut_begin(&wire, (struct sockaddr *)&at, sizeof at, &there, sizeof there);
    socklen_t n = sizeof at;
    assert_int_equal(getsockname(wire.listener, (struct sockaddr *)&at, &n), 0);
    snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(at.sin_port));
    opts = (struct redis_opts){ .address = place, .password = "pass word", .timeout_ms = 20000 };
    atomic_store(&wire.is_ending, true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cut_link_free(&wire);
    redis_harness_free(redis);
    return 0;
}

/* AUTH and ROLE: refused at each byte but the last, with the place named. */
static void a_connection_that_is_made(void **state)
{
    (void)state;
    enum { MOST = 200 };
    struct redis_address a;
    redis_address_set(&a, &opts);
    int k = 1;
    for (; k < MOST; k++) {
        struct err e = { 0 };
        struct redis_link *l = NULL;
        struct redis_route *r = redis_route_new(&a);
        cut_link_after(&wire, -1, k);
        enum errc rc = redis_dial(r, &l, &e);
        redis_link_free(rc == ERR_OK ? l : NULL);
        redis_route_free(r);
        if (rc == ERR_OK)
            break;
        if (!strstr(e.msg, place) && !strstr(e.detail, place))
            fail_msg("byte %d: %s (%s)", k, e.msg, e.detail);
    }
    redis_address_release(&a);
    assert_in_range(k, strlen("+OK\r\n*3\r\n$6\r\nmaster\r\n"), MOST - 1);
}

struct answer { atomic_int calls, good, wrong; int64_t want; };

static void answered(void *ctx, bool ok, int64_t value)
{
    struct answer *a = ctx;
    if (ok)
        atomic_fetch_add(value == a->want ? &a->good : &a->wrong, 1);
    atomic_fetch_add(&a->calls, 1);
}

static bool add(struct redis_client *c, const char *key, const char *n, struct answer *a)
{
    const struct str argv[] = { STR("INCRBY"), str_c(key), str_c(n) };
    return redis_send(c, argv, 3, REDIS_INT, answered, a);
}

/* Two sums, and one of them is never a shorter number than it is. */
static void an_answer(void **state)
{
    (void)state;
    enum { BYTES = 14 };                       /* ":12345\r\n:12346\r\n" has 16 */
    const int step = BYTES / share_of("cuts of an answer", BYTES / 2, BYTES);
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&opts);
    for (int k = 1; k <= BYTES; k += step) {
        struct answer a[2] = { { .want = 12345 }, { .want = 12346 } }, after = { .want = 7 };
        char key[32];
        cut_link_after(&wire, -1, -1);
        WAIT_WHILE(!redis_is_up(c));
        snprintf(key, sizeof key, "cut:%d", k);
        cut_link_after(&wire, -1, k);
        int sent = add(c, key, "12345", &a[0]);
        sent += add(c, key, "1", &a[1]);
        WAIT_WHILE(atomic_load(&a[0].calls) + atomic_load(&a[1].calls) < sent);
        assert_int_equal(atomic_load(&a[0].wrong) + atomic_load(&a[1].wrong), 0);
        cut_link_after(&wire, -1, -1);
        snprintf(key, sizeof key, "after:%d", k);
        WAIT_WHILE(!add(c, key, "7", &after));
        WAIT_WHILE(!atomic_load(&after.calls));         /* it may be lost with the connection, but is told so once */
        assert_int_equal(atomic_load(&after.wrong), 0);
        assert_int_equal(atomic_load(&a[0].calls) + atomic_load(&a[1].calls), sent);
    }
}

struct heard { atomic_int resets, messages, torn; };

static void hear(void *ctx, struct str channel, struct str payload)
{
    struct heard *h = ctx;
    if (!channel.ptr)
        atomic_fetch_add(&h->resets, 1);
    else
        atomic_fetch_add(str_eq_c(channel, "node:1234") && str_eq_c(payload, "0123456789") ? &h->messages : &h->torn, 1);
}

static void a_message(void **state)
{
    (void)state;
    static const char MESSAGE[] = "*4\r\n$8\r\npmessage\r\n$6\r\nnode:*\r\n$9\r\nnode:1234\r\n$10\r\n0123456789\r\n";
    static const char *const channels[] = { "node:*" };
    struct heard h = { 0 };
    struct redis_opts direct = { .address = redis_harness_address(redis), .password = "pass word" };
    const int step = (int)sizeof MESSAGE / share_of("cuts of a message", 8, (int)sizeof MESSAGE);
    cut_link_after(&wire, -1, -1);
    CLEANUP(redis_client_freep) struct redis_client *c = redis_client_new(&direct);
    CLEANUP(wake_listener_freep) struct wake_listener *l = wake_listener_new(&opts, channels, 1, hear, &h);
    for (int k = 1; k < (int)sizeof MESSAGE - 1; k += step) {
        const int messages = atomic_load(&h.messages);
        WAIT_WHILE((wake_publish(c, STR("node:1234"), STR("0123456789")), atomic_load(&h.messages) == messages));
        const int resets = atomic_load(&h.resets);
        cut_link_after(&wire, -1, k);
        WAIT_WHILE((wake_publish(c, STR("node:1234"), STR("0123456789")), !atomic_load(&wire.cuts)));
        cut_link_after(&wire, -1, -1);
        WAIT_WHILE(atomic_load(&h.resets) == resets);          /* "look at everything": what was cut is made good so */
    }
    assert_int_equal(atomic_load(&h.torn), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_is_made), cmocka_unit_test(an_answer), cmocka_unit_test(a_message),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
