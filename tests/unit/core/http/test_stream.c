/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - replies written piece by piece: many writers, slow readers, readers that leave, an end of the server. */
#include "tests/lib/wait.h"
#include "net.h"

#include <pthread.h>

struct plan {
    int writes, pause_us, result;
    size_t piece, buffer_max;
    bool hold;                  /* do not end; the server dies first */
    bool is_gated;              /* nothing is written after the first piece until it is opened */
    _Atomic bool is_open;
    _Atomic int done;
    _Atomic size_t written;
    struct http_exchange *x;
    pthread_t thread;
};

static void *writer(void *arg)
{
    struct plan *p = arg;
    char *bytes = malloc(p->piece);
    memset(bytes, 'a', p->piece);
    if (http_stream_begin(p->x, 200, STR("text/event-stream"), NULL, 0, p->buffer_max) != ERR_OK)
        p->result = -1;
    for (int i = 0; i < p->writes; i++) {
        while (p->is_gated && i > 0 && !atomic_load(&p->is_open))
            usleep(1000);
        if (!http_stream_write(p->x, bytes, p->piece)) {
            p->result = i + 1;
            break;
        }
        atomic_fetch_add(&p->written, p->piece);
        if (p->pause_us)
            usleep((useconds_t)p->pause_us);
    }
    if (str_eq_c(http_exchange_request(p->x)->path, "/s") == false)
        p->result = -2;
    if (!p->hold)
        http_stream_end(p->x);
    free(bytes);
    atomic_store(&p->done, 1);
    return NULL;
}

static void on_request(void *ctx, struct http_exchange *x)
{
    struct plan *p = ctx;
    p->x = x;
    pthread_create(&p->thread, NULL, writer, p);
}

static struct http_server *start(struct plan *p)
{
    return net_serve((struct http_server_options){ .on_request = on_request, .ctx = p });
}

static int ask(struct http_server *s, int rcvbuf)
{
    int fd = net_connect(http_server_port(s));
    if (rcvbuf)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof rcvbuf);
    net_send_c(fd, "GET /s HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n");
    return fd;
}

static void wait_done(struct plan *p)
{
    for (int i = 0; i < PATIENCE_MS / 10 && !atomic_load(&p->done); i++)
        usleep(10000);
    assert_true(atomic_load(&p->done));
    pthread_join(p->thread, NULL);
}

static void pieces_arrive_as_they_are_written(void **state)
{
    (void)state;
    struct plan p = { .writes = 20, .piece = 10, .buffer_max = 1000, .is_gated = true };
    struct http_server *s = start(&p);
    int fd = ask(s, 0);
    char reply[8192];
    bool eof;
    net_read(fd, reply, sizeof reply, "aaaaaaaaaa", PATIENCE_MS, &eof);
    assert_non_null(strstr(reply, "aaaaaaaaaa"));        /* the first piece does not wait for the last */
    atomic_store(&p.is_open, true);
    net_read(fd, reply, sizeof reply, "\r\n0\r\n\r\n", PATIENCE_MS, &eof);
    wait_done(&p);
    assert_int_equal(p.result, 0);
    assert_non_null(strstr(reply, "0\r\n\r\n"));
    close(fd);
    http_server_free(s);
}

static void all_bytes_arrive_through_a_small_ring(void **state)
{
    (void)state;
    struct plan p = { .writes = 2000, .pause_us = 100, .piece = 1777, .buffer_max = 1 << 22 };
    struct http_server *s = start(&p);
    int fd = ask(s, 0);
    size_t cap = 8 << 20;
    char *reply = malloc(cap);
    bool eof;
    size_t n = net_read(fd, reply, cap, "\r\n0\r\n\r\n", PATIENCE_MS, &eof);
    wait_done(&p);
    size_t as = 0;
    const char *body = strstr(reply, "\r\n\r\n") + 4;
    for (const char *c = body; c < reply + n;) {
        size_t len = strtoul(c, NULL, 16);
        c = strstr(c, "\r\n") + 2;
        as += len;
        c += len + 2;
        if (len == 0)
            break;
    }
    assert_int_equal(as, 2000 * 1777);
    free(reply);
    close(fd);
    http_server_free(s);
}

static void a_slow_reader_is_let_go(void **state)
{
    (void)state;
    struct plan p = { .writes = 100000, .pause_us = 0, .piece = 10000, .buffer_max = 100000 };
    struct http_server *s = start(&p);
    int fd = ask(s, 4096);
    wait_done(&p);
    assert_true(p.result > 0);
    char *reply = malloc(32 << 20);
    bool eof;
    size_t n = net_read(fd, reply, 32 << 20, NULL, PATIENCE_MS, &eof);
    assert_true(eof);       /* cut, and visibly so: the last chunk never came */
    assert_true(n < 7 || memcmp(reply + n - 7, "\r\n0\r\n\r\n", 7) != 0);
    free(reply);
    close(fd);
    WAIT_WHILE(http_server_open_exchanges(s) > 0);
    assert_int_equal(http_server_open_exchanges(s), 0);
    http_server_free(s);
}

static void a_reader_that_leaves_is_noticed(void **state)
{
    (void)state;
    struct plan p = { .writes = 1000, .pause_us = 20000, .piece = 10, .buffer_max = 1000000 };
    struct http_server *s = start(&p);
    int fd = ask(s, 0);
    usleep(100000);
    close(fd);
    wait_done(&p);
    assert_true(p.result > 0);
    http_server_free(s);
}

static void *idle_writer(void *arg)
{
    struct plan *p = arg;
    http_stream_begin(p->x, 200, STR("text/event-stream"), NULL, 0, 1000);
    WAIT_WHILE(!http_stream_gone(p->x));
    p->result = http_stream_gone(p->x);
    http_stream_end(p->x);
    atomic_store(&p->done, 1);
    return NULL;
}

static void on_idle(void *ctx, struct http_exchange *x)
{
    struct plan *p = ctx;
    p->x = x;
    pthread_create(&p->thread, NULL, idle_writer, p);
}

static void a_reader_of_a_silent_stream_that_leaves_is_noticed(void **state)
{
    (void)state;
    struct plan p = { 0 };
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_idle, .ctx = &p });
    int fd = ask(s, 0);
    usleep(200000);
    close(fd);
    wait_done(&p);
    assert_true(p.result);
    WAIT_WHILE(http_server_connections(s) > 0);
    assert_int_equal(http_server_connections(s), 0);
    http_server_free(s);
}

static void the_server_may_end_before_a_stream(void **state)
{
    (void)state;
    struct plan p = { .writes = 3, .piece = 10, .buffer_max = 1000, .hold = true };
    struct http_server *s = start(&p);
    int fd = ask(s, 0);
    usleep(100000);
    wait_done(&p);
    http_server_free(s);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_arrive_as_they_are_written),
        cmocka_unit_test(all_bytes_arrive_through_a_small_ring),
        cmocka_unit_test(a_slow_reader_is_let_go),
        cmocka_unit_test(a_reader_that_leaves_is_noticed),
        cmocka_unit_test(a_reader_of_a_silent_stream_that_leaves_is_noticed),
        cmocka_unit_test(the_server_may_end_before_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
