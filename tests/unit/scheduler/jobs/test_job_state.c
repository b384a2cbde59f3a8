/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_state.c - properties of the life of a job, and that the database checks the same edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "scheduler/jobs/job_state.h"

static const struct { enum job_state from; enum job_event_kind event; enum job_state to; } edges[] = {
#define EDGE(from, event, to) { JOB_##from, JE_##event, JOB_##to },
#include "scheduler/jobs/job_state.def"
#undef EDGE
};
enum { EDGES = sizeof edges / sizeof *edges };

static void an_end_is_an_end(void **state)
{
    (void)state;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int ev = 0; ev < JE_COUNT; ev++)
            if (job_state_is_terminal((enum job_state)s))
                assert_int_equal(job_state_next((enum job_state)s, (enum job_event_kind)ev), -1);
}

static void an_event_has_one_outcome(void **state)
{
    (void)state;
    for (int i = 0; i < EDGES; i++) {
        assert_int_equal(job_state_next(edges[i].from, edges[i].event), edges[i].to);
        assert_int_not_equal(edges[i].from, edges[i].to);
        for (int k = 0; k < i; k++)
            assert_false(edges[i].from == edges[k].from && edges[i].event == edges[k].event);
    }
    int legal = 0;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int ev = 0; ev < JE_COUNT; ev++)
            legal += job_state_next((enum job_state)s, (enum job_event_kind)ev) >= 0;
    assert_int_equal(legal, EDGES);
}

static bool reached[JOB_STATE_COUNT];
static void walk(enum job_state s)
{
    if (reached[s])
        return;
    reached[s] = true;
    for (int i = 0; i < EDGES; i++)
        if (edges[i].from == s)
            walk(edges[i].to);
}

static void every_state_on_the_way_leads_to_an_end(void **state)
{
    (void)state;
    bool alive[JOB_STATE_COUNT];
    memset(reached, 0, sizeof reached);
    walk(JOB_PENDING);
    memcpy(alive, reached, sizeof alive);
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        if (!alive[s])
            continue;
        bool ends = false;
        memset(reached, 0, sizeof reached);
        walk((enum job_state)s);
        for (int t = 0; t < JOB_STATE_COUNT; t++)
            ends |= reached[t] && job_state_is_terminal((enum job_state)t);
        if (!ends)
            fail_msg("%s leads to no end", job_state_names[s]);
    }
    static const enum job_state wanted[] = { JOB_COMPLETED, JOB_FAILED, JOB_CANCELLED, JOB_TIMEOUT, JOB_OUT_OF_MEMORY, JOB_NODE_FAIL, JOB_REJECTED };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(alive[wanted[i]]);
}

static void a_job_can_be_cancelled_until_it_ends(void **state)
{
    (void)state;
    static const enum job_state held[] = { JOB_PENDING, JOB_HELD, JOB_SUSPENDED, JOB_ADMITTED, JOB_STARTING, JOB_RUNNING,
                                           JOB_PREEMPTING };
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        assert_int_equal(job_state_next(held[i], JE_CANCEL), JOB_CANCELLED);
}

static void states_before_an_event(void **state)
{
    (void)state;
    struct str before[JOB_STATE_COUNT];
    size_t n = job_states_before(JE_EXPIRE, before);
    assert_int_equal(n, 4);
    for (int ev = 0; ev < JE_COUNT; ev++) {
        n = job_states_before((enum job_event_kind)ev, before);
        assert_in_range(n, 1, JOB_STATE_COUNT);
        int count = 0;
        for (int i = 0; i < EDGES; i++)
            count += edges[i].event == (enum job_event_kind)ev;
        assert_int_equal(n, count);
    }
}

static void names_are_whole(void **state)
{
    (void)state;
    int n = 0;
    while (job_state_names[n])
        n++;
    assert_int_equal(n, JOB_STATE_COUNT);
    for (n = 0; job_event_names[n];)
        n++;
    assert_int_equal(n, JE_COUNT);
    assert_string_equal(job_event_names[JE_PREEMPT], "PREEMPT");
    assert_string_equal(job_event_names[JE_ADMIT], "ADMIT");
    for (n = 0; job_reason_names[n];)
        n++;
    assert_int_equal(n, JR_COUNT);
    assert_string_equal(job_reason_names[JR_NONE], "");
}

/* The statement of the migration, without its white space, holds each edge once and no other. */
static void the_database_has_the_same_edges(void **state)
{
    (void)state;
    static char text[65536], squeezed[65536];
    FILE *f = fopen("migrations/functions/job_edge.sql", "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f), k = 0;
    fclose(f);
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\n')
            squeezed[k++] = text[i];
    char *insert = strstr(squeezed, "INSERTINTOjob_edge");
    assert_non_null(insert);
    strchr(insert, ';')[0] = '\0';
    int rows = 0;
    for (const char *p = insert; (p = strstr(p, "('")); p++)
        rows++;
    assert_int_equal(rows, EDGES);
    for (int i = 0; i < EDGES; i++) {
        char row[128];
        snprintf(row, sizeof row, "('%s','%s','%s')", job_state_names[edges[i].from], job_event_names[edges[i].event], job_state_names[edges[i].to]);
        if (!strstr(insert, row))
            fail_msg("migrations/functions/job_edge.sql lacks %s", row);
    }
}

static void the_printed_table_has_every_row(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    job_state_print_markdown(&b);
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        assert_non_null(strstr(b.ptr, job_state_names[s]));
    assert_non_null(strstr(b.ptr, "RUNNING --> COMPLETED: SUCCEED"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_an_end), cmocka_unit_test(an_event_has_one_outcome), cmocka_unit_test(every_state_on_the_way_leads_to_an_end),
        cmocka_unit_test(a_job_can_be_cancelled_until_it_ends), cmocka_unit_test(states_before_an_event), cmocka_unit_test(names_are_whole),
        cmocka_unit_test(the_database_has_the_same_edges), cmocka_unit_test(the_printed_table_has_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
