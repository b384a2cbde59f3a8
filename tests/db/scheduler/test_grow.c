/* SPDX-License-Identifier: Apache-2.0 */
/* test_grow.c - a job on as many machines as are free, on a real database: it starts small, grows when machines become free and
 * nobody waits, and becomes smaller when it makes room; each time one attempt, one fence and its members, and all invariants. */
#include "core/db/run_tx.h"
#include "scheduler/engine/lease_member.h"
#include "scheduler/grow.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/grow.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/placement.h"
#include "tests/db/scheduler/fixture.h"

enum { MACHINES = 4 };

static struct machine m[MACHINES];
static struct claims claims;
static struct bookings bookings;

static void all_up(void);
FIXTURE_GROUP((all_up(), f.scheduler.claims = &claims, f.scheduler.bookings = &bookings,
               fixture_exec(&f, "UPDATE node SET gangs = true;"
                                "INSERT INTO priority_class (class, value, preemptible, grace_s, min_runtime_s) VALUES"
                                " ('low', -10, true, 40, 0), ('high', 10, false, 0, 0)")),
              NOTHING_MORE)

static void all_up(void)
{
    static const char *const names[] = { "w1", "w2", "w3", "w4" };
    for (int i = 0; i < MACHINES; i++)
        machine_up(&f, &m[i], "ae-dxb-1", names[i], 4, 0);
}

static int done(void **state)
{
    (void)state;
    fixture_end_all(&f);
    claims = (struct claims){ 0 };
    bookings = (struct bookings){ 0 };
    return 0;
}

static struct uuid one_of(struct uuid tenant, const char *cls, int nodes, int most, int64_t slots)
{
    struct uuid id;
    char text[UUID_TEXT];
    assert_int_equal(submit(&f, tenant, 1, slots, 3, &id), 1);
    uuid_text(id, text);
    fixture_exec(&f, "UPDATE job SET class = '%s', nodes = %d, nodes_max = %d WHERE job_id = '%s'", cls, nodes, most, text);
    return id;
}

static struct uuid one(const char *cls, int nodes, int most, int64_t slots)
{
    return one_of(f.tenant_a, cls, nodes, most, slots);
}

static void meet(const struct machine *at, const struct lease_grant *g, int rank)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 20) };
    struct lease l;
    struct lease_gang_out out = { 0 };
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    OK(lease_check(&w, g->tenant_id, g->attempt_id, g->fence, at->identity, &l, e));
    OK(lease_meet(&w, &l, str_fmt(w.arena, "127.0.0.1:%d", 1001 + rank), &out, e));
    OK(db_commit(w.tx, e));
    arena_free(w.arena);
}

/* What was placed on n machines runs there. rank0: its grant and machine. */
struct part { struct lease_grant g; int machine; };
static void runs(int n, struct part *rank0)
{
    struct part all[MACHINES];
    int k = 0;
    for (int i = 0; i < MACHINES; i++) {
        struct uuid after = UUID_LEAST;
        all[k].machine = i;
        k += (int)offer(&f, &m[i], &after, 4, &all[k].g);
    }
    assert_int_equal(k, n);
    for (int i = 0; i < n; i++)
        meet(&m[all[i].machine], &all[i].g, i);
    for (int i = 0; i < n; i++) {
        assert_int_equal(tell(&f, &m[all[i].machine], &all[i].g, 1, LE_START, NULL), 1);
        if (!all[i].g.rank)
            *rank0 = all[i];
    }
}

static void leaves(const struct part *rank0)
{
    assert_int_equal(tell(&f, &m[rank0->machine], &rank0->g, 1, LE_PREEMPT, NULL), 1);
    fixture_check(&f);
}

/* How many machines were told to go. pool: somebody waits there; NULL: nobody. */
static size_t grows(const char *pool)
{
    struct arena *a = arena_new(64 << 20);
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    struct grow_wait busy = { .pool = pool ? str_c(pool) : STR_NULL };
    struct slice told = { 0 };
    OK(grow_pass(&w, (struct slice){ &busy, pool != NULL }, &told, e));
    const size_t n = told.n;
    arena_free(a);
    fixture_check(&f);
    return n;
}

