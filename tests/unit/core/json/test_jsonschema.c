/* SPDX-License-Identifier: Apache-2.0 */
/* test_jsonschema.c - the printed schemas are JSON and say what decode enforces and encode prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/json/jsonschema.h"
#include "core/json/jsonvalue.h"
#include "sample.h"

static const struct jval *printed(struct arena *a, const struct schema *s, enum schema_direction dir)
{
    struct buf b = BUF(1 << 16);
    const struct jval *v;
    struct err e;
    jsonschema_object(s, dir, &b);
    assert_false(b.overflow);
    assert_int_equal(jval_parse(a, buf_str(&b), 0, &v, &e), ERR_OK);
    buf_release(&b);
    return v;
}

static bool has_item(const struct jval *list, const char *s)
{
    for (size_t i = 0; i < jval_len(list); i++)
        if (str_eq_c(jval_str(jval_at(list, i)), s))
            return true;
    return false;
}

static void input(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 18);
    const struct jval *v = printed(a, &sample_schema, SCHEMA_IN), *p = jval_get(v, "properties");
    assert_false(jval_bool(jval_get(v, "additionalProperties"), true));
    assert_int_equal(jval_len(jval_get(v, "required")), 1);
    assert_true(has_item(jval_get(v, "required"), "name"));
    assert_null(jval_get(p, "tenant_id"));
    assert_null(jval_get(p, "who"));
    const struct jval *name = jval_get(p, "name");
    assert_int_equal(jval_i64(jval_get(name, "minLength"), -1), 1);
    assert_int_equal(jval_i64(jval_get(name, "maxLength"), -1), 16);
    assert_true(jval_str(jval_get(name, "pattern")).len > 0);
    assert_true(str_eq_c(jval_str(jval_get(name, "example")), "train-1"));
    assert_true(jval_bool(jval_get(jval_get(p, "password"), "writeOnly"), false));
    assert_true(str_eq_c(jval_str(jval_get(jval_get(p, "job_id"), "pattern")), "^job_[0-9a-f]{32}$"));
    assert_true(str_eq_c(jval_str(jval_get(jval_get(p, "plain_id"), "format")), "uuid"));
    assert_int_equal(jval_len(jval_get(jval_get(p, "state"), "enum")), 3);
    assert_true(str_eq_c(jval_str(jval_get(jval_get(p, "state"), "default")), "running"));
    assert_int_equal(jval_i64(jval_get(jval_get(p, "gpus"), "default"), -1), 1);
    assert_int_equal(jval_i64(jval_get(jval_get(p, "gpus"), "minimum"), -1), 0);
    assert_int_equal(jval_i64(jval_get(jval_get(p, "priority"), "minimum"), 0), -10);
    assert_null(jval_get(jval_get(p, "seed"), "minimum"));
    assert_null(jval_get(jval_get(p, "ratio"), "maximum"));
    assert_null(jval_get(jval_get(p, "params"), "type"));
    assert_true(str_eq_c(jval_str(jval_get(jval_get(p, "limits"), "$ref")), "#/components/schemas/limits"));
    assert_true(str_eq_c(jval_str(jval_get(jval_get(jval_get(p, "inputs"), "items"), "$ref")), "#/components/schemas/input"));
    assert_int_equal(jval_i64(jval_get(jval_get(p, "tags"), "maxItems"), -1), 4);
    assert_true(str_eq_c(jval_str(jval_get(jval_get(jval_get(p, "ids"), "items"), "pattern")), "^inp_[0-9a-f]{32}$"));
    arena_free(a);
}

static void output(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 18);
    const struct jval *v = printed(a, &sample_schema, SCHEMA_OUT), *p = jval_get(v, "properties"), *r = jval_get(v, "required");
    assert_null(jval_get(p, "password"));
    assert_null(jval_get(p, "who"));
    assert_null(jval_get(v, "additionalProperties"));
    assert_int_equal(jval_len(jval_get(jval_get(p, "note"), "anyOf")), 2);
    assert_true(has_item(r, "name") && has_item(r, "note") && has_item(r, "gpus") && has_item(r, "tags"));
    assert_false(has_item(r, "seed") || has_item(r, "job_id") || has_item(r, "limits"));
    arena_free(a);
}

struct formed { struct str what; struct json form, figures; };
static const struct variant forms[] = { { "limits", &limits_schema }, { "none", NULL } };
static const struct variants by_what = { "what", forms, 2 };
SCHEMA_OF(formed, "What holds another thing", FIELD(formed, what, F_REQ, .doc = "Which"),
    FIELD(formed, form, F_REQ, .by = &by_what, .doc = "It"), FIELD(formed, figures, 0, .is_numbers = true, .doc = "Its numbers"));

/* The same forms in a request and in an answer, which is bound to the value beside it, too. */
static void forms_by_another_member(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 18);
    for (int dir = 0; dir < 2; dir++) {
        const struct jval *v = printed(a, &formed_schema, dir ? SCHEMA_OUT : SCHEMA_IN), *p = jval_get(v, "properties");
        const struct jval *any = jval_get(jval_get(p, "form"), "anyOf"), *all = jval_get(v, "allOf");
        assert_true(jval_len(any) == 1 && str_eq_c(jval_str(jval_get(jval_at(any, 0), "$ref")), "#/components/schemas/limits"));
        const struct jval *then = jval_get(jval_get(jval_get(jval_at(all, 0), "then"), "properties"), "form");
        assert_true(jval_len(all) == 1 && str_eq_c(jval_str(jval_get(then, "$ref")), "#/components/schemas/limits"));
        const struct jval *numbers = jval_get(jval_get(p, "figures"), "additionalProperties");
        assert_true(str_eq_c(jval_str(jval_get(numbers, "type")), "number"));
    }
    arena_free(a);
}

static void parts(void **state)
{
    (void)state;
    struct buf b = BUF(4096);
    jsonschema_ref(&limits_schema, &b);
    assert_string_equal(b.ptr, "{\"$ref\":\"#/components/schemas/limits\"}");
    buf_clear(&b);
    jsonschema_field(schema_find(&sample_schema, STR("who")), &b);
    assert_string_equal(b.ptr, "{\"type\":\"string\",\"maxLength\":1024,\"description\":\"From the query\"}");
    buf_release(&b);
    const struct schema *list[8];
    size_t n = 0;
    jsonschema_collect(&sample_schema, list, &n, 8);
    jsonschema_collect(&limits_schema, list, &n, 8);
    assert_int_equal(n, 3);
    assert_ptr_equal(list[0], &sample_schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(input), cmocka_unit_test(output),
                                        cmocka_unit_test(forms_by_another_member), cmocka_unit_test(parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
