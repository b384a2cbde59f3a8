/* SPDX-License-Identifier: Apache-2.0 */
/* test_what_if.c - the judge finds in the imagined facts what the change says, and the real facts are as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/home/what_if.h"
#include "tenants/home/zone_law.h"

enum { NOW = 1000000 };
#define S(lit) { lit, sizeof(lit) - 1 }

static int plain[] = { DC_PUBLIC, DC_INTERNAL, DC_PERSONAL, DC_HEALTH };
static struct residency_rule rules[] = { { S("uae-health"), DC_HEALTH, LEAVE_NEVER, { NULL, 0 }, 0, 0 } };
static struct residency_zone zones[] = {
    { S("ae-dxb-1"), S("AE"), { plain, 4 }, { NULL, 0 }, { rules, 1 } },
    { S("de-fra-1"), S("DE"), { plain, 4 }, { NULL, 0 }, { NULL, 0 } },
};
static struct str home[] = { S("ae-dxb-1") };
static struct residency_class_zone own[] = { { DC_INTERNAL, S("ae-dxb-1") } };

static struct residency_verdict ask(const struct residency_facts *f, int data_class)
{
    struct residency_question q = { .data_class = data_class, .zone = STR("de-fra-1"), .now_us = NOW };
    return residency_allows(f, &q);
}

static void each_part_of_a_change_does_what_it_says(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct residency_facts f = { .zones = { zones, 2 }, .home = home[0], .allowed = { home, 1 }, .class_zones = { own, 1 } };
    struct zone_law law = { .data_classes = { plain, 4 } };
    struct what_if_change none = { .zone = STR("de-fra-1"), .from = home[0], .data_class = DC_HEALTH }, c = none;
    struct residency_facts after = what_if_facts(a, &f, &c, NOW);
    assert_memory_equal(&after, &f, sizeof f);
    struct residency_verdict v = ask(&f, DC_HEALTH);
    assert_string_equal(v.rule, "law");
    assert_true(str_eq_c(v.regime, "uae-health") && str_eq_c(v.law_of, "ae-dxb-1"));
    c.has_policy = true;
    after = what_if_facts(a, &f, &c, NOW);
    assert_false(ask(&after, DC_HEALTH).allowed);
    c.has_exception = true;
    after = what_if_facts(a, &f, &c, NOW);
    v = ask(&after, DC_HEALTH);
    assert_true(v.allowed && !strcmp(v.rule, "policy") && str_eq_c(v.regime, "uae-health"));
    c = none;
    c.is_allowed = true;
    c.data_class = DC_PUBLIC;
    after = what_if_facts(a, &f, &c, NOW);
    assert_true(ask(&after, DC_PUBLIC).allowed);
    assert_false(ask(&after, DC_INTERNAL).allowed);       /* has a list of its own */
    c.data_class = DC_INTERNAL;
    after = what_if_facts(a, &f, &c, NOW);
    assert_true(ask(&after, DC_INTERNAL).allowed);
    assert_false(ask(&after, DC_PUBLIC).allowed);
    c = none;
    c.law_of = home[0];
    c.law = &law;
    after = what_if_facts(a, &f, &c, NOW);
    assert_string_equal(ask(&after, DC_HEALTH).rule, "no_law");
    struct zone_rule free_rule = { .regime = S("new"), .data_class = DC_HEALTH, .may_leave = LEAVE_FREE };
    law.rules = (struct slice){ &free_rule, 1 };
    after = what_if_facts(a, &f, &c, NOW);
    assert_string_equal(ask(&after, DC_HEALTH).rule, "not_allowed");
    c.is_allowed = true;
    after = what_if_facts(a, &f, &c, NOW);
    assert_true(ask(&after, DC_HEALTH).allowed);
    law.data_classes.n = 1;
    c.law_of = STR("de-fra-1");
    after = what_if_facts(a, &f, &c, NOW);
    assert_string_equal(ask(&after, DC_HEALTH).rule, "zone_class");
    assert_string_equal(ask(&f, DC_HEALTH).rule, "law");   /* what is real was not touched */
    assert_string_equal(ask(&f, DC_PUBLIC).rule, "not_allowed");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_part_of_a_change_does_what_it_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
