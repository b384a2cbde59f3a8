/* SPDX-License-Identifier: Apache-2.0 */
/* test_kube_same.c - what a server stored against what was sent: dropped members, changed values, its own defaults. */
#include <string.h>

#include "tests/unit/scheduler/engines/kube_kit.h"
#include "scheduler/engines/kube_same.h"

static struct err e;

static struct str differs(const char *sent, const char *stored)
{
    const struct jval *a = NULL, *b = NULL;
    assert_int_equal(jval_parse(arena, str_c(sent), 0, &a, &e), ERR_OK);
    assert_int_equal(jval_parse(arena, str_c(stored), 0, &b, &e), ERR_OK);
    const struct str path = kube_differs(arena, a, b);
    return path.ptr ? path : STR("(same)");
}

#define DIFFERS(sent, stored, path) assert_string_equal(str_z(arena, differs(sent, stored)), path)

static void what_is_dropped_or_changed_is_named(void **state)
{
    (void)state;
    DIFFERS("{\"spec\":{\"suspend\":true}}", "{\"spec\":{}}", "spec.suspend");
    DIFFERS("{\"spec\":{\"suspend\":true}}", "{\"spec\":{\"suspend\":false}}", "spec.suspend");
    DIFFERS("{\"spec\":{\"suspend\":true}}", "{}", "spec");
    DIFFERS("{\"a\":[{\"image\":\"x\"}]}", "{\"a\":[{\"image\":\"y\"}]}", "a[0].image");
    DIFFERS("{\"a\":[1]}", "{\"a\":[1,2]}", "a");
    DIFFERS("{\"a\":0}", "{\"a\":1}", "a");
    DIFFERS("{\"a\":0}", "{\"a\":\"0\"}", "a");
    DIFFERS("{\"a\":false}", "{}", "a");
    DIFFERS("{\"a\":\"1024Mi\"}", "{\"a\":\"1Gi\"}", "a");          /* quantities stand below limits and requests alone */
    DIFFERS("{\"limits\":{\"m\":\"1024Mi\"}}", "{\"limits\":{\"m\":\"1Gi\"}}", "(same)");
    DIFFERS("{\"limits\":{\"m\":\"1024Mi\"}}", "{\"limits\":{\"m\":\"2Gi\"}}", "limits.m");
    DIFFERS("{\"limits\":{\"m\":\"x\"}}", "{\"limits\":{\"m\":\"y\"}}", "limits.m");
    DIFFERS("{\"emptyDir\":{}}", "{}", "(same)");
    DIFFERS("{\"a\":{}}", "{\"a\":[]}", "a");
    DIFFERS("{\"a\":1}", "{\"a\":1,\"uid\":\"x\",\"b\":{}}", "(same)");
}

static void a_job_is_the_same_as_itself_and_no_member_can_go(void **state)
{
    (void)state;
    struct engine_ask ask = kube_ask(), other = kube_ask();
    ask.place = other.place = STR("night");
    const struct jval *job = kube_job(&ask);
    assert_null(kube_differs(arena, job, job).ptr);
    other.image = STR("registry.example/other@sha256:00");
    assert_string_equal(str_z(arena, kube_differs(arena, job, kube_job(&other))), "spec.template.spec.containers[0].image");
    other = ask;
    other.place = STR("");
    assert_non_null(kube_differs(arena, job, kube_job(&other)).ptr);
}

static void quantities_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(kube_quantity(STR("2")), 2000);
    assert_int_equal(kube_quantity(STR("250m")), 250);
    assert_int_equal(kube_quantity(STR("0.5")), 500);
    assert_int_equal(kube_quantity(STR("1.5Gi")), 1500LL << 30);
    assert_int_equal(kube_quantity(STR("1G")), 1000000000000LL);
    assert_int_equal(kube_quantity(STR("1Ti")), 1000LL << 40);
    assert_int_equal(kube_quantity(STR("99999999999999999999Ti")), INT64_MAX);
    assert_int_equal(kube_quantity(STR("")), -1);
    assert_int_equal(kube_quantity(STR("Gi")), -1);
    assert_int_equal(kube_quantity(STR("-1")), -1);
    assert_int_equal(kube_quantity(STR("1 Gi")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_dropped_or_changed_is_named), cmocka_unit_test(a_job_is_the_same_as_itself_and_no_member_can_go),
        cmocka_unit_test(quantities_are_numbers),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
