/* SPDX-License-Identifier: Apache-2.0 */
/* test_mux.c - calls under way together: none holds up another, each is told once, and every limit is kept. */
#include "net.h"

#include <pthread.h>
#include "core/base/cleanup.h"
#include "core/http/mux.h"

enum { PARKED_MAX = 64, SOON_MS = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct http_exchange *parked[PARKED_MAX];
static _Atomic int parked_count;

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    const struct http_request *r = http_exchange_request(x);
    if (str_eq_c(r->path, "/silent")) {
        pthread_mutex_lock(&lock);
        bool has_room = parked_count < PARKED_MAX;
        if (has_room) {
            parked[parked_count] = x;
            parked_count++;             /* after it, for who looks at the count without the lock */
        }
        pthread_mutex_unlock(&lock);
        if (!has_room)
            net_reply_text(x, 500, "more calls than may be");
        return;
    }
    struct buf b = BUF(8 << 20);
    buf_printf(&b, "%s %zu", http_method_name(r->method), r->body.len);
    int tens = str_eq_c(r->path, "/long") ? 100000 : str_eq_c(r->path, "/longer") ? 600000 : 0;
    for (int i = 0; i < tens; i++)
        buf_add_c(&b, "0123456789");
    http_reply_buf(x, 200, STR("text/plain"), NULL, 0, &b);
}

static struct http_server *server;
static struct http_mux *mux;
static struct http_target *target;

static struct http_target *to_port(int port)
{
    char url[64];
    struct err e = { 0 };
    snprintf(url, sizeof url, "http://127.0.0.1:%d", port);
    struct http_target *t = http_target_new(&(struct http_client_options){ .base_url = url, .timeout_ms = 60000 }, &e);
    assert_non_null(t);
    return t;
}

static int setup(void **state)
{
    (void)state;
    server = net_serve((struct http_server_options){ .on_request = on_request, .body_max_default = 8 << 20 });
    target = to_port(http_server_port(server));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    http_target_unref(target);
    http_server_free(server);
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    mux = http_mux_new(&(struct http_mux_options){ .name = "test", .calls_max = PARKED_MAX, .bytes_max = 3 << 20, .idle_max = 64 });
    return 0;
}

static void answer_parked(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < parked_count; i++)
        http_reply(parked[i], &(struct http_response){ .status = 200, .body = STR("late") });
    parked_count = 0;
    pthread_mutex_unlock(&lock);
}

static int done_with(void **state)
{
    (void)state;
    http_mux_free(mux);
    answer_parked();
    return 0;
}

struct asked {
    struct arena *arena;
    _Atomic int told;
    _Atomic bool is_unwanted;
    enum errc rc;
    int status;
    struct str body;
};

static void on_done(void *ctx, enum errc rc, const struct http_result *r, const struct err *e)
{
    struct asked *a = ctx;
    assert_int_equal(rc, rc == ERR_OK ? ERR_OK : e->code);
    a->rc = rc;
    if (rc == ERR_OK) {
        a->status = r->status;
        a->body = r->body;
    }
    a->told++;
}

static bool is_unwanted(void *ctx)
{
    return ((struct asked *)ctx)->is_unwanted;
}

static enum errc start(struct asked *a, struct http_target *to, struct http_call call)
{
    struct err e = { 0 };
    if (!a->arena)
        a->arena = arena_new((size_t)16 << 20);
    return http_mux_start(mux, &(struct http_mux_call){ .to = to, .call = call, .arena = a->arena, .is_unwanted = is_unwanted, .done = on_done, .ctx = a }, &e);
}

static void ask(struct asked *a, struct http_target *to, const char *path)
{
    assert_int_equal(start(a, to, (struct http_call){ .path = path }), ERR_OK);
}

static void wait_told(struct asked *a)
{
    for (int64_t until = net_now_ms() + SOON_MS; !a->told && net_now_ms() < until;)
        usleep(1000);
    assert_int_equal(a->told, 1);
}

static void wait_parked(int n)
{
    for (int64_t until = net_now_ms() + SOON_MS; parked_count < n && net_now_ms() < until;)
        usleep(1000);
    assert_int_equal(parked_count, n);
}

static void release(struct asked *a, int n)
{
    for (int i = 0; i < n; i++)
        arena_free(a[i].arena);
}

