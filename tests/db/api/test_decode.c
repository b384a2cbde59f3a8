/* SPDX-License-Identifier: Apache-2.0 */
/* test_decode.c - an input that is not of the row's schema reaches no handler, and the answer says what was wrong. */
#include "tests/db/api/pipeline_kit.h"

static void what_the_schema_does_not_know_is_refused(void **state)
{
    (void)state;
    expect("GET", "/v1/poll?fish=1", token, NULL, NULL, 400, "unknown_field");
    expect("GET", "/v1/poll?wait_ms=fish", token, NULL, NULL, 400, "invalid_argument");
    expect("POST", "/v1/things", token, "k", "{\"name\":", 400, "malformed_body");
    expect("POST", "/v1/things", token, "k", "{\"name\":\"a\",\"more\":1}", 400, "unknown_field");
    expect("POST", "/v1/things", token, "k", "{}", 400, "missing_field");
    expect("POST", "/v1/things", token, NULL, "{\"name\":\"a\"}", 400, "idempotency_key_missing");
    assert_int_equal(runs + polls, 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM idempotency"), 0);
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
    OK(http_client_call(c, a, &(struct http_call){ .method = "POST", .path = "/v1/things", .headers = headers,
                                                  .body = STR("name=a"),
                        .content_type = "application/x-www-form-urlencoded" }, &r, &e));
    assert_int_equal(r.status, 415);
    http_client_free(c);
    arena_free(a);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(what_the_schema_does_not_know_is_refused), T(another_content_type),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
