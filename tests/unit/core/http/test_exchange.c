/* SPDX-License-Identifier: Apache-2.0 */
/* test_exchange.c - what a handler sees of a request, and the limits of bodies. */
#include "tests/lib/wait.h"
#include "net.h"

static _Atomic int handled;

/* Echo what arrived, so that the test can read it off the wire. */
static void on_echo(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    atomic_fetch_add(&handled, 1);
    const struct http_request *r = http_exchange_request(x);
    struct str token = http_header_get(r, "x-TOKEN"), none = http_header_get(r, "X-None");
    struct buf b = BUF(1 << 20);
    buf_printf(&b, "m=%s/%.*s p=%.*s q=%s%.*s t=%.*s none=%d from=%.*s n=%zu body=", http_method_name(r->method),
               STR_ARG(r->method_text), STR_ARG(r->path), r->query.ptr ? "" : "NULL", STR_ARG(r->query), STR_ARG(token),
               none.ptr == NULL, STR_ARG(r->remote_addr), r->body.len);
    assert_non_null(r->body.ptr);
    assert_true(r->received_mono_us > 0);
    assert_null(r->peer_identity.ptr);
    if (r->body.len <= 64)
        buf_add_str(&b, r->body);
    buf_add_c(&b, "<end>");
    char *scratch = arena_alloc(r->arena, 100);
    assert_int_equal(scratch[99], 0);
    memset(scratch, 'x', 100);
    http_reply_buf(x, 200, STR("text/plain"), NULL, 0, &b);
    assert_null(b.ptr);
}

static size_t limit_of(void *ctx, enum http_method m, struct str path)
{
    (void)ctx;
    assert_int_equal(m, HTTP_POST);
    return str_starts(path, "/big") ? 8 << 20 : 0;
}

static struct http_server *serve(void)
{
    return net_serve((struct http_server_options){ .on_request = on_echo, .body_limit = limit_of, .body_max_default = 1000 });
}

static void expect(int fd, const char *request, const char *want)
{
    char reply[4096];
    bool eof;
    net_send_c(fd, request);
    net_read(fd, reply, sizeof reply, "<end>", PATIENCE_MS, &eof);
    if (!strstr(reply, want))
        fail_msg("wanted %s, got %s", want, reply);
}

static size_t any_limit(void *ctx, enum http_method m, struct str path)
{
    (void)ctx;
    (void)m;
    (void)path;
    return 0;
}

static void the_request_arrives_as_sent(void **state)
{
    (void)state;
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_echo, .body_limit = any_limit });
    int fd = net_connect(http_server_port(s));
    expect(fd, "GET /a%20b/c?x=%2F+1&y HTTP/1.1\r\nHost: a\r\nx-token: t1\r\n\r\n",
           "m=GET/GET p=/a%20b/c q=x=%2F+1&y t=t1 none=1 from=127.0.0.1 n=0 body=<end>");
    expect(fd, "GET /q? HTTP/1.1\r\nHost: a\r\n\r\n", "p=/q q= t= none=1");
    expect(fd, "GET /n HTTP/1.1\r\nHost: a\r\n\r\n", "p=/n q=NULL");
    expect(fd, "PATCH /n HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "m=PATCH/PATCH p=/n q=NULL t= none=1 from=127.0.0.1 n=5 body=hello<end>");
    expect(fd, "BREW /n HTTP/1.1\r\nHost: a\r\n\r\n", "m=OTHER/BREW");
    expect(fd, "PUT /n HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "n=5 body=abcde<end>");
    expect(fd, "DELETE /n HTTP/1.1\r\nHost: a\r\n\r\n", "m=DELETE/DELETE");
    close(fd);
    http_server_free(s);
}

static void post(int port, const char *path, size_t body, bool chunked, bool expect_100, int want)
{
    char head[256], reply[8192];
    bool eof;
    int before = atomic_load(&handled), fd = net_connect(port);
    if (chunked)
        snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n", path, body);
    else
        snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n%s\r\n", path, body,
                 expect_100 ? "Expect: 100-continue\r\n" : "");
    net_send_c(fd, head);
    char *bytes = calloc(1, body + 1);
    if (!expect_100)
        net_send(fd, bytes, body);
    if (chunked)
        net_send_c(fd, "\r\n0\r\n\r\n");
    free(bytes);
    net_read(fd, reply, sizeof reply, want == 200 ? "<end>" : NULL, PATIENCE_MS, &eof);
    close(fd);
    if (net_status(reply) != want || (want != 200 && (!eof || !strcasestr(reply, "Connection: close"))) ||
        atomic_load(&handled) != before + (want == 200))
        fail_msg("%s %zu chunked %d: %s", path, body, chunked, reply);
}

static void bodies_have_limits(void **state)
{
    (void)state;
    struct http_server *s = serve();
    int port = http_server_port(s);
    for (int chunked = 0; chunked < 2; chunked++) {
        post(port, "/small", 1000, chunked, false, 200);
        post(port, "/small", 1001, chunked, false, 413);
        post(port, "/small", 1 << 20, chunked, false, 413);
        post(port, "/big", 4 << 20, chunked, false, 200);
        post(port, "/big", 8 << 20, chunked, false, 200);
    }
    post(port, "/small", 5000, false, true, 413);
    post(port, "/small", (size_t)1 << 30, false, true, 413);
    http_server_free(s);
}

static void expect_continue_is_answered(void **state)
{
    (void)state;
    struct http_server *s = serve();
    int fd = net_connect(http_server_port(s));
    char reply[1024];
    bool eof;
    net_send_c(fd, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    net_read(fd, reply, sizeof reply, "\r\n\r\n", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 100);
    net_send_c(fd, "ok");
    net_read(fd, reply, sizeof reply, "<end>", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 200);
    close(fd);
    http_server_free(s);
}

/* Requests that end at every byte leave nothing behind (run under AddressSanitizer). Bytes and end that arrive together are told as one
 * event, and such a connection goes when its deadline is over. */
static void cut_requests_leave_nothing(void **state)
{
    (void)state;
    static const char WHOLE[] = "POST /small?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_echo, .body_limit = limit_of, .body_max_default = 1000,
                                                                    .header_deadline_ms = 1000, .body_deadline_ms = 1000, .idle_timeout_ms = 1000 });
    for (size_t n = 0; n < sizeof WHOLE - 1; n++) {
        int fd = net_connect(http_server_port(s));
        net_send(fd, WHOLE, n);
        close(fd);
    }
    WAIT_WHILE(http_server_connections(s) > 0);
    assert_int_equal(http_server_connections(s), 0);
    assert_int_equal(http_server_open_exchanges(s), 0);
    http_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_arrives_as_sent),
        cmocka_unit_test(bodies_have_limits),
        cmocka_unit_test(expect_continue_is_answered),
        cmocka_unit_test(cut_requests_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
