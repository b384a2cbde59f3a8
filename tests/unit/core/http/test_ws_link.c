/* SPDX-License-Identifier: Apache-2.0 */
/* test_ws_link.c - a client's WebSocket against our own server, plain and over mutual TLS: sizes, both ways at once, ends. */
#include "core/http/ws_link.h"
#include "tests/lib/wait.h"
#include "ws_echo.h"

static char dir[] = "/tmp/ws-link-test-XXXXXX";
static struct arena *arena;

static void run(const char *text)
{
    char cmd[2048];
    snprintf(cmd, sizeof cmd, "cd %s && ( %s ) >>log 2>&1", dir, text);
    if (system(cmd) != 0)
        fail_msg("failed: %s", cmd);
}

static void make_leaf(const char *name, const char *san)
{
    run(arena_printf(arena, "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout %s.key -out %s.csr"
                     " -subj /CN=%s && printf 'subjectAltName=%s\\nextendedKeyUsage=%sAuth' >ext && openssl x509 -req -in %s.csr"
                     " -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out %s.pem", name, name, name, san, name,
                     name, name));
}

static const char *path_of(const char *file)
{
    return arena_printf(arena, "%s/%s", dir, file);
}

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    arena = arena_new(1 << 20);
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -subj /CN=ca"
        " -days 2 -addext keyUsage=critical,keyCertSign");
    make_leaf("server", "IP:127.0.0.1");
    make_leaf("client", "URI:spiffe://falaj.test/worker/pool/w1");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    arena_free(arena);
    return system(cmd);
}

static struct http_server *start(struct ws_echo *s, bool has_tls)
{
    struct http_server_options o = { .on_request = ws_echo_request, .ctx = s };
    if (has_tls) {
        o.tls_cert_file = path_of("server.pem");
        o.tls_key_file = path_of("server.key");
        o.tls_client_ca_file = path_of("ca.pem");
        o.require_client_cert = true;
    }
    return net_serve(o);
}

static struct ws_link *dial(struct http_server *server, bool has_tls)
{
    struct http_client_options o = { .base_url = arena_printf(arena, "http%s://127.0.0.1:%d", has_tls ? "s" : "",
                                                              http_server_port(server)) };
    if (has_tls) {
        o.ca_file = path_of("ca.pem");
        o.cert_file = path_of("client.pem");
        o.key_file = path_of("client.key");
    }
    struct ws_link *l = NULL;
    struct err e = { 0 };
    struct str body;
    int status;
    if (ws_dial(&o, "/x", NULL, arena, &l, &status, &body, &e) != ERR_OK)
        fail_msg("%s (%s)", e.msg, e.detail);
    assert_int_equal(status, 101);
    return l;
}

static void wait_for(struct ws_link *l)
{
    struct pollfd p = { ws_link_fd(l), (short)(POLLIN | (ws_link_waits(l) ? POLLOUT : 0)), 0 };
    assert_true(poll(&p, 1, PATIENCE_MS) > 0);
    assert_int_equal(ws_link_flush(l, NULL), ERR_OK);
}

/* Sends `count` messages of 0, step, 2*step … bytes and reads the same back, while it sends. */
static void talk(struct ws_link *l, size_t count, size_t step)
{
    char *bytes = malloc(count * step + 1);
    for (size_t i = 0; i < count * step + 1; i++)
        bytes[i] = (char)(i * 7);
    size_t sent = 0, got = 0;
    while (got < count) {
        enum ws_step found;
        struct ws_message m;
        while (sent < count && sent * step <= ws_link_room(l)) {
            assert_int_equal(ws_link_send(l, (char)sent, str_n(bytes, sent * step), NULL), ERR_OK);
            sent++;
        }
        assert_int_equal(ws_link_read(l, &found, &m, NULL), ERR_OK);
        if (found == WS_MORE) {
            wait_for(l);
            continue;
        }
        assert_int_equal(m.op, WS_BINARY);
        assert_int_equal(m.body.len, 1 + got * step);
        assert_int_equal(m.body.ptr[0], (char)got);
        assert_memory_equal(m.body.ptr + 1, bytes, got * step);
        got++;
    }
    free(bytes);
}

