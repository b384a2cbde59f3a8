/* SPDX-License-Identifier: Apache-2.0 */
/* test_authenticate.c - who is not known gets nothing: no token, a wrong one, a machine without a certificate. */
#include "tests/db/api/pipeline_kit.h"

static void who_is_not_known_gets_nothing(void **state)
{
    (void)state;
    expect("GET", "/v1/poll", NULL, NULL, NULL, 401, "unauthenticated");
    expect("GET", "/v1/poll", "flj_user_nonsense", NULL, NULL, 401, "unauthenticated");
    assert_int_equal(polls, 0);
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

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(who_is_not_known_gets_nothing), T(headers_of_refusals), T(machines_need_a_certificate),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
