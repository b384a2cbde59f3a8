/* SPDX-License-Identifier: Apache-2.0 */
/* test_board_needs.c - words of who waits for whom become places on the board: waiting and running jobs are found, a job that was
 * not read and an end in failure never come, and only the former makes the board partial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/mirror/board_needs.h"

#define ID(c_) "0000000" c_ "-0000-0000-0000-000000000000"

static struct uuid id_of(const char *text)
{
    struct uuid u;
    assert_true(uuid_parse(str_c(text), &u));
    return u;
}

static void words_become_places(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct snap_job jobs[3] = { { .job_id = id_of(ID("1")) }, { .job_id = id_of(ID("2")) }, { .job_id = id_of(ID("3")) } };
    struct ahead_live live[1] = { { .job.job_id = id_of(ID("4")) } };
    struct ahead_wait waits[3] = { { 0 } };
    struct board b = { .in = { .waits = waits, .live = live, .nlive = 1 } };
    struct str words[3] = { STR(""), STR("afterok:" ID("1") ",after:" ID("4")), STR("afternotok:" ID("2")) };
    b.in.base.jobs.items = jobs;
    b.in.base.jobs.n = 3;
    assert_false(board_needs_link(&b, waits, words, a));
    assert_int_equal(waits[0].nneeds, 0);
    assert_int_equal(waits[1].nneeds, 2);
    assert_int_equal(waits[1].needs[0].job, 0);
    assert_false(waits[1].needs[0].begun);
    assert_int_equal(waits[1].needs[1].job, 3);
    assert_true(waits[1].needs[1].begun);
    assert_true(waits[2].needs[0].job == AHEAD_NONE);
    words[0] = STR("afterany:" ID("9"));
    assert_true(board_needs_link(&b, waits, words, a));
    assert_true(waits[0].needs[0].job == AHEAD_NONE);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(words_become_places) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
