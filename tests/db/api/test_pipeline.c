/* SPDX-License-Identifier: Apache-2.0 */
/* test_pipeline.c - what reaches a handler and what does not, rates over HTTP, calls that are combined, and readers that sleep.
 * */
#include "tests/db/api/pipeline_kit.h"

static void refusals_are_problems(void **state)
{
    (void)state;
    expect("GET", "/v1/platform", token, NULL, NULL, 403, "forbidden");
    expect("GET", "/v1/nowhere", token, NULL, NULL, 404, "not_found");
    expect("DELETE", "/v1/things", token, NULL, NULL, 405, "method_not_allowed");
    char large[4096] = "{\"name\":\"";
    memset(large + 9, 'a', 3000);
    strcpy(large + 3009, "\"}");
    expect("POST", "/v1/things", token, "k", large, 413, "too_large");
    expect("POST", "/v1/node", token, NULL, "{}", 404, "not_found");     /* the machines' routes are not there for people */
    assert_int_equal(runs, 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency"), 0);
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
        c[i] = (struct caller){ .path = "/v1/combined", .key = keys[i], .body = i % 8 == 3 ? "{\"name\":\"bad\"}"
                               : "{\"name\":\"good\"}" };
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

/* Until the caller is in memory, for a few seconds, and is asked for where the connections are. */
static void quickly(bool takes)
{
    quick_takes = takes;
    quick_runs = 0;
    while (!quick_runs)
        expect("GET", "/v1/quick", token, NULL, NULL, 204, NULL);
}

static void who_is_known_need_not_wait_for_a_handler(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        expect("GET", "/v1/quick", viewer_token, NULL, NULL, 403, "forbidden");
    expect("GET", "/v1/quick", NULL, NULL, NULL, 401, "unauthenticated");
    assert_int_equal(quick_runs, 0);
    quickly(false);
    assert_true(runs > 0 && !pthread_equal(raw_by, quick_by));
    runs = 0;
    quickly(true);
    assert_true(runs > 0 && pthread_equal(raw_by, quick_by));
}

static void a_denial_is_written_down(void **state)
{
    (void)state;
    expect("POST", "/v1/things", viewer_token, "d", "{\"name\":\"a\"}", 403, "forbidden");
    expect("POST", "/v1/things", viewer_token, "d", "{\"name\":\"a\"}", 403,
           "forbidden");   /* and with the principal in memory too */
    assert_int_equal(audited("FLJ-AUT-003"), 2);
    assert_int_equal(audited("missing:job:submit"), 2);
    assert_int_equal(audited("thing_create"), 2);
    assert_int_equal(runs, 0);
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

/* A body of 100,000 bytes; what it is does not matter here. */
static int large_body(const char *bearer, const char *want_code)
{
    static char body[100001];
    memset(body, ' ', sizeof body - 1);
    struct answer a = ask("POST", "/v1/things", bearer, "large", body);
    const int status = a.r.status;
    if (want_code && !str_eq_c(member(&a, "code"), want_code))
        fail_msg("%d %.*s, not %s", status, STR_ARG(a.r.body), want_code);
    if (want_code)
        header_is(&a, "Retry-After", "1");
    arena_free(a.arena);
    return status;
}

/* Fills up what o may have, and gives it back to be given back. */
static struct body_hold hold_all(const struct body_owner *o)
{
    struct body_hold h = { 0 };
    while (body_budget_take(bodies, o, 64 * 1024, &h) == BODY_TAKEN)
        continue;
    return h;
}

/* Who was let in a moment ago has its tenant's memory for bodies, whoever else comes from its address; who is not known has the
 * address's. */
static void bodies_have_an_owner(void **state)
{
    (void)state;
    OK(config_set(config, "api.max_body", "200000", &e));
    struct body_owner address = body_owner_address(STR("127.0.0.1")), mine = { .n = SHARE_KEY_MAX, .is_known = true };
    memcpy(mine.key, tenant.b, SHARE_KEY_MAX);
    expect("GET", "/v1/poll", token, NULL, NULL, 200, NULL);        /* known for 3 s */
    struct body_hold h = hold_all(&address);
    assert_int_equal(large_body("flj_unknown", "rate_limited"), 429);
    expect("GET", "/v1/poll", token, NULL, NULL, 200, NULL);
    assert_int_equal(large_body(token, NULL) / 100, 4);
    assert_int_not_equal(large_body(token, NULL), 429);
    body_budget_give(bodies, &h);
    h = hold_all(&mine);
    expect("GET", "/v1/poll", token, NULL, NULL, 200, NULL);
    assert_int_equal(large_body(token, "rate_limited"), 429);
    assert_int_not_equal(large_body("flj_unknown", NULL), 429);     /* its address has room, and so it is refused as unknown */
    body_budget_give(bodies, &h);
    assert_int_equal(body_budget_used(bodies, true) + body_budget_used(bodies, false), 0);
    OK(config_set(config, "api.max_body", "2048", &e));
}

/* Who calls it learns of the end whether the call succeeds or not; nobody else does. */
static void what_ends_says_so_in_every_answer(void **state)
{
    (void)state;
    static const struct { const char *path; int status; } calls[] = { { "/v1/old-read", 204 }, { "/v1/old", 403 } };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct answer a = ask("GET", calls[i].path, token, NULL, NULL);
        assert_int_equal(a.r.status, calls[i].status);
        header_is(&a, "Deprecation", "@1796083200");
        header_is(&a, "Sunset", "Wed, 01 Sep 2027 00:00:00 GMT");
        assert_non_null(strstr(str_z(a.arena, http_result_header(&a.r, "Link")), "</v1/poll>; rel=\"successor-version\""));
        arena_free(a.arena);
    }
    struct answer other = ask("GET", "/v1/poll", token, NULL, NULL);
    assert_null(http_result_header(&other.r, "Deprecation").ptr);
    arena_free(other.arena);
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
    assert_true(clock_mono_us(&clock_system) - began < 60000000);    /* they sleep on all the while */
    readers_wake = true;
    for (int i = 0; i < READERS; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(runs, READERS);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(refusals_are_problems), T(who_is_known_need_not_wait_for_a_handler), T(a_denial_is_written_down),
        T(combined_calls_keep_their_verdicts),
        T(who_is_not_known_has_a_rate), T(one_principal_has_a_rate_of_its_own),
        T(without_redis_a_process_grants_its_part), T(slow_readers_hold_no_handler),
        T(what_ends_says_so_in_every_answer), T(bodies_have_an_owner),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