static int64_t size_now(void)
{
    return fixture_count(&f, "SELECT nodes FROM attempt WHERE live AND nodes > 1");
}

/* Two of four machines are in use: the job of two to four runs on the others. */
static struct uuid small_and_others(struct part *rank0, struct lease_grant others[2])
{
    for (int i = 0; i < 2; i++) {
        (void)one("low", 1, 1, 4);
        assert_int_equal(plan(&f), 1);
    }
    for (int i = 0, k = 0; i < MACHINES && k < 2; i++)
        k += (int)take(&f, &m[i], 1, &others[k]);
    const struct uuid id = one("low", 2, 4, 3);
    assert_int_equal(plan(&f), 1);
    runs(2, rank0);
    assert_int_equal(size_now(), 2);
    return id;
}

static void others_end(const struct lease_grant others[2])
{
    for (int k = 0; k < 2; k++) {
        int ended = 0;
        for (int i = 0; i < MACHINES; i++)
            if (fixture_count(&f, "SELECT count(*) FROM attempt a JOIN node n USING (node_id) WHERE a.live AND a.nodes = 1"
                                  " AND n.name = 'w%d'", i + 1))
                ended += (int)run_through(&f, &m[i], &others[k], 1);
        assert_int_equal(ended, 2);
    }
}

static void it_grows_and_becomes_smaller(void **state)
{
    (void)state;
    struct part rank0;
    struct lease_grant others[2];
    const struct uuid id = small_and_others(&rank0, others);
    char text[UUID_TEXT];
    uuid_text(id, text);
    f.config->scheduler_grow_after_ms = 1;
    assert_int_equal(grows(NULL), 0);   /* the others have their machines */
    others_end(others);
    assert_int_equal(grows("default"), 0);
    f.config->scheduler_grow_after_ms = 600000;
    assert_int_equal(grows(NULL), 0);   /* it has not run for so long */
    f.config->scheduler_grow_after_ms = 0;
    fixture_exec(&f, "UPDATE attempt SET started_at = started_at - interval '2 days', leased_at = leased_at - interval '2 days'"
                     " WHERE live");
    assert_int_equal(grows(NULL), 0);   /* never */
    f.config->scheduler_grow_after_ms = 600000;
    assert_int_equal(grows(NULL), 2);
    assert_string_equal(state_of(&f, id), "PREEMPTING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE job_id = '%s'"
                                       " AND message = 'goes on with 4 machines instead of 2'", text), 1);
    assert_int_equal(grows(NULL), 0);   /* once */
    leaves(&rank0);
    assert_string_equal(state_of(&f, id), "PENDING");
    assert_int_equal(plan(&f), 1);
    assert_int_equal(size_now(), 4);
    assert_int_equal(fixture_count(&f, "SELECT slots FROM usage_open"), 12);
    runs(4, &rank0);
    f.config->scheduler_grow_after_ms = 1;
    assert_int_equal(grows(NULL), 0);   /* it has all */

    /* it makes room on one machine, and goes on with two of those that are left, at once */
    const struct uuid high = one("high", 1, 1, 2);
    assert_int_equal(plan(&f), 0);
    assert_string_equal(state_of(&f, id), "PREEMPTING");
    leaves(&rank0);
    assert_int_equal(plan(&f), 2);
    assert_string_equal(state_of(&f, high), "ADMITTED");
    assert_string_equal(state_of(&f, id), "ADMITTED");
    assert_int_equal(size_now(), 2);
    assert_int_equal(fixture_count(&f, "SELECT fence FROM job WHERE job_id = '%s'", text), 3);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE job_id = '%s' AND state = 'PREEMPTED'", text), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_member WHERE live"), 2);
    /* growing is not among what it was sent away for, nor a try */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt WHERE job_id = '%s' AND state = 'PREEMPTED' AND"
                                       " evict_for <> '00000000-0000-0000-0000-000000000000'", text), 1);
    fixture_check(&f);
}

