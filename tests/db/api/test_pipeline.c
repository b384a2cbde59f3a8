/* SPDX-License-Identifier: Apache-2.0 */
/* test_pipeline.c - requests over real HTTP through the pipeline into a real database, with routes that do what the tests ask. */
#include "tests/db/tenants/fixture.h"
#include "tests/lib/wait.h"
#include "api/api_int.h"
#include "api/pipeline.h"
#include "audit/event.h"
#include "core/http/client.h"
#include "core/json/jsonvalue.h"
#include "core/redis/client.h"
#include "core/redis/rate.h"
#include "core/table/config.h"
#include "tenants/accounts/api_rate.h"
#include "tenants/identity/authn.h"
#include <pthread.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- routes */
struct thing_new { struct str name; };
SCHEMA_OF(thing_new, "A thing to make", FIELD(thing_new, name, F_REQ, .min = 1, .max = 63, .doc = "What it is called, and how it goes"));
struct thing { struct uuid model_id; struct str name; int64_t version; };
SCHEMA_OF(thing, "A thing", FIELD_ID(thing, model_id, "mdl", 0, .doc = "The thing"), FIELD(thing, name, 0, .doc = "Name"),
          FIELD(thing, version, 0, .doc = "Grows"));
struct poll_in { int64_t wait_ms; };
SCHEMA_OF(poll_in, "How long", FIELD(poll_in, wait_ms, F_QUERY, .max = 10000, .dflt = "0", .doc = "Time to wait"));
struct poll_out { int64_t runs, value; };
SCHEMA_OF(poll_out, "What came", FIELD(poll_out, runs, 0, .doc = "Runs of the handler"), FIELD(poll_out, value, 0, .doc = "Value"));

static const struct stmt thing_insert = { .name = "thing_insert", .params = "uusu", .card = CARD_NONE, .sql =
    "INSERT INTO model (tenant_id, model_id, name, created_by) VALUES ($1, $2, $3, $4)" };
static const struct stmt *const thing_stmts[] = { &thing_insert, NULL };
extern const struct stmt *const idempotency_stmts[];

static _Atomic int runs, retries_left, batch_most, polls, value;
static _Atomic bool slow, wake_while_looking, readers_wake;
static struct pipeline *pipeline;
static struct uuid wake_id = { { 9, 9 } };

static enum errc make(struct work *w, const void *in_, void *out_, struct err *err)
{
    const struct thing_new *in = in_;
    struct thing *out = out_;
    runs++;
    *out = (struct thing){ .model_id = uuid_v7(w->now_us), .name = in->name, .version = 1 };
    TRY(db_exec(w->tx, &thing_insert, ARGS(A_UUID(w->tenant_id), A_UUID(out->model_id), A_STR(in->name), A_UUID(w->principal->user_id)), NULL, err));
    if (slow)
        usleep(300000);
    if (str_eq_c(in->name, "fails-after"))
        return FAIL(err, CONFLICT, "it did not work out");
    if (retries_left > 0) {
        retries_left--;
        return FAIL(err, RETRY, "once more");
    }
    return ERR_OK;
}

static enum errc poll(struct work *w, const void *in_, void *out_, struct err *err)
{
    const struct poll_in *in = in_;
    (void)err;
    polls++;
    if (!value && in->wait_ms && (!w->deadline_mono_us || clock_mono_us(&clock_system) < w->deadline_mono_us)) {
        if (wake_while_looking) {                           /* it comes after the look and before the call is parked */
            value = 5;
            pipeline_wake(pipeline, wake_id);
        }
        return call_park(w, wake_id, in->wait_ms);
    }
    *(struct poll_out *)out_ = (struct poll_out){ polls, value };
    return ERR_OK;
}

static enum errc nothing(struct work *w, const void *in, void *out, struct err *err)
{
    (void)w, (void)in, (void)out, (void)err;
    return ERR_OK;
}

/* As a download whose reader sleeps. */
static enum errc paced(struct call *c, struct err *err)
{
    (void)c;
    runs++;
    WAIT_WHILE(!readers_wake);
    return FAIL(err, CONFLICT, "its reader woke up");
}

