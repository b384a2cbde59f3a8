/* SPDX-License-Identifier: Apache-2.0 */
/* test_openapi.c - the printed contract is JSON, every reference in it resolves, every path names its parameters. */
#include "openapi_kit.h"

static int refs;

static void check_refs(const struct jval *v)
{
    struct str ref = jval_str(jval_get(v, "$ref"));
    if (ref.ptr) {
        const struct jval *at = doc;
        struct str rest = str_n(ref.ptr + 2, ref.len - 2), head;
        assert_true(str_starts(ref, "#/"));
        bool more;
        do {
            more = str_cut(rest, '/', &head, &rest);
            at = jval_get(at, str_z(arena, head));
        } while (more);
        if (!at)
            fail_msg("%s leads nowhere", ref.ptr);
        refs++;
    }
    for (struct jval_iter it = jval_iter(v); jval_next(&it);)
        check_refs(it.value);
}

static void every_reference_resolves(void **state)
{
    (void)state;
    check_refs(doc);
    assert_true(refs > 5);
}

static void what_people_may_call_is_there_and_no_more(void **state)
{
    (void)state;
    assert_true(str_eq_c(jval_str(jval_get(doc, "openapi")), "3.1.0"));
    assert_int_equal(jval_len(jval_get(doc, "paths")), 6);
    assert_null(operation("/v1/nodes/register", "post"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows - 1; i++) {
        const char *m = rows[i].method == HTTP_GET ? "get" : rows[i].method == HTTP_PUT ? "put" : "post";
        const struct jval *o = operation(rows[i].path, m);
        assert_true(str_eq_c(jval_str(jval_get(o, "operationId")), rows[i].op));
        assert_true(jval_len(jval_get(o, "responses")) >= 1);
        assert_true(jval_len(jval_get(o, "tags")) == 1);
    }
}

static void what_ends_is_marked(void **state)
{
    (void)state;
    const struct jval *old = operation("/v1/remedies", "get");
    assert_true(jval_bool(jval_get(old, "deprecated"), false));
    assert_true(str_eq_c(jval_str(jval_get(old, "x-falaj-sunset")), "2027-09-01"));
    assert_null(jval_get(operation("/v1/things", "get"), "deprecated"));
}

static bool has_parameter(const struct jval *o, const char *name, const char *where)
{
    const struct jval *list = jval_get(o, "parameters");
    for (size_t i = 0; i < jval_len(list); i++)
        if (str_eq_c(jval_str(jval_get(jval_at(list, i), "name")), name) && str_eq_c(jval_str(jval_get(jval_at(list, i), "in")),
                                                                                     where))
            return true;
    return false;
}

static void parameters_are_named(void **state)
{
    (void)state;
    assert_true(has_parameter(operation("/v1/things/{thing_id}", "put"), "thing_id", "path"));
    assert_true(has_parameter(operation("/v1/things/{thing_id}", "put"), "If-Match", "header"));
    assert_true(has_parameter(operation("/v1/things", "post"), "Idempotency-Key", "header"));
    assert_true(has_parameter(operation("/v1/things", "get"), "page_token", "query"));
    assert_false(has_parameter(operation("/v1/things", "get"), "Idempotency-Key", "header"));
    assert_non_null(jval_get(jval_get(jval_get(operation("/v1/things/{thing_id}/content", "post"), "requestBody"), "content"),
                             "text/csv"));
    assert_non_null(jval_get(jval_get(jval_get(operation("/v1/things", "post"), "requestBody"), "content"), "application/json"));
}

static void secrets_are_not_in_it(void **state)
{
    (void)state;
    const struct jval *thing = jval_get(jval_get(jval_get(doc, "components"), "schemas"), "thing");
    assert_non_null(jval_get(jval_get(thing, "properties"), "name"));
    assert_null(jval_get(jval_get(thing, "properties"), "secret"));
}

static void errors_are_listed(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    errors_print_markdown(&b);
    for (int i = 1; i < ERR_COUNT; i++)
        assert_non_null(strstr(b.ptr, err_row((enum errc)i)->wire));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_reference_resolves),
                                       cmocka_unit_test(what_people_may_call_is_there_and_no_more),
                                        cmocka_unit_test(parameters_are_named), cmocka_unit_test(what_ends_is_marked),
                                        cmocka_unit_test(secrets_are_not_in_it),
                                        cmocka_unit_test(errors_are_listed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
