/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_member.c - a job on three machines, each with its own lease under one fence: they are offered, taken and renewed
 * one by one, meet, and end together; one that is lost or fails ends all, half of them are freed in time. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/engine/lease_member.h"
#include "scheduler/jobs/watch.h"

static struct machine m[3];
static struct lease_grant g[3];         /* by rank */
static int at[3];                       /* which machine has that rank */
static struct uuid job;
static const char *const names[] = { "w1", "w2", "w3" };

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static int fresh(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        machine_up(&f, &m[i], "ae-dxb-1", names[i], 4, 0);
    fixture_exec(&f, "UPDATE node SET gangs = true, state = 'READY'");
    return 0;
}

static int done(void **state)
{
    (void)state;
    fixture_end_all(&f);
    return 0;
}

static void again(void)
{
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE queued");
    assert_int_equal(plan(&f), 1);
}

/* Submits it, and offers each machine its part. */
static void begin(void)
{
    struct lease_grant one[4];
    submit(&f, f.tenant_a, 1, 2, 3, &job);
    fixture_exec(&f, "UPDATE job SET nodes = 3");
    assert_int_equal(plan(&f), 1);
    for (int i = 0; i < 3; i++) {
        struct uuid after = UUID_LEAST;
        assert_int_equal(offer(&f, &m[i], &after, 4, one), 1);
        assert_int_equal(one[0].nodes, 3);
        assert_int_equal(one[0].slots, 2);
        g[one[0].rank] = one[0];
        at[one[0].rank] = i;
    }
    assert_int_equal(g[0].fence, 1);
    assert_memory_equal(&g[0].attempt_id, &g[2].attempt_id, sizeof g[0].attempt_id);
}

static size_t say(int rank, enum lease_event event)
{
    return tell(&f, &m[at[rank]], &g[rank], 1, event, NULL);
}

static struct lease_gang_out meet(int rank, const char *endpoint)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 20) };
    struct lease l;
    struct lease_gang_out out = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(lease_check(&w, g[rank].tenant_id, g[rank].attempt_id, g[rank].fence, m[at[rank]].identity, &l, e));
    assert_int_equal(l.rank, rank);
    assert_int_equal(l.nodes, 3);
    assert_memory_equal(&l.node_id, &m[at[rank]].node.node_id, sizeof l.node_id);
    struct lease last;
    OK(lease_had(&w, g[rank].tenant_id, job, m[at[rank]].identity, &last, e));
    assert_true(last.rank == rank && uuid_eq(last.node_id, l.node_id) && last.fence == l.fence);
    OK(lease_meet(&w, &l, str_c(endpoint), &out, e));
    OK(db_commit(w.tx, e));
    if (out.members.n) {
        const struct lease_gang_member *all = out.members.items;
        assert_true(str_eq_c(all[rank].endpoint, endpoint));
        char want[160], hex[UUID_HEX];
        hex_encode(g[0].attempt_id.b, 16, hex);
        snprintf(want, sizeof want, "spiffe://ae-dxb-1/lease/default/%s/%s", names[at[1]], hex);
        assert_true(str_eq_c(all[1].identity, want));
    }
    arena_free(w.arena);
    return out;
}

static void start_all(void)
{
    static const char *const where[] = { "127.0.0.1:1001", "127.0.0.1:1002", "127.0.0.1:1003" };
    begin();
    for (int r = 0; r < 3; r++)
        assert_int_equal(meet(r, where[r]).missing, 2 - r);
    for (int r = 0; r < 3; r++)
        assert_int_equal(say(r, LE_START), 1);
    assert_string_equal(state_of(&f, job), "RUNNING");
}

/* What the tenant is shown of them. */
static void show(void)
{
    struct work w = fixture_reader(&f, f.tenant_a);
    struct slice rows;
    OK(job_attempts(&w, job, 10, &rows, e));
    assert_int_equal(rows.n, 1);
    const struct attempt_view *a = rows.items;
    assert_int_equal(a->nodes, 3);
    assert_int_equal(a->members.n, 3);
    for (int r = 0; r < 3; r++) {
        const struct attempt_member *one = (const struct attempt_member *)a->members.items + r;
        assert_int_equal(one->rank, r);
        assert_memory_equal(&one->node_id, &m[at[r]].node.node_id, sizeof one->node_id);
        assert_true(str_eq_c(one->state, "RUNNING") && one->started_at.us > 0);
    }
    fixture_reader_done(&w);
}

static void they_meet_once_all_are_there(void **state)
{
    (void)state;
    start_all();
    assert_int_equal(meet(0, "127.0.0.1:1001").members.n, 3);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE state = 'RUNNING'"
                                       " AND started_at IS NOT NULL"), 3);
    show();
}

/* A rank that ended well before the first one heard that all had met was there: nobody waits for it. */
static void a_rank_that_is_done_has_met(void **state)
{
    (void)state;
    begin();
    for (int r = 0; r < 3; r++)
        assert_int_equal(meet(r, "127.0.0.1:1001").missing, 2 - r);
    assert_int_equal(say(2, LE_START), 1);
    assert_int_equal(say(2, LE_SUCCEED), 1);
    const struct lease_gang_out out = meet(0, "127.0.0.1:1001");
    assert_int_equal(out.missing, 0);
    assert_int_equal(out.members.n, 3);
    assert_int_equal(meet(1, "127.0.0.1:1002").missing, 0);
}