static void combine(struct work *w, struct call **calls, size_t n)
{
    (void)w;
    if ((int)n > batch_most)
        batch_most = (int)n;
    for (size_t i = 0; i < n; i++) {
        const struct thing_new *in = calls[i]->in;
        struct thing *out = arena_alloc(calls[i]->work.arena, sizeof *out);
        for (size_t k = 0; k < i; k++)
            if (str_eq(calls[i]->idempotency_key, calls[k]->idempotency_key))
                FAIL(&calls[i]->err, INTERNAL, "two of one key in a batch");
        if (str_eq_c(in->name, "bad"))
            FAIL(&calls[i]->err, QUOTA, "no room");
        *out = (struct thing){ .model_id = uuid_v7(1), .name = in->name, .version = 1 };
        calls[i]->out = out;
    }
    usleep(20000);                                          /* a commit takes its time, and the next batch gathers */
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/things", .lane = LANE_CALLS,
      .op = "thing_create", .perm = PERM_JOB_SUBMIT, .handler = make, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT, .resource = "model", .audited = true, .audit = AUDIT_JOB_SUBMIT, .doc = "Make" },
    { .method = HTTP_POST, .path = "/v1/secrets", .lane = LANE_CALLS,
      .op = "secret_create", .perm = PERM_JOB_SUBMIT, .handler = make, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT | R_SECRET, .doc = "Make, shown once" },
    { .method = HTTP_POST, .path = "/v1/combined", .lane = LANE_CALLS,
      .op = "combined", .perm = PERM_JOB_SUBMIT, .combine = combine, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT, .doc = "Together" },
    { .method = HTTP_GET, .path = "/v1/poll", .lane = LANE_CALLS,
      .op = "poll", .perm = PERM_JOB_READ, .handler = poll, .in = &poll_in_schema, .status = 200,
      .out = &poll_out_schema, .doc = "Wait" },
    { .method = HTTP_GET, .path = "/v1/paced", .lane = LANE_PACED,
      .op = "paced", .perm = PERM_JOB_READ, .raw = paced, .status = 200, .doc = "Slowly" },
    { .method = HTTP_GET, .path = "/v1/platform", .lane = LANE_CALLS,
      .op = "platform", .perm = PERM_TENANT_CREATE, .handler = nothing, .status = 204, .doc = "Not for all" },
    { .method = HTTP_GET, .path = "/v1/open", .lane = LANE_CALLS,
      .op = "open", .perm = PERM_PUBLIC, .handler = nothing, .status = 204, .flags = R_NO_TX, .doc = "For all" },
    { .method = HTTP_POST, .path = "/v1/node", .lane = LANE_WORKERS, .op = "node", .perm = PERM_NODE_SELF, .handler = nothing, .status = 204, .flags = R_NODE, .doc = "Machines" },
};
static ROUTE_TABLE(table, rows);
const struct route_table *const all_routes[] = { &table, NULL };

/* -------------------------------------------------------------------------------------------------------------- world */
static struct uuid tenant, user;
static char token[TOKEN_TEXT], viewer_token[TOKEN_TEXT], limited_token[TOKEN_TEXT];     /* limited: of a tenant with a limit of its own */
static struct config *config;
static struct redis_harness *redis;
static struct redis_client *redis_client;
static struct rate_limiter *rate;
static struct authn *authn;
static struct listener people, machines;
static struct http_server *server, *node_server;

static struct http_server *serve(struct listener *l)
{
    struct http_server *s = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1", .body_max_default = 2048,
        .body_limit = pipeline_body_limit, .on_request = pipeline_request, .reject = pipeline_reject, .ctx = l }, &e);
    if (!s)
        fail_msg("%s", e.msg);
    return s;
}

static void is_redis_up_soon(bool want)
{
    WAIT_WHILE(redis_is_up(redis_client) != want);
    assert_int_equal(redis_is_up(redis_client), want);
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { authn_stmts, audit_event_stmts, idempotency_stmts, thing_stmts, api_rate_stmts, NULL };
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
    park_set_look(pipeline->park, 60000000, 60000000);      /* so that a lost wake-up shows */
    people = (struct listener){ pipeline, false };
    machines = (struct listener){ pipeline, true };
    server = serve(&people);
    node_server = serve(&machines);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    http_server_drain(server);
    pipeline_free(pipeline);
    http_server_free(server);
    http_server_free(node_server);
    authn_free(authn);
    rate_limiter_free(rate);
    redis_client_free(redis_client);
    redis_harness_free(redis);
    api_rates_free(app.api_rates);
    config_free(config);
    world_free();
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    sql("DELETE FROM model; DELETE FROM idempotency; DELETE FROM audit_event");
    runs = retries_left = polls = value = batch_most = 0;
    slow = wake_while_looking = false;
    return 0;
}

