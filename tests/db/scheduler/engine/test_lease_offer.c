/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_offer.c - what a machine is offered and takes, on a real PostgreSQL: what is left, first words that are the last
 * ones, and grants that were lost on the way. */
#include "tests/db/scheduler/fixture.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0), NOTHING_MORE)

/* How a job came to its end, by the view of its steps: one state after the other, without a gap. */
static void assert_steps(struct uuid id, const char *states)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    assert_int_equal(fixture_count(&f, "SELECT (string_agg(state, ',' ORDER BY version, at) = '%s'"
                                       " AND max(version) = count(DISTINCT version))::int"
                                       " FROM job_step WHERE job_id = '%s'", states, text), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM (SELECT at < lag(at) OVER (ORDER BY version) AS back FROM job_step"
                                       " WHERE job_id = '%s') s WHERE back", text), 0);
    assert_int_equal(fixture_count(&f, "SELECT (version = (SELECT max(version) FROM job_step s WHERE s.job_id = j.job_id))::int"
                                       " FROM job j WHERE job_id = '%s'", text), 1);
}

static size_t offered(int64_t free_slots, int64_t max, struct lease_grant *ret, bool *left)
{
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
    struct slice rows = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(lease_offer(&w, &m.node, UUID_LEAST, free_slots, max, f.config->scheduler_lease_ms, &rows, left, e));
    for (size_t i = 0; i < rows.n; i++)
        ret[i] = ((const struct lease_grant *)rows.items)[i];
    OK(db_commit(w.tx, e));
    arena_free(a);
    return rows.n;
}

/* Whether more may wait than was given decides whether the next call has to ask at all. */
static void an_offer_says_what_is_left(void **state)
{
    (void)state;
    static const struct { int64_t free_slots, max; size_t n; bool left; } cases[] = {
        { 8, 4, 3, false }, { 6, 4, 3, false }, { 5, 4, 2, true }, { 1, 4, 0, true }, { 8, 3, 3, true },
        { 8, 2, 2, true }, { 8, 0, 0, false } };
    struct uuid ids[3];
    struct lease_grant g[3];
    bool left;
    assert_int_equal(offered(8, 4, g, &left), 0);
    assert_false(left);
    submit(&f, f.tenant_a, 3, 2, 3, ids);
    plan(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(offered(cases[i].free_slots, cases[i].max, g, &left), cases[i].n);
        assert_int_equal(left, cases[i].left);
    }
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() + interval '1 second' WHERE live");
    assert_int_equal(offered(8, 4, g, &left), 3);                  /* late ones: taken, and nothing is known of others */
    assert_true(left);
    assert_int_equal(run_through(&f, &m, g, 3), 6);
    assert_int_equal(offered(8, 4, g, &left), 0);
    assert_false(left);
    fixture_check(&f);
}

/* The machine reads its leases, and what it says first writes that it took them: alone, with a start, with a start and an end. */
static void a_take_only_reads(void **state)
{
    (void)state;
    struct uuid ids[3], after = UUID_LEAST, again = UUID_LEAST;
    struct lease_grant g[3], same[3], none;
    submit(&f, f.tenant_a, 3, 1, 3, ids);
    plan(&f);
    int64_t rows = fixture_count(&f, "SELECT sum(version) FROM job");
    assert_int_equal(offer(&f, &m, &after, 10, g), 3);
    assert_int_equal(offer(&f, &m, &after, 10, &none), 0);
    assert_int_equal(offer(&f, &m, &again, 10, same), 3);       /* the answer was lost */
    assert_memory_equal(&same[2].attempt_id, &g[2].attempt_id, sizeof after);
    assert_int_equal(fixture_count(&f, "SELECT sum(version) FROM job"), rows);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live AND state = 'LEASED' AND taken_at IS NULL"), 3);
    assert_int_equal(tell(&f, &m, &g[0], 1, LE_RENEW, NULL), 1);
    assert_string_equal(state_of(&f, g[0].job_id), "STARTING");
    assert_int_equal(tell(&f, &m, &g[1], 1, LE_START, NULL), 1);
    assert_string_equal(state_of(&f, g[1].job_id), "RUNNING");
    assert_int_equal(run_through(&f, &m, &g[2], 1), 2);
    assert_steps(g[2].job_id, "PENDING,ADMITTED,STARTING,RUNNING,COMPLETED");
    assert_int_equal(offer(&f, &m, &again, 10, same), 0);
    assert_int_equal(run_through(&f, &m, g, 2), 4);
    assert_steps(g[0].job_id, "PENDING,ADMITTED,STARTING,RUNNING,COMPLETED");
    assert_steps(g[1].job_id, "PENDING,ADMITTED,STARTING,RUNNING,COMPLETED");
    assert_int_equal(run_through(&f, &m, g, 3), 3);             /* told again: three starts are late, three ends are no news */
    fixture_check(&f);
}