static void talk_and_end(bool has_tls)
{
    struct ws_echo s = { 0 };
    struct http_server *server = start(&s, has_tls);
    struct ws_link *l = dial(server, has_tls);
    talk(l, 100, 300);
    ws_link_ping(l);
    assert_int_equal(ws_link_send(l, 'b', STR("ye"), NULL), ERR_OK);
    enum errc rc = ERR_OK;
    while (rc == ERR_OK) {                              /* until the server's end is seen */
        enum ws_step found;
        struct ws_message m;
        rc = ws_link_read(l, &found, &m, NULL);
        if (rc == ERR_OK && found == WS_MORE)
            wait_for(l);
    }
    assert_int_equal(rc, ERR_UNAVAILABLE);
    ws_link_free(l);
    ws_echo_join(&s);
    assert_int_equal(atomic_load(&s.messages), 102);
    http_server_free(server);
}

static void messages_come_back_in_order(void **state)
{
    (void)state;
    talk_and_end(false);
}

static void and_over_mutual_tls(void **state)
{
    (void)state;
    talk_and_end(true);
}

static _Atomic bool may_read;
static _Atomic size_t whole;

/* Stands still until it may read; then looks whether each message is as it was sent. */
static void read_late(struct ws_echo *s, const struct ws_message *m)
{
    char want[2000];
    (void)s;
    while (!atomic_load(&may_read))
        usleep(1000);
    memset(want, (int)(atomic_load(&whole) % 251), sizeof want);
    if (m->body.len == 1 + sizeof want && memcmp(m->body.ptr + 1, want, sizeof want) == 0)
        atomic_fetch_add(&whole, 1);
}

/* Many small messages to a peer that takes nothing for a while: what could not be sent is offered again as it was, whatever is
 * added behind it. */
static void a_peer_that_stands_still_loses_nothing_over_tls(void **state)
{
    (void)state;
    struct ws_echo s = { .answer = read_late };
    struct http_server *server = start(&s, true);
    struct ws_link *l = dial(server, true);
    const int little = 16 * 1024;
    char bytes[2000];
    size_t sent = 0;
    assert_int_equal(setsockopt(ws_link_fd(l), SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    for (; ws_link_room(l) >= sizeof bytes; sent++) {       /* until all buffers between, and the link's own, are full */
        memset(bytes, (int)(sent % 251), sizeof bytes);
        assert_int_equal(ws_link_send(l, 'm', str_n(bytes, sizeof bytes), NULL), ERR_OK);
    }
    atomic_store(&may_read, true);
    while (ws_link_waits(l))
        wait_for(l);
    WAIT_WHILE(atomic_load(&s.messages) < sent);
    assert_int_equal(ws_link_send(l, 'b', STR("ye"), NULL), ERR_OK);
    ws_echo_join(&s);
    assert_int_equal(atomic_load(&whole), sent);
    ws_link_free(l);
    http_server_free(server);
}

static void a_client_that_leaves_ends_it_over_tls_too(void **state)
{
    (void)state;
    struct ws_echo s = { 0 };
    struct http_server *server = start(&s, true);
    struct ws_link *l = dial(server, true);
    ws_link_free(l);
    ws_echo_join(&s);
    for (int i = 0; i < PATIENCE_MS / 10 && http_server_open_exchanges(server); i++)
        usleep(10000);
    assert_int_equal(http_server_open_exchanges(server), 0);
    http_server_free(server);
}

static void refuse(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    http_reply(x, &(struct http_response){ .status = 404, .content_type = STR("text/plain"),
                                              .body = STR("there is no such job") });
}

static void an_answer_that_is_none_is_told_whole(void **state)
{
    (void)state;
    struct http_server *server = net_serve((struct http_server_options){ .on_request = refuse });
    const struct http_client_options o = { .base_url = arena_printf(arena, "http://127.0.0.1:%d", http_server_port(server)) };
    struct ws_link *l = NULL;
    struct str body;
    int status;
    assert_int_equal(ws_dial(&o, "/x", NULL, arena, &l, &status, &body, NULL), ERR_UPSTREAM);
    assert_int_equal(status, 404);
    assert_true(str_eq_c(body, "there is no such job"));
    http_server_free(server);
    assert_int_equal(ws_dial(&o, "/x", NULL, arena, &l, &status, &body, NULL), ERR_UNAVAILABLE);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_back_in_order),
        cmocka_unit_test(and_over_mutual_tls),
        cmocka_unit_test(a_peer_that_stands_still_loses_nothing_over_tls),
        cmocka_unit_test(a_client_that_leaves_ends_it_over_tls_too),
        cmocka_unit_test(an_answer_that_is_none_is_told_whole),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