struct answer {
    struct arena *arena;
    struct http_result r;
    const struct jval *body;
};

static struct answer ask(const char *method, const char *path, const char *bearer, const char *key, const char *body)
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
    if (http_client_call(c, a.arena, &(struct http_call){ .method = method, .path = path, .headers = headers, .body = str_c(body) }, &a.r, &mine) != ERR_OK)
        fail_msg("%s %s: %s", method, path, mine.msg);
    http_client_free(c);
    if (a.r.body.len && jval_parse(a.arena, a.r.body, 0, &a.body, &mine) != ERR_OK)
        fail_msg("%s %s: not JSON: %.*s", method, path, STR_ARG(a.r.body));
    return a;
}

static struct str member(const struct answer *a, const char *name)
{
    return jval_str(jval_get(a->body, name));
}

static void expect(const char *method, const char *path, const char *bearer, const char *key, const char *body, int status, const char *code)
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

static int64_t audited(const char *code)
{
    return NUMBER("SELECT count(*) FROM audit_event WHERE tenant_id = '%s' AND convert_from(body, 'UTF8') LIKE '%%%s%%'", hex(tenant), code);
}
static int64_t things(void)
{
    return NUMBER("SELECT count(*) FROM model WHERE tenant_id = '%s'", hex(tenant));
}

/* -------------------------------------------------------------------------------------------------------------- tests */
static void refusals_are_problems(void **state)
{
    (void)state;
    expect("GET", "/v1/poll", NULL, NULL, NULL, 401, "unauthenticated");
    expect("GET", "/v1/poll", "flj_user_nonsense", NULL, NULL, 401, "unauthenticated");
    expect("GET", "/v1/platform", token, NULL, NULL, 403, "forbidden");
    expect("GET", "/v1/nowhere", token, NULL, NULL, 404, "not_found");
    expect("DELETE", "/v1/things", token, NULL, NULL, 405, "method_not_allowed");
    expect("GET", "/v1/poll?fish=1", token, NULL, NULL, 400, "unknown_field");
    expect("GET", "/v1/poll?wait_ms=fish", token, NULL, NULL, 400, "invalid_argument");
    expect("POST", "/v1/things", token, "k", "{\"name\":", 400, "malformed_body");
    expect("POST", "/v1/things", token, "k", "{\"name\":\"a\",\"more\":1}", 400, "unknown_field");
    expect("POST", "/v1/things", token, "k", "{}", 400, "missing_field");
    expect("POST", "/v1/things", token, NULL, "{\"name\":\"a\"}", 400, "idempotency_key_missing");
    char large[4096] = "{\"name\":\"";
    memset(large + 9, 'a', 3000);
    strcpy(large + 3009, "\"}");
    expect("POST", "/v1/things", token, "k", large, 413, "too_large");
    expect("POST", "/v1/node", token, NULL, "{}", 404, "not_found");     /* the machines' routes are not there for people */
    assert_int_equal(runs, 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency"), 0);
}

static void headers_of_refusals(void **state)
{
    (void)state;
    struct answer a = ask("GET", "/v1/poll", NULL, NULL, NULL);
    assert_non_null(http_result_header(&a.r, "WWW-Authenticate").ptr);
    arena_free(a.arena);
    a = ask("DELETE", "/v1/things", token, NULL, NULL);
    assert_true(str_eq_c(http_result_header(&a.r, "Allow"), "POST, OPTIONS"));
    arena_free(a.arena);
}

static void another_content_type(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct http_result r;
    char url[64], auth[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(server));
    snprintf(auth, sizeof auth, "Authorization: Bearer %s", token);
    const char *headers[] = { auth, "Idempotency-Key: k", NULL };
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url }, &e);
    OK(http_client_call(c, a, &(struct http_call){ .method = "POST", .path = "/v1/things", .headers = headers, .body = STR("name=a"),
                        .content_type = "application/x-www-form-urlencoded" }, &r, &e));
    assert_int_equal(r.status, 415);
    http_client_free(c);
    arena_free(a);
}

