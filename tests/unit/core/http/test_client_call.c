/* SPDX-License-Identifier: Apache-2.0 */
/* test_client_call.c - the link between our client and our server falls silent in the middle of a message. Each end has its
 * own limit: a caller waits its time, or so long without a byte where it takes a stream; a server ends a request that does not go
 * on. */
#include "net.h"

#include "core/base/cleanup.h"
#include "core/http/client.h"
#include "tests/lib/cut_link.h"
#include "tests/lib/wait.h"

enum { LIMIT_MS = 300, SERVER_MS = 3000, LARGE = 1 << 20 };

static struct http_server *server;
static struct cut_link link_to_it;
static char large[LARGE];

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    struct http_response r = { .status = 200, .content_type = STR("text/plain"), .body = { large, LARGE } };
    http_reply(x, &r);
}

static int setup(void **state)
{
    (void)state;
    memset(large, 'x', LARGE);
    server = net_serve((struct http_server_options){
        .on_request = on_request, .body_max_default = 2 * LARGE, .header_deadline_ms = SERVER_MS, .body_deadline_ms = SERVER_MS,
        .idle_timeout_ms = SERVER_MS, .least_bytes_per_s = INT64_C(1) << 40 });
    cut_link_tcp(&link_to_it, http_server_port(server));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cut_link_free(&link_to_it);
    http_server_free(server);
    return 0;
}

/* With a client of its own: the connections of another one may be cut. */
static enum errc call(const struct http_call *how, int64_t up, int64_t down)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    char url[64];
    struct http_result r;
    struct err e = { 0 };
    snprintf(url, sizeof url, "http://127.0.0.1:%d", link_to_it.port);
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url }, &e);
    cut_link_after(&link_to_it, up, down);
    enum errc rc = http_client_call(c, a, how, &r, &e);
    http_client_free(c);
    return rc;
}

static void a_caller_waits_its_time(void **state)
{
    (void)state;
    static const struct { int64_t up, down; } cuts[] = { { 10, -1 }, { LARGE / 2, -1 }, { -1, 10 }, { -1, LARGE / 2 } };
    const struct http_call brief = { .method = "POST", .path = "/", .body = { large, LARGE }, .timeout_ms = LIMIT_MS };
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        time_t since = wait_now();
        assert_int_equal(call(&brief, cuts[i].up, cuts[i].down), ERR_DEADLINE);
        assert_true(wait_now() - since < WAIT_MOST_S);
    }
    const struct http_call patient = { .method = "POST", .path = "/", .body = { large, LARGE }, .timeout_ms = PATIENCE_MS };
    assert_int_equal(call(&patient, -1, -1), ERR_OK);
}

static bool take(void *ctx, const char *p, size_t n)
{
    (void)p;
    *(size_t *)ctx += n;
    return true;
}

/* Without a limit for all of it, as downloads and streams are taken. */
static void a_stream_is_given_up_when_nothing_comes(void **state)
{
    (void)state;
    size_t got = 0;
    const struct http_call stream = { .path = "/", .timeout_ms = -1, .idle_timeout_ms = 1000, .on_data = take, .ctx = &got };
    time_t since = wait_now();
    assert_int_equal(call(&stream, -1, LARGE / 2), ERR_DEADLINE);
    assert_true(wait_now() - since < WAIT_MOST_S);
    assert_true(got > 0 && got < LARGE);
    assert_int_equal(call(&stream, 10, -1), ERR_DEADLINE);
}

static void a_server_ends_what_does_not_go_on(void **state)
{
    (void)state;
    WAIT_WHILE(http_server_connections(server) > 0);
    assert_int_equal(http_server_open_exchanges(server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_waits_its_time),
        cmocka_unit_test(a_stream_is_given_up_when_nothing_comes),
        cmocka_unit_test(a_server_ends_what_does_not_go_on),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
