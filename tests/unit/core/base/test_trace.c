/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace.c - traceparent as W3C has it, and which traces are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/trace.h"

#define ID "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

static void reads_what_the_standard_allows(void **state)
{
    (void)state;
    static const struct { const char *text; bool ok, sampled; } ROWS[] = {
        { "00-" ID "-" SPAN "-01", true, true },
        { "00-" ID "-" SPAN "-00", true, false },
        { "00-" ID "-" SPAN "-03", true, true },            /* level 2: random */
        { "00-" ID "-" SPAN "-02", true, false },
        { "cc-" ID "-" SPAN "-01", true, true },            /* a later version */
        { "cc-" ID "-" SPAN "-01-what-the-future-will-be", true, true },
        { "cc-" ID "-" SPAN "-01.what", false, false },
        { "00-" ID "-" SPAN "-01-more", false, false },
        { "ff-" ID "-" SPAN "-01", false, false },
        { "00-00000000000000000000000000000000-" SPAN "-01", false, false },
        { "00-" ID "-0000000000000000-01", false, false },
        { "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", false, false },
        { "00-" ID "-" SPAN "-0", false, false },
        { "00-" ID "-" SPAN "-0g", false, false },
        { "00_" ID "-" SPAN "-01", false, false },
        { "", false, false },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct trace t = { .is_sampled = true };
        bool ok = trace_parse(str_c(ROWS[i].text), &t);
        if (ok != ROWS[i].ok || (ok && t.is_sampled != ROWS[i].sampled) || ok != trace_is_set(&t))
            fail_msg("%s: %d %d", ROWS[i].text, ok, t.is_sampled);
    }
    struct trace t = { 0 };
    assert_false(trace_parse(STR_NULL, &t));
}

static void every_cut_and_every_byte_changed_is_read_or_refused(void **state)
{
    (void)state;
    static const char good[] = "00-" ID "-" SPAN "-01";
    for (size_t n = 0; n < sizeof good - 1; n++) {
        char *cut = malloc(n + 1);                          /* exactly as long: a read beyond it is seen */
        struct trace t;
        memcpy(cut, good, n);
        assert_false(trace_parse(str_n(cut, n), &t));
        free(cut);
    }
    for (size_t at = 0; at < sizeof good - 1; at++) {
        for (int c = 0; c < 256; c++) {
            char text[sizeof good], again[TRACE_TEXT];
            struct trace t = { 0 };
            memcpy(text, good, sizeof good);
            text[at] = (char)c;
            if (!trace_parse(str_n(text, sizeof good - 1), &t))
                continue;
            trace_print(&t, again);
            /* All but the version and flags that nobody knows comes back. */
            assert_memory_equal(again + 3, text + 3, 50);
        }
    }
}

static void a_child_is_of_the_same_trace(void **state)
{
    (void)state;
    char text[TRACE_TEXT];
    struct trace t, back = { 0 };
    assert_true(trace_parse(STR("00-" ID "-" SPAN "-01"), &t));
    struct trace child = trace_child(&t), other = trace_child(&t);
    assert_memory_equal(child.trace_id, t.trace_id, sizeof t.trace_id);
    assert_memory_not_equal(child.span_id, t.span_id, sizeof t.span_id);
    assert_memory_not_equal(child.span_id, other.span_id, sizeof t.span_id);
    trace_print(&child, text);
    assert_int_equal(strlen(text), TRACE_TEXT - 1);
    assert_true(trace_parse(str_c(text), &back) && back.is_sampled);
    assert_memory_equal(back.span_id, child.span_id, sizeof back.span_id);
}

static int64_t begun_and_told(int64_t sample, int64_t of)
{
    int64_t told = 0;
    for (int64_t i = 0; i < of; i++) {
        struct trace t = trace_begin(sample);
        assert_true(trace_is_set(&t));
        told += t.is_sampled;
    }
    return told;
}

/* Of 20,000 a quarter is 5,000 with a deviation of 61: ten times that never happens. */
static void so_many_of_a_thousand_are_told(void **state)
{
    (void)state;
    assert_int_equal(begun_and_told(0, 2000), 0);
    assert_int_equal(begun_and_told(TRACE_ALL, 2000), 2000);
    assert_in_range(begun_and_told(250, 20000), 4388, 5612);
}

/* Programs that know nothing of each other agree, and who tells more tells what the others tell too. */
static void a_jobs_trace_is_its_id(void **state)
{
    (void)state;
    int64_t told = 0;
    for (int i = 0; i < 20000; i++) {
        struct uuid job = uuid_v7(1795222923004567 + i * 1000);
        struct trace a = trace_of_job(job, 250), b = trace_of_job(job, 250), more = trace_of_job(job, 500);
        assert_memory_equal(a.trace_id, job.b, sizeof a.trace_id);
        assert_memory_equal(a.span_id, b.span_id, sizeof a.span_id);
        assert_memory_equal(a.span_id, more.span_id, sizeof a.span_id);
        assert_int_equal(a.is_sampled, b.is_sampled);
        assert_true(!a.is_sampled || more.is_sampled);
        assert_true(trace_of_job(job, TRACE_ALL).is_sampled && !trace_of_job(job, 0).is_sampled);
        told += a.is_sampled;
    }
    assert_in_range(told, 4388, 5612);
    assert_false(trace_of_job(UUID_NIL, TRACE_ALL).is_sampled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_standard_allows),
        cmocka_unit_test(every_cut_and_every_byte_changed_is_read_or_refused),
        cmocka_unit_test(a_child_is_of_the_same_trace),
        cmocka_unit_test(so_many_of_a_thousand_are_told),
        cmocka_unit_test(a_jobs_trace_is_its_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