static void made_once_and_replayed(void **state)
{
    (void)state;
    struct answer first = ask("POST", "/v1/things", token, "key-1", "{\"name\":\"a\"}"), again = ask("POST", "/v1/things", token, "key-1", "{\"name\":\"a\"}");
    assert_int_equal(first.r.status, 201);
    assert_int_equal(again.r.status, 201);
    assert_true(str_eq(first.r.body, again.r.body));
    assert_null(http_result_header(&first.r, "Idempotency-Replayed").ptr);
    assert_true(str_eq_c(http_result_header(&again.r, "Idempotency-Replayed"), "true"));
    assert_true(str_eq_c(http_result_header(&first.r, "ETag"), "\"v1\""));
    assert_true(str_starts(http_result_header(&first.r, "Location"), "/v1/things/mdl_"));
    arena_free(first.arena);
    arena_free(again.arena);
    assert_int_equal(runs, 1);
    assert_int_equal(things(), 1);
    assert_int_equal(audited("FLJ-JOB-001"), 1);
    expect("POST", "/v1/things", token, "key-1", "{\"name\":\"b\"}", 422, "idempotency_key_reused");
    assert_int_equal(things(), 1);
}

static void a_secret_is_never_replayed(void **state)
{
    (void)state;
    expect("POST", "/v1/secrets", token, "s", "{\"name\":\"a\"}", 201, NULL);
    expect("POST", "/v1/secrets", token, "s", "{\"name\":\"a\"}", 409, "conflict");
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency WHERE body IS NOT NULL"), 0);
    assert_int_equal(things(), 1);
}

static void what_fails_leaves_nothing(void **state)
{
    (void)state;
    expect("POST", "/v1/things", token, "f", "{\"name\":\"fails-after\"}", 409, "conflict");
    assert_int_equal(runs, 1);
    assert_int_equal(things(), 0);
    assert_int_equal(audited("FLJ-JOB-001"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency"), 0);
    expect("POST", "/v1/things", token, "f", "{\"name\":\"b\"}", 201, NULL);     /* the key is free again */
}

static void run_again_when_two_met(void **state)
{
    (void)state;
    retries_left = 2;
    expect("POST", "/v1/things", token, "r", "{\"name\":\"a\"}", 201, NULL);
    assert_int_equal(runs, 3);
    assert_int_equal(things(), 1);
    assert_int_equal(audited("FLJ-JOB-001"), 1);
    retries_left = 100;
    expect("POST", "/v1/things", token, "r2", "{\"name\":\"b\"}", 503, "try_again");     /* not for ever */
    assert_in_range(runs, 5, 10);
    assert_int_equal(things(), 1);
}

static void a_denial_is_written_down(void **state)
{
    (void)state;
    expect("POST", "/v1/things", viewer_token, "d", "{\"name\":\"a\"}", 403, "forbidden");
    expect("POST", "/v1/things", viewer_token, "d", "{\"name\":\"a\"}", 403, "forbidden");   /* and with the principal in memory too */
    assert_int_equal(audited("FLJ-AUT-003"), 2);
    assert_int_equal(audited("missing:job:submit"), 2);
    assert_int_equal(audited("thing_create"), 2);
    assert_int_equal(runs, 0);
}

static void the_event_is_of_the_same_transaction(void **state)
{
    (void)state;
    expect("POST", "/v1/things", token, "t", "{\"name\":\"a\"}", 201, NULL);
    assert_int_equal(NUMBER("SELECT count(*) FROM model m JOIN audit_event a ON a.xid::text::bigint %% 4294967296 = m.xmin::text::bigint"
                            " JOIN idempotency i ON i.tenant_id = m.tenant_id WHERE convert_from(a.body, 'UTF8') LIKE '%%role:ml-engineer%%'"), 1);
}

struct caller {
    const char *path, *key, *body;
    int status;
    char code[64];
    int64_t runs, value;
    int64_t took_ms;
};

static void *call_thread(void *arg)
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

static void two_calls_at_once_with_one_key(void **state)
{
    (void)state;
    pthread_t t[4];
    struct caller c[4];
    slow = true;
    for (int i = 0; i < 4; i++) {
        c[i] = (struct caller){ .path = "/v1/things", .key = "same", .body = "{\"name\":\"a\"}" };
        pthread_create(&t[i], NULL, call_thread, &c[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_true(c[i].status == 201 || (c[i].status == 409 && !strcmp(c[i].code, "request_in_progress")));
    assert_int_equal(things(), 1);
    assert_int_equal(runs, 1);
}

static void a_long_poll_waits_and_is_woken(void **state)
{
    (void)state;
    pthread_t t;
    struct caller c = { .path = "/v1/poll?wait_ms=8000" };
    pthread_create(&t, NULL, call_thread, &c);
    WAIT_WHILE(!polls);
    usleep(50000);
    struct uuid other = wake_id;
    other.b[0]++;                                            /* another id of the same bucket wakes nobody */
    pipeline_wake(pipeline, other);
    usleep(50000);
    assert_in_range(polls, 1, 2);
    value = 7;
    pipeline_wake(pipeline, wake_id);
    pthread_join(t, NULL);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 7);
    assert_true(c.took_ms < 6000);
}

static void a_long_poll_ends_by_itself(void **state)
{
    (void)state;
    struct caller c = { .path = "/v1/poll?wait_ms=300" };
    call_thread(&c);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 0);
    assert_int_equal(c.runs, 2);
    assert_in_range(c.took_ms, 290, 5000);
}

static void a_wake_up_between_the_look_and_the_wait(void **state)
{
    (void)state;
    struct caller c = { .path = "/v1/poll?wait_ms=8000" };
    wake_while_looking = true;
    call_thread(&c);
    assert_int_equal(c.value, 5);
    assert_int_equal(c.runs, 2);
    assert_true(c.took_ms < 6000);
}

static void no_wake_up_is_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        struct caller c = { .path = "/v1/poll?wait_ms=8000" };
        value = polls = 0;
        pthread_create(&t, NULL, call_thread, &c);
        usleep((unsigned)(i % 20) * 150);                    /* before, while and after the handler looks */
        value = 1;
        pipeline_wake(pipeline, wake_id);
        pthread_join(t, NULL);
        assert_int_equal(c.value, 1);
        assert_true(c.took_ms < 7000);
    }
}

/* Without a hint a parked call looks by itself: nothing waits for Redis longer than that. */
static void a_lost_hint_costs_one_look(void **state)
{
    (void)state;
    pthread_t t;
    struct caller c = { .path = "/v1/poll?wait_ms=8000" };
    park_set_look(pipeline->park, 60000000, 100000);        /* these pipelines have no Redis */
    pthread_create(&t, NULL, call_thread, &c);
    WAIT_WHILE(!polls);
    value = 3;
    pthread_join(t, NULL);
    park_set_look(pipeline->park, 60000000, 60000000);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.value, 3);
    assert_true(c.took_ms < 6000);
}

