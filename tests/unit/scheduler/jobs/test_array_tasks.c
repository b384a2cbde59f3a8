/* SPDX-License-Identifier: Apache-2.0 */
/* test_array_tasks.c - which indexes a text names, at each limit and one past it; what a task's spec and name become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "core/wire/job_type.h"
#include "scheduler/jobs/array_tasks.h"

static void texts_name_indexes(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t first, step, total, most; } good[] = {
        { "0-9999%64", 0, 1, 10000, 64 }, { "7", 7, 1, 1, 1000 }, { "7%2", 7, 1, 1, 2 }, { "1-10:3", 1, 3, 4, 1000 },
        { "1-10:3%1", 1, 3, 4, 1 }, { "0-0", 0, 1, 1, 1000 }, { "999999", 999999, 1, 1, 1000 }, { "0-999999:100", 0, 100, 10000,
            1000 },
        { "0-9%1000", 0, 1, 10, 1000 }, { "5-6:9", 5, 9, 1, 1000 } };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct array_range r;
        struct err e = { 0 };
        assert_int_equal(array_range_of(str_c(good[i].text), &r, &e), ERR_OK);
        assert_int_equal(r.first, good[i].first);
        assert_int_equal(r.step, good[i].step);
        assert_int_equal(r.total, good[i].total);
        assert_int_equal(r.most, good[i].most);
    }
    const struct array_range r = { .first = 1, .step = 3, .total = 4 };
    assert_int_equal(array_index(&r, 3), 10);
}

static void what_is_none_is_said_why(void **state)
{
    (void)state;
    static const struct { const char *text, *why; } bad[] = {
        { "", "must be" }, { "a", "must be" }, { "0-", "must be" }, { "-3", "must be" }, { "0-9%", "must be" }, { "0-9:",
            "must be" },
        { "3:2", "must be" }, { "0-9%x", "must be" }, { "0 -9", "must be" }, { "+1-9", "must be" }, { "0-9,12", "must be" },
        { "9-0", "before its first" }, { "0-9%0", "at least 1 task" }, { "0-9:0", "a step of at least 1" }, { "0-10000",
            "at most 10000 tasks; 10001" },
        { "1000000", "indexes from 0 to 999999; 1000000" }, { "0-1000000:1000", "indexes from 0 to 999999" },
        { "0-9%1001", "at most 1000 tasks run at once" }, { "99999999999999999999", "must be" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct array_range r = { .total = 77 };
        struct err e = { 0 };
        assert_int_equal(array_range_of(str_c(bad[i].text), &r, &e), ERR_UNPROCESSABLE);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s: %s", bad[i].text, e.msg);
        assert_int_equal(r.total, 77);
    }
}

static struct str spec_of(int kind, const char *spec, int64_t index, struct arena *a, enum errc want)
{
    struct str ret = STR("");
    struct err e = { 0 };
    assert_int_equal(array_task_spec(kind, str_c(spec), index, a, &ret, &e), want);
    return ret;
}

static bool has(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

static void a_spec_learns_its_index(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    const char *spec = "{\"command\":[\"sh\",\"-c\",\"run {{index}} "
                       "{{index}}\"],\"script\":\"i={{index}}\",\"env\":[\"SEED={{index}}\"]}";
    struct str out = spec_of(JOB_RUN, spec, 42, a, ERR_OK);
    assert_true(has(out, "run 42 42"));
    assert_true(has(out, "i=42"));
    assert_true(has(out, "\"SEED=42\",\"FALAJ_ARRAY_INDEX=42\""));
    /* A task that is submitted again, as an array. */
    struct str twice = spec_of(JOB_RUN, str_z(a, out), 43, a, ERR_OK);
    assert_true(has(twice, "\"SEED=42\",\"FALAJ_ARRAY_INDEX=43\"]"));
    assert_false(has(twice, "INDEX=42"));
    out = spec_of(JOB_NOOP, "{}", 42, a, ERR_OK);
    assert_false(has(out, "42"));
    (void)spec_of(JOB_NOOP, "{\"sleep_ms\":\"{{index}}\"}", 1, a, ERR_INVALID);
    assert_true(str_eq_c(array_task_name(STR("sweep"), 17, a), "sweep[17]"));
    assert_true(array_task_name_fits(array_task_name(STR("sweep"), 17, a)));
    assert_false(array_task_name_fits(STR("sweep")));
    assert_false(array_task_name_fits(STR("")));
    arena_free(a);
}

static void the_variable_must_have_room(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    char spec[2048] = "{\"command\":[\"a\"],\"env\":[\"V0=0\"";
    for (int i = 1; i < 63; i++)
        snprintf(spec + strlen(spec), sizeof spec - strlen(spec), ",\"V%d=0\"", i);
    char full[4096];
    snprintf(full, sizeof full, "%s,\"LAST=1\"]}", spec);
    strcat(spec, "]}");
    (void)spec_of(JOB_RUN, spec, 1, a, ERR_OK);
    (void)spec_of(JOB_RUN, full, 1, a, ERR_UNPROCESSABLE);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_name_indexes), cmocka_unit_test(what_is_none_is_said_why),
                                        cmocka_unit_test(a_spec_learns_its_index),
                                            cmocka_unit_test(the_variable_must_have_room) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
