/* SPDX-License-Identifier: Apache-2.0 */
/* test_board.c - a tenant's board has all that a plan needs and no id, name or queue of another; what a plan of it places is what
 * the scheduler places. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/mirror/board.h"

static struct machine one, away;
FIXTURE_GROUP((machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), machine_up(&f, &away, "ae-auh-1", "away", 32, 0)), NOTHING_MORE)

static struct board board_of(struct uuid tenant, struct work *w)
{
    struct board b;
    *w = fixture_reader(&f, tenant);
    w->now_us = clock_wall_us(&clock_system);
    OK(board_read(w, w->now_us + 3600 * (int64_t)1000000, &b, e));
    return b;
}

static void others_are_there_and_cannot_be_told(void **state)
{
    (void)state;
    struct uuid mine, others[3];
    struct work w;
    assert_int_equal(submit(&f, f.tenant_a, 1, 6, 3, &mine), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(submit(&f, f.tenant_b, 3, 40, 3, others), 3);
    fixture_exec(&f, "UPDATE job SET name = 'secret', queue = 'hidden' WHERE slots = 40");
    struct board b = board_of(f.tenant_a, &w);
    assert_int_equal(b.in.base.nodes.n, 2);
    assert_int_equal(b.in.nlive, 1);
    assert_true(b.runs[0].is_own && uuid_eq(b.runs[0].job_id, mine));
    assert_int_equal(b.in.base.jobs.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct snap_job *j = &b.in.base.jobs.items[i];
        assert_false(b.waits[i].is_own);
        assert_int_equal(b.waits[i].name.len, 0);
        assert_false(str_eq_c(j->queue, "hidden"));
        for (size_t k = 0; k < 3; k++)
            assert_false(uuid_eq(j->job_id, others[k]));
        assert_false(uuid_eq(j->tenant_id, f.tenant_b));
        assert_false(b.tenants[j->tenant].is_mine);
        assert_true(uuid_is_nil(b.tenants[j->tenant].tenant_id));
        assert_int_equal(b.tenants[j->tenant].name.len, 0);
        assert_int_equal(j->zones.n, 2);        /* the other tenant may use both */
    }
    for (size_t i = 0; i < 2; i++)
        assert_false(uuid_eq(b.in.base.nodes.items[i].node_id, one.node.node_id));
    fixture_reader_done(&w);
    b = board_of(f.tenant_b, &w);
    assert_true(b.waits[0].is_own && str_eq_c(b.waits[0].name, "secret") && str_eq_c(b.in.base.jobs.items[0].queue, "hidden"));
    assert_false(b.runs[0].is_own);
    fixture_reader_done(&w);
    for (int i = 0; i < 3; i++)
        cancel_job(&f, f.tenant_b, others[i]);
}

static void an_end_is_known_from_its_like(void **state)
{
    (void)state;
    struct work w;
    struct uuid next;
    for (int i = 1; i <= 3; i++)
        fixture_exec(&f,
            "INSERT INTO job (tenant_id, job_id, name, kind, spec, state, queued, created_by, slots, max_runtime_s, started_at,"
                         " finished_at) SELECT tenant_id, gen_random_uuid(), 'x', kind, spec, 'COMPLETED', false, created_by, "
                             "6, 60,"
                         " now() - interval '1 hour', now() - interval '1 hour' + %d * interval '10 seconds' FROM job WHERE "
                             "slots = 6 LIMIT 1", i);
    assert_int_equal(submit(&f, f.tenant_a, 1, 6, 3, &next), 1);
    struct board b = board_of(f.tenant_a, &w);
    assert_int_equal(b.in.base.jobs.n, 1);
    assert_true(b.waits[0].is_measured);
    assert_int_equal(b.in.waits[0].runs_us, 20 * 1000000);
    assert_true(b.runs[0].is_measured);
    fixture_reader_done(&w);
    b = board_of(f.tenant_b, &w);
    assert_false(b.waits[0].is_own);
    assert_int_equal(b.in.waits[0].runs_us, 20 * 1000000);      /* it counts for who looks, too */
    fixture_reader_done(&w);
    cancel_job(&f, f.tenant_a, next);
}

/* What the run ahead starts now is what the scheduler's next plan starts. */
static void the_next_plan_does_what_is_said(void **state)
{
    (void)state;
    struct work w;
    struct ahead x;
    struct uuid a[6], b_ids[4];
    int64_t starting = 0;
    assert_int_equal(submit(&f, f.tenant_a, 6, 1, 3, a), 6);            /* two slots are free where a may be */
    assert_int_equal(submit(&f, f.tenant_b, 4, 9, 3, b_ids), 4);        /* three of them fit away */
    struct board b = board_of(f.tenant_a, &w);
    ahead_run(&b.in, w.arena, &x);
    for (size_t i = 0; i < x.starts.n; i++)
        starting += x.starts.items[i].at_us == b.in.now_us;
    fixture_reader_done(&w);
    assert_int_equal(starting, 5);
    assert_int_equal(plan(&f), 5);
    assert_int_equal(fixture_count(&f,
        "SELECT count(*) FROM attempt a JOIN node n USING (node_id) WHERE live AND zone = 'ae-auh-1'"), 3);
}

/* A queue that is stopped starts nothing ahead either, whoever looks; nor can another tell its name. */
static void a_stopped_queue_is_known(void **state)
{
    (void)state;
    struct work w;
    struct ahead x;
    struct uuid held;
    char t[UUID_TEXT];
    uuid_text(f.tenant_b, t);
    fixture_exec(&f, "INSERT INTO queue (tenant_id, queue_id, name, stop_policy, created_by) VALUES"
                     " ('%s', gen_random_uuid(), 'night', 'Hold', gen_random_uuid())", t);
    assert_int_equal(submit(&f, f.tenant_b, 1, 2, 3, &held), 1);
    fixture_exec(&f, "UPDATE job SET queue = 'night' WHERE queued AND slots = 2");
    const struct uuid tenants[] = { f.tenant_b, f.tenant_a };
    for (int i = 0; i < 2; i++) {
        struct board b = board_of(tenants[i], &w);
        assert_int_equal(b.in.base.book.queues.n, 1);
        assert_int_equal(str_eq_c(b.in.base.book.queues.items[0].name, "night"), i == 0);
        ahead_run(&b.in, w.arena, &x);
        for (size_t k = 0; k < x.starts.n; k++)
            assert_int_not_equal(b.in.base.jobs.items[x.starts.items[k].job].slots, 2);
        fixture_reader_done(&w);
    }
    fixture_exec(&f, "UPDATE queue SET stop_policy = 'None'");
    struct board b = board_of(f.tenant_b, &w);
    bool starts = false;
    ahead_run(&b.in, w.arena, &x);
    for (size_t k = 0; k < x.starts.n; k++)
        starts |= b.in.base.jobs.items[x.starts.items[k].job].slots == 2;
    assert_true(starts);
    fixture_reader_done(&w);
    cancel_job(&f, f.tenant_b, held);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(others_are_there_and_cannot_be_told),
                                        cmocka_unit_test(an_end_is_known_from_its_like),
                                        cmocka_unit_test(the_next_plan_does_what_is_said),
                                        cmocka_unit_test(a_stopped_queue_is_known) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
