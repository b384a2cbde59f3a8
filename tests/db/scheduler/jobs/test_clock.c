/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock.c - a tenant is told its own jobs and sums of others in its own zones; one job when it starts and what would
 * start it now, which then does; the platform tenants. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/jobs/clock.h"

#include <stdlib.h>

static struct machine one, away;
FIXTURE_GROUP((machine_up(&f, &one, "ae-dxb-1", "one", 8, 0), machine_up(&f, &away, "ae-auh-1", "away", 32, 0)), NOTHING_MORE)

static struct queue_clock clock_of(struct uuid tenant, struct work *w)
{
    struct queue_clock c;
    *w = fixture_reader(&f, tenant);
    w->now_us = clock_wall_us(&clock_system);
    OK(queue_clock_read(w, 24, &c, e));
    return c;
}

static struct job_clock job_clock_of(struct uuid tenant, struct uuid job_id, struct work *w)
{
    struct job j;
    struct job_clock c;
    *w = fixture_reader(&f, tenant);
    w->now_us = clock_wall_us(&clock_system);
    OK(job_get(w, job_id, &j, e));
    OK(job_clock_read(w, &j, 24, &c, e));
    return c;
}

static const struct job_change *change_of(const struct job_clock *c, const char *what)
{
    const struct job_change *x = c->changes.items;
    for (size_t i = 0; i < c->changes.n; i++)
        if (str_eq_c(x[i].change, what))
            return &x[i];
    return NULL;
}

static struct uuid runs, waits;

static void own_jobs_are_told_and_others_are_sums(void **state)
{
    (void)state;
    struct work w;
    struct uuid of_b[2];
    assert_int_equal(submit(&f, f.tenant_a, 1, 6, 3, &runs), 1);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(submit(&f, f.tenant_b, 2, 30, 3, of_b), 2);
    assert_int_equal(plan(&f), 1);
    assert_int_equal(submit(&f, f.tenant_a, 1, 4, 3, &waits), 1);
    struct queue_clock c = clock_of(f.tenant_a, &w);
    assert_int_equal(c.zones.n, 1);             /* the zone that it may use, and not where the other runs */
    const struct clock_zone *z = c.zones.items;
    const struct clock_line *l = z->lines.items;
    assert_int_equal(z->slots, 8);
    assert_true(str_eq_c(l[0].who, "own") && str_eq_c(l[1].who, "others"));
    const struct clock_point *p = l[0].points.items;
    assert_int_equal(p[0].slots, 6);
    assert_int_equal(p[l[0].points.n - 1].slots, 0);    /* all of it has ended within a day */
    assert_int_equal(((const struct clock_point *)l[1].points.items)->slots, 0);
    assert_int_equal(c.running.n, 1);
    assert_int_equal(c.starts.n, 1);
    const struct clock_job *s = c.starts.items, *r = c.running.items;
    assert_true(uuid_eq(s->job_id, waits) && str_eq_c(s->after, "job") && uuid_eq(s->after_job_id, runs));
    assert_int_equal(s->at.us, r->ends_at.us);
    assert_true(str_eq_c(s->reason, "Resources"));
    assert_int_equal(c.others_running, 0);      /* it runs where this tenant may not be */
    assert_int_equal(c.others_waiting, 1);      /* it might run here */
    fixture_reader_done(&w);
    c = clock_of(f.tenant_b, &w);
    assert_int_equal(c.zones.n, 2);
    assert_int_equal(c.others_running, 1);
    assert_int_equal(c.starts.n, 1);
    fixture_reader_done(&w);
    for (int i = 0; i < 2; i++)
        cancel_job(&f, f.tenant_b, of_b[i]);
}

static void a_change_that_is_told_does_it(void **state)
{
    (void)state;
    struct work w;
    char hex[UUID_TEXT];
    struct job_clock c = job_clock_of(f.tenant_a, waits, &w);
    assert_true(str_eq_c(c.state, "later"));
    assert_true(str_eq_c(c.start.after, "job"));
    assert_true(str_eq_c(change_of(&c, "slots")->to, "2"));
    assert_null(change_of(&c, "quota_slots"));
    assert_null(change_of(&c, "class"));
    fixture_reader_done(&w);
    uuid_text(waits, hex);
    fixture_exec(&f, "UPDATE job SET slots = 3 WHERE job_id = '%s'", hex);
    assert_int_equal(plan(&f), 0);              /* one more than was told */
    fixture_exec(&f, "UPDATE job SET slots = 2 WHERE job_id = '%s'", hex);
    c = job_clock_of(f.tenant_a, waits, &w);
    assert_true(str_eq_c(c.state, "now"));
    assert_int_equal(c.changes.n, 0);
    fixture_reader_done(&w);
    assert_int_equal(plan(&f), 1);
    c = job_clock_of(f.tenant_a, waits, &w);
    assert_true(str_eq_c(c.state, "not_waiting"));
    fixture_reader_done(&w);
}

