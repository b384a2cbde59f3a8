/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops.c - the three pages of a daemon without an API. */
#include "net.h"

#include "core/base/cleanup.h"
#include "core/http/client.h"
#include "core/http/ops.h"

static bool is_ready;

static bool ready(void *ctx, struct buf *why)
{
    (void)ctx;
    if (!is_ready)
        buf_add_c(why, "database: down\n");
    return is_ready;
}

static void metrics(void *ctx, struct buf *out)
{
    buf_printf(out, "falaj_up %d\n", *(int *)ctx);
}

static void serves_its_pages(void **state)
{
    (void)state;
    int up = 7;
    struct err e = { 0 };
    struct ops_server *s = ops_server_new("127.0.0.1", 0, (struct ops_source){ ready, metrics, &up }, &e);
    assert_non_null(s);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ops_server_port(s));
    CLEANUP(http_client_freep) struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url }, &e);
    struct arena *a = arena_new(1 << 20);
    static const struct {
        const char *method, *path;
        bool ready;
        int status;
        const char *body;
    } ROWS[] = {
        { "GET", "/healthz", false, 200, "ok\n" },        { "GET", "/readyz", false, 503, "database: down\n" },
        { "GET", "/readyz", true, 200, "ready\n" },       { "GET", "/metrics", true, 200, "falaj_up 7\n" },
        { "GET", "/nothing", true, 404, "not found\n" },  { "POST", "/metrics", true, 405, "GET only\n" },
        { "HEAD", "/healthz", true, 200, "" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        is_ready = ROWS[i].ready;
        struct http_result r;
        assert_int_equal(http_client_call(c, a, &(struct http_call){ .method = ROWS[i].method, .path = ROWS[i].path }, &r, &e), ERR_OK);
        if (r.status != ROWS[i].status || !str_eq_c(r.body, ROWS[i].body))
            fail_msg("%s %s: %d %.*s", ROWS[i].method, ROWS[i].path, r.status, STR_ARG(r.body));
    }
    arena_free(a);
    ops_server_free(s);
}

/* A port that is taken: an error where somebody named it in the prod profile, else the daemon does without. */
static void a_port_that_is_taken(void **state)
{
    (void)state;
    int up = 7;
    struct err e = { 0 };
    const struct ops_source source = { ready, metrics, &up };
    struct ops_server *first = ops_server_new("127.0.0.1", 0, source, &e), *got = first;
    assert_non_null(first);
    int port = ops_server_port(first);
    assert_int_equal(ops_open(&(struct ops_place){ "127.0.0.1", port, 1, true }, source, &got, &e), ERR_IO);
    assert_null(got);
    assert_int_equal(ops_open(&(struct ops_place){ "127.0.0.1", -1, port, true }, source, &got, &e), ERR_OK);
    assert_null(got);
    assert_int_equal(ops_open(&(struct ops_place){ "127.0.0.1", port, 1, false }, source, &got, &e), ERR_OK);
    assert_null(got);
    ops_server_free(first);
    assert_int_equal(ops_open(&(struct ops_place){ "127.0.0.1", -1, port, false }, source, &got, &e), ERR_OK);
    assert_null(got);                   /* none by itself in dev */
    assert_int_equal(ops_open(&(struct ops_place){ "127.0.0.1", 0, port, true }, source, &got, &e), ERR_OK);
    assert_null(got);
    assert_int_equal(ops_open(&(struct ops_place){ "127.0.0.1", -1, port, true }, source, &got, &e), ERR_OK);
    assert_non_null(got);
    assert_int_equal(ops_server_port(got), port);
    ops_server_free(got);
}

static int connect_from(uint32_t host, int port)
{
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static bool answers(int fd)
{
    char reply[1024];
    bool eof;
    net_send_c(fd, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    net_read(fd, reply, sizeof reply, "ok", 60000, &eof);
    return net_status(reply) == 200;
}

/* Half of the places are one address's, and who has them cannot keep the monitoring out. */
static void an_address_has_half_the_places(void **state)
{
    (void)state;
    enum { SHARE = 32 };
    struct err e = { 0 };
    struct ops_server *s = ops_server_new("127.0.0.1", 0, (struct ops_source){ 0 }, &e);
    int fd[SHARE + 1];
    for (int i = 0; i <= SHARE; i++) {
        fd[i] = connect_from(INADDR_LOOPBACK + 1, ops_server_port(s));
        assert_int_equal(answers(fd[i]), i < SHARE);
    }
    int monitoring = connect_from(INADDR_LOOPBACK + 2, ops_server_port(s));
    assert_true(answers(monitoring));
    close(monitoring);
    for (int i = 0; i <= SHARE; i++)
        close(fd[i]);
    ops_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(serves_its_pages), cmocka_unit_test(an_address_has_half_the_places),
        cmocka_unit_test(a_port_that_is_taken) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