/* One of a tenant at a time: while one leaves, another tenant's grows into what that one will not have, and no further. */
static void each_tenant_has_its_turn(void **state)
{
    (void)state;
    struct lease_grant g;
    struct uuid id[2];
    f.config->scheduler_grow_after_ms = 1;
    (void)one("low", 1, 1, 4);
    assert_int_equal(plan(&f), 1);
    for (int k = 0; k < 2; k++)
        id[k] = one_of(k ? f.tenant_b : f.tenant_a, "low", 1, 1, 3);
    assert_int_equal(plan(&f), 2);      /* one machine each; the fourth is free */
    for (int i = 0; i < MACHINES; i++)
        if (take(&f, &m[i], 1, &g))
            assert_int_equal(tell(&f, &m[i], &g, 1, LE_START, NULL), 1);
    fixture_exec(&f, "UPDATE job SET nodes_max = 2 WHERE slots = 3");
    fixture_exec(&f, "UPDATE attempt SET started_at = started_at - interval '1 hour', leased_at = leased_at - interval '1 hour'"
                     " WHERE live AND tenant_id = (SELECT tenant_id FROM tenant WHERE name = 'aaa')");
    assert_int_equal(grows(NULL), 1);
    assert_string_equal(state_of(&f, id[0]), "PREEMPTING");
    assert_int_equal(grows(NULL), 0);   /* the free machine is the first one's */
    fixture_exec(&f, "UPDATE node SET slots = 8, cpu_milli = 8000 WHERE node_id = (SELECT node_id FROM attempt a JOIN job j USING"
                     " (tenant_id, job_id) WHERE j.slots = 4)");
    assert_int_equal(grows(NULL), 1);
    assert_string_equal(state_of(&f, id[1]), "PREEMPTING");
    fixture_exec(&f, "UPDATE node SET slots = 4, cpu_milli = 4000");
}

