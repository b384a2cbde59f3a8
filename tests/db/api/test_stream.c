/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - a job watched over real HTTP: each event once and in order, from any point on, however much there is. */
#include "tests/db/tenants/fixture.h"
#include "api/stream.h"
#include "core/http/client.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/watch.h"
#include <unistd.h>

enum { LINES = 600, WIDTH = 8000 };
static struct uuid tenant, other, user, job_id;
static struct job_streams *streams;
static struct http_server *server;
static struct principal *owner, *stranger, *caller;
static struct stream_position from;

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    const struct http_request *r = http_exchange_request(x);
    struct call *c = arena_alloc(r->arena, sizeof *c);
    struct err mine = { 0 };
    c->exchange = x;
    c->request = r;
    c->principal = principal_ref(caller);
    c->work = (struct work){ .app = &app, .arena = r->arena, .tenant_id = caller->tenant_id, .principal = caller };
    if (job_streams_add(streams, c, job_id, from, &mine) != ERR_OK)
        http_reply(x, &(struct http_response){ .status = err_row(mine.code)->http });
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { job_stmts, watch_stmts, NULL };
    world_new(lists, 3);
    tenant = new_id();
    other = new_id();
    job_id = new_id();
    tenant_make(tenant, "amana");
    tenant_make(other, "bahr");
    user = user_make(tenant, "u", "viewer");
    owner = principal_with(tenant, user, ROLES(VIEWER));
    stranger = principal_with(other, new_id(), ROLES(VIEWER));
    char t[UUID_TEXT], j[UUID_TEXT];
    uuid_text(tenant, t);
    uuid_text(job_id, j);
    sql("INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by, state, queued, version, finished_at) VALUES"
        " ('%s', '%s', 'j', 'noop', '{}', '%s', 'COMPLETED', false, 2, now());"
        "INSERT INTO job_event (tenant_id, job_id, version, state) VALUES ('%s', '%s', 1, 'PENDING'), ('%s', '%s', 2, 'COMPLETED');"
        "INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT '%s', '%s', 1, 'stdout', 'line ' || g || ' ' || repeat('x', %d)"
        " FROM generate_series(1, %d) g;"
        "INSERT INTO job_metric (tenant_id, job_id, fence, step, values) SELECT '%s', '%s', 1, g, '{\"loss\": 0.5}' FROM generate_series(1, 3) g",
        t, j, hex(user), t, j, t, j, t, j, WIDTH, LINES, t, j);
    streams = job_streams_new(&app);
    server = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1", .on_request = on_request }, &e);
    assert_non_null(server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    job_streams_free(streams);
    http_server_free(server);
    principal_unref(owner);
    principal_unref(stranger);
    world_free();
    return 0;
}

static bool collect(void *ctx, const char *p, size_t n)
{
    return buf_add(ctx, p, n);
}

static int count(const struct buf *b, const char *what)
{
    int n = 0;
    for (const char *p = b->ptr; p && (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* Reads to the end; comes back after `lagged` with the last id, as a browser does. */
static void watch(struct buf *b)
{
    struct arena *a = arena_new(16 << 20);
    struct http_result r;
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(server));
    for (int i = 0; i < 40 && !count(b, "event: end"); i++) {
        struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url, .timeout_ms = 20000 }, &e);
        OK(http_client_call(c, a, &(struct http_call){ .path = "/", .on_data = collect, .ctx = b }, &r, &e));
        http_client_free(c);
        const char *last = NULL;
        for (const char *p = b->ptr; p && (p = strstr(p, "id: s")); p++)
            last = p;
        if (last)
            assert_int_equal(sscanf(last, "id: s%ld,l%ld,m%ld", &from.version, &from.log_id, &from.metric_id), 3);
        if (!last)
            break;
    }
    arena_free(a);
}

static void all_of_it_once(void **state)
{
    (void)state;
    struct buf b = BUF(64 << 20);
    caller = owner;
    from = (struct stream_position){ 0 };
    watch(&b);
    assert_int_equal(count(&b, "event: end"), 1);
    assert_int_equal(count(&b, "event: log"), LINES);
    assert_int_equal(count(&b, "event: metric"), 3);
    assert_int_equal(count(&b, "event: state"), 2);
    int n = 0;
    for (const char *p = b.ptr; (p = strstr(p, "\"text\":\"line ")); p++) {
        char want[32];
        snprintf(want, sizeof want, "\"text\":\"line %d x", ++n);
        assert_memory_equal(p, want, strlen(want));
    }
    buf_release(&b);
}

static void only_what_is_new(void **state)
{
    (void)state;
    struct buf b = BUF(64 << 20);
    caller = owner;
    from = (struct stream_position){ 2, LINES - 2, 3 };
    watch(&b);
    assert_int_equal(count(&b, "event: log"), 2);
    assert_int_equal(count(&b, "event: state"), 0);
    assert_int_equal(count(&b, "event: metric"), 0);
    assert_int_equal(count(&b, "event: end"), 1);
    buf_release(&b);
}

static void another_tenant_sees_nothing(void **state)
{
    (void)state;
    struct buf b = BUF(64 << 20);
    caller = stranger;
    from = (struct stream_position){ 0 };
    watch(&b);
    assert_int_equal(count(&b, "event:"), 0);
    buf_release(&b);
}

/* While falaj-api drains, requests and wake-ups still arrive. */
static void after_the_stop_calls_are_safe(void **state)
{
    (void)state;
    struct buf b = BUF(64 << 20);
    caller = owner;
    from = (struct stream_position){ 0 };
    job_streams_stop(streams);
    job_streams_wake(streams, UUID_NIL);
    watch(&b);
    assert_int_equal(count(&b, "event:"), 0);
    job_streams_stop(streams);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_of_it_once), cmocka_unit_test(only_what_is_new),
                                        cmocka_unit_test(another_tenant_sees_nothing), cmocka_unit_test(after_the_stop_calls_are_safe) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
