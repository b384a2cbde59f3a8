/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop.c - the deadlines of a loop: of headers, of a second request, of a body; and peers that left while parked. */
#include "tests/lib/wait.h"
#include "net.h"

static _Atomic int handled;

static void on_inline(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    atomic_fetch_add(&handled, 1);
    net_reply_text(x, 200, "fine");
}

static const char GET[] = "GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n";

static void slow_header_is_cut(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .header_deadline_ms = 600,
                                                                    .idle_timeout_ms = 10 * PATIENCE_MS });
    char reply[1024];
    bool eof = false;
    int64_t start = net_now_ms();
    int fd = net_connect(http_server_port(s));
    size_t n = 0;
    /* A byte every 50 ms: never inactive, never complete. */
    for (size_t i = 0; i < sizeof GET - 3 && !eof && net_now_ms() - start < PATIENCE_MS; i = (i + 1) % 20) {
        net_send(fd, GET + i, 1);
        n = net_read(fd, reply, sizeof reply, NULL, 50, &eof);
        if (n)
            break;
    }
    assert_true(net_now_ms() - start >= 500);
    assert_int_equal(net_status(reply), 408);
    close(fd);
    http_server_free(s);
}

static void slow_second_request_is_cut(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .header_deadline_ms = 400,
                                                                    .idle_timeout_ms = 1000 });
    char reply[1024];
    bool eof = false;
    int fd = net_connect(http_server_port(s));
    net_send_c(fd, GET);
    net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 200);
    int64_t start = net_now_ms();
    for (size_t i = 0; !eof && net_now_ms() - start < PATIENCE_MS; i++) {
        net_send(fd, i == 0 ? "G" : "E", 1);
        net_read(fd, reply, sizeof reply, NULL, 50, &eof);
    }
    assert_true(eof);
    close(fd);
    http_server_free(s);
}

static void slow_body_is_cut(void **state)
{
    (void)state;
    int before = atomic_load(&handled);
    struct http_server *s = net_serve((struct http_server_options){
        .on_request = on_inline, .body_deadline_ms = 600, .least_bytes_per_s = 8192, .idle_timeout_ms = 10 * PATIENCE_MS });
    char reply[1024];
    bool eof = false;
    int64_t start = net_now_ms();
    int fd = net_connect(http_server_port(s));
    net_send_c(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    while (!eof && net_now_ms() - start < PATIENCE_MS) {
        net_send(fd, "x", 1);
        if (net_read(fd, reply, sizeof reply, NULL, 50, &eof))
            break;
    }
    assert_true(net_now_ms() - start >= 500);
    assert_int_equal(net_status(reply), 408);
    assert_int_equal(atomic_load(&handled), before);
    close(fd);
    http_server_free(s);
}

/* A byte earns as long as a body may be silent. What is asked is the server's patience, so a try in which this program itself was
 * kept from sending for half of that says nothing and is made again. */
static void a_body_that_goes_on_is_not_cut(void **state)
{
    (void)state;
    enum { SILENCE_MS = 600, BYTES = 14, EACH_MS = 100 };
    struct http_server *s = net_serve((struct http_server_options){
        .on_request = on_inline, .body_deadline_ms = SILENCE_MS, .least_bytes_per_s = 1, .idle_timeout_ms = 10 * PATIENCE_MS });
    char reply[1024];
    int64_t begin = net_now_ms(), longest = PATIENCE_MS, took = 0;
    for (int status = 0; status != 200;) {
        bool eof = false;
        int fd = net_connect(http_server_port(s));
        net_send_c(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n");
        int64_t start = net_now_ms(), last = start;
        longest = 0;
        for (int i = 0; i < BYTES && !eof; i++) {
            if (net_read(fd, reply, sizeof reply, NULL, EACH_MS, &eof))
                break;
            net_send(fd, "x", 1);
            int64_t now = net_now_ms();
            longest = now - last > longest ? now - last : longest;
            took = now - start;
            last = now;
        }
        if (!eof && !net_status(reply))
            net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
        status = net_status(reply);
        close(fd);
        assert_true(status == 200 || longest >= SILENCE_MS / 2);
        assert_true(net_now_ms() - begin < 10 * PATIENCE_MS);
    }
    assert_true(took > SILENCE_MS);
    http_server_free(s);
}

/* However much came before, silence has one limit. */
static void time_earned_is_not_kept(void **state)
{
    (void)state;
    static const char block[4096];
    struct http_server *s = net_serve((struct http_server_options){
        .on_request = on_inline, .body_deadline_ms = 400, .least_bytes_per_s = 1, .idle_timeout_ms = 10 * PATIENCE_MS });
    char reply[1024];
    bool eof = false;
    int fd = net_connect(http_server_port(s));
    net_send_c(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n");
    net_send(fd, block, sizeof block);
    net_read(fd, reply, sizeof reply, "408", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 408);
    close(fd);
    http_server_free(s);
}

static struct http_exchange *_Atomic parked;

static void on_park(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    atomic_store(&parked, x);
}

static struct http_exchange *wait_parked(void)
{
    WAIT_WHILE(!atomic_load(&parked));
    struct http_exchange *x = atomic_exchange(&parked, NULL);
    assert_non_null(x);
    return x;
}

static void a_peer_that_left_is_noticed(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_park });
    int fd = net_connect(http_server_port(s));
    net_send_c(fd, GET);
    struct http_exchange *x = wait_parked();
    assert_false(http_exchange_gone(x));
    close(fd);
    WAIT_WHILE(!http_exchange_gone(x));
    net_reply_text(x, 200, "fine");
    WAIT_WHILE(http_server_connections(s) > 0);
    assert_int_equal(http_server_connections(s), 0);
    http_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_header_is_cut),
        cmocka_unit_test(slow_second_request_is_cut),
        cmocka_unit_test(slow_body_is_cut),
        cmocka_unit_test(a_body_that_goes_on_is_not_cut),
        cmocka_unit_test(time_earned_is_not_kept),
        cmocka_unit_test(a_peer_that_left_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
