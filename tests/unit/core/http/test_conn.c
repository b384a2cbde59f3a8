/* SPDX-License-Identifier: Apache-2.0 */
/* test_conn.c - who keeps a place at the door and who gives it up: silent connections, many of one address, many in a row, and
 * peers that do not read their answers. */
#include "core/http/server_int.h"
#include "net.h"
#include <signal.h>

enum { ANSWER = 32 << 20 };
#define GET "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
static char *large;

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    large = calloc(1, ANSWER);
    return large ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(large);
    return 0;
}

static void on_inline(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    http_reply(x, &(struct http_response){ .status = 200, .body = str_c("fine") });
}

static void on_large(void *ctx, struct http_exchange *x)
{
    if (http_exchange_request(x)->path.len > 2)
        http_reply_kept(x, &(struct http_response){ .status = 200, .body = str_n(large, ANSWER) });
    else
        on_inline(ctx, x);
}

static void is_answered(int fd)
{
    char reply[1024];
    bool eof = false;
    net_send_c(fd, GET);
    net_read(fd, reply, sizeof reply, "fine", 60000, &eof);
    assert_int_equal(net_status(reply), 200);
}

/* As many silent connections as there are places, and one more with a request: it is answered, and none that was answered is
 * cut. */
static void silent_connections_do_not_close_the_door(void **state)
{
    (void)state;
    enum { PLACES = 8 };
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .max_connections = PLACES,
                                                                    .header_deadline_ms = 120000, .idle_timeout_ms = 240000 });
    char reply[1024];
    bool eof = false;
    int silent[PLACES], good[3];
    good[0] = net_connect(http_server_port(s));
    net_send_c(good[0], GET);
    net_read(good[0], reply, sizeof reply, "fine", 60000, &eof);
    for (int i = 0; i < PLACES; i++)
        silent[i] = net_connect(http_server_port(s));
    for (int i = 1; i < 3; i++) {
        good[i] = net_connect(http_server_port(s));
        net_send_c(good[i], GET);
        net_read(good[i], reply, sizeof reply, "fine", 60000, &eof);
        assert_int_equal(net_status(reply), 200);
    }
    net_send_c(good[0], GET);                   /* a peer that has asked before outlives those that never did */
    net_read(good[0], reply, sizeof reply, "fine", 60000, &eof);
    assert_int_equal(net_status(reply), 200);
    net_read(silent[0], reply, sizeof reply, NULL, 60000, &eof);
    assert_true(eof);
    for (int i = 0; i < PLACES; i++)
        close(silent[i]);
    for (int i = 0; i < 3; i++)
        close(good[i]);
    http_server_free(s);
}

static void an_address_has_its_share(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .max_connections = 64,
        .per_address = 4, .header_deadline_ms = 120000, .idle_timeout_ms = 240000 });
    char reply[1024];
    int fd[6], ended = 0;
    for (int i = 0; i < 6; i++)
        fd[i] = net_connect(http_server_port(s));
    for (int i = 4; i < 6; i++) {
        bool eof = false;
        net_read(fd[i], reply, sizeof reply, NULL, 60000, &eof);
        ended += eof;
    }
    assert_int_equal(ended, 2);
    for (int i = 0; i < 6; i++)
        close(fd[i]);
    http_server_free(s);
}

/* --- many in a row --- */

static bool is_proxy(void *ctx, struct str address)
{
    (void)ctx;
    return str_eq_c(address, "127.0.0.3");
}

static int connect_from(const char *address, int port)
{
    struct sockaddr_in own = { .sin_family = AF_INET }, to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(inet_pton(AF_INET, address, &own.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Connections of 127.0.0.1, one after another, until one is not made at once, as every other is on this machine. */
static int knock_until_deaf(int port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(fd >= 0);
        (void)connect(fd, (struct sockaddr *)&to, sizeof to);
        struct pollfd f = { fd, POLLOUT, 0 };
        if (poll(&f, 1, 0) == 0)
            return fd;
        close(fd);
    }
}

/* Who opens one after another is turned away; another address is answered, and a proxy is as many as stand behind it. */
static void a_flood_of_connections_is_turned_away(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .connects_per_s = 1,
                                                                    .is_proxy = is_proxy });
    int port = http_server_port(s);
    for (int i = 0; i < 120; i++) {
        int fd = connect_from("127.0.0.3", port);
        is_answered(fd);
        close(fd);
    }
    assert_int_equal(http_server_turned_away(s), 0);
    while (http_server_turned_away(s) == 0)
        close(connect_from("127.0.0.1", port));
    int other = connect_from("127.0.0.2", port);
    is_answered(other);
    int deaf = knock_until_deaf(port);              /* it goes on: the kernel answers it no more */
    is_answered(other);
    close(other);
    other = connect_from("127.0.0.2", port);
    is_answered(other);
    struct pollfd f = { deaf, POLLOUT, 0 };
    assert_int_equal(poll(&f, 1, 120000), 1);       /* until it is heard again */
    close(deaf);
    is_answered(other);
    close(other);
    http_server_free(s);
}

/* --- IPv6 --- */