/* Every first word that ends the lease passes the states on its way; when it was taken is what the machine says. */
static void a_first_word_may_be_the_last(void **state)
{
    (void)state;
    static const struct { enum lease_event event; const char *steps; } ends[] = {
        { LE_FAIL, "PENDING,ADMITTED,STARTING,FAILED" }, { LE_SUCCEED, "PENDING,ADMITTED,STARTING,RUNNING,COMPLETED" },
        { LE_TIMEOUT, "PENDING,ADMITTED,STARTING,RUNNING,TIMEOUT" }, { LE_CANCEL, "PENDING,ADMITTED,STARTING,CANCELLED" },
        { LE_RETURN, "PENDING,ADMITTED,STARTING,PENDING" }, { LE_PREEMPT, "PENDING,ADMITTED,STARTING,RUNNING,PENDING" } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct uuid id, after = UUID_LEAST;
        struct lease_grant g;
        char j[UUID_TEXT];
        submit(&f, f.tenant_b, 1, 1, 3, &id);
        uuid_text(id, j);
        assert_int_equal(plan(&f), 1);
        assert_int_equal(offer(&f, &m, &after, 1, &g), 1);
        if (i == 0)
            fixture_exec(&f, "UPDATE attempt SET leased_at = leased_at - interval '1 hour' WHERE job_id = '%s'", j);
        struct lease_item item = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence,
                                   .event = (int)ends[i].event, .message = STR(""), .has_held_ms = true, .held_ms = 60000 };
        assert_int_equal(say_all(&f, &m, &item, 1, NULL), 1);
        if (i == 0)
            assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE job_id = '%s' AND taken_at BETWEEN"
                                               " finished_at - interval '61 s' AND finished_at - interval '59 s'", j), 1);
        else
            assert_steps(id, ends[i].steps);
        if (strstr(ends[i].steps + 7, "PENDING"))
            cancel_job(&f, f.tenant_b, id);
    }
    fixture_check(&f);
}

/* What was given and never spoken of comes once more, renewed, long before its lease ends. */
static void what_was_lost_on_the_way_comes_again(void **state)
{
    (void)state;
    struct uuid id, after = UUID_LEAST;
    struct lease_grant g;
    char j[UUID_TEXT];
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    uuid_text(id, j);
    plan(&f);
    assert_int_equal(offer(&f, &m, &after, 1, &g), 1);
    assert_in_range(g.lease_ms, f.config->scheduler_lease_ms * 3 / 4, f.config->scheduler_lease_ms);
    assert_int_equal(offer(&f, &m, &after, 1, &g), 0);
    fixture_exec(&f, "UPDATE attempt SET lease_until = clock_timestamp() + interval '1 s' WHERE job_id = '%s'", j);
    assert_int_equal(offer(&f, &m, &after, 1, &g), 1);
    assert_string_equal(state_of(&f, id), "STARTING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE live AND job_id = '%s'"
                                       " AND lease_until > clock_timestamp() + interval '2 s'", j), 1);
    assert_int_equal(offer(&f, &m, &after, 1, &g), 0);
    assert_int_equal(tell(&f, &m, &g, 1, LE_SUCCEED, NULL), 1);
    /* cancelled before it was spoken of: it ends at once, and who has it is told to stop */
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    plan(&f);
    assert_int_equal(offer(&f, &m, &after, 1, &g), 1);
    cancel_job(&f, f.tenant_a, id);
    reap(&f);
    assert_string_equal(state_of(&f, id), "CANCELLED");
    assert_int_equal(tell(&f, &m, &g, 1, LE_SUCCEED, NULL), 0);
    assert_string_equal(state_of(&f, id), "CANCELLED");
    fixture_check(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_says_what_is_left), cmocka_unit_test(a_take_only_reads),
        cmocka_unit_test(a_first_word_may_be_the_last), cmocka_unit_test(what_was_lost_on_the_way_comes_again),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
