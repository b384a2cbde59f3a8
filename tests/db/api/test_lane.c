/* SPDX-License-Identifier: Apache-2.0 */
/* test_lane.c - while all that one tenant may have stands still, on a lock that is really held in the database, others are
 * answered: in the same lane, in every other, and at the machines' door. Nothing here is judged by a clock: the stalled calls
 * end when the test lets go. */
#include "tests/db/tenants/fixture.h"
#include "api/api_int.h"
#include "api/pipeline.h"
#include "audit/event.h"
#include "core/db/run_tx.h"
#include "core/http/client.h"
#include "core/redis/rate.h"
#include "core/table/config.h"
#include "tenants/accounts/api_rate.h"
#include "tenants/identity/authn.h"
#include <pthread.h>
#include <unistd.h>

enum { CALLS = 12, LOCK = 4711 };

static const struct stmt lock_wait = { .name = "lock_wait", .params = "i", .card = CARD_NONE,
    .sql = "SELECT FROM pg_advisory_xact_lock_shared($1)" };
static const struct stmt lock_hold = { .name = "lock_hold", .params = "i", .card = CARD_NONE,
    .sql = "SELECT FROM pg_advisory_xact_lock($1)" };
static const struct stmt long_search = { .name = "long_search", .card = CARD_NONE, .sql = "SELECT FROM pg_sleep(600)" };
static const struct stmt *const own_stmts[] = { &lock_wait, &lock_hold, &long_search, NULL };
extern const struct stmt *const idempotency_stmts[];

struct query_in { struct str q; };
SCHEMA_OF(query_in, "What", FIELD(query_in, q, F_QUERY, .max = 9, .doc = "Sought"));

static _Atomic int stalled, stalled_most, answered;

static enum errc stall(struct work *w, const void *in, void *out, struct err *err)
{
    (void)in, (void)out;
    int now = ++stalled;
    if (now > stalled_most)
        stalled_most = now;
    int64_t held;
    enum errc rc = db_exec(w->tx, &lock_wait, ARGS(A_I64(LOCK)), &held, err);
    stalled--;
    return rc;
}

static enum errc search(struct work *w, const void *in, void *out, struct err *err)
{
    (void)in, (void)out;
    int64_t found;
    return db_exec(w->tx, &long_search, NO_ARGS, &found, err);
}

static _Atomic int in_background;
static struct uuid background_tenant;
static char background_said[32];

static void act(struct work *w, const void *in)
{
    background_tenant = w->tx ? UUID_NIL : w->tenant_id;
    memcpy(background_said, in, 6);
    struct err err;
    int64_t rows;
    if (RUN_READ(w, db_exec(w->tx, &lock_wait, ARGS(A_I64(LOCK + 1)), &rows, &err), &err) == ERR_OK)
        in_background++;
}

static enum errc later(struct work *w, const void *in, void *out, struct err *err)
{
    (void)out;
    char words[] = "after";
    call_background(w, LANE_CONTENT, act, words, sizeof words);
    memset(words, 'x', sizeof words);
    return ((const struct query_in *)in)->q.len ? FAIL(err, CONFLICT, "not after all") : ERR_OK;
}

static enum errc nothing(struct work *w, const void *in, void *out, struct err *err)
{
    (void)w, (void)in, (void)out, (void)err;
    return ERR_OK;
}

static void combine(struct work *w, struct call **calls, size_t n)
{
    (void)w, (void)calls, (void)n;
}