/* Ranks behind the first end by themselves; what the job becomes is rank 0's word, and a later word of theirs is no news. */
static void the_first_rank_says_how_it_ended(void **state)
{
    (void)state;
    start_all();
    assert_int_equal(say(1, LE_SUCCEED), 1);
    assert_int_equal(say(1, LE_SUCCEED), 1);
    assert_string_equal(state_of(&f, job), "RUNNING");
    assert_int_equal(fixture_count(&f, "SELECT sum(slots) FROM machine_hold"), 4);
    assert_int_equal(say(0, LE_SUCCEED), 1);
    assert_string_equal(state_of(&f, job), "COMPLETED");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM machine_hold"), 0);
    assert_int_equal(say(2, LE_RENEW), 0);
    assert_int_equal(fixture_count(&f, "SELECT slots FROM usage_record"), 6);
}

static void say_energy(int rank, enum lease_event event, int64_t cpu_mj, int64_t gpu_mj)
{
    const struct lease_item it = { .tenant_id = g[rank].tenant_id, .attempt_id = g[rank].attempt_id, .fence = g[rank].fence,
                                   .event = (int)event, .message = STR(""), .has_cpu_mj = cpu_mj >= 0, .cpu_mj = cpu_mj,
                                   .has_gpu_mj = gpu_mj >= 0, .gpu_mj = gpu_mj };
    assert_int_equal(say_all(&f, &m[at[rank]], &it, 1, NULL), 1);
}

/* Of an ended attempt: "cpu gpu charged", - where it is not measured. */
static void energy_is(const char *want)
{
    if (!fixture_count(&f, "SELECT (concat_ws(' ', coalesce(a.cpu_mj::text, '-'), coalesce(a.gpu_mj::text, '-'), u.energy_mj)"
                           " = '%s')::int FROM attempt a JOIN usage_record u USING (tenant_id, attempt_id)"
                           " ORDER BY u.ord DESC LIMIT 1", want))
        fail_msg("it is not %s", want);
}

/* What each machine took, as of its last word, is the attempt's; what one of them does not measure makes all of it unknown. */
static void the_energy_of_all_is_the_attempts(void **state)
{
    (void)state;
    start_all();
    say_energy(1, LE_RENEW, 300, -1);
    say_energy(2, LE_RENEW, 20, 4);
    say_energy(1, LE_SUCCEED, 500, 6);
    assert_int_equal(say(2, LE_RENEW), 1);              /* a word without a figure leaves what is there */
    say_energy(0, LE_SUCCEED, 1000, 100);
    energy_is("1520 110 1630");
    start_all();
    say_energy(1, LE_SUCCEED, 500, -1);
    say_energy(0, LE_SUCCEED, 1000, -1);
    energy_is("- - 0");
    start_all();
    for (int r = 0; r < 3; r++)
        say_energy(r, LE_RENEW, 5, -1);
    say_energy(2, LE_FAIL, 7, -1);                      /* what rank 0 took is not known here */
    energy_is("- - 0");
}

