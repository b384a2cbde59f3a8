/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_wake.c - the channel that names jobs: what one end writes the other reads, within what a hint may be long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/redis/client.h"
#include "scheduler/jobs/job_wake.h"

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct uuid jobs[WAKE_JOBS_MAX + 3], got;
    char text[WAKE_JOB_TEXT];
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        for (size_t b = 0; b < sizeof jobs[i].b; b++)
            jobs[i].b[b] = (uint8_t)(i * 16 + b + 1);
    for (size_t n = 1; n <= sizeof jobs / sizeof *jobs; n++) {
        size_t named, at = 0;
        const struct str channel = job_wake_channel(jobs, n, text, &named);
        assert_int_equal(named, n < WAKE_JOBS_MAX ? n : WAKE_JOBS_MAX);
        assert_true(channel.len + 1 <= REDIS_BYTES_MAX && channel.len < sizeof text);
        for (size_t i = 0; i < named; i++) {
            assert_true(job_wake_next(channel, &at, &got));
            assert_memory_equal(&got, &jobs[i], sizeof got);
        }
        assert_false(job_wake_next(channel, &at, &got));
    }
}

static void what_is_none_names_nobody(void **state)
{
    (void)state;
    static const char *const none[] = { "", "wake:job:", "wake:job:0102", "wake:node:0102030405060708090a0b0c0d0e0f10",
                                        "wake:job:0102030405060708090a0b0c0d0e0fzz" };
    struct uuid got;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        size_t at = 0;
        assert_false(job_wake_next(str_c(none[i]), &at, &got));
    }
    size_t at = 0;      /* half of a second id */
    assert_true(job_wake_next(STR("wake:job:0102030405060708090a0b0c0d0e0f100102"), &at, &got));
    assert_false(job_wake_next(STR("wake:job:0102030405060708090a0b0c0d0e0f100102"), &at, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(what_is_none_names_nobody) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