#define ROW(p, o, l, ...) \
    { .method = HTTP_GET, .path = p, .op = o, .perm = PERM_JOB_READ, .lane = LANE_##l, .status = 204, .doc = "d", __VA_ARGS__ }
static const struct route rows[] = {
    ROW("/calls/stall", "calls_stall", CALLS, .handler = stall), ROW("/calls", "calls", CALLS, .handler = nothing),
    ROW("/content/stall", "content_stall", CONTENT, .handler = stall), ROW("/content", "content", CONTENT, .handler = nothing),
    ROW("/heavy/stall", "heavy_stall", HEAVY, .handler = stall), ROW("/heavy", "heavy", HEAVY, .handler = nothing),
    ROW("/heavy/long", "heavy_long", HEAVY, .handler = search),
    ROW("/sometimes", "sometimes", CALLS, .handler = stall, .in = &query_in_schema),
    ROW("/later", "later", CALLS, .handler = later, .in = &query_in_schema),
    ROW("/combined", "combined", CALLS, .combine = combine),
    { .method = HTTP_GET, .path = "/open/stall", .op = "open_stall", .perm = PERM_PUBLIC, .lane = LANE_SIGN_IN, .handler = stall,
        .status = 204, .doc = "d" },
    { .method = HTTP_GET, .path = "/vital", .op = "vital", .perm = PERM_PUBLIC, .lane = LANE_VITAL, .handler = nothing,
        .status = 204, .rate = RL_NONE,
      .doc = "d" },
    { .method = HTTP_POST, .path = "/node", .op = "node", .perm = PERM_NODE_SELF, .lane = LANE_WORKERS, .handler = nothing,
        .status = 204,
      .flags = R_NODE, .doc = "d" },
};
static ROUTE_TABLE(table, rows);
const struct route_table *const all_routes[] = { &table, NULL };

static char flooder[TOKEN_TEXT], other[TOKEN_TEXT];
static struct uuid flooding;
static struct config *config;
static struct rate_limiter *rate;
static struct authn *authn;
static struct pipeline *pipeline;
static struct app lane_apps[LANE_COUNT];
static struct listener people, machines;
static struct http_server *server, *node_server;

static struct http_server *serve(struct listener *l)
{
    struct http_server *s = http_server_new(&(struct http_server_options){ .bind_addr = "127.0.0.1",
        .on_request = pipeline_request,
        .reject = pipeline_reject, .ctx = l }, &e);
    if (!s)
        fail_msg("%s", e.msg);
    return s;
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { authn_stmts, audit_event_stmts, idempotency_stmts, own_stmts,
        api_rate_stmts, NULL };
    world_new(lists, 4);
    struct uuid quiet = new_id();
    flooding = new_id();
    tenant_make(flooding, "amana");
    tenant_make(quiet, "bahr");
    token_give(flooding, user_make(flooding, "amal", "ml-engineer"), "1 hour", "{}", flooder);
    token_give(quiet, user_make(quiet, "badr", "viewer"), "1 hour", "{}", other);
    app.api_rates = api_rates_new();
    config = config_new_default();
    OK(config_set(config, "api.heavy_statement_ms", "300", &e));
    OK(config_set(config, "rate.tenant_per_minute", "0", &e));
    OK(config_set(config, "rate.principal_per_minute", "0", &e));
    OK(config_set(config, "rate.address_per_minute", "0", &e));
    app.config = config;
    rate = rate_limiter_new(&clock_system, NULL, 0);
    authn = authn_new(app_pool, &clock_system, 3000);
    struct pipeline_opts o = { .app = &app, .authn = authn, .rate = rate };
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {      /* as main.c does */
        struct lane_size s = lane_size(l, config);
        if (!s.connections)
            continue;
        lane_apps[l] = app;
        lane_apps[l].pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_app", DB),
            .size = s.connections,
            .lists = lists, .statement_timeout_ms = l == LANE_HEAVY ? s.statement_ms : 600000 });
        o.lane_apps[l] = &lane_apps[l];
    }
    if (!(pipeline = pipeline_new(&o, &e)))
        fail_msg("%s", e.msg);
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
    for (int l = 0; l < LANE_COUNT; l++)
        db_pool_free(lane_apps[l].pool);
    authn_free(authn);
    rate_limiter_free(rate);
    api_rates_free(app.api_rates);
    config_free(config);
    world_free();
    return 0;
}

static int ask_at(struct http_server *to, const char *method, const char *path, const char *bearer, struct str *ret_body,
    struct arena *a)
{
    char url[64], auth[128];
    struct err mine = { 0 };
    struct http_result r;
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(to));
    snprintf(auth, sizeof auth, "Authorization: Bearer %s", bearer ? bearer : "");
    const char *headers[] = { bearer ? auth : NULL, NULL };
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = url, .timeout_ms = 240000 }, &mine);
    enum errc rc = http_client_call(c, a, &(struct http_call){ .method = method, .path = path, .headers = headers }, &r, &mine);
    http_client_free(c);
    if (ret_body)
        *ret_body = rc == ERR_OK ? r.body : STR_NULL;
    return rc == ERR_OK ? r.status : -1;
}

static int ask(const char *path, const char *bearer)
{
    struct arena *a = arena_new(1 << 20);
    int status = ask_at(server, "GET", path, bearer, NULL, a);
    arena_free(a);
    return status;
}

struct flood {
    const char *path, *bearer;
    pthread_t threads[CALLS];
    struct work *holder;
};

static void *flood_one(void *arg)
{
    const struct flood *f = arg;
    int status = ask(f->path, f->bearer);
    if (status == 204)
        answered++;
    return NULL;
}

static size_t waiting_in(enum lane l)
{
    struct fair_pool_stats s;
    fair_pool_stats(pipeline->lanes[l].pool, &s);
    return s.waiting;
}

