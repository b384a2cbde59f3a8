/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_kit.h - requests over real HTTP through the pipeline into a real database, with routes that do what the tests ask.
 * A program includes it once, and gives its tests setup, teardown and fresh. */
#pragma once
#include "tests/db/api/pipeline_routes.h"

static struct uuid tenant, user;
static char token[TOKEN_TEXT],
    viewer_token[TOKEN_TEXT], limited_token[TOKEN_TEXT];     /* limited: of a tenant with a limit of its own */
static struct config *config;
static struct redis_harness *redis;
static struct redis_client *redis_client;
static struct rate_limiter *rate;
static struct authn *authn;
static struct listener people, machines;
static struct http_server *server, *node_server;
static struct body_budget *bodies;

static inline struct http_server *serve(struct listener *l)
{
    struct http_server *s = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1", .body_max_default = 2048,
        .body_limit = pipeline_body_limit, .bodies = bodies, .body_owner = pipeline_body_owner,
        .on_request = pipeline_request, .reject = pipeline_reject, .ctx = l }, &e);
    if (!s)
        fail_msg("%s", e.msg);
    return s;
}

static inline void is_redis_up_soon(bool want)
{
    WAIT_WHILE(redis_is_up(redis_client) != want);
    assert_int_equal(redis_is_up(redis_client), want);
}

static inline int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { authn_stmts, audit_event_stmts, idempotency_stmts, thing_stmts,
                                                      api_rate_stmts, NULL };
    world_new(lists, 6);
    tenant = new_id();
    tenant_make(tenant, "amana");
    user = user_make(tenant, "amal", "ml-engineer");
    token_give(tenant, user, "1 hour", "{}", token);
    token_give(tenant, user_make(tenant, "vera", "viewer"), "1 hour", "{}", viewer_token);
    struct uuid limited = new_id();
    tenant_make(limited, "bahr");
    sql("INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s', 'api_rate_per_minute', 6)", hex(limited));
    token_give(limited, user_make(limited, "badr", "viewer"), "1 hour", "{}", limited_token);
    struct arena *a = arena_new(1 << 20);
    app.api_rates = api_rates_new();
    OK(api_rates_refresh(app.api_rates, app_pool, a, &e));
    arena_free(a);
    config = config_new_default();
    OK(config_set(config, "api.max_body", "2048", &e));
    OK(config_set(config, "rate.principal_per_minute", "0", &e));
    OK(config_set(config, "rate.address_per_minute", "5", &e));
    app.config = config;
    redis = redis_harness_new(NULL);
    redis_client = redis_client_new(&(struct redis_opts){ .address = redis_harness_address(redis) });
    rate = rate_limiter_new(&clock_system, redis_client, 0);
    rate_limiter_share(rate, 2);
    is_redis_up_soon(true);
    authn = authn_new(app_pool, &clock_system, 3000);
    pipeline = pipeline_new(&(struct pipeline_opts){ .app = &app, .authn = authn, .rate = rate }, &e);
    if (!pipeline)
        fail_msg("%s", e.msg);
    park_set_look(pipeline->park, 60000000, 60000000, 60000000);      /* so that a lost wake-up shows */
    people = (struct listener){ pipeline, false };
    machines = (struct listener){ pipeline, true };
    bodies = body_budget_new(4 << 20);
    server = serve(&people);
    node_server = serve(&machines);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    http_server_drain(server);
    pipeline_free(pipeline);
    http_server_free(server);
    http_server_free(node_server);
    body_budget_free(bodies);
    authn_free(authn);
    rate_limiter_free(rate);
    redis_client_free(redis_client);
    redis_harness_free(redis);
    api_rates_free(app.api_rates);
    config_free(config);
    world_free();
    return 0;
}

static inline int fresh(void **state)
{
    (void)state;
    sql("DELETE FROM model; DELETE FROM idempotency; DELETE FROM audit_event");
    runs = retries_left = polls = value = batch_most = 0;
    slow = wake_while_looking = sees = false;
    return 0;
}

struct answer {
    struct arena *arena;
    struct http_result r;
    const struct jval *body;
};

static inline struct answer ask(const char *method, const char *path, const char *bearer, const char *key, const char *body)
{
    struct answer a = { .arena = arena_new(8 << 20) };
    struct err mine = { 0 };
    char url[64], auth[128], idem[300];
    const char *headers[4];
    size_t n = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(server));
    if (bearer) {
        snprintf(auth, sizeof auth, "Authorization: Bearer %s", bearer);
        headers[n++] = auth;
    }
    if (key) {
        snprintf(idem, sizeof idem, "Idempotency-Key: %s", key);
        headers[n++] = idem;
    }
    headers[n] = NULL;
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url }, &mine);
    assert_non_null(c);
    if (http_client_call(c, a.arena, &(struct http_call){ .method = method, .path = path, .headers = headers,
                                                         .body = str_c(body) }, &a.r, &mine) != ERR_OK)
        fail_msg("%s %s: %s", method, path, mine.msg);
    http_client_free(c);
    if (a.r.body.len && jval_parse(a.arena, a.r.body, 0, &a.body, &mine) != ERR_OK)
        fail_msg("%s %s: not JSON: %.*s", method, path, STR_ARG(a.r.body));
    return a;
}

static inline struct str member(const struct answer *a, const char *name)
{
    return jval_str(jval_get(a->body, name));
}

static inline void expect(const char *method, const char *path, const char *bearer, const char *key, const char *body, int status,
                          const char *code)
{
    struct answer a = ask(method, path, bearer, key, body);
    if (a.r.status != status || (code && !str_eq_c(member(&a, "code"), code)))
        fail_msg("%s %s: %d %.*s, not %d %s", method, path, a.r.status, STR_ARG(a.r.body), status, code ? code : "");
    if (code) {
        assert_true(str_eq_c(a.r.content_type, "application/problem+json"));
        assert_int_equal(jval_i64(jval_get(a.body, "status"), 0), status);
        assert_true(str_starts(member(&a, "request_id"), "req_"));
        assert_true(str_eq(member(&a, "request_id"), http_result_header(&a.r, "X-Request-Id")));
    }
    arena_free(a.arena);
}

static inline int64_t audited(const char *code)
{
    return NUMBER("SELECT count(*) FROM audit_event WHERE tenant_id = '%s' AND convert_from(body, 'UTF8') LIKE '%%%s%%'",
                  hex(tenant), code);
}

static inline int64_t things(void)
{
    return NUMBER("SELECT count(*) FROM model WHERE tenant_id = '%s'", hex(tenant));
}

struct caller {
    const char *path, *key, *body;
    int status;
    char code[64];
    int64_t runs, value;
    int64_t took_ms;
};

static inline void *call_thread(void *arg)
{
    struct caller *c = arg;
    int64_t start = clock_mono_us(&clock_system);
    struct answer a = ask(c->body ? "POST" : "GET", c->path, token, c->key, c->body);
    c->status = a.r.status;
    snprintf(c->code, sizeof c->code, "%.*s", STR_ARG(member(&a, "code")));
    c->runs = jval_i64(jval_get(a.body, "runs"), -1);
    c->value = jval_i64(jval_get(a.body, "value"), -1);
    c->took_ms = (clock_mono_us(&clock_system) - start) / 1000;
    arena_free(a.arena);
    return NULL;
}
