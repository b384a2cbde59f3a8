/* SPDX-License-Identifier: Apache-2.0 */
/* test_mux_loop.c - the loop: no call holds up another, and connections are kept no longer than they are of use. */
#include "mux_kit.h"
#include "tests/lib/wait.h"

static void what_stalls_holds_up_nobody(void **state)
{
    (void)state;
    enum { N = 20 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(deaf, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(deaf, N), 0);
    assert_int_equal(getsockname(deaf, (struct sockaddr *)&at, &len), 0);
    struct http_target *deaf_target = to_port(ntohs(at.sin_port));
    struct asked stalled[2 * N] = { 0 }, good[N] = { 0 };
    for (int i = 0; i < N; i++) {
        ask(&stalled[2 * i], target, "/silent");
        ask(&stalled[2 * i + 1], deaf_target, "/");
    }
    wait_parked(N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(start(&good[i], target, (struct http_call){ .method = "POST", .path = "/", .body = STR("12345") }),
                         ERR_OK);
        wait_told(&good[i]);
        assert_int_equal(good[i].rc, ERR_OK);
        assert_true(str_eq_c(good[i].body, "POST 5"));
    }
    for (int i = 0; i < 2 * N; i++)
        assert_int_equal(stalled[i].told, 0);
    http_mux_stop(mux);
    for (int i = 0; i < 2 * N; i++) {
        assert_int_equal(stalled[i].told, 1);               /* a stop ends what is under way, and tells */
        assert_int_equal(stalled[i].rc, ERR_UNAVAILABLE);
    }
    struct asked late = { 0 };
    assert_int_equal(start(&late, target, (struct http_call){ .path = "/" }), ERR_UNAVAILABLE);
    assert_int_equal(late.told, 0);
    release(&late, 1);
    release(stalled, 2 * N);
    release(good, N);
    http_target_unref(deaf_target);
    close(deaf);
}

static void what_nobody_wants_is_ended(void **state)
{
    (void)state;
    struct asked a = { 0 }, other = { 0 };
    ask(&a, target, "/silent");
    ask(&other, target, "/silent");
    wait_parked(2);
    a.is_unwanted = true;
    wait_told(&a);
    assert_int_equal(a.rc, ERR_UNAVAILABLE);
    assert_int_equal(other.told, 0);
    WAIT_WHILE(!http_exchange_gone(parked[0]) && !http_exchange_gone(parked[1]));
    assert_true(http_exchange_gone(parked[0]) != http_exchange_gone(parked[1]));     /* the server sees its peer leave */
    answer_parked();
    wait_told(&other);
    assert_int_equal(other.rc, ERR_OK);
    release(&a, 1);
    release(&other, 1);
}

static void connections_are_kept(void **state)
{
    (void)state;
    for (int64_t until = net_now_ms() + SOON_MS; http_server_connections(server) > 0 && net_now_ms() < until;)
        usleep(1000);                                       /* those of the tests before */
    for (int i = 0; i < 30; i++) {
        struct asked a = { 0 };
        ask(&a, target, "/");
        wait_told(&a);
        assert_int_equal(a.rc, ERR_OK);
        release(&a, 1);
    }
    assert_int_equal(http_server_connections(server), 1);
}

/* Connections of this process to a port, in any state that holds a descriptor. */
static int sockets_to(int port)
{
    struct sockaddr_in at;
    int n = 0;
    for (int fd = 0; fd < 4096; fd++) {
        socklen_t len = sizeof at;
        int type = 0;
        socklen_t tlen = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &tlen) == 0 && getsockname(fd, (struct sockaddr *)&at, &len) == 0 &&
            at.sin_family == AF_INET && at.sin_port != htons((uint16_t)port)) {
            len = sizeof at;
            char byte;
            bool has_peer = getpeername(fd, (struct sockaddr *)&at, &len) == 0;
            n += has_peer ? at.sin_port == htons((uint16_t)port) : recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
        }
    }
    return n;
}

/* A deployment that has ended: its server is gone, and nobody calls it again. */
static void what_nobody_calls_any_more_holds_no_descriptor(void **state)
{
    (void)state;
    enum { N = 12 };
    struct asked a[N] = { 0 };
    struct http_server *ends = net_serve((struct http_server_options){ .on_request = on_request });
    int port = http_server_port(ends);
    struct http_target *to = to_port(port);
    http_mux_free(mux);
    mux = http_mux_new(&(struct http_mux_options){ .name = "test", .calls_max = PARKED_MAX, .bytes_max = 3 << 20, .idle_max = 64,
                                                   .idle_ms = 300 });
    for (int i = 0; i < N; i++)
        ask(&a[i], to, "/silent");
    wait_parked(N);
    assert_int_equal(sockets_to(port), N);
    answer_parked();
    for (int i = 0; i < N; i++)
        wait_told(&a[i]);
    http_server_free(ends);
    for (int64_t until = net_now_ms() + SOON_MS; sockets_to(port) && net_now_ms() < until;)
        usleep(1000);
    assert_int_equal(sockets_to(port), 0);
    release(a, N);
    struct asked again = { 0 };
    ask(&again, target, "/");
    wait_told(&again);
    assert_int_equal(again.rc, ERR_OK);
    release(&again, 1);
    http_target_unref(to);
}

static struct asked *watched;
static int told_before, most_together, told_in_all;

static int count_told(void)
{
    int n = 0;
    for (int i = 0; i < PARKED_MAX; i++)
        n += watched[i].told;
    return n;
}

static void hold(void)
{
    told_before = count_told();
}

static void let_go(void)
{
    int told = count_told() - told_before;
    most_together = told > most_together ? told : most_together;
    told_in_all += told;
}

/* Those that end in one turn of the loop are told some at a time: the first do not wait for the last. */
static void many_answers_go_some_at_a_time(void **state)
{
    (void)state;
    struct asked a[PARKED_MAX] = { 0 };
    http_mux_free(mux);
    watched = a;
    told_in_all = most_together = 0;
    mux = http_mux_new(&(struct http_mux_options){ .name = "test", .calls_max = PARKED_MAX, .bytes_max = 3 << 20, .idle_max = 64,
                                                   .before_done = hold, .after_done = let_go });
    for (int i = 0; i < PARKED_MAX; i++)
        ask(&a[i], target, "/silent");
    wait_parked(PARKED_MAX);
    answer_parked();
    for (int i = 0; i < PARKED_MAX; i++)
        wait_told(&a[i]);
    http_mux_stop(mux);                             /* what the loop's thread counted is there now */
    assert_in_range(most_together, 1, 8);
    assert_int_equal(told_in_all, PARKED_MAX);
    release(a, PARKED_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MUX_TEST(what_stalls_holds_up_nobody),
        MUX_TEST(what_nobody_wants_is_ended),
        MUX_TEST(connections_are_kept),
        MUX_TEST(what_nobody_calls_any_more_holds_no_descriptor),
        MUX_TEST(many_answers_go_some_at_a_time),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