/* What would not come out of its queue again stays where it is. */
static void it_stays_with_a_deadline_or_a_spent_budget(void **state)
{
    (void)state;
    struct part rank0;
    struct lease_grant others[2];
    (void)small_and_others(&rank0, others);
    others_end(others);
    f.config->scheduler_grow_after_ms = 1;
    fixture_exec(&f, "UPDATE job SET deadline_at = clock_timestamp() + interval '1 day' WHERE nodes_max = 4");
    assert_int_equal(grows(NULL), 0);
    fixture_exec(&f, "UPDATE job SET deadline_at = NULL, suspend_requested = true WHERE nodes_max = 4");
    assert_int_equal(grows(NULL), 0);
    fixture_exec(&f, "UPDATE job SET suspend_requested = false WHERE nodes_max = 4");
    fixture_exec(&f, "INSERT INTO budget (tenant_id, budget_id, name, measure, amount, period, period_start, state, created_by)"
                     " SELECT tenant_id, gen_random_uuid(), 'b', 'gpu_hours', 1, 'total', now(), 'STOPPED', gen_random_uuid()"
                     " FROM job WHERE nodes_max = 4");
    assert_int_equal(grows(NULL), 0);
    fixture_exec(&f, "UPDATE budget SET state = 'OPEN'; UPDATE priority_class SET grace_s = 0 WHERE class = 'low'");
    /* nobody is in a hurry, so that it has time for a checkpoint whatever its class gives it */
    const int64_t now_ms = fixture_count(&f, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    assert_int_equal(grows(NULL), 2);
    assert_true(fixture_count(&f, "SELECT (extract(epoch FROM evict_until) * 1000)::bigint FROM attempt WHERE live AND nodes > 1")
                >= now_ms + 60000);
}

/* Who waits for room is in everybody's way in its pool; for quota, in its tenant's way everywhere, and in no other's. */
static void quota_of_one_tenant_is_in_no_others_way(void **state)
{
    (void)state;
    struct snap_tenant t[] = { { .tenant_id.b[0] = 1, .slots_used = 4, .slots_limit = 4 },
                               { .tenant_id.b[0] = 2, .slots_limit = 4 } };
    struct snap_job j[] = { { .pool = STR("a"), .slots = 1, .tenant = 0 }, { .pool = STR("b"), .slots = 1, .tenant = 1 },
                            { .pool = STR("c"), .slots = 1, .tenant = 1 }, { .pool = STR("d"), .slots = 1, .tenant = 1 } };
    struct waiting waits[] = { { 0, STR("QuotaExceeded"), STR(""), false }, { 1, STR("Resources"), STR(""), false },
                               { 2, STR("NoMatchingFlavor"), STR(""), false }, { 3, STR("QuotaExceeded"), STR(""), false } };
    const struct snapshot s = { .tenants = { t, 2 }, .jobs = { j, 4 } };
    const struct plan p = { .waits = { waits, 4 } };
    struct work w = { .arena = arena_new(1 << 20) };
    const struct slice busy = grow_busy(&w, &s, &p);
    const struct grow_wait *x = busy.items;
    assert_int_equal(busy.n, 4);        /* the last one has quota left, so that a rule keeps it, which tenants may share */
    assert_true(str_eq(x[0].pool, STR("b")) && uuid_is_nil(x[0].tenant_id));
    assert_true(str_eq(x[1].pool, STR("d")) && uuid_is_nil(x[1].tenant_id));
    assert_true(!x[2].pool.ptr && uuid_eq(x[2].tenant_id, t[0].tenant_id));
    assert_true(!x[3].pool.ptr && uuid_eq(x[3].tenant_id, t[1].tenant_id));
    arena_free(w.arena);
}

/* A plan that was cut says nothing of those that it left out: they may wait in their pools and for their tenants' quota, and
 * nobody else is known to. */
static void a_cut_plan_stops_growth_where_it_was_cut(void **state)
{
    (void)state;
    static struct str home = { "home", 4 };
    struct snap_node n[] = { { .zone = home, .pool = STR("a"), .slots = 8, .free_slots = 8 } };
    struct snap_tenant t[] = { { .tenant_id.b[0] = 1, .slots_limit = 99 }, { .tenant_id.b[0] = 2, .slots_limit = 99 } };
    struct snap_job j[] = { { .job_id.b[0] = 1, .pool = STR("a"), .priority = 3, .is_cut = true },
                            { .job_id.b[0] = 2, .pool = STR("b"), .priority = 2 },
                            { .job_id.b[0] = 3, .pool = STR("c"), .tenant = 1 } };
    for (int i = 0; i < 3; i++) {
        j[i].tenant_id = t[j[i].tenant].tenant_id;
        j[i].zones = (struct slice){ &home, 1 };
        j[i].slots = 1;
    }
    struct snapshot s = { .nodes = { n, 1 }, .tenants = { t, 2 }, .jobs = { j, 3 } };
    struct work w = { .arena = arena_new(64 << 20) };
    struct plan p;
    placement_plan(&s, w.arena, &p);
    assert_true(p.is_cut);
    assert_int_equal(p.places.n, 1);
    assert_int_equal(p.waits.n, 1);     /* of the other tenant: no machine is in its pool, which no end of others changes */
    const struct slice busy = grow_busy(&w, &s, &p);
    const struct grow_wait *x = busy.items;
    assert_int_equal(busy.n, 3);
    assert_true(str_eq(x[0].pool, STR("a")) && str_eq(x[1].pool, STR("b")));
    assert_true(!x[2].pool.ptr && uuid_eq(x[2].tenant_id, t[0].tenant_id));
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(it_grows_and_becomes_smaller, done),
                                        cmocka_unit_test_teardown(it_stays_with_a_deadline_or_a_spent_budget, done),
                                        cmocka_unit_test_teardown(each_tenant_has_its_turn, done),
                                        cmocka_unit_test(quota_of_one_tenant_is_in_no_others_way),
                                        cmocka_unit_test(a_cut_plan_stops_growth_where_it_was_cut) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