static void combined_calls_keep_their_verdicts(void **state)
{
    (void)state;
    enum { N = 24 };
    pthread_t t[N];
    struct caller c[N];
    char keys[N][8];
    for (int i = 0; i < N; i++) {
        snprintf(keys[i], sizeof keys[i], "c%d", i % 8);     /* three callers of each key: never two of them in one batch */
        c[i] = (struct caller){ .path = "/v1/combined", .key = keys[i], .body = i % 8 == 3 ? "{\"name\":\"bad\"}" : "{\"name\":\"good\"}" };
        pthread_create(&t[i], NULL, call_thread, &c[i]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) {
        assert_int_equal(c[i].status, i % 8 == 3 ? 409 : 201);
        assert_string_equal(c[i].code, i % 8 == 3 ? "quota_exceeded" : "");
    }
    assert_true(batch_most >= 2);
}

static void machines_need_a_certificate(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct http_result r;
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(node_server));
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url }, &e);
    OK(http_client_call(c, a, &(struct http_call){ .method = "POST", .path = "/v1/node", .body = STR("{}") }, &r, &e));
    assert_int_equal(r.status, 401);
    OK(http_client_call(c, a, &(struct http_call){ .path = "/v1/open" }, &r, &e));
    assert_int_equal(r.status, 404);                         /* and there is nothing else there */
    http_client_free(c);
    arena_free(a);
}

static void who_is_not_known_has_a_rate(void **state)
{
    (void)state;
    int refused = 0;
    for (int i = 0; i < 12; i++) {
        struct answer a = ask("GET", "/v1/open", NULL, NULL, NULL);
        if (a.r.status == 429) {
            assert_true(str_eq_c(member(&a, "code"), "rate_limited"));
            assert_non_null(http_result_header(&a.r, "Retry-After").ptr);
            refused++;
        } else {
            assert_int_equal(a.r.status, 204);
        }
        arena_free(a.arena);
    }
    assert_in_range(refused, 5, 7);
}

static void header_is(const struct answer *a, const char *name, const char *want)
{
    struct str is = http_result_header(&a->r, name);
    if (!str_eq_c(is, want))
        fail_msg("%s: %.*s, not %s", name, STR_ARG(is), want);
}

