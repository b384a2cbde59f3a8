/* SPDX-License-Identifier: Apache-2.0 */
/* mux_kit.h - a server that answers some calls late, and calls to it through one mux: each test has its own. */
#pragma once
#include "net.h"

#include <pthread.h>
#include "core/base/cleanup.h"
#include "core/http/mux.h"

enum { PARKED_MAX = 64, SOON_MS = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct http_exchange *parked[PARKED_MAX];
static _Atomic int parked_count;

static inline void on_request(void *ctx, struct http_exchange *x)
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

static inline struct http_target *to_port(int port)
{
    char url[64];
    struct err e = { 0 };
    snprintf(url, sizeof url, "http://127.0.0.1:%d", port);
    struct http_target *t = http_target_new(&(struct http_client_options){ .base_url = url, .timeout_ms = 60000 }, &e);
    assert_non_null(t);
    return t;
}

static inline int setup(void **state)
{
    (void)state;
    server = net_serve((struct http_server_options){ .on_request = on_request, .body_max_default = 8 << 20 });
    target = to_port(http_server_port(server));
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    http_target_unref(target);
    http_server_free(server);
    return 0;
}

static inline int fresh(void **state)
{
    (void)state;
    mux = http_mux_new(&(struct http_mux_options){ .name = "test", .calls_max = PARKED_MAX, .bytes_max = 3 << 20,
                                                   .idle_max = 64 });
    return 0;
}

static inline void answer_parked(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < parked_count; i++)
        http_reply(parked[i], &(struct http_response){ .status = 200, .body = STR("late") });
    parked_count = 0;
    pthread_mutex_unlock(&lock);
}

static inline int done_with(void **state)
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

static inline void on_done(void *ctx, enum errc rc, const struct http_result *r, const struct err *e)
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

static inline bool is_unwanted(void *ctx)
{
    return ((struct asked *)ctx)->is_unwanted;
}

static inline enum errc start(struct asked *a, struct http_target *to, struct http_call call)
{
    struct err e = { 0 };
    if (!a->arena)
        a->arena = arena_new((size_t)16 << 20);
    return http_mux_start(mux, &(struct http_mux_call){ .to = to, .call = call, .arena = a->arena, .is_unwanted = is_unwanted,
                                                        .done = on_done, .ctx = a }, &e);
}

static inline void ask(struct asked *a, struct http_target *to, const char *path)
{
    assert_int_equal(start(a, to, (struct http_call){ .path = path }), ERR_OK);
}

static inline void wait_told(struct asked *a)
{
    for (int64_t until = net_now_ms() + SOON_MS; !a->told && net_now_ms() < until;)
        usleep(1000);
    assert_int_equal(a->told, 1);
}

static inline void wait_parked(int n)
{
    for (int64_t until = net_now_ms() + SOON_MS; parked_count < n && net_now_ms() < until;)
        usleep(1000);
    assert_int_equal(parked_count, n);
}

static inline void release(struct asked *a, int n)
{
    for (int i = 0; i < n; i++)
        arena_free(a[i].arena);
}

/* Each of the tests with a mux of its own, on one server. */
#define MUX_TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done_with)