static int connect_six(int port, bool at_once)
{
    struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback, .sin6_port = htons((uint16_t)port) };
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | (at_once ? SOCK_NONBLOCK : 0), 0);
    assert_true(fd >= 0);
    int rc = connect(fd, (struct sockaddr *)&to, sizeof to);
    struct pollfd f = { fd, POLLOUT, 0 };
    if (rc == 0 || (at_once && poll(&f, 1, 0) == 1))
        return fd;
    assert_true(at_once);
    close(fd);
    return -1;
}

/* A listener of both families: what one of IPv6 holds and opens is no IPv4 address's affair. */
static void an_ipv6_network_has_its_share_and_its_pace(void **state)
{
    (void)state;
    enum { SHARE = 4 };
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .bind_addr = "::",
        .connects_per_s = 4, .max_connections = 64, .per_address = SHARE, .header_deadline_ms = 120000,
        .idle_timeout_ms = 240000 });
    int port = http_server_port(s), six[SHARE], four[SHARE], fd;
    char reply[1024];
    bool eof = false;
    for (int i = 0; i < SHARE; i++) {
        six[i] = connect_six(port, false);
        four[i] = net_connect(port);
        is_answered(six[i]);
        is_answered(four[i]);
    }
    fd = connect_six(port, false);
    net_read(fd, reply, sizeof reply, NULL, 60000, &eof);
    assert_true(eof);
    close(fd);
    assert_int_equal(http_server_turned_away(s), 1);
    close(four[0]);
    while (http_server_connections(s) > 2 * SHARE - 1)
        usleep(1000);
    is_answered(four[0] = net_connect(port));       /* the share is of what is open */
    while ((fd = connect_six(port, true)) >= 0)     /* until the kernel does not answer it */
        close(fd);
    is_answered(six[0]);
    close(four[0]);
    while (http_server_connections(s) > 2 * SHARE - 1)
        usleep(1000);
    is_answered(four[0] = net_connect(port));
    for (int i = 0; i < SHARE; i++) {
        close(six[i]);
        close(four[i]);
    }
    http_server_free(s);
}

/* --- slow readers --- */

static int stalled_reader(struct http_server *s)
{
    int fd = net_connect(http_server_port(s));
    net_send_c(fd, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    net_wait_taken(fd);
    return fd;
}

static size_t read_all(int fd)
{
    static char buf[1 << 16];
    size_t n = 0;
    for (ssize_t got; (got = read(fd, buf, sizeof buf)) > 0;) {
        n += (size_t)got;
        assert_null(memmem(buf, (size_t)got, "HTTP/1.1 408", 12));     /* nothing is said in the middle of an answer */
    }
    return n;
}

static void who_does_not_read_is_cut(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_large, .body_deadline_ms = 200,
                                                                    .least_bytes_per_s = INT64_C(1) << 40 });
    int fd = stalled_reader(s);
    while (http_server_connections(s))
        usleep(1000);
    assert_true(read_all(fd) < ANSWER);
    close(fd);
    http_server_free(s);
}

/* Answers that nobody reads fill every place but one: those who come in turn are answered, and the oldest of the others goes. */
static void slow_readers_do_not_close_the_door(void **state)
{
    (void)state;
    enum { PLACES = 4 };
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_large, .max_connections = PLACES,
                                                                    .header_deadline_ms = 1000 });
    int fd[PLACES - 1], next;
    for (int i = 0; i < PLACES - 1; i++)
        fd[i] = stalled_reader(s);
    do {
        next = net_connect(http_server_port(s));
        is_answered(next);
        close(next);
    } while (http_server_connections(s) >= PLACES - 1);
    assert_true(read_all(fd[0]) < ANSWER);
    for (int i = 0; i < PLACES - 1; i++)
        close(fd[i]);
    http_server_free(s);
}

/* Whoever may connect fills memory with a body before he is known, so no pace holds a place for ever. */
static void a_body_has_an_end(void **state)
{
    (void)state;
    enum { SILENCE_MS = 1000, STEP_US = 900 * 1000 };
    struct http_server s = { .o = { .body_deadline_ms = SILENCE_MS, .least_bytes_per_s = 8192 } };
    struct http_loop l = { .server = &s, .now_us = 5 * SILENCE_MS * 1000LL };
    struct http_conn n = { .loop = &l };
    const int64_t began = l.now_us;
    conn_enter(&n, CONN_BODY, l.now_us + SILENCE_MS * 1000LL);
    for (int i = 0; i < 10 * HTTP_BODY_SILENCES && l.now_us < n.deadline_us; i++) {
        conn_body_came(&n, 1 << 20);
        l.now_us += STEP_US;
    }
    assert_int_equal(n.deadline_us - began, HTTP_BODY_SILENCES * SILENCE_MS * 1000LL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_connections_do_not_close_the_door),
        cmocka_unit_test(an_address_has_its_share),
        cmocka_unit_test(a_flood_of_connections_is_turned_away),
        cmocka_unit_test(an_ipv6_network_has_its_share_and_its_pace),
        cmocka_unit_test(who_does_not_read_is_cut),
        cmocka_unit_test(slow_readers_do_not_close_the_door),
        cmocka_unit_test(a_body_has_an_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
