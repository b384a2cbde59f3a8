/* SPDX-License-Identifier: Apache-2.0 */
/* test_priority_class.c - classes are made, changed and removed; the usual one stays; there are at most so many. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/priority_class.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static void begin(struct work *w)
{
    *w = (struct work){ .app = &f.api, .arena = arena_new(1 << 24), .tenant_id = UUID_NIL };
    OK(db_begin(f.api.pool, SCOPE_SYSTEM, 0, w->arena, &w->tx, e));
}

static void end(struct work *w)
{
    OK(db_commit(w->tx, e));
    arena_free(w->arena);
}

static void a_class_is_set_and_removed(void **state)
{
    (void)state;
    struct work w;
    struct err why = { 0 };
    struct priority_class c = { .cls = STR("night"), .value = -5, .grace_s = 7, .description = STR("by night") }, got;
    begin(&w);
    OK(priority_class_set(&w, &c, &got, e));
    c.value = -9;
    c.preemptible = true;
    OK(priority_class_set(&w, &c, &got, e));
    assert_true(got.value == -9 && got.preemptible && got.grace_s == 7 && str_eq(got.description, c.description));
    struct slice rows = { 0 };
    OK(priority_class_list(&w, STR_NULL, 10, &rows, e));
    assert_int_equal(rows.n, 2);
    OK(priority_class_list(&w, STR("default"), 10, &rows, e));
    assert_int_equal(rows.n, 1);
    OK(priority_class_delete(&w, c.cls, e));
    assert_int_equal(priority_class_get(&w, c.cls, &got, &why), ERR_NOT_FOUND);
    assert_int_equal(priority_class_delete(&w, c.cls, &why), ERR_NOT_FOUND);
    end(&w);
}

static void the_usual_class_stays_and_there_are_at_most_so_many(void **state)
{
    (void)state;
    struct work w;
    struct err why = { 0 };
    struct priority_class c = { .cls = STR("default"), .value = 1, .description = STR("") }, got;
    begin(&w);
    assert_int_equal(priority_class_set(&w, &c, &got, &why), ERR_INVALID);
    assert_int_equal(priority_class_delete(&w, c.cls, &why), ERR_CONFLICT);
    c.value = 0;
    OK(priority_class_set(&w, &c, &got, e));
    end(&w);
    fixture_exec(&f, "INSERT INTO priority_class (class, value) SELECT 'c' || n, n FROM generate_series(2, %d) n",
                 PRIORITY_CLASSES_MAX);
    begin(&w);
    c.cls = STR("more");
    assert_int_equal(priority_class_set(&w, &c, &got, &why), ERR_LIMIT);
    c.cls = STR("c2");
    OK(priority_class_set(&w, &c, &got, e));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_class_is_set_and_removed),
                                        cmocka_unit_test(the_usual_class_stays_and_there_are_at_most_so_many) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
