/* SPDX-License-Identifier: Apache-2.0 */
/* test_client.c - the client's errors, uploads, streams and limits against our own server. */
#include "tests/lib/wait.h"
#include "net.h"

#include <linux/tcp.h>
#include <pthread.h>
#include "core/base/cleanup.h"
#include "core/http/client.h"
#include "core/http/sse.h"

static struct http_exchange *_Atomic silent;

static void *ticker(void *arg)
{
    struct http_exchange *x = arg;
    if (http_stream_begin(x, 200, STR("text/event-stream"), NULL, 0, 1 << 20) == ERR_OK) {
        for (int i = 0; i < 50; i++) {
            struct buf b = BUF(1000);
            char id[16];
            snprintf(id, sizeof id, "%d", i);
            sse_write_event(&b, STR("tick"), str_c(id), STR("x\ny"));
            bool ok = http_stream_write(x, b.ptr, b.len);
            buf_release(&b);
            if (!ok)
                break;
            usleep(5000);
        }
    }
    http_stream_end(x);
    return NULL;
}

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    const struct http_request *r = http_exchange_request(x);
    if (str_eq_c(r->path, "/silent")) {
        atomic_store(&silent, x);
    } else if (str_eq_c(r->path, "/ticks")) {
        pthread_t t;
        pthread_create(&t, NULL, ticker, x);
        pthread_detach(t);
    } else if (str_eq_c(r->path, "/moved")) {
        struct http_header h = { STR("Location"), STR("/echo") };
        http_reply(x, &(struct http_response){ 302, STR_NULL, STR("moved"), &h, 1 });
    } else {
        struct buf b = BUF(16 << 20);
        buf_printf(&b, "%s %.*s|%.*s|%zu|%.*s|", http_method_name(r->method), STR_ARG(http_header_get(r, "Content-Type")),
                   STR_ARG(http_header_get(r, "X-A")), r->body.len, STR_ARG(http_header_get(r, "User-Agent")));
        if (r->query.ptr)
            for (int i = 0; i < 1000; i++)
                buf_add_c(&b, "0123456789");
        http_reply_buf(x, r->body.len == 3 ? 422 : 200, STR("text/plain"), NULL, 0, &b);
    }
}

static struct http_server *server;
static struct http_client *client;
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    server = net_serve((struct http_server_options){ .on_request = on_request, .body_max_default = 8 << 20 });
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(server));
    client = http_client_new(&(struct http_client_options){ .base_url = url, .user_agent = "test/1" }, NULL);
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    http_client_free(client);
    http_server_free(server);
    return 0;
}

static enum errc call(const struct http_call *c, struct http_result *r)
{
    struct err e = { 0 };
    enum errc rc = http_client_call(client, arena, c, r, &e);
    assert_int_equal(rc, e.code);
    return rc;
}

static ssize_t read_zeros(void *ctx, char *p, size_t n)
{
    size_t *left = ctx;
    if (*left == SIZE_MAX)
        return -1;
    n = n < *left ? n : *left;
    memset(p, 'z', n);
    *left -= n;
    return (ssize_t)n;
}

