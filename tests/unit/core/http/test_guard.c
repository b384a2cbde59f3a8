/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard.c - the table of hostile requests, as raw bytes over real sockets: each is answered once with 400 or 431 and closed,
 * and nothing behind it is ever handled as a request. */
#include "net.h"

#include "core/http/guard.h"

#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
#define RAW(lit) lit, sizeof(lit) - 1

static struct http_server *server;
static _Atomic int handled;

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    atomic_fetch_add(&handled, 1);
    net_reply_text(x, 200, "fine");
}

static void reject(void *ctx, struct http_exchange *x, enum errc code, const char *why)
{
    (void)ctx;
    char text[256];
    snprintf(text, sizeof text, "refused: %s", why);
    net_reply_text(x, err_row(code)->http, text);
}

static int setup(void **state)
{
    (void)state;
    server = net_serve((struct http_server_options){ .on_request = on_request, .reject = reject });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    http_server_free(server);
    return 0;
}

struct row {
    const char *name;
    const char *bytes;
    size_t len;
};

static const struct row REFUSED[] = {
    { "CL and TE", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "TE and CL", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 40\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "CL 5 then 6", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello" SMUGGLED) },
    { "CL twice, equal", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello" SMUGGLED) },
    { "CL list", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello" SMUGGLED) },
    { "CL plus", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello" SMUGGLED) },
    { "CL minus", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n" SMUGGLED) },
    { "CL hex", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello" SMUGGLED) },
    { "CL empty", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n" SMUGGLED) },
    { "CL huge", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n" SMUGGLED) },
    { "CL blank colon", RAW("POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello" SMUGGLED) },
    { "TE xchunked", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "TE twice", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "TE list", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "TE vertical tab", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b" "chunked\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "TE in 1.0", RAW("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "TE folded", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\nX: y\r\n\r\n0\r\n\r\n" SMUGGLED) },
    { "bare CR in value", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: b\rX-B: c\r\n\r\n" SMUGGLED) },
    { "NUL in value", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\nX-B: c\r\n\r\n" SMUGGLED) },
    { "NUL in last value", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n\r\n" SMUGGLED) },
    { "NUL in name", RAW("GET / HTTP/1.1\r\nHost: a\r\nX\0A: b\r\n\r\n" SMUGGLED) },
    { "NUL in target", RAW("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "two blanks in the request line", RAW("GET /a  HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "folded", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\nX-B: c\r\n\r\n" SMUGGLED) },
    { "folded last", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\tc\r\n\r\n" SMUGGLED) },
    { "fold before the first", RAW("GET / HTTP/1.1\r\n Host: a\r\n\r\n" SMUGGLED) },
    { "bare LF", RAW("GET / HTTP/1.1\nHost: a\nX-A: b\n\n" SMUGGLED) },
    { "one bare LF", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: b\nX-B: c\r\n\r\n" SMUGGLED) },
    { "ESC in value", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: \x1b[2J\r\n\r\n" SMUGGLED) },
    { "DEL in value", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-A: \x7f\r\n\r\n" SMUGGLED) },
    { "blank in name", RAW("GET / HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n" SMUGGLED) },
    { "bracket in name", RAW("GET / HTTP/1.1\r\nHost: a\r\nX[A]: b\r\n\r\n" SMUGGLED) },
    { "high byte in name", RAW("GET / HTTP/1.1\r\nHost: a\r\nX\xc3\xa9: b\r\n\r\n" SMUGGLED) },
    { "empty name", RAW("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n" SMUGGLED) },
    { "no colon", RAW("GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n" SMUGGLED) },
    { "two Host", RAW("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" SMUGGLED) },
    { "no Host", RAW("GET / HTTP/1.1\r\nX-A: b\r\n\r\n" SMUGGLED) },
    { "empty Host", RAW("GET / HTTP/1.1\r\nHost:\r\n\r\n" SMUGGLED) },
    { "userinfo in Host", RAW("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n" SMUGGLED) },
    { "path in Host", RAW("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n" SMUGGLED) },
    { "two Authorization", RAW("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nauthorization: y\r\n\r\n" SMUGGLED) },
    { "two Content-Type", RAW("GET / HTTP/1.1\r\nHost: a\r\nContent-Type: x\r\nContent-Type: y\r\n\r\n" SMUGGLED) },
    { "two X-Request-Id", RAW("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: x\r\nX-Request-ID: y\r\n\r\n" SMUGGLED) },
    { "two Idempotency-Key", RAW("GET / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: x\r\nIdempotency-Key: x\r\n\r\n" SMUGGLED) },
    { "absolute form", RAW("GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "no slash", RAW("GET admin HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "authority form", RAW("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "asterisk GET", RAW("GET * HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "two slashes", RAW("GET //evil/x HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "dot segment", RAW("GET /v1/../admin HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "single dot", RAW("GET /v1/./admin HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "dots at the end", RAW("GET /v1/.. HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "encoded dots", RAW("GET /v1/%2e%2E/admin HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "half-encoded dots", RAW("GET /v1/.%2e HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "encoded slash", RAW("GET /v1/..%2f..%2fadmin HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "encoded backslash", RAW("GET /v1/a%5Cb HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "backslash", RAW("GET /v1\\admin HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "encoded NUL", RAW("GET /v1/a%00b HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "encoded NUL in query", RAW("GET /v1?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "encoded CR LF", RAW("GET /v1/%0d%0aX HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "bad escape", RAW("GET /v1/%zz HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "cut escape", RAW("GET /v1/%2 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "blank in target", RAW("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "fragment", RAW("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "raw high byte", RAW("GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "method not a token", RAW("GE(T / HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED) },
    { "two expects", RAW("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: x\r\nContent-Length: 0\r\n\r\n" SMUGGLED) },
    { "bad chunk", RAW("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n" SMUGGLED) },
};


static void send_and_check(const char *name, const char *bytes, size_t len)
{
    char reply[8192];
    bool eof;
    int before = atomic_load(&handled);
    int fd = net_connect(http_server_port(server));
    net_send(fd, bytes, len);
    size_t n = net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    close(fd);
    int status = net_status(reply);
    if ((status != 400 && status != 431 && status != 414 && status != 413) || !eof || net_count(reply, n, "HTTP/1.1 ") != 1 ||
        atomic_load(&handled) != before)
        fail_msg("%s: status %d, closed %d, replies %d, handled %d: %.300s", name, status, eof, net_count(reply, n, "HTTP/1.1 "),
                 atomic_load(&handled) - before, reply);
    if (strstr(reply, "refused: "))
        assert_non_null(strcasestr(reply, "\r\nConnection: close\r\n"));
}

static void hostile_requests_are_answered_once_and_closed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
        send_and_check(REFUSED[i].name, REFUSED[i].bytes, REFUSED[i].len);
}

/* One answer, and of the server's own form: the parser would write the head of its own twice. */
static void a_bad_length_is_refused_in_our_words(void **state)
{
    (void)state;
    static const char *const VALUES[] = { "abc", "-1", "+5", "5x", "99999999999999999999999", "0x10", "5, 5", "", "5 5",
        "5\r\n 5" };
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        static const char *const NAMES[] = { "Content-Length", "content-length", "CONTENT-length" };
        char request[256], reply[4096];
        bool eof;
        int before = atomic_load(&handled), fd = net_connect(http_server_port(server));
        snprintf(request, sizeof request, "POST /a?b=c HTTP/1.1\r\nHost: a\r\nX-A: b\r\n%s: %s\r\nX-B: c\r\n\r\n" SMUGGLED,
            NAMES[i % 3], VALUES[i]);
        net_send_c(fd, request);
        size_t n = net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
        close(fd);
        if (!eof || net_count(reply, n, "HTTP/1.1 ") != 1 || !strstr(reply, "refused: ") || atomic_load(&handled) != before)
            fail_msg("%s: closed %d, %.400s", VALUES[i], eof, reply);
    }
}

/* The same when it comes in a later piece than the request line: the parser has begun with the head by then. */
static void a_bad_length_in_a_later_piece_gets_one_answer_too(void **state)
{
    (void)state;
    static const char *const VALUES[] = { "abc", "-1", "99999999999999999999999", "5, 5", "" };
    static const char *const CUTS[] = { "Host: a\r\n", "Host: a\r\nContent-", "Host: a\r\nContent-Length: ", "" };
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES * sizeof CUTS / sizeof *CUTS; i++) {
        const char *value = VALUES[i / 4], *cut = CUTS[i % 4];
        char head[256], reply[4096];
        bool eof;
        int before = atomic_load(&handled), fd = net_connect(http_server_port(server));
        snprintf(head, sizeof head, "Host: a\r\nContent-Length: %s\r\nX-B: c\r\n\r\n" SMUGGLED, value);
        net_send_c(fd, "POST /a?b=c HTTP/1.1\r\n");
        net_wait_taken(fd);
        net_send_c(fd, cut);
        net_wait_taken(fd);
        net_send_c(fd, head + strlen(cut));
        size_t n = net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
        close(fd);
        bool is_told = net_status(reply) == 400 && strstr(reply, "Content-Length is not a number");
        if (!eof || net_count(reply, n, "HTTP/1.1 ") != 1 || !is_told || atomic_load(&handled) != before)
            fail_msg("'%s' after '%s': closed %d, %.400s", value, cut, eof, reply);
    }
}

/* Pure: what is masked and what is not. `|` stands for the NULs that the parser has put. */
static void only_a_bad_length_is_masked(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        { "HTTP/1.1||Host: a\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1||Host: a\r\nContent-Length: 5\r\n\r\n" },
        { "HTTP/1.1||Content-Length:   7\t\r\n\r\n", "HTTP/1.1||Content-Length:   7\t\r\n\r\n" },
        { "HTTP/1.1||Content-Length: x\r\n\r\nContent-Length: x\r\n",
            "HTTP/1.1||Refused-Length: x\r\n\r\nContent-Length: x\r\n" },
        { "HTTP/1.1|content-length: 1 1\n\n", "HTTP/1.1|Refused-Length: 1 1\n\n" },
        { "HTTP/1.1||A: b\r\nContent-Length: 5\r\n 6\r\n\r\n", "HTTP/1.1||A: b\r\nRefused-Length: 5\r\n 6\r\n\r\n" },
        { "HTTP/1.1||Content-Length: x", "HTTP/1.1||Content-Length: x" },
        { "HTTP/1.1||A: b\r\n|Content-Length: x\r\n", "HTTP/1.1||A: b\r\n|Content-Length: x\r\n" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char text[256], want[256];
        size_t n = strlen(ROWS[i][0]);
        memcpy(text, ROWS[i][0], n + 1);
        memcpy(want, ROWS[i][1], n + 1);
        for (size_t k = 0; k < n; k++) {
            text[k] = text[k] == '|' ? 0 : text[k];
            want[k] = want[k] == '|' ? 0 : want[k];
        }
        http_guard_mask(text, n);
        assert_memory_equal(text, want, n);
        for (size_t max = 0; max < n; max++)
            http_guard_mask(text, max);
    }
}

static void unknown_versions_never_reach_the_handler(void **state)
{
    (void)state;
    static const char *const ROWS[] = { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "GET / http/1.1\r\nHost: a\r\n\r\n", "GET /\r\n\r\n",
                                        "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "GET / HTTP/0.9\r\nHost: a\r\n\r\n" };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char reply[4096];
        bool eof;
        int before = atomic_load(&handled), fd = net_connect(http_server_port(server));
        net_send_c(fd, ROWS[i]);
        net_send_c(fd, SMUGGLED);
        net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
        close(fd);
        if (!eof || atomic_load(&handled) != before || net_status(reply) == 200)
            fail_msg("row %zu: closed %d: %s", i, eof, reply);
    }
}

static void oversized_heads_are_refused(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    buf_add_c(&b, "GET / HTTP/1.1\r\nHost: a\r\nX-A: ");
    for (int i = 0; i < 20000; i++)
        buf_add_char(&b, 'x');
    buf_add_c(&b, "\r\n\r\n" SMUGGLED);
    send_and_check("header of 20 kB", b.ptr, b.len);
    buf_clear(&b);
    buf_add_c(&b, "GET / HTTP/1.1\r\nHost: a\r\nX-A: ");
    for (int i = 0; i < 40000; i++)
        buf_add_char(&b, 'x');
    buf_add_c(&b, "\r\n\r\n");
    send_and_check("header of 40 kB", b.ptr, b.len);
    buf_clear(&b);
    buf_add_c(&b, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 500; i++)
        buf_printf(&b, "X-%d: a\r\n", i);
    buf_add_c(&b, "\r\n" SMUGGLED);
    send_and_check("500 headers", b.ptr, b.len);
    buf_clear(&b);
    buf_add_c(&b, "GET /");
    for (int i = 0; i < 3000; i++)
        buf_add_char(&b, 'p');
    buf_add_c(&b, " HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED);
    send_and_check("long path", b.ptr, b.len);
    buf_release(&b);
}

static void good_requests_pass(void **state)
{
    (void)state;
    static const char *const ROWS[] = {
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/jobs?a=b&c=%20d&e=%2F HTTP/1.1\r\nHost: [::1]:8080\r\nX-Empty:\r\nX-T: a\tb  \r\nX-U: \xd8\xb9\r\n\r\n",
        "GET /v1/a%20b/...x/.well-known HTTP/1.1\r\nHost: a.b-c:1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /v1 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
        "PUT /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char reply[4096];
        bool eof;
        int before = atomic_load(&handled), fd = net_connect(http_server_port(server));
        net_send_c(fd, ROWS[i]);
        net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
        if (net_status(reply) != 200 || atomic_load(&handled) != before + 1)
            fail_msg("row %zu: %s", i, reply);
        net_send_c(fd, ROWS[0]);    /* the connection lives on */
        net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
        assert_int_equal(net_status(reply), 200);
        close(fd);
    }
}

static void the_pure_check_names_what_is_wrong(void **state)
{
    (void)state;
    struct http_header h[] = { { STR("Host"), STR("a") }, { STR("Content-Length"), STR("1") }, { STR("content-length"), STR("1") } };
    struct http_guard_input in = { STR("GET"), STR("/"), STR("HTTP/1.1"), h, 3 };
    struct err e = { 0 };
    assert_int_equal(http_guard_check(&in, &e), ERR_MALFORMED);
    assert_string_equal(e.msg, "The header content-length is repeated");
    in.nheaders = 2;
    assert_int_equal(http_guard_check(&in, &e), ERR_OK);
    in.nheaders = GUARD_HEADERS_MAX + 1;
    assert_int_equal(http_guard_check(&in, &e), ERR_HEADERS);
}

static void the_layout_check_sees_cut_values(void **state)
{
    (void)state;
    static const char GOOD[] = "/\0HTTP/1.1\0\0Host: a\0\0X: y\0\0\0\0", CUT[] = "/\0HTTP/1.1\0\0Host: a\0\0X: y\0zz\0\0";
    for (int i = 0; i < 2; i++) {
        const char *t = i == 0 ? GOOD : CUT;
        struct http_header h[] = { { { t + 12, 4 }, { t + 18, 1 } }, { { t + 21, 1 }, { t + 24, 1 } } };
        struct http_guard_input in = { STR("GET"), STR("/"), { t + 2, 8 }, h, 2, t + 1 };
        assert_int_equal(http_guard_layout(&in, NULL), i == 0 ? ERR_OK : ERR_MALFORMED);
    }
    assert_true(http_guard_layout_known("0.9.75"));
    assert_false(http_guard_layout_known("1.0.3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_length_is_refused_in_our_words),
        cmocka_unit_test(a_bad_length_in_a_later_piece_gets_one_answer_too),
        cmocka_unit_test(only_a_bad_length_is_masked),
        cmocka_unit_test(hostile_requests_are_answered_once_and_closed),
        cmocka_unit_test(unknown_versions_never_reach_the_handler),
        cmocka_unit_test(oversized_heads_are_refused),
        cmocka_unit_test(good_requests_pass),
        cmocka_unit_test(the_pure_check_names_what_is_wrong),
        cmocka_unit_test(the_layout_check_sees_cut_values),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