static void calls_are_under_way_together(void **state)
{
    (void)state;
    enum { N = 40 };
    struct asked a[N] = { 0 };
    for (int i = 0; i < N; i++)
        ask(&a[i], target, "/silent");
    wait_parked(N);                                         /* all at the server at once, by one thread */
    assert_int_equal(http_mux_calls(mux), N);
    answer_parked();
    for (int i = 0; i < N; i++) {
        wait_told(&a[i]);
        assert_int_equal(a[i].status, 200);
        assert_true(str_eq_c(a[i].body, "late"));
    }
    assert_int_equal(http_mux_calls(mux), 0);
    release(a, N);
}

/* One server that takes connections and is silent, one that never accepts: calls to a third are answered all the same. */
static void what_stalls_holds_up_nobody(void **state)
{
    (void)state;
    enum { N = 20 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(deaf, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(deaf, N), 0);
    assert_int_equal(getsockname(deaf, (struct sockaddr *)&at, &len), 0);
    struct http_target *deaf_target = to_port(ntohs(at.sin_port));
    struct asked stalled[2 * N] = { 0 }, good[N] = { 0 };
    for (int i = 0; i < N; i++) {
        ask(&stalled[2 * i], target, "/silent");
        ask(&stalled[2 * i + 1], deaf_target, "/");
    }
    wait_parked(N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(start(&good[i], target, (struct http_call){ .method = "POST", .path = "/", .body = STR("12345") }), ERR_OK);
        wait_told(&good[i]);
        assert_int_equal(good[i].rc, ERR_OK);
        assert_true(str_eq_c(good[i].body, "POST 5"));
    }
    for (int i = 0; i < 2 * N; i++)
        assert_int_equal(stalled[i].told, 0);
    http_mux_stop(mux);
    for (int i = 0; i < 2 * N; i++) {
        assert_int_equal(stalled[i].told, 1);               /* a stop ends what is under way, and tells */
        assert_int_equal(stalled[i].rc, ERR_UNAVAILABLE);
    }
    struct asked late = { 0 };
    assert_int_equal(start(&late, target, (struct http_call){ .path = "/" }), ERR_UNAVAILABLE);
    assert_int_equal(late.told, 0);
    release(&late, 1);
    release(stalled, 2 * N);
    release(good, N);
    http_target_unref(deaf_target);
    close(deaf);
}

static void what_nobody_wants_is_ended(void **state)
{
    (void)state;
    struct asked a = { 0 }, other = { 0 };
    ask(&a, target, "/silent");
    ask(&other, target, "/silent");
    wait_parked(2);
    a.is_unwanted = true;
    wait_told(&a);
    assert_int_equal(a.rc, ERR_UNAVAILABLE);
    assert_int_equal(other.told, 0);
    for (int64_t until = net_now_ms() + SOON_MS; !http_exchange_gone(parked[0]) && !http_exchange_gone(parked[1]) && net_now_ms() < until;)
        usleep(1000);
    assert_true(http_exchange_gone(parked[0]) != http_exchange_gone(parked[1]));     /* the server sees its peer leave */
    answer_parked();
    wait_told(&other);
    assert_int_equal(other.rc, ERR_OK);
    release(&a, 1);
    release(&other, 1);
}

static void errors_have_their_codes(void **state)
{
    (void)state;
    struct asked a[4] = { 0 };
    struct http_target *nobody = to_port(1);
    assert_int_equal(start(&a[0], target, (struct http_call){ .path = "/silent", .timeout_ms = 100 }), ERR_OK);
    assert_int_equal(start(&a[1], nobody, (struct http_call){ .path = "/" }), ERR_OK);
    assert_int_equal(start(&a[2], target, (struct http_call){ .path = "/long", .response_max = 1000 }), ERR_OK);
    assert_int_equal(start(&a[3], target, (struct http_call){ .path = "no-slash" }), ERR_OK);
    static const enum errc WANT[] = { ERR_DEADLINE, ERR_UNAVAILABLE, ERR_LIMIT, ERR_INVALID };
    for (int i = 0; i < 4; i++) {
        wait_told(&a[i]);
        assert_int_equal(a[i].rc, WANT[i]);
    }
    http_target_unref(nobody);
    release(a, 4);
}

static void no_more_calls_than_may_be(void **state)
{
    (void)state;
    struct asked a[PARKED_MAX] = { 0 }, more = { 0 };
    for (int i = 0; i < PARKED_MAX; i++)
        ask(&a[i], target, "/silent");
    assert_int_equal(start(&more, target, (struct http_call){ .path = "/" }), ERR_UNAVAILABLE);
    wait_parked(PARKED_MAX);
    answer_parked();
    for (int i = 0; i < PARKED_MAX; i++)
        wait_told(&a[i]);
    ask(&more, target, "/");
    wait_told(&more);
    assert_int_equal(more.rc, ERR_OK);
    release(&more, 1);
    release(a, PARKED_MAX);
}

/* Room for 3 MiB: a reply of 6 MB is refused although it might be as long by itself, one of 1 MB is taken, again and again. */
static void replies_keep_to_their_memory(void **state)
{
    (void)state;
    struct asked large = { 0 }, a[6] = { 0 };
    ask(&large, target, "/longer");
    wait_told(&large);
    assert_int_equal(large.rc, ERR_UNAVAILABLE);
    for (int i = 0; i < 6; i++) {
        ask(&a[i], target, "/long");
        wait_told(&a[i]);
        assert_int_equal(a[i].rc, ERR_OK);
        assert_int_equal(a[i].body.len, 1000005);
    }
    release(&large, 1);
    release(a, 6);
}

static void connections_are_kept(void **state)
{
    (void)state;
    for (int64_t until = net_now_ms() + SOON_MS; http_server_connections(server) > 0 && net_now_ms() < until;)
        usleep(1000);                                       /* those of the tests before */
    for (int i = 0; i < 30; i++) {
        struct asked a = { 0 };
        ask(&a, target, "/");
        wait_told(&a);
        assert_int_equal(a.rc, ERR_OK);
        release(&a, 1);
    }
    assert_int_equal(http_server_connections(server), 1);
}

/* Connections of this process to a port, in any state that holds a descriptor. */
static int sockets_to(int port)
{
    struct sockaddr_in at;
    int n = 0;
    for (int fd = 0; fd < 4096; fd++) {
        socklen_t len = sizeof at;
        int type = 0;
        socklen_t tlen = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &tlen) == 0 && getsockname(fd, (struct sockaddr *)&at, &len) == 0 &&
            at.sin_family == AF_INET && at.sin_port != htons((uint16_t)port)) {
            len = sizeof at;
            char byte;
            bool has_peer = getpeername(fd, (struct sockaddr *)&at, &len) == 0;
            n += has_peer ? at.sin_port == htons((uint16_t)port) : recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
        }
    }
    return n;
}

