/* SPDX-License-Identifier: Apache-2.0 */
/* test_body.c - bodies that wait for their end hold memory; when there is none the next is refused, and others go on. */
#include "tests/lib/wait.h"
#include "net.h"

enum { BODY = 1 << 20, BUDGET = 8 * BODY };

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    char text[32];
    snprintf(text, sizeof text, "got %zu<end>", http_exchange_request(x)->body.len);
    net_reply_text(x, 200, text);
}

static void reject(void *ctx, struct http_exchange *x, enum errc code, const char *why)
{
    (void)ctx;
    net_reply_text(x, err_row(code)->http, why);
}

/* As falaj-api does it: who shows a name is known. */
static struct body_owner owner_of(void *ctx, const struct http_request *r)
{
    (void)ctx;
    struct str name = http_header_get(r, "X-Name");
    struct body_owner o = { .n = 1, .is_known = true };
    if (!name.ptr)
        return body_owner_address(r->remote_addr);
    o.key[0] = (uint8_t)name.ptr[0];
    return o;
}

static struct http_server *serve(struct body_budget *b)
{
    return net_serve((struct http_server_options){ .on_request = on_request, .reject = reject, .body_max_default = 2 * BODY,
                                                   .bodies = b, .body_owner = owner_of });
}

/* Sends a head, and of the body all but its last byte. */
static int begin(int port, const char *name, bool is_chunked)
{
    static char bytes[BODY - 1];
    char head[256], field[32] = "";
    int fd = net_connect(port);
    if (name)
        snprintf(field, sizeof field, "X-Name: %s\r\n", name);
    if (is_chunked)
        snprintf(head, sizeof head, "POST / HTTP/1.1\r\nHost: a\r\n%sTransfer-Encoding: chunked\r\n\r\n%x\r\n", field, BODY);
    else
        snprintf(head, sizeof head, "POST / HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n", field, BODY);
    net_send_c(fd, head);
    net_send(fd, bytes, sizeof bytes);
    return fd;
}

static int finish(int fd, bool is_chunked, const char *want)
{
    char reply[2048];
    bool eof;
    net_send_c(fd, is_chunked ? "x\r\n0\r\n\r\n" : "x");
    net_read(fd, reply, sizeof reply, want, PATIENCE_MS, &eof);
    close(fd);
    if (!strstr(reply, want))
        fail_msg("wanted %s, got %s", want, reply);
    return net_status(reply);
}

/* A budget of eight bodies: an address has two of the four that are for addresses, a name beside it three of the other six. */
static void what_waits_has_a_bound(void **state)
{
    (void)state;
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        struct body_budget *b = body_budget_new(BUDGET + (is_chunked ? BODY / 2 : 0));  /* those are paid for in steps */
        struct http_server *s = serve(b);
        int port = http_server_port(s), held[2], mine[3];
        for (int i = 0; i < 2; i++) {
            held[i] = begin(port, NULL, is_chunked);
            WAIT_WHILE(body_budget_used(b, false) < (size_t)(i + 1) * BODY - 1);
        }
        assert_int_equal(finish(begin(port, NULL, is_chunked), is_chunked, "address"), 429);
        assert_int_equal(body_budget_refused(b, BODY_SHARE_USED) > 0, 1);
        for (int i = 0; i < 3; i++) {
            mine[i] = begin(port, "a", is_chunked);
            WAIT_WHILE(body_budget_used(b, true) < (size_t)(i + 1) * BODY - 1);
        }
        assert_int_equal(finish(begin(port, "a", is_chunked), is_chunked, "tenant"), 429);
        int other = begin(port, "b", is_chunked), third = begin(port, "c", is_chunked);
        WAIT_WHILE(body_budget_used(b, true) < (size_t)5 * BODY - 2);
        if (is_chunked)                                 /* its first steps found room */
            assert_int_equal(finish(begin(port, "d", true), true, "tenant"), 429);
        else
            assert_int_equal(finish(begin(port, "d", false), false, "no memory"), 503);
        int small = net_connect(port);                  /* a small body needs none of it */
        net_send_c(small, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx");
        assert_int_equal(finish(small, false, "got 2<end>"), 200);
        assert_int_equal(finish(other, is_chunked, "got 1048576<end>"), 200);
        assert_int_equal(finish(third, is_chunked, "got 1048576<end>"), 200);
        close(mine[0]);                                 /* what is cut gives its memory back */
        for (int i = 1; i < 3; i++)
            assert_int_equal(finish(mine[i], is_chunked, "got 1048576<end>"), 200);
        for (int i = 0; i < 2; i++)
            assert_int_equal(finish(held[i], is_chunked, "got 1048576<end>"), 200);
        WAIT_WHILE(body_budget_used(b, false) + body_budget_used(b, true) > 0);
        assert_int_equal(finish(begin(port, NULL, is_chunked), is_chunked, "got 1048576<end>"), 200);
        http_server_free(s);
        body_budget_free(b);
    }
}

/* Who asks first is told before he sends. */
static void expect_is_refused_at_once(void **state)
{
    (void)state;
    struct body_budget *b = body_budget_new(BUDGET);
    struct http_server *s = serve(b);
    int port = http_server_port(s), held[2];
    for (int i = 0; i < 2; i++)
        held[i] = begin(port, NULL, false);
    WAIT_WHILE(body_budget_used(b, false) < (size_t)2 * BODY);
    int fd = net_connect(port);
    char reply[2048];
    bool eof;
    net_send_c(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\nExpect: 100-continue\r\n\r\n");
    net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 429);
    assert_true(eof);
    close(fd);
    for (int i = 0; i < 2; i++)
        close(held[i]);
    http_server_free(s);
    body_budget_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_waits_has_a_bound), cmocka_unit_test(expect_is_refused_at_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
