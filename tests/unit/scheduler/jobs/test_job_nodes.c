/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_nodes.c - how many machines a job may ask for: bounds, kinds that know how, and where a refusal points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/wire/job_type.h"
#include "scheduler/jobs/job_nodes.h"

static int64_t accepted(int64_t min, int64_t max, int kind)
{
    int64_t nodes = -1, most = -1;
    struct err e = { 0 };
    if (job_nodes_check(&(struct job_nodes){ min, max }, kind, &nodes, &most, &e) != ERR_OK)
        fail_msg("%ld %ld: %s", (long)min, (long)max, e.msg);
    assert_int_equal(most, max ? max : min ? min : 1);
    return nodes;
}

static void refused(int64_t min, int64_t max, int kind, const char *place, const char *part)
{
    int64_t nodes, most;
    struct err e = { 0 };
    assert_int_equal(job_nodes_check(&(struct job_nodes){ min, max }, kind, &nodes, &most, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, place);
    assert_non_null(strstr(e.msg, part));
}

static void a_job_that_says_nothing_wants_one(void **state)
{
    (void)state;
    assert_int_equal(accepted(0, 0, JOB_NOOP), 1);
    assert_int_equal(accepted(1, 1, JOB_SERVE), 1);
}

static void one_bound_stands_for_both(void **state)
{
    (void)state;
    assert_int_equal(accepted(2, 2, JOB_TRAIN), 2);
    assert_int_equal(accepted(4, 0, JOB_TRAIN), 4);
    assert_int_equal(accepted(0, 8, JOB_TRAIN), 8);
    assert_int_equal(accepted(0, 2, JOB_RUN), 2);
}

static void a_training_may_say_a_range(void **state)
{
    (void)state;
    assert_int_equal(accepted(1, 2, JOB_TRAIN), 1);
    assert_int_equal(accepted(2, 8, JOB_TRAIN), 2);
}

static void bounds_that_do_not_fit_are_refused_at_their_place(void **state)
{
    (void)state;
    refused(3, 2, JOB_TRAIN, "/nodes/min", "min (3) is above max (2)");
    refused(2, 6, JOB_TRAIN, "/nodes/max", "6 is not 2 times a power of two");
    refused(2, 4, JOB_RUN, "/nodes/max", "kind run runs on as many machines from its start to its end");
    refused(1, 2, JOB_NOOP, "/nodes", "run on one machine; 2 were asked for");
}

static void kinds_of_one_machine_are_refused(void **state)
{
    (void)state;
    for (int kind = 0; kind < JOB_KIND_COUNT; kind++)
        if (kind != JOB_TRAIN && kind != JOB_RUN)
            refused(2, 2, kind, "/nodes", "run on one machine; 2 were asked for");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_says_nothing_wants_one),
        cmocka_unit_test(one_bound_stands_for_both),
        cmocka_unit_test(a_training_may_say_a_range),
        cmocka_unit_test(bounds_that_do_not_fit_are_refused_at_their_place),
        cmocka_unit_test(kinds_of_one_machine_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
