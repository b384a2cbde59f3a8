/* SPDX-License-Identifier: Apache-2.0 */
/* test_law_template.c - every row belongs to a law, is dated, has both languages, and makes a law that a zone takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/home/law_template.h"
#include "tenants/home/residency.h"

static struct arena *arena;

static bool takes(const struct slice *classes, int data_class)
{
    for (size_t i = 0; i < classes->n; i++)
        if (((int *)classes->items)[i] == data_class)
            return true;
    return false;
}

static void every_law_has_its_rows_in_both_languages(void **state)
{
    (void)state;
    struct slice all = law_template_list(arena, STR_NULL);
    const struct law_template *t = all.items;
    size_t rules = 0, clocks = 0;
    assert_true(all.n >= 8);
    for (size_t i = 0; i < all.n; i++) {
        const struct law_template_rule *r = t[i].rules.items;
        const struct law_template_clock *c = t[i].clocks.items;
        assert_true(t[i].rules.n > 0 && t[i].name.len && t[i].name_ar.len && t[i].data_classes.n > 2);
        for (size_t k = 0; k < t[i].rules.n; k++) {
            assert_true(takes(&t[i].data_classes, r[k].data_class));
            assert_true(r[k].valid_from.us > 0 && r[k].source_text.len && r[k].source_text_ar.len);
        }
        for (size_t k = 0; k < t[i].clocks.n; k++)
            assert_true(c[k].name.len && c[k].source_text_ar.len && c[k].has_hours == (c[k].hours > 0));
        rules += t[i].rules.n;
        clocks += t[i].clocks.n;
    }
    /* A row whose law is misspelt would belong to none. */
    size_t rows = 0, ticks = 0;
#define LAW(...)
#define RULE(...) rows++;
#define CLOCK(...) ticks++;
#include "tenants/home/law_template.def"
    assert_int_equal(rules, rows);
    assert_int_equal(clocks, ticks);
    assert_int_equal(law_template_list(arena, t[0].template_id).n, all.n - 1);
    assert_int_equal(law_template_list(arena, t[all.n - 1].template_id).n, 0);
}

static void templates_make_one_law_together(void **state)
{
    (void)state;
    struct err e;
    struct zone_law law;
    struct str ids[] = { STR("uae-pdpl"), STR("uae-health-ict"), STR("uae-pdpl") };
    assert_int_equal(law_of_templates(arena, (struct slice){ ids, 3 }, &law, &e), ERR_OK);
    assert_int_equal(zone_law_check(&law, &e), ERR_OK);
    assert_int_equal(law.legal_regimes.n, 2);
    assert_int_equal(law.rules.n, 3);
    assert_int_equal(law.clocks.n, 2);
    assert_true(takes(&law.data_classes, DC_HEALTH) && takes(&law.data_classes, DC_SENSITIVE));
    assert_false(takes(&law.data_classes, DC_GOV));
    const struct zone_rule *health = (struct zone_rule *)law.rules.items + 2;
    assert_int_equal(health->may_leave, LEAVE_NEVER);
    assert_true(str_eq_c(health->regime, "uae-health-ict") && str_eq_c(*(struct str *)health->countries.items, "AE"));
    struct str bad = STR("no-such");
    assert_int_equal(law_of_templates(arena, (struct slice){ &bad, 1 }, &law, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, "/templates");
    struct slice every = law_template_list(arena, STR_NULL);
    struct str all[64];
    for (size_t i = 0; i < every.n; i++)
        all[i] = ((struct law_template *)every.items)[i].template_id;
    assert_int_equal(law_of_templates(arena, (struct slice){ all, every.n }, &law, &e), ERR_OK);
    assert_int_equal(zone_law_check(&law, &e), ERR_OK);
    assert_int_equal(law.data_classes.n, DC_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_has_its_rows_in_both_languages),
        cmocka_unit_test(templates_make_one_law_together),
    };
    arena = arena_new(1 << 20);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(arena);
    return rc;
}