/* CALLS calls, of which `standing` hold their threads and their connections at the lock, and the others wait for a thread. */
static void flood_begin(struct flood *f, const char *path, const char *bearer, enum lane l, int standing)
{
    *f = (struct flood){ .path = path, .bearer = bearer, .holder = unit_open(flooding, NULL) };
    int64_t held;
    OK(db_exec(f->holder->tx, &lock_hold, ARGS(A_I64(LOCK)), &held, &e));
    stalled_most = answered = 0;
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(pthread_create(&f->threads[i], NULL, flood_one, f), 0);
    while (stalled < standing || waiting_in(l) < (size_t)(CALLS - standing))
        usleep(1000);
}

static void flood_end(struct flood *f, int standing)
{
    assert_int_equal(stalled, standing);            /* they stood still until here */
    db_rollback(f->holder->tx);
    arena_free(f->holder->arena);
    free(f->holder);
    for (int i = 0; i < CALLS; i++)
        pthread_join(f->threads[i], NULL);
    assert_int_equal(answered, CALLS);
    assert_int_equal(stalled_most, standing);
}

/* Every lane answers the other tenant, whose calls pass the door, and machines are heard. */
static void others_are_answered(const char *who)
{
    static const char *const paths[] = { "/calls", "/content", "/heavy", "/vital" };
    struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(ask(paths[i], who), 204);
    /* by its lane's thread: it has no certificate */
    assert_int_equal(ask_at(node_server, "POST", "/node", NULL, NULL, a), 401);
    arena_free(a);
}

static void stalled_calls_hold_up_nobody(void **state)
{
    (void)state;
    struct flood f;
    flood_begin(&f, "/calls/stall", flooder, LANE_CALLS, 3);
    others_are_answered(other);
    flood_end(&f, 3);
}

static void stalled_uploads_hold_up_nobody(void **state)
{
    (void)state;
    struct flood f;
    flood_begin(&f, "/content/stall", flooder, LANE_CONTENT, 2);
    others_are_answered(other);
    assert_int_equal(ask("/calls", flooder), 204);
    flood_end(&f, 2);
}

static void stalled_sign_ins_hold_up_nobody(void **state)
{
    (void)state;
    struct flood f;
    flood_begin(&f, "/open/stall", NULL, LANE_SIGN_IN, 3);
    others_are_answered(other);
    others_are_answered(flooder);
    flood_end(&f, 3);
}

static void a_long_search_ends_by_its_limit(void **state)
{
    (void)state;
    assert_int_equal(ask("/heavy/long", flooder), 504);
}

/* Thread time of the heavy lane, at rest: a call has its answer a moment before its thread counts its time. */
static int64_t heavy_busy(void)
{
    struct fair_pool_stats s;
    do
        fair_pool_stats(pipeline->lanes[LANE_HEAVY].pool, &s);
    while (s.running || s.waiting);
    return s.busy_us;
}

static void a_search_by_query_is_heavy(void **state)
{
    (void)state;
    int64_t before = heavy_busy();
    assert_int_equal(ask("/sometimes", other), 204);
    assert_int_equal(heavy_busy(), before);
    assert_int_equal(ask("/sometimes?q=a", other), 204);
    assert_true(heavy_busy() > before);
    before = heavy_busy();
    (void)ask("/sometimes?%71=a", other);
    assert_true(heavy_busy() > before);
}

/* It goes on after its answer, as who asked for it; and not at all when the call came to nothing. */
static void work_outlives_its_answer(void **state)
{
    (void)state;
    assert_int_equal(ask("/later?q=fail", flooder), 409);
    assert_int_equal(ask("/later", flooder), 204);
    while (!in_background)
        usleep(1000);
    assert_true(uuid_eq(background_tenant, flooding));
    assert_string_equal(background_said, "after");
    struct fair_pool_stats s;
    do
        fair_pool_stats(pipeline->lanes[LANE_CONTENT].pool, &s);
    while (s.running || s.waiting);
    assert_int_equal(in_background, 1);
}

/* What a tenant's calls cost is its own affair. */
static void a_tenant_pays_for_its_time(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct str body;
    lane_charge(pipeline, flooding, config->rate_tenant_ms_per_minute * 1500);
    assert_int_equal(ask_at(server, "GET", "/calls", flooder, &body, a), 429);
    assert_non_null(strstr(str_z(a, body), "server time"));
    assert_int_equal(ask("/calls", other), 204);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalled_calls_hold_up_nobody), cmocka_unit_test(stalled_uploads_hold_up_nobody),
        cmocka_unit_test(stalled_sign_ins_hold_up_nobody), cmocka_unit_test(a_long_search_ends_by_its_limit),
        cmocka_unit_test(a_search_by_query_is_heavy), cmocka_unit_test(work_outlives_its_answer),
        cmocka_unit_test(a_tenant_pays_for_its_time),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
