/* SPDX-License-Identifier: Apache-2.0 */
/* test_otlp.c - the sender against a real HTTP server: what is told arrives once, nobody waits, no owner fills what waits, and a
 * collector that is away, or refuses, costs spans and nothing else. */
#include "net.h"

#include <pthread.h>
#include "core/base/cleanup.h"
#include "core/http/otlp.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tests/lib/wait.h"

static struct http_server *server;
static _Atomic int status, posts, spans;

/* Spans of a body, counted by what each has once. */
static int count(struct str body)
{
    static const char key[] = "\"spanId\"";
    int n = 0;
    for (const char *at = body.ptr; (at = memmem(at, (size_t)(body.ptr + body.len - at), key, sizeof key - 1)); at++)
        n++;
    return n;
}

static void on_request(void *ctx, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    (void)ctx;
    posts++;
    if (status == 200 && str_eq_c(r->path, "/v1/traces"))
        spans += count(r->body);
    http_reply(x, &(struct http_response){ .status = status, .content_type = STR("application/json"), .body = STR("{}") });
}

static int start(void **state)
{
    struct err e = { 0 };
    (void)state;
    server = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1", .body_max_default = 16 << 20,
                                                            .on_request = on_request, .arena_max = 64 << 20 }, &e);
    return server ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    http_server_free(server);
    return 0;
}

static struct otlp *sender(struct config *c, int port)
{
    char url[64];
    struct err e = { 0 };
    struct otlp *o = NULL;
    snprintf(url, sizeof url, "http://127.0.0.1:%d", port);
    assert_int_equal(config_set(c, "otlp.endpoint", url, &e), ERR_OK);
    assert_int_equal(otlp_new(c, "falaj-api", &o, &e), ERR_OK);
    assert_non_null(o);
    posts = spans = 0;
    return o;
}

static void tell(struct otlp *o, struct uuid owner, int n)
{
    struct trace t = trace_begin(TRACE_ALL);
    for (int i = 0; i < n; i++)
        otlp_tell(o, &(struct span){ .at = trace_child(&t), .kind = SPAN_INTERNAL, .name = STR("one"), .owner = owner });
}

static double counted(const char *result)
{
    return metrics_value(M_otlp_spans_total, result);
}

static void off_without_an_endpoint(void **state)
{
    (void)state;
    CLEANUP(config_freep) struct config *c = config_new_default();
    struct err e = { 0 };
    struct otlp *o = NULL;
    struct trace t = trace_begin(TRACE_ALL);
    assert_int_equal(otlp_new(c, "falaj-api", &o, &e), ERR_OK);
    assert_null(o);
    assert_false(otlp_wants(o, &t));
    assert_false(otlp_job(o, uuid_v7(1)).is_sampled);
    otlp_tell(o, &(struct span){ .at = t });
    otlp_free(o);
}

static void refuses_an_endpoint_that_is_none(void **state)
{
    (void)state;
    static const struct { const char *url, *profile; enum errc rc; } ROWS[] = {
        { "collector:4318", "dev", ERR_INVALID },        { "grpc://collector:4317", "dev", ERR_INVALID },
        { "http://collector:4318", "prod", ERR_INVALID }, { "http://collector:4318", "dev", ERR_OK },
        { "https://collector:4318", "prod", ERR_OK },     { "http://127.0.0.1:4318", "prod", ERR_OK },
        { "http://localhost", "prod", ERR_OK },           { "http://localhost.collector:4318", "prod", ERR_INVALID },
        { "http://127.0.0.1:a@collector", "prod", ERR_INVALID },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        CLEANUP(config_freep) struct config *c = config_new_default();
        struct err e = { 0 };
        struct otlp *o = NULL;
        assert_int_equal(config_set(c, "otlp.endpoint", ROWS[i].url, &e), ERR_OK);
        assert_int_equal(config_set(c, "run.profile", ROWS[i].profile, &e), ERR_OK);
        enum errc rc = otlp_new(c, "falaj-api", &o, &e);
        otlp_free(o);
        if (rc != ROWS[i].rc)
            fail_msg("%s in %s: %d", ROWS[i].url, ROWS[i].profile, rc);
    }
}

