/* SPDX-License-Identifier: Apache-2.0 */
/* test_server.c - loops under load: bursts of keep-alive requests, drain, the end, many loops, options that are refused. */
#include "tests/lib/wait.h"
#include "net.h"

#include <pthread.h>
#include "core/base/thread.h"

static _Atomic int handled;
static struct thread_pool *pool;

static void reply_ok(struct http_exchange *x)
{
    atomic_fetch_add(&handled, 1);
    net_reply_text(x, 200, "fine");
}

static void on_inline(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    reply_ok(x);
}

static void work(void *ctx, void *item)
{
    (void)ctx;
    reply_ok(item);
}

static void on_pooled(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    assert_true(thread_pool_submit(pool, x));
}

static const char GET[] = "GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n";

/* All connections become readable at the same moment, again and again. */
static void burst(struct http_server *s, int count, int rounds)
{
    int *fd = calloc((size_t)count, sizeof *fd);
    for (int i = 0; i < count; i++)
        fd[i] = net_connect(http_server_port(s));
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < count; i++)
            net_send_c(fd[i], GET);
        for (int i = 0; i < count; i++) {
            char reply[1024];
            bool eof;
            net_read(fd[i], reply, sizeof reply, "fine", PATIENCE_MS, &eof);
            if (net_status(reply) != 200)
                fail_msg("%d connections, round %d: connection %d got nothing: %s", count, r, i, reply);
        }
    }
    for (int i = 0; i < count; i++)
        close(fd[i]);
    free(fd);
}

static void bursts_do_not_stall(void **state)
{
    (void)state;
    static const int COUNTS[] = { 64, 127, 128, 129, 256, 384 };
    for (int mode = 0; mode < 2; mode++) {
        struct http_server *s = net_serve((struct http_server_options){ .on_request = mode ? on_pooled : on_inline });
        for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
            burst(s, COUNTS[i], 5);
        http_server_free(s);
    }
}

struct client_job {
    int port, requests;
    _Atomic int good;
};

static void *client_main(void *arg)
{
    struct client_job *j = arg;
    int fd = net_connect(j->port);
    for (int i = 0; i < j->requests; i++) {
        char reply[1024];
        bool eof;
        net_send_c(fd, GET);
        net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
        if (net_status(reply) == 200)
            atomic_fetch_add(&j->good, 1);
    }
    close(fd);
    return NULL;
}

static void replies_from_other_threads_under_load(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_pooled, .loops = 3 });
    struct client_job j = { .port = http_server_port(s), .requests = 300 };
    pthread_t t[16];
    for (int i = 0; i < 16; i++)
        pthread_create(&t[i], NULL, client_main, &j);
    for (int i = 0; i < 16; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(atomic_load(&j.good), 16 * 300);
    WAIT_WHILE(http_server_open_exchanges(s) > 0);
    assert_int_equal(http_server_open_exchanges(s), 0);
    http_server_free(s);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_pooled });
    int fd = net_connect(http_server_port(s));
    for (int i = 0; i < 5; i++)
        net_send_c(fd, GET);
    char reply[4096];
    bool eof;
    size_t n = 0;
    while (net_count(reply, n, "fine") < 5) {
        size_t k = net_read(fd, reply + n, sizeof reply - n, "fine", PATIENCE_MS, &eof);
        assert_true(k > 0);
        n += k;
    }
    assert_int_equal(net_count(reply, n, "HTTP/1.1 200"), 5);
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

static void drain_ends_idle_and_serves_open(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_park });
    int port = http_server_port(s), busy = net_connect(port);
    net_send_c(busy, GET);
    struct http_exchange *x = wait_parked();
    assert_int_equal(http_server_open_exchanges(s), 1);
    int idle = net_connect(port);
    net_send_c(idle, GET);
    reply_ok(wait_parked());
    char reply[1024];
    bool eof;
    net_read(idle, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
    http_server_drain(s);
    net_read(idle, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    assert_true(eof);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(late, (struct sockaddr *)&a, sizeof a), -1);
    reply_ok(x);
    net_read(busy, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 200);
    assert_non_null(strcasestr(reply, "Connection: close"));
    assert_true(eof);
    close(late);
    close(idle);
    close(busy);
    http_server_free(s);
}

static void free_with_parked_requests(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_park });
    int fd = net_connect(http_server_port(s)), half = net_connect(http_server_port(s));
    net_send_c(fd, GET);
    net_send_c(half, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab");
    wait_parked();
    http_server_free(s);
    char reply[256];
    bool eof;
    assert_int_equal(net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof), 0);
    assert_true(eof);
    close(fd);
    close(half);
}

static void refuses_bad_options(void **state)
{
    (void)state;
    struct err e = { 0 };
    assert_null(http_server_new(&(struct http_server_options){ .on_request = on_inline, .bind_addr = "not an address" }, &e));
    assert_int_equal(e.code, ERR_INVALID);
    assert_null(http_server_new(&(struct http_server_options){ .on_request = on_inline, .tls_cert_file = "x" }, &e));
    assert_int_equal(e.code, ERR_INVALID);
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline });
    for (int loops = 1; loops <= 2; loops++) {
        struct http_server_options o = { .on_request = on_inline, .bind_addr = "127.0.0.1", .port = http_server_port(s), .loops = loops };
        assert_null(http_server_new(&o, &e));
        assert_int_equal(e.code, ERR_IO);
    }
    http_server_free(s);
}

static int setup(void **state)
{
    (void)state;
    pool = thread_pool_new("test", 2, 4096, work, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    thread_pool_free(pool);
    return 0;
}

/* What answers requests goes before the server: a connection that is kept alive or half way through a request must not reach
 * it. */
static void nobody_is_handed_up_after_the_refusal(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .loops = 2 });
    char reply[1024];
    bool eof;
    int kept = net_connect(http_server_port(s)), half = net_connect(http_server_port(s));
    net_send_c(kept, GET);
    net_read(kept, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
    net_send_c(half, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
    usleep(100000);
    int before = atomic_load(&handled);
    http_server_refuse(s);
    net_send_c(half, "cd");
    net_read(half, reply, sizeof reply, "stopping", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 503);
    net_send_c(kept, GET);
    net_read(kept, reply, sizeof reply, "stopping", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 503);
    assert_int_equal(atomic_load(&handled), before);
    close(kept);
    close(half);
    http_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_do_not_stall),
        cmocka_unit_test(replies_from_other_threads_under_load),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(drain_ends_idle_and_serves_open),
        cmocka_unit_test(free_with_parked_requests),
        cmocka_unit_test(refuses_bad_options),
        cmocka_unit_test(nobody_is_handed_up_after_the_refusal),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