static void a_quota_is_raised_by_what_lacks(void **state)
{
    (void)state;
    struct work w;
    struct uuid job;
    char hex[UUID_TEXT];
    cancel_job(&f, f.tenant_a, waits);
    reap(&f);
    uuid_text(f.tenant_a, hex);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &job), 1);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 5 WHERE tenant_id = '%s' AND resource = 'slots'", hex);
    struct job_clock c = job_clock_of(f.tenant_a, job, &w);
    assert_true(str_eq_c(c.reason, "QuotaExceeded"));
    const int64_t used = fixture_count(&f, "SELECT sum(slots) FROM attempt WHERE live AND tenant_id = '%s'", hex);
    int64_t to;
    if (used < 8) {
        assert_non_null(change_of(&c, "quota_slots"));
        assert_true(str_to_i64(change_of(&c, "quota_slots")->to, 0, 1000, &to));
        assert_int_equal(to, used + 1);
    } else
        assert_int_equal(c.changes.n, 0);       /* the machine is full too: no single change is enough */
    fixture_reader_done(&w);
    uuid_text(job, hex);
    fixture_exec(&f, "UPDATE job SET not_before = 'infinity', reason = 'Dependency' WHERE job_id = '%s'", hex);
    c = job_clock_of(f.tenant_a, job, &w);
    assert_true(str_eq_c(c.state, "gate") && str_eq_c(c.reason, "Dependency"));
    fixture_reader_done(&w);
}

/* Who waits for another job starts after it; who is of a higher class is given room, and who makes it waits again. */
static void dependencies_and_classes_are_played(void **state)
{
    (void)state;
    struct work w;
    struct uuid first, second, high;
    char a[UUID_TEXT], b[UUID_TEXT], c_[UUID_TEXT], t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1000 WHERE tenant_id = '%s' AND resource = 'slots'", t);
    assert_int_equal(submit(&f, f.tenant_a, 1, 8, 3, &first), 1);
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, &second), 1);
    uuid_text(first, a);
    uuid_text(second, b);
    fixture_exec(&f, "INSERT INTO job_dependency (tenant_id, job_id, on_job_id, type) VALUES ('%s', '%s', '%s', 'afterok')", t, b,
                 a);
    fixture_exec(&f, "UPDATE job SET not_before = 'infinity', reason = 'Dependency' WHERE job_id = '%s'", b);
    struct job_clock c = job_clock_of(f.tenant_a, second, &w);
    assert_true(str_eq_c(c.state, "later"));
    assert_true(str_eq_c(c.start.after, "dependency") && uuid_eq(c.start.after_job_id, first));
    assert_int_equal(c.changes.n, 0);
    const int64_t after = c.start.at.us;
    fixture_reader_done(&w);
    c = job_clock_of(f.tenant_a, first, &w);
    assert_true(llabs(c.start.ends_at.us - after) < INT64_C(600) * 1000000);   /* far times are coarse, and now is later */
    fixture_reader_done(&w);
    assert_int_equal(submit(&f, f.tenant_a, 1, 8, 3, &high), 1);
    uuid_text(high, c_);
    fixture_exec(&f, "UPDATE priority_class SET preemptible = true, grace_s = 10, min_runtime_s = 0 WHERE class = 'default'");
    fixture_exec(&f, "INSERT INTO priority_class (class, value, description) VALUES ('urgent', 100, 'First')");
    fixture_exec(&f, "UPDATE job SET class = 'urgent' WHERE job_id = '%s'", c_);
    fixture_exec(&f, "UPDATE attempt SET state = 'RUNNING', started_at = now() - interval '5 seconds' WHERE live "
                     "AND tenant_id = '%s'", t);
    struct queue_clock q = clock_of(f.tenant_a, &w);
    const struct clock_job *r = q.running.items, *s = q.starts.items;
    bool leaves = false, made = false;
    for (size_t i = 0; i < q.running.n; i++)
        leaves |= r[i].leaves_at.us > 0 && r[i].ends_at.us == r[i].leaves_at.us;
    for (size_t i = 0; i < q.starts.n; i++)
        made |= uuid_eq(s[i].job_id, high) && s[i].makes_room && s[i].at.us <= q.at.us + 11 * 1000000;
    assert_true(leaves && made);
    fixture_reader_done(&w);
}

static void the_platform_is_told_tenants(void **state)
{
    (void)state;
    struct work w;
    struct queue_clock c = clock_of((struct uuid){ 0 }, &w);
    assert_true(c.zones.n >= 2);
    assert_int_equal(c.starts.n + c.running.n + c.late.n, 0);
    const struct clock_zone *z = c.zones.items;
    bool found = false;
    for (size_t i = 0; i < c.zones.n; i++)
        for (size_t k = 0; k < z[i].lines.n; k++) {
            const struct clock_line *l = (const struct clock_line *)z[i].lines.items + k;
            found |= str_eq_c(l->who, "tenant") && uuid_eq(l->tenant_id, f.tenant_a) && l->name.len &&
                     ((const struct clock_point *)l->points.items)->slots >= 6;
        }
    assert_true(found);
    fixture_reader_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(own_jobs_are_told_and_others_are_sums),
                                        cmocka_unit_test(a_change_that_is_told_does_it),
                                            cmocka_unit_test(a_quota_is_raised_by_what_lacks),
                                        cmocka_unit_test(the_platform_is_told_tenants),
                                        cmocka_unit_test(dependencies_and_classes_are_played) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