static void what_is_told_arrives_once(void **state)
{
    (void)state;
    CLEANUP(config_freep) struct config *c = config_new_default();
    double sent = counted("sent");
    status = 200;
    struct otlp *o = sender(c, http_server_port(server));
    tell(o, uuid_v7(1), 1);
    WAIT_WHILE(spans < 1);
    tell(o, uuid_v7(2), OTLP_BATCH + 7);                /* two batches */
    WAIT_WHILE(spans < OTLP_BATCH + 8);
    struct trace untold = trace_begin(0);
    otlp_tell(o, &(struct span){ .at = untold, .name = STR("x") });
    tell(o, uuid_v7(3), 3);
    otlp_free(o);                                       /* sends the rest */
    assert_int_equal(spans, OTLP_BATCH + 11);
    assert_int_equal(counted("sent") - sent, OTLP_BATCH + 11);
}

/* The collector says "later" until it is told otherwise: the same spans come again, and once. */
static void what_was_not_taken_comes_again(void **state)
{
    (void)state;
    CLEANUP(config_freep) struct config *c = config_new_default();
    status = 503;
    struct otlp *o = sender(c, http_server_port(server));
    tell(o, uuid_v7(1), 5);
    WAIT_WHILE(posts < 1);
    status = 200;
    WAIT_WHILE(spans < 5);
    otlp_free(o);
    assert_int_equal(spans, 5);
    assert_true(posts >= 2);
}

static void what_is_refused_is_counted(void **state)
{
    (void)state;
    CLEANUP(config_freep) struct config *c = config_new_default();
    double failed = counted("failed");
    status = 400;
    struct otlp *o = sender(c, http_server_port(server));
    tell(o, uuid_v7(1), 5);
    WAIT_WHILE(counted("failed") - failed < 5);
    status = 200;
    tell(o, uuid_v7(1), 2);                             /* others are not held up */
    WAIT_WHILE(spans < 2);
    otlp_free(o);
    assert_int_equal(spans, 2);
}

/* Nobody listens there: one owner has its share and no more, another has room, and the end comes at once. */
static void one_owner_has_a_share(void **state)
{
    (void)state;
    CLEANUP(config_freep) struct config *c = config_new_default();
    double dropped = counted("dropped"), failed = counted("failed");
    struct otlp *o = sender(c, 1);
    tell(o, uuid_v7(1), OTLP_WAITING);
    double lost = counted("dropped") - dropped;
    /* What the thread has taken to send makes room for as many. */
    assert_true(lost <= OTLP_WAITING - OTLP_SHARE && lost >= OTLP_WAITING - OTLP_SHARE - OTLP_BATCH);
    tell(o, uuid_v7(2), 100);
    assert_true(counted("dropped") - dropped == lost);
    otlp_free(o);
    assert_int_equal(counted("dropped") - dropped + counted("failed") - failed, OTLP_WAITING + 100);
}

static void *teller(void *arg)
{
    for (int i = 0; i < 20; i++)
        tell(arg, uuid_v7(i + 1), 10);
    return NULL;
}

static void many_tell_at_once(void **state)
{
    (void)state;
    CLEANUP(config_freep) struct config *c = config_new_default();
    pthread_t t[4];
    status = 200;
    struct otlp *o = sender(c, http_server_port(server));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, teller, o), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    otlp_free(o);
    assert_int_equal(spans, 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_without_an_endpoint),
        cmocka_unit_test(refuses_an_endpoint_that_is_none),
        cmocka_unit_test(what_is_told_arrives_once),
        cmocka_unit_test(what_was_not_taken_comes_again),
        cmocka_unit_test(what_is_refused_is_counted),
        cmocka_unit_test(one_owner_has_a_share),
        cmocka_unit_test(many_tell_at_once),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
