/* SPDX-License-Identifier: Apache-2.0 */
/* test_kube_where.c - images by digest, labels of nodes, taints: what is taken, and the JSON that comes of it. */
#include <string.h>

#include "tests/unit/scheduler/engines/engine_kit.h"
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"
#include "scheduler/engines/kube_where.h"

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct err e;

#define ALL(check, list, want)                                                                                              \
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {                                                               \
        const char *why = NULL;                                                                                             \
        if (check(list[i], &why) != want)                                                                                   \
            fail_msg("%.*s", STR_ARG(list[i]));                                                                             \
        assert_true(want || why);                                                                                           \
    }

static void an_image_is_named_by_its_digest(void **state)
{
    (void)state;
    static const struct str good[] = { STR(""), STR("registry.example:5000/falaj-worker@sha256:" SUM), STR("w@sha256:" SUM) };
    static const struct str bad[] = { STR("falaj-worker:1.2"), STR("falaj-worker"), STR("@sha256:" SUM), STR("w@sha256:" SUM "0"),
        STR("w@sha256:0123"), STR("w@md5:" SUM), STR("a b@sha256:" SUM), STR("a@b@sha256:" SUM), STR("a\0@sha256:" SUM) };
    ALL(kube_image_check, good, true)
    ALL(kube_image_check, bad, false)
}

static void labels_and_taints_are_those_of_kubernetes(void **state)
{
    (void)state;
    static const struct str good[] = { STR(""), STR("gpu=h100"), STR("a.example/b=,c=d_e.f-g") };
    static const struct str bad[] = { STR("gpu"), STR("=x"), STR("a=b,"), STR(",a=b"), STR("a=b,,c=d"), STR("a/b/c=d"),
        STR("a=b c"), STR("-a=b"), STR("a=b-"), STR("a=\"b\""),
        STR("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1") };
    static const struct str good_taints[] = { STR(""), STR("gpu:NoSchedule"), STR("gpu=yes:NoExecute,spot:PreferNoSchedule") };
    static const struct str bad_taints[] = { STR("gpu"), STR("gpu=yes"), STR("gpu:Never"), STR(":NoSchedule"),
        STR("a:NoSchedule,"), STR("a=b=c:NoSchedule") };
    ALL(kube_selector_check, good, true)
    ALL(kube_selector_check, bad, false)
    ALL(kube_tolerations_check, good_taints, true)
    ALL(kube_tolerations_check, bad_taints, false)
    assert_true(kube_namespace_check(STR("falaj-jobs")));
    assert_false(kube_namespace_check(STR("Falaj")) || kube_namespace_check(STR("")) || kube_namespace_check(STR("a/b"))
                 || kube_namespace_check(STR("-a")));
}

static void they_become_json(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    const struct jval *doc = NULL;
    kube_selector_json(STR("gpu=h100,a.example/b="), &b);
    assert_string_equal(b.ptr, "{\"gpu\":\"h100\",\"a.example/b\":\"\"}");
    b.len = 0;
    kube_tolerations_json(STR("gpu=yes:NoExecute,spot:PreferNoSchedule"), &b);
    assert_int_equal(jval_parse(arena, buf_str(&b), 0, &doc, &e), ERR_OK);
    assert_int_equal(jval_len(doc), 2);
    assert_true(str_eq_c(jval_str(jval_get(jval_at(doc, 0), "operator")), "Equal"));
    assert_true(str_eq_c(jval_str(jval_get(jval_at(doc, 0), "value")), "yes"));
    assert_true(str_eq_c(jval_str(jval_get(jval_at(doc, 1), "operator")), "Exists"));
    assert_true(str_eq_c(jval_str(jval_get(jval_at(doc, 1), "key")), "spot"));
    assert_true(str_eq_c(jval_str(jval_get(jval_at(doc, 1), "effect")), "PreferNoSchedule"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_is_named_by_its_digest), cmocka_unit_test(labels_and_taints_are_those_of_kubernetes),
        cmocka_unit_test(they_become_json),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
