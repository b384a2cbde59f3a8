/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_state.c - nothing leads out of a terminal state, every state is reached, and migrations/0002 holds the same edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/job_state.h"

#include <stdio.h>
#include <stdlib.h>

static void terminal_states_are_ends(void **state)
{
    (void)state;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int k = 0; k < JE_COUNT; k++)
            if (job_state_is_terminal((enum job_state)s))
                assert_int_equal(job_state_next((enum job_state)s, (enum job_event_kind)k), -1);
}

static void the_migration_has_the_same_edges(void **state)
{
    (void)state;
    char path[512], line[256], from[32], event[32], to[32];
    const char *root = getenv("FALAJ_SRC");
    int in_sql = 0, in_code = 0;
    snprintf(path, sizeof path, "%s/migrations/0002_job_edges.sql", root ? root : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, " ('%31[A-Z_]', '%31[A-Z_]', '%31[A-Z_]')", from, event, to) != 3)
            continue;
        int s = -1, k = -1;
        for (int i = 0; i < JOB_STATE_COUNT; i++)
            s = strcmp(job_state_names[i], from) ? s : i;
        for (int i = 0; i < JE_COUNT; i++)
            k = strcmp(job_event_names[i], event) ? k : i;
        assert_true(s >= 0 && k >= 0);
        int next = job_state_next((enum job_state)s, (enum job_event_kind)k);
        assert_true(next >= 0);
        assert_string_equal(job_state_names[next], to);
        in_sql++;
    }
    fclose(f);
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int k = 0; k < JE_COUNT; k++)
            in_code += job_state_next((enum job_state)s, (enum job_event_kind)k) >= 0;
    assert_int_equal(in_sql, in_code);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(terminal_states_are_ends), cmocka_unit_test(the_migration_has_the_same_edges) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