/* A deployment that has ended: its server is gone, and nobody calls it again. */
static void what_nobody_calls_any_more_holds_no_descriptor(void **state)
{
    (void)state;
    enum { N = 12 };
    struct asked a[N] = { 0 };
    struct http_server *ends = net_serve((struct http_server_options){ .on_request = on_request });
    int port = http_server_port(ends);
    struct http_target *to = to_port(port);
    http_mux_free(mux);
    mux = http_mux_new(&(struct http_mux_options){ .name = "test", .calls_max = PARKED_MAX, .bytes_max = 3 << 20, .idle_max = 64,
                                                   .idle_ms = 300 });
    for (int i = 0; i < N; i++)
        ask(&a[i], to, "/silent");
    wait_parked(N);
    assert_int_equal(sockets_to(port), N);
    answer_parked();
    for (int i = 0; i < N; i++)
        wait_told(&a[i]);
    http_server_free(ends);
    for (int64_t until = net_now_ms() + SOON_MS; sockets_to(port) && net_now_ms() < until;)
        usleep(1000);
    assert_int_equal(sockets_to(port), 0);
    release(a, N);
    struct asked again = { 0 };
    ask(&again, target, "/");
    wait_told(&again);
    assert_int_equal(again.rc, ERR_OK);
    release(&again, 1);
    http_target_unref(to);
}

static void *caller(void *arg)
{
    int *good = arg;
    for (int i = 0; i < 100; i++) {
        struct asked a = { 0 };
        ask(&a, target, "/");
        wait_told(&a);
        *good += a.rc == ERR_OK;
        release(&a, 1);
    }
    return NULL;
}

static void many_threads_ask(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t t[THREADS];
    int good[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, caller, &good[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(good[i], 100);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fresh, done_with)
    const struct CMUnitTest tests[] = {
        T(calls_are_under_way_together), T(what_stalls_holds_up_nobody), T(what_nobody_wants_is_ended), T(errors_have_their_codes),
        T(no_more_calls_than_may_be), T(replies_keep_to_their_memory), T(connections_are_kept),
        T(what_nobody_calls_any_more_holds_no_descriptor), T(many_threads_ask),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
