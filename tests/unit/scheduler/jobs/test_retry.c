/* SPDX-License-Identifier: Apache-2.0 */
/* test_retry.c - which failures are tried again: with and without a word of the job's, at the edge of each count; pauses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/base/arena.h"
#include "scheduler/jobs/retry.h"

static int both[] = { RC_MEMORY, RC_TIMEOUT };
static const struct retry own = { .max = 2, .backoff_s = 30, .on = { both, 2 } };

static struct retry_verdict judge(const struct retry *policy, enum retry_cause cause, int64_t failures, int64_t fence, bool stays)
{
    const struct retry_facts f = { .policy = policy, .cause = cause, .failures = failures, .fence = fence, .max_attempts = 3,
                                   .requeue_count = fence - 1, .stays = stays };
    return retry_judge(&f);
}

static void a_job_that_says_nothing_is_tried_where_machines_fail(void **state)
{
    (void)state;
    for (int c = 0; c < RC_COUNT; c++)
        assert_int_equal(judge(NULL, (enum retry_cause)c, 0, 1, false).is_again, c == RC_MACHINE);
    assert_true(judge(NULL, RC_MACHINE, 0, 2, false).is_again);
    assert_false(judge(NULL, RC_MACHINE, 0, 3, false).is_again);
    assert_true(judge(NULL, RC_MACHINE, 0, 300, true).is_again);
    assert_false(judge(NULL, RC_NONE, 0, 1, true).is_again);
    const struct retry unset = { 0 };
    assert_true(judge(&unset, RC_MACHINE, 0, 2, false).is_again);
}

static void its_own_word_lists_the_causes_and_counts_all_failures(void **state)
{
    (void)state;
    for (int c = 0; c < RC_COUNT; c++)
        assert_int_equal(judge(&own, (enum retry_cause)c, 0, 1, false).is_again, c == RC_MEMORY || c == RC_TIMEOUT);
    assert_true(judge(&own, RC_MEMORY, 1, 50, false).is_again);        /* max_attempts has no say */
    assert_false(judge(&own, RC_MEMORY, 2, 3, false).is_again);
    assert_false(judge(&own, RC_MACHINE, 0, 1, true).is_again);
    assert_false(judge(&own, RC_NONE, 0, 1, false).is_again);
}

static void pauses_double_up_to_an_hour(void **state)
{
    (void)state;
    struct retry long_one = own;
    long_one.max = RETRIES_MAX;
    assert_int_equal(judge(&long_one, RC_MEMORY, 0, 1, false).delay_ms, 30000);
    assert_int_equal(judge(&long_one, RC_MEMORY, 3, 1, false).delay_ms, 240000);
    assert_int_equal(judge(&long_one, RC_MEMORY, 99, 1, false).delay_ms, RETRY_PAUSE_MAX_MS);
    long_one.backoff_s = 0;
    assert_int_equal(judge(&long_one, RC_MEMORY, 50, 1, false).delay_ms, 0);
    assert_in_range(judge(NULL, RC_MACHINE, 0, 2, false).delay_ms, 1600, 2400);
}

static void the_text_comes_back_as_it_was(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct retry back;
    struct err e = { 0 };
    assert_null(retry_text(&(struct retry){ 0 }, a).ptr);
    assert_int_equal(retry_of_text(STR_NULL, a, &back, &e), ERR_OK);
    assert_false(retry_is_set(&back));
    assert_int_equal(retry_of_text(retry_text(&own, a), a, &back, &e), ERR_OK);
    assert_true(back.max == 2 && back.backoff_s == 30 && back.on.n == 2 && ((int *)back.on.items)[1] == RC_TIMEOUT);
    assert_int_not_equal(retry_of_text(STR("{\"max\":1,\"on\":[\"weather\"]}"), a, &back, &e), ERR_OK);
    assert_string_equal(e.field, "/on/0");
    assert_int_not_equal(retry_of_text(STR("{\"max\":1,\"on\":[]}"), a, &back, &e), ERR_OK);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_says_nothing_is_tried_where_machines_fail),
        cmocka_unit_test(its_own_word_lists_the_causes_and_counts_all_failures),
        cmocka_unit_test(pauses_double_up_to_an_hour), cmocka_unit_test(the_text_comes_back_as_it_was) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
