/* SPDX-License-Identifier: Apache-2.0 */
/* test_reply.c - answers of every kind, read back through the client. */
#include "tests/lib/wait.h"
#include "net.h"

#include "core/base/thread.h"
#include "core/http/client.h"
#include "core/http/server_int.h"

enum { BIG = 5 << 20 };

struct producer {
    size_t at, total, fail_at;
};

static _Atomic int freed;
static struct thread_pool *pool;

static ssize_t produce(void *p, void *buf, size_t n)
{
    struct producer *pr = p;
    if (pr->at >= pr->fail_at)
        return -1;
    n = n < pr->total - pr->at ? n : pr->total - pr->at;
    for (size_t i = 0; i < n; i++)
        ((char *)buf)[i] = (char)((pr->at + i) % 251);
    pr->at += n;
    return (ssize_t)n;
}

static void producer_free(void *p)
{
    free(p);
    atomic_fetch_add(&freed, 1);
}

static void reply_producer(struct http_exchange *x, int64_t total, size_t fail_at)
{
    struct producer *p = calloc(1, sizeof *p);
    *p = (struct producer){ 0, BIG, fail_at };
    http_reply_producer(x, 200, STR("application/octet-stream"), NULL, 0, total, produce, producer_free, p);
}

static void answer(void *ctx, void *item)
{
    (void)ctx;
    struct http_exchange *x = item;
    struct str path = http_exchange_request(x)->path;
    if (str_eq_c(path, "/headers")) {
        struct http_header h[] = { { STR("X-One"), STR("1") }, { STR("Set-Cookie"), STR("a=b") }, { STR("ETag"), STR("\"x\"") } };
        http_reply(x, &(struct http_response){ 201, STR("application/json"), STR("{}"), h, 3 });
    } else if (str_eq_c(path, "/empty")) {
        http_reply(x, &(struct http_response){ .status = 204 });
    } else if (str_eq_c(path, "/buf")) {
        struct buf b = BUF(BIG), none = BUF(10);
        for (int i = 0; i < 100000; i++)
            buf_add_char(&b, 'b');
        (void)none;
        http_reply_buf(x, 200, STR("text/plain"), NULL, 0, &b);
    } else if (str_eq_c(path, "/sized")) {
        reply_producer(x, BIG, SIZE_MAX);
    } else if (str_eq_c(path, "/unsized")) {
        reply_producer(x, -1, SIZE_MAX);
    } else {
        reply_producer(x, -1, BIG / 2);
    }
}

enum { HELD = 3 };
static struct http_exchange *held[HELD];
static int nheld, ready_before, ready_flushed, ready_after;

static int ready_of(struct http_loop *l)
{
    int n = 0;
    pthread_mutex_lock(&l->mutex);
    for (const struct http_exchange *x = l->ready; x; x = x->next)
        n++;
    pthread_mutex_unlock(&l->mutex);
    return n;
}

/* With the last of them, on the thread of their loop, so that nobody takes up meanwhile what is ready. */
static void answer_held(struct http_exchange *x)
{
    held[nheld++] = x;
    if (nheld < HELD)
        return;
    struct http_loop *l = x->loop;
    http_answers_hold();
    for (int i = 0; i < HELD; i++) {
        http_reply(held[i], &(struct http_response){ .status = 204 });
        if (i > 0)
            continue;
        ready_before = ready_of(l);
        http_answers_flush();
        ready_flushed = ready_of(l);
    }
    ready_before += ready_of(l) - ready_flushed;
    http_answers_release();
    ready_after = ready_of(l);
}

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    if (str_eq_c(http_exchange_request(x)->path, "/held")) {
        answer_held(x);
        return;
    }
    http_exchange_set_data(x, &freed);
    assert_ptr_equal(http_exchange_data(x), &freed);
    assert_true(thread_pool_submit(pool, x));
}

static struct http_server *server;
static struct http_client *client;
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    pool = thread_pool_new("reply", 2, 100, answer, NULL);
    server = net_serve((struct http_server_options){ .on_request = on_request });
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", http_server_port(server));
    client = http_client_new(&(struct http_client_options){ .base_url = url }, NULL);
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    http_client_free(client);
    http_server_free(server);
    thread_pool_free(pool);
    return 0;
}

static struct http_result get(const char *path)
{
    struct err e = { 0 };
    struct http_result r;
    if (http_client_call(client, arena, &(struct http_call){ .path = path }, &r, &e) != ERR_OK)
        fail_msg("%s: %s %s", path, e.msg, e.detail);
    return r;
}

static void headers_and_bodies_arrive(void **state)
{
    (void)state;
    struct http_result r = get("/headers");
    assert_int_equal(r.status, 201);
    assert_true(str_eq_c(r.content_type, "application/json") && str_eq_c(r.body, "{}"));
    assert_true(str_eq_c(http_result_header(&r, "x-one"), "1") && str_eq_c(http_result_header(&r, "etag"), "\"x\""));
    r = get("/empty");
    assert_int_equal(r.status, 204);
    assert_int_equal(r.body.len, 0);
    r = get("/buf");
    assert_int_equal(r.body.len, 100000);
    assert_true(r.body.ptr[0] == 'b' && r.body.ptr[99999] == 'b');
}

static void producers_deliver_every_byte(void **state)
{
    (void)state;
    static const char *const PATHS[] = { "/sized", "/unsized" };
    for (int i = 0; i < 2; i++) {
        int before = atomic_load(&freed);
        struct http_result r = get(PATHS[i]);
        assert_int_equal(r.body.len, BIG);
        for (size_t k = 0; k < BIG; k++)
            if ((unsigned char)r.body.ptr[k] != k % 251)
                fail_msg("byte %zu is wrong", k);
        WAIT_WHILE(atomic_load(&freed) == before);
        assert_int_equal(atomic_load(&freed), before + 1);
        arena_reset(arena);
    }
}

static void a_failing_producer_cuts_the_reply(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct http_result r;
    assert_int_equal(http_client_call(client, arena, &(struct http_call){ .path = "/fails" }, &r, &e), ERR_UNAVAILABLE);
    assert_int_equal(get("/headers").status, 201);
}

static void held_answers_go_together(void **state)
{
    (void)state;
    int fd[HELD];
    char text[HELD][512];
    for (int i = 0; i < HELD; i++) {
        fd[i] = net_connect(http_server_port(server));
        net_send_c(fd[i], "GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for (int i = 0; i < HELD; i++) {
        bool eof;
        net_read(fd[i], text[i], sizeof text[i], "\r\n\r\n", PATIENCE_MS, &eof);
        assert_int_equal(net_status(text[i]), 204);
        close(fd[i]);
    }
    assert_int_equal(ready_before, 0);
    assert_int_equal(ready_flushed, 1);                 /* what takes long may follow */
    assert_int_equal(ready_after, HELD - 1);            /* the last was answered before its call ended: it never waited */
    assert_int_equal(get("/empty").status, 204);        /* and answers go by themselves again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_answers_go_together),
        cmocka_unit_test(headers_and_bodies_arrive),
        cmocka_unit_test(producers_deliver_every_byte),
        cmocka_unit_test(a_failing_producer_cuts_the_reply),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
