/* SPDX-License-Identifier: Apache-2.0 */
/* test_mux_door.c - a place where no connection comes up: no more than eight are tried at once, all who wait are told,
 * and other places are called as before. */
#include "mux_kit.h"

#include "core/http/mux_int.h"

enum { HERD = 30, CONNECT_MS = 400 };

/* A place where nothing comes up: its queue is full, and so connections to it stay where they began. */
static struct { int listen_fd, first_fd, port; } deaf;

static struct http_target *deaf_target(int connect_ms)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    char url[64];
    deaf.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(deaf.listen_fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(deaf.listen_fd, 0), 0);
    assert_int_equal(getsockname(deaf.listen_fd, (struct sockaddr *)&a, &n), 0);
    deaf.port = ntohs(a.sin_port);
    deaf.first_fd = net_connect(deaf.port);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", deaf.port);
    struct http_target *t = http_target_new(&(struct http_client_options){ .base_url = url, .connect_timeout_ms = connect_ms,
                                                                          .timeout_ms = 60000 }, NULL);
    assert_non_null(t);
    return t;
}

static void deaf_end(struct http_target *t)
{
    close(deaf.first_fd);
    close(deaf.listen_fd);
    http_target_unref(t);
}

/* Connections to it that have begun and are not up (/proc/net/tcp: SYN_SENT). */
static int opening(void)
{
    char line[512], want[32];
    int n = 0;
    FILE *f = fopen("/proc/net/tcp", "re");
    assert_non_null(f);
    snprintf(want, sizeof want, " 0100007F:%04X 02 ", deaf.port);
    while (fgets(line, sizeof line, f))
        n += strstr(line, want) != NULL;
    fclose(f);
    return n;
}

static void a_herd_opens_eight_connections_at_once(void **state)
{
    (void)state;
    enum { GONE = HERD - 2, BRIEF = HERD - 1 };
    struct asked a[HERD] = { 0 }, other = { 0 };
    struct http_target *t = deaf_target(60000);
    for (int i = 0; i < BRIEF; i++)
        ask(&a[i], t, "/");
    assert_int_equal(start(&a[BRIEF], t, (struct http_call){ .path = "/", .timeout_ms = 100 }), ERR_OK);
    ask(&other, target, "/");                       /* who waits at that door is in nobody's way */
    wait_told(&other);
    assert_int_equal(other.rc, ERR_OK);
    assert_int_equal(opening(), DOOR_OPENING_MAX);
    a[GONE].is_unwanted = true;
    wait_told(&a[GONE]);
    assert_int_equal(a[GONE].rc, ERR_UNAVAILABLE);
    wait_told(&a[BRIEF]);
    assert_int_equal(a[BRIEF].rc, ERR_DEADLINE);
    assert_int_equal(opening(), DOOR_OPENING_MAX);
    http_mux_stop(mux);
    for (int i = 0; i < GONE; i++) {
        assert_int_equal(a[i].told, 1);
        assert_int_equal(a[i].rc, ERR_UNAVAILABLE);
    }
    deaf_end(t);
    release(a, HERD);
    release(&other, 1);
}

static void who_waits_is_told_when_nothing_comes_up(void **state)
{
    (void)state;
    struct asked a[HERD] = { 0 };
    struct http_target *t = deaf_target(CONNECT_MS);
    for (int i = 0; i < HERD; i++)
        ask(&a[i], t, "/");
    for (int i = 0; i < HERD; i++) {
        wait_told(&a[i]);
        assert_int_equal(a[i].rc, ERR_DEADLINE);
    }
    assert_int_equal(http_mux_calls(mux), 0);
    deaf_end(t);
    release(a, HERD);
}

/* More callers than connections are opened at once, and all are answered, again and again over what is open. */
static void those_who_wait_get_the_connections_that_are_free(void **state)
{
    (void)state;
    struct asked a[PARKED_MAX] = { 0 };
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PARKED_MAX; i++) {
            a[i].told = 0;
            ask(&a[i], target, round == 1 ? "/silent" : "/");
        }
        if (round == 1) {
            wait_parked(PARKED_MAX);                /* held for long, they keep nobody from opening more */
            answer_parked();
        }
        for (int i = 0; i < PARKED_MAX; i++) {
            wait_told(&a[i]);
            assert_int_equal(a[i].rc, ERR_OK);
        }
    }
    release(a, PARKED_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MUX_TEST(a_herd_opens_eight_connections_at_once),
        MUX_TEST(who_waits_is_told_when_nothing_comes_up),
        MUX_TEST(those_who_wait_get_the_connections_that_are_free),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
