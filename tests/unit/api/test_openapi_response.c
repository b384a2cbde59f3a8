/* SPDX-License-Identifier: Apache-2.0 */
/* test_openapi_response.c - what an operation of the contract answers, in which dialect it fails, and the headers beside it. */
#include "openapi_kit.h"

#include <stdio.h>

static bool answers(const char *path, const char *method, const char *status)
{
    return jval_get(jval_get(operation(path, method), "responses"), status) != NULL;
}

static bool fails_as(const char *path, const char *method, const char *status, const char *component)
{
    char want[64];
    snprintf(want, sizeof want, "#/components/responses/%s", component);
    return str_eq_c(jval_str(jval_get(jval_get(jval_get(operation(path, method), "responses"), status), "$ref")), want);
}

static bool has_header(const char *path, const char *method, const char *status, const char *name)
{
    return jval_get(jval_get(jval_get(jval_get(operation(path, method), "responses"), status), "headers"), name) != NULL;
}

static void a_row_says_how_its_calls_fail(void **state)
{
    (void)state;
    assert_true(fails_as("/v1/things", "get", "401", "problem_401"));
    assert_true(fails_as("/v1/things", "get", "default", "problem_default"));
    assert_true(fails_as("/v1/things/{thing_id}", "put", "412", "problem_412"));
    assert_true(fails_as("/v1/things/{thing_id}", "put", "428", "problem_428"));
    assert_true(fails_as("/v1/things/{thing_id}", "put", "404", "problem_404"));
    assert_true(fails_as("/v1/things", "post", "422", "problem_422"));
    assert_true(fails_as("/v1/things/{thing_id}/content", "post", "415", "problem_415"));
    assert_true(fails_as("/v2/models/infer", "post", "400", "oip_400"));
    assert_false(answers("/v1/things", "get", "404"));
    assert_false(answers("/v1/things", "get", "409"));
    assert_false(answers("/v1/things", "get", "413"));
    assert_false(answers("/v1/things", "get", "415"));
    assert_false(answers("/v1/things", "post", "412"));
    assert_false(answers("/healthz", "get", "401"));
    assert_false(answers("/healthz", "get", "403"));
    assert_false(answers("/healthz", "get", "429"));
}

static void an_answer_has_the_headers_of_its_row(void **state)
{
    (void)state;
    assert_true(has_header("/v1/things", "get", "200", "Link"));
    assert_false(has_header("/v1/things", "get", "200", "ETag"));
    assert_true(has_header("/v1/things", "post", "200", "ETag"));
    assert_true(has_header("/v1/things", "post", "200", "Idempotency-Replayed"));
    assert_true(has_header("/v1/things", "post", "200", "RateLimit"));
    assert_false(has_header("/healthz", "get", "200", "RateLimit"));
    assert_true(has_header("/healthz", "get", "200", "X-Request-Id"));
    const struct jval *headers = jval_get(jval_get(doc, "components"), "headers");
    assert_non_null(jval_get(headers, "Retry-After"));
    const struct jval *failures = jval_get(jval_get(doc, "components"), "responses");
    assert_non_null(jval_get(jval_get(jval_get(failures, "problem_429"), "headers"), "Retry-After"));
    assert_non_null(jval_get(jval_get(jval_get(failures, "problem_401"), "headers"), "WWW-Authenticate"));
    assert_null(jval_get(jval_get(jval_get(failures, "problem_404"), "headers"), "Retry-After"));
    assert_null(jval_get(failures, "scim_404"));            /* no row has that dialect */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_row_says_how_its_calls_fail),
                                        cmocka_unit_test(an_answer_has_the_headers_of_its_row) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
