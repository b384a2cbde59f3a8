/* SPDX-License-Identifier: Apache-2.0 */
/* test_board.c - a tenant's board has all that a plan needs and no id, name or queue of another; what a plan of it places is what
 * the scheduler places. */
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/share.h"
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

/* A job on two machines is one that runs, on both, and a waiting one wants as many; windows are told under aliases. */
static void a_job_on_two_machines_is_one(void **state)
{
    (void)state;
    static struct machine left, right;
    struct uuid id, next;
    struct work w;
    char text[UUID_TEXT];
    fixture_end_all(&f);
    machine_up(&f, &left, "ae-auh-1", "left", 4, 0);
    machine_up(&f, &right, "ae-auh-1", "right", 4, 0);
    fixture_exec(&f, "UPDATE node SET gangs = true WHERE slots = 4");
    assert_int_equal(submit(&f, f.tenant_b, 1, 3, 3, &id), 1);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET nodes = 2, zone = 'ae-auh-1' WHERE job_id = '%s'", text);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(submit(&f, f.tenant_b, 1, 3, 3, &next), 1);
    uuid_text(next, text);
    fixture_exec(&f, "UPDATE job SET nodes = 2, max_runtime_s = 3600 WHERE job_id = '%s'", text);
    uuid_text(f.tenant_b, text);
    fixture_exec(&f, "WITH r AS (INSERT INTO reservation (reservation_id, purpose, for_tenant, from_at, until_at) VALUES"
                     " (gen_random_uuid(), 'tenant', '%s', now(), now() + interval '2 hours') RETURNING reservation_id)"
                     " INSERT INTO reservation_machine SELECT r.reservation_id, n.node_id FROM r, node n"
                     " WHERE n.name = 'left'", text);
    const struct board b = board_of(f.tenant_b, &w);
    assert_int_equal(b.in.nlive, 1);
    const struct ahead_live *l = &b.in.live[0];
    assert_int_equal(l->nmore, 1);
    assert_int_equal(l->job.slots, 3);
    assert_int_equal(snap_job_nodes(&l->job), 2);
    assert_true(l->machine != AHEAD_NONE && l->more[0].node != AHEAD_NONE && l->machine != l->more[0].node);
    assert_int_equal(b.in.base.jobs.n, 1);
    assert_int_equal(snap_job_nodes(&b.in.base.jobs.items[0]), 2);
    assert_int_equal(b.in.base.reserved.n, 1);
    const struct reserved *r = b.in.base.reserved.items;
    bool found = false;
    for (size_t i = 0; i < b.in.base.nodes.n; i++)
        found |= uuid_eq(b.in.base.nodes.items[i].node_id, r->node_id) && b.in.base.nodes.items[i].gangs;
    assert_true(found && reserved_is_for(r, &b.in.base.jobs.items[0]) && !uuid_eq(r->tenant_id, f.tenant_b));
    struct ahead x;
    ahead_run(&b.in, w.arena, &x);
    assert_int_equal(x.starts.n, 1);            /* when the first has ended, on the same two */
    assert_true(x.starts.items[0].at_us > b.in.now_us);
    fixture_reader_done(&w);
    cancel_job(&f, f.tenant_b, next);
    fixture_exec(&f, "DELETE FROM reservation");
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

static bool is_cut(void)
{
    struct work w;
    const bool cut = board_of(f.tenant_a, &w).is_cut;
    fixture_reader_done(&w);
    return cut;
}

/* As many more rows of a table as one that is there, each with ids of its own. */
static void many_rows(const char *table, const char *from, const char *members)
{
    fixture_exec(&f, "SET session_replication_role = replica; DO $do$ DECLARE c text; BEGIN"
                     " SELECT string_agg(quote_ident(attname), ',') INTO c FROM pg_attribute WHERE attrelid = '%s'::regclass"
                     " AND attnum > 0 AND NOT attisdropped AND attgenerated = '';"
                     " EXECUTE format('INSERT INTO %s (%%s) SELECT %%s FROM (SELECT r.* FROM %s, LATERAL jsonb_populate_record(o,"
                     " jsonb_build_object(%s)) r) x', c, c); END $do$", table, table, from, members);
}

/* As many more jobs as one that is there, named by SQL, and attempts of them if it has a live one. */
static void many_like(const char *id, int n)
{
    char from[500];
    snprintf(from, sizeof from, "(SELECT j AS o, gen_random_uuid() AS mine FROM job j, generate_series(1, %d)"
                                " WHERE job_id = %s) y", n, id);
    many_rows("job", from, "''job_id'', y.mine, ''name'', ''many''");
    snprintf(from, sizeof from, "(SELECT a AS o, j.job_id AS mine, gen_random_uuid() AS own FROM attempt a, job j"
                                " WHERE a.job_id = %s AND a.live AND j.name = ''many''"
                                " AND NOT EXISTS (SELECT FROM attempt x WHERE x.job_id = j.job_id)) y", id);
    many_rows("attempt", from, "''job_id'', y.mine, ''attempt_id'', y.own");
}

static void none_like(void)
{
    fixture_exec(&f, "SET session_replication_role = replica;"
                     "DELETE FROM attempt WHERE job_id IN (SELECT job_id FROM job WHERE name = 'many'); DELETE FROM job WHERE "
                     "name = 'many'");
}

/* What a run ahead did not look at is told: jobs that run, and jobs that wait for their time. */
static void what_was_not_read_is_told(void **state)
{
    (void)state;
    struct uuid id;
    char t[UUID_TEXT], waits[UUID_TEXT + 4];
    static const char live[] = "(SELECT a.job_id FROM attempt a JOIN job j USING (tenant_id, job_id)"
                               " WHERE a.live AND j.name <> ''many'' ORDER BY 1 LIMIT 1)";
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &id), 1);
    uuid_text(id, t);
    fixture_exec(&f, "UPDATE job SET not_before = now() + interval '10 minutes' WHERE job_id = '%s'", t);
    snprintf(waits, sizeof waits, "''%s''", t);
    many_like(waits, BOARD_TIMED - 2);
    assert_false(is_cut());
    many_like(waits, 1);
    assert_true(is_cut());
    none_like();
    cancel_job(&f, f.tenant_a, id);
    if (!share_of("boards of 20,000 jobs that run", 0, 1))
        return;
    many_like(live, BOARD_RUNNING - 1 - (int)fixture_count(&f, "SELECT count(*) FROM attempt WHERE live"));
    assert_false(is_cut());
    many_like(live, 1);
    assert_true(is_cut());
    none_like();
    assert_false(is_cut());
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(others_are_there_and_cannot_be_told),
                                        cmocka_unit_test(an_end_is_known_from_its_like),
                                        cmocka_unit_test(the_next_plan_does_what_is_said),
                                        cmocka_unit_test(a_stopped_queue_is_known),
                                        cmocka_unit_test(what_was_not_read_is_told),
                                        cmocka_unit_test(a_job_on_two_machines_is_one) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