static void a_rank_that_fails_ends_all(void **state)
{
    (void)state;
    start_all();
    assert_int_equal(say(2, LE_FAIL), 1);
    assert_string_equal(state_of(&f, job), "FAILED");
    assert_int_equal(say(0, LE_RENEW), 0);
    assert_int_equal(say(1, LE_SUCCEED), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE cause = 'program'"), 1);
}

/* What one machine gives back comes back whole, under the next fence, and an old fence is refused. */
static void a_rank_that_is_given_back_brings_all_back(void **state)
{
    (void)state;
    start_all();
    assert_int_equal(say(1, LE_RETURN), 1);
    assert_string_equal(state_of(&f, job), "PENDING");
    again();
    assert_int_equal(say(1, LE_RENEW), 0);
    assert_int_equal(say(0, LE_RENEW), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 3);
}

static void a_machine_that_is_lost_ends_all(void **state)
{
    (void)state;
    start_all();
    fixture_exec(&f, "UPDATE attempt_member SET lease_until = clock_timestamp() - interval '1 second' WHERE rank = 2");
    assert_int_equal(say(2, LE_RENEW), 1);              /* it was heard again before anybody looked */
    reap(&f);
    assert_string_equal(state_of(&f, job), "RUNNING");
    fixture_exec(&f, "UPDATE attempt_member SET lease_until = clock_timestamp() - interval '1 second' WHERE rank = 2");
    reap(&f);
    assert_string_equal(state_of(&f, job), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE cause = 'machine'"), 1);
    assert_int_equal(say(0, LE_SUCCEED), 0);
    assert_int_equal(say(2, LE_RENEW), 0);
}

static void a_machine_in_quarantine_ends_all(void **state)
{
    (void)state;
    start_all();
    fixture_exec(&f, "UPDATE node SET state = 'QUARANTINED' WHERE node_id = (SELECT node_id FROM attempt_member WHERE rank = 1)");
    reap(&f);
    assert_string_equal(state_of(&f, job), "PENDING");
}

/* The agent of a rank behind the first starts anew: what it held is gone. */
static void an_agent_that_starts_anew_ends_all(void **state)
{
    (void)state;
    start_all();
    struct machine other = m[at[2]];
    machine_up(&f, &other, "ae-dxb-1", names[at[2]], 4, 0);
    assert_string_equal(state_of(&f, job), "PENDING");
}

static void half_a_gang_is_freed_in_time(void **state)
{
    (void)state;
    begin();
    assert_int_equal(meet(0, "127.0.0.1:1001").missing, 2);
    assert_int_equal(say(0, LE_RENEW), 1);
    reap(&f);
    assert_string_equal(state_of(&f, job), "STARTING");
    fixture_exec(&f, "UPDATE attempt SET leased_at = clock_timestamp() - interval '599 seconds'");
    reap(&f);
    assert_string_equal(state_of(&f, job), "STARTING");
    fixture_exec(&f, "UPDATE attempt SET leased_at = clock_timestamp() - interval '601 seconds'");
    reap(&f);
    assert_string_equal(state_of(&f, job), "PENDING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM machine_hold"), 0);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE cause = 'machine'"), 1);
}

/* Before rank 0 was taken nobody but the reaper can end the job. */
static void a_rank_that_fails_before_the_first_is_taken_frees_all(void **state)
{
    (void)state;
    begin();
    assert_int_equal(say(1, LE_FAIL), 1);
    assert_string_equal(state_of(&f, job), "ADMITTED");
    reap(&f);
    assert_string_equal(state_of(&f, job), "PENDING");
}

static void all_machines_hear_that_it_shall_end(void **state)
{
    (void)state;
    start_all();
    cancel_job(&f, f.tenant_a, job);
    for (int r = 0; r < 3; r++) {
        struct work w = { .app = &f.api, .arena = arena_new(1 << 20) };
        struct slice told = { 0 };
        OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, TX_READ_ONLY, w.arena, &w.tx, e));
        OK(lease_notices_told(&w, lease_notices_ask(&w, m[at[r]].node.node_id, (struct slice){ 0 }), &told, e));
        OK(db_commit(w.tx, e));
        assert_int_equal(told.n, 1);
        assert_true(((const struct lease_notice *)told.items)->cancel);
        arena_free(w.arena);
    }
    assert_int_equal(say(2, LE_CANCEL), 1);
    assert_string_equal(state_of(&f, job), "RUNNING");
    assert_int_equal(say(0, LE_CANCEL), 1);
    assert_string_equal(state_of(&f, job), "CANCELLED");
}

static void metrics_are_the_first_ranks_and_lines_say_whose(void **state)
{
    (void)state;
    start_all();
    struct lease_log line = { STR("stdout"), STR("here") };
    struct lease_metric point = { 1, { STR("{\"a\":1}") } };
    for (int r = 0; r < 3; r++) {
        struct lease_item it = { .tenant_id = g[r].tenant_id, .attempt_id = g[r].attempt_id, .fence = g[r].fence,
                                 .event = LE_RENEW, .message = STR(""), .logs = { &line, 1 }, .metrics = { &point, 1 } };
        assert_int_equal(say_all(&f, &m[at[r]], &it, 1, NULL), 1);
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_metric"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_log"
                                       " WHERE text IN ('here', '[rank 1] here', '[rank 2] here')"), 3);
    fixture_exec(&f, "DELETE FROM job_metric; DELETE FROM job_log");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_meet_once_all_are_there, fresh, done),
        cmocka_unit_test_setup_teardown(a_rank_that_is_done_has_met, fresh, done),
        cmocka_unit_test_setup_teardown(the_first_rank_says_how_it_ended, fresh, done),
        cmocka_unit_test_setup_teardown(the_energy_of_all_is_the_attempts, fresh, done),
        cmocka_unit_test_setup_teardown(a_rank_that_fails_ends_all, fresh, done),
        cmocka_unit_test_setup_teardown(a_rank_that_is_given_back_brings_all_back, fresh, done),
        cmocka_unit_test_setup_teardown(a_machine_that_is_lost_ends_all, fresh, done),
        cmocka_unit_test_setup_teardown(a_machine_in_quarantine_ends_all, fresh, done),
        cmocka_unit_test_setup_teardown(an_agent_that_starts_anew_ends_all, fresh, done),
        cmocka_unit_test_setup_teardown(half_a_gang_is_freed_in_time, fresh, done),
        cmocka_unit_test_setup_teardown(a_rank_that_fails_before_the_first_is_taken_frees_all, fresh, done),
        cmocka_unit_test_setup_teardown(all_machines_hear_that_it_shall_end, fresh, done),
        cmocka_unit_test_setup_teardown(metrics_are_the_first_ranks_and_lines_say_whose, fresh, done),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