/* Three calls a minute for each, whoever shares the tenant with them. */
static void one_principal_has_a_rate_of_its_own(void **state)
{
    (void)state;
    int allowed = 0;
    OK(config_set(config, "rate.principal_per_minute", "3", &e));
    for (int i = 0; i < 12; i++) {
        struct answer a = ask("GET", "/v1/poll", viewer_token, NULL, NULL);
        allowed += a.r.status != 429;
        if (a.r.status == 429) {
            assert_true(str_eq_c(member(&a, "code"), "rate_limited"));
            assert_non_null(strstr(str_dup(a.arena, http_result_header(&a.r, "RateLimit")).ptr, "\"principal\";r=0;t="));
        }
        arena_free(a.arena);
    }
    struct answer other = ask("GET", "/v1/poll", token, NULL, NULL);
    OK(config_set(config, "rate.principal_per_minute", "0", &e));
    assert_in_range(allowed, 3, 4);
    assert_int_not_equal(other.r.status, 429);
    arena_free(other.arena);
    struct answer after = ask("GET", "/v1/poll", viewer_token, NULL, NULL);
    assert_int_not_equal(after.r.status, 429);
    arena_free(after.arena);
}

/* Six calls a minute, and two processes that share them; this one grants three while it cannot ask what the other one granted. */
static void without_redis_a_process_grants_its_part(void **state)
{
    (void)state;
    struct answer a = ask("GET", "/v1/poll", limited_token, NULL, NULL);
    assert_int_equal(a.r.status, 200);
    header_is(&a, "RateLimit-Policy", "\"tenant\";q=6;w=60");
    header_is(&a, "RateLimit", "\"tenant\";r=5;t=10");
    assert_null(http_result_header(&a.r, "Retry-After").ptr);
    arena_free(a.arena);
    redis_harness_stop(redis);
    is_redis_up_soon(false);
    int allowed = 0;
    for (int i = 0; i < 12; i++) {
        a = ask("GET", "/v1/poll", limited_token, NULL, NULL);
        header_is(&a, "RateLimit-Policy", "\"tenant\";q=3;w=60");
        if (a.r.status == 200) {
            allowed++;
        } else {
            int64_t wait_s = 0;
            assert_int_equal(a.r.status, 429);
            assert_true(str_eq_c(member(&a, "code"), "rate_limited"));
            assert_true(str_to_i64(http_result_header(&a.r, "Retry-After"), 1, 20, &wait_s));
            char limit[64];
            snprintf(limit, sizeof limit, "\"tenant\";r=0;t=%ld", (long)wait_s);
            header_is(&a, "RateLimit", limit);
        }
        arena_free(a.arena);
    }
    assert_int_equal(allowed, 3);
    expect("GET", "/v1/poll", token, NULL, NULL, 200, NULL);        /* others are not held up */
    redis_harness_start(redis);
    is_redis_up_soon(true);
    a = ask("GET", "/v1/poll", limited_token, NULL, NULL);
    header_is(&a, "RateLimit-Policy", "\"tenant\";q=6;w=60");
    arena_free(a.arena);
}

static void *sleeping_reader(void *arg)
{
    (void)arg;
    expect("GET", "/v1/paced", token, NULL, NULL, 409, "conflict");
    return NULL;
}

/* More readers that sleep than there are handlers: everybody else is served all the same, and each reader has its turn. */
static void slow_readers_hold_no_handler(void **state)
{
    (void)state;
    enum { READERS = 12 };
    pthread_t t[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, sleeping_reader, NULL), 0);
    WAIT_WHILE(!runs);
    usleep(200000);
    int64_t began = clock_mono_us(&clock_system);
    expect("GET", "/v1/poll", token, NULL, NULL, 200, NULL);
    assert_true(clock_mono_us(&clock_system) - began < 1000000);
    readers_wake = true;
    for (int i = 0; i < READERS; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(runs, READERS);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(refusals_are_problems), T(headers_of_refusals), T(another_content_type), T(made_once_and_replayed), T(a_secret_is_never_replayed),
        T(what_fails_leaves_nothing), T(run_again_when_two_met), T(a_denial_is_written_down), T(the_event_is_of_the_same_transaction),
        T(two_calls_at_once_with_one_key), T(a_long_poll_waits_and_is_woken), T(a_long_poll_ends_by_itself), T(a_wake_up_between_the_look_and_the_wait), T(no_wake_up_is_lost), T(a_lost_hint_costs_one_look),
        T(combined_calls_keep_their_verdicts), T(machines_need_a_certificate), T(who_is_not_known_has_a_rate),
        T(one_principal_has_a_rate_of_its_own),
        T(without_redis_a_process_grants_its_part),
        T(slow_readers_hold_no_handler),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