static void methods_bodies_and_uploads(void **state)
{
    (void)state;
    struct http_result r;
    static const char *const HEADERS[] = { "X-A: b c", NULL };
    assert_int_equal(call(&(struct http_call){ .path = "/echo", .headers = HEADERS }, &r), ERR_OK);
    assert_true(str_eq_c(r.body, "GET |b c|0|test/1|"));
    assert_int_equal(call(&(struct http_call){ .method = "POST", .path = "/echo", .body = STR("{}") }, &r), ERR_OK);
    assert_true(str_eq_c(r.body, "POST application/json||2|test/1|"));
    assert_int_equal(call(&(struct http_call){ .method = "PATCH", .path = "/echo", .body = STR("abc"), .content_type = "a/b" }, &r), ERR_OK);
    assert_int_equal(r.status, 422);
    assert_true(str_eq_c(r.body, "PATCH a/b||3|test/1|"));
    static const char *const PLAIN[] = { "POST", "PUT", "DELETE" };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(call(&(struct http_call){ .method = PLAIN[i], .path = "/echo" }, &r), ERR_OK);
        assert_true(str_starts(r.body, PLAIN[i]));
    }
    for (int sized = 0; sized < 2; sized++) {
        size_t left = 3000000;
        struct http_call up = { .method = "PUT", .path = "/echo", .read_body = read_zeros, .ctx = &left,
                                .read_total = sized ? 3000000 : -1 };
        assert_int_equal(call(&up, &r), ERR_OK);
        assert_true(str_eq_c(r.body, "PUT application/json||3000000|test/1|"));
    }
    size_t bad = SIZE_MAX;
    assert_int_equal(call(&(struct http_call){ .method = "PUT", .path = "/echo", .read_body = read_zeros, .ctx = &bad, .read_total = 10 }, &r),
                     ERR_IO);
    assert_int_equal(call(&(struct http_call){ .path = "/moved" }, &r), ERR_OK);
    assert_int_equal(r.status, 302);
}

static void errors_have_their_codes(void **state)
{
    (void)state;
    struct http_result r;
    static const char *const EVIL[] = { "X-A: b\r\nX-B: c", NULL };
    assert_int_equal(call(&(struct http_call){ .path = "/echo", .headers = EVIL }, &r), ERR_INVALID);
    assert_int_equal(call(&(struct http_call){ .path = "echo" }, &r), ERR_INVALID);
    assert_int_equal(call(&(struct http_call){ .path = "/echo?x", .response_max = 100 }, &r), ERR_LIMIT);
    int64_t start = net_now_ms();
    assert_int_equal(call(&(struct http_call){ .path = "/silent", .timeout_ms = 200 }, &r), ERR_DEADLINE);
    assert_true(net_now_ms() - start < 25000);                   /* the client's own limit is 30 s */
    net_reply_text(atomic_exchange(&silent, NULL), 200, "late");
    struct err e = { 0 };
    assert_null(http_client_new(&(struct http_client_options){ .base_url = "file:///etc/passwd" }, &e));
    assert_int_equal(e.code, ERR_INVALID);
    CLEANUP(http_client_freep) struct http_client *nobody =
        http_client_new(&(struct http_client_options){ .base_url = "http://127.0.0.1:1" }, &e);
    assert_int_equal(http_client_call(nobody, arena, &(struct http_call){ .path = "/" }, &r, NULL), ERR_UNAVAILABLE);
}

static bool is_silent(void *ctx)
{
    (void)ctx;
    return atomic_load(&silent) != NULL;
}

/* A call that waits can be given up, and the client is as good as before. */
static void a_waiting_call_is_given_up(void **state)
{
    (void)state;
    struct http_result r;
    int64_t began = net_now_ms();
    assert_int_equal(call(&(struct http_call){ .path = "/silent", .timeout_ms = -1, .is_unwanted = is_silent }, &r), ERR_UNAVAILABLE);
    assert_true(net_now_ms() - began < PATIENCE_MS);
    http_reply(atomic_exchange(&silent, NULL), &(struct http_response){ .status = 200 });
    assert_int_equal(call(&(struct http_call){ .path = "/echo" }, &r), ERR_OK);
}

static void names_can_be_given_addresses(void **state)
{
    (void)state;
    char url[64], resolve[64];
    snprintf(url, sizeof url, "http://api.falaj.internal:%d", http_server_port(server));
    snprintf(resolve, sizeof resolve, "api.falaj.internal:%d:127.0.0.1", http_server_port(server));
    CLEANUP(http_client_freep) struct http_client *c =
        http_client_new(&(struct http_client_options){ .base_url = url, .resolve = resolve }, NULL);
    struct http_result r;
    for (int i = 0; i < 2; i++)
        assert_int_equal(http_client_call(c, arena, &(struct http_call){ .path = "/echo" }, &r, NULL), ERR_OK);
}

static void talks_to_unix_sockets(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/client-test-%d.sock", (int)getpid());
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_request, .unix_path = path });
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = "http://local", .unix_socket = path }, NULL);
    struct http_result r;
    assert_int_equal(http_client_call(c, arena, &(struct http_call){ .path = "/echo" }, &r, NULL), ERR_OK);
    assert_int_equal(r.status, 200);
    http_client_free(c);
    http_server_free(s);
}

struct ticks {
    struct sse_parser *parser;
    int seen, stop_at;
};

static bool on_tick(void *ctx, const struct sse_event *ev)
{
    struct ticks *t = ctx;
    assert_true(str_eq_c(ev->type, "tick") && str_eq_c(ev->data, "x\ny"));
    return ++t->seen != t->stop_at;
}

static bool on_data(void *ctx, const char *p, size_t n)
{
    struct ticks *t = ctx;
    bool stopped;
    return sse_parser_feed(t->parser, p, n, &stopped, NULL) == ERR_OK && !stopped;
}

static void reads_event_streams(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct ticks t = { .stop_at = round ? 5 : -1 };
        t.parser = sse_parser_new(1000, on_tick, &t);
        struct http_result r;
        assert_int_equal(call(&(struct http_call){ .path = "/ticks", .timeout_ms = -1, .idle_timeout_ms = 5000, .on_data = on_data, .ctx = &t },
                              &r), ERR_OK);
        assert_int_equal(r.stopped, round == 1);
        assert_int_equal(t.seen, round ? 5 : 50);
        assert_int_equal(r.status, 200);
        sse_parser_free(t.parser);
    }
    WAIT_WHILE(http_server_open_exchanges(server) > 0);
    assert_int_equal(http_server_open_exchanges(server), 0);
}

enum { BODY = 3000 };

/* Answers one call, and keeps in how many segments it came. */
static void *count_segments(void *arg)
{
    static const char REPLY[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    char bytes[16 << 10];
    struct tcp_info about = { 0 };
    socklen_t len = sizeof about;
    size_t got = 0;
    int *listen_fd = arg, fd = accept(*listen_fd, NULL, NULL);
    for (ssize_t n = 1; n > 0 && !(got > BODY && memmem(bytes, got - BODY, "\r\n\r\n", 4)); got += (size_t)(n > 0 ? n : 0))
        n = recv(fd, bytes + got, sizeof bytes - got, 0);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &about, &len), 0);
    assert_int_equal(send(fd, REPLY, sizeof REPLY - 1, MSG_NOSIGNAL), sizeof REPLY - 1);
    shutdown(fd, SHUT_WR);
    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
    close(fd);
    return (void *)(uintptr_t)about.tcpi_data_segs_in;
}

/* A server is woken once for such a call, not for the head and again for the body. */
static void a_small_body_goes_with_its_head(void **state)
{
    (void)state;
    static char body[BODY];
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url }, NULL);
    pthread_t t;
    void *got;
    struct http_result r;
    assert_int_equal(pthread_create(&t, NULL, count_segments, &fd), 0);
    assert_int_equal(http_client_call(c, arena, &(struct http_call){ .method = "PUT", .path = "/", .body = { body, BODY } }, &r,
                                      NULL), ERR_OK);
    pthread_join(t, &got);
    assert_int_equal(r.status, 204);
    assert_int_equal((uintptr_t)got, 1);
    close(fd);
    http_client_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_bodies_and_uploads),
        cmocka_unit_test(errors_have_their_codes), cmocka_unit_test(a_waiting_call_is_given_up),
        cmocka_unit_test(names_can_be_given_addresses),
        cmocka_unit_test(talks_to_unix_sockets),
        cmocka_unit_test(reads_event_streams),
        cmocka_unit_test(a_small_body_goes_with_its_head),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
