/* SPDX-License-Identifier: Apache-2.0 */
/* test_reservations.c - when a reservation begins, who may be sent away is, and machines for maintenance are drained until it has
 * ended or was removed; rows of tenants that are gone go. */
#include "tests/db/scheduler/engines/engine_kit.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/reservations.h"
#include "scheduler/evict.h"

enum { MACHINES = 3 };

static struct machine m[MACHINES];

FIXTURE_GROUP((machine_up(&f, &m[0], "ae-dxb-1", "w1", 4, 0), machine_up(&f, &m[1], "ae-dxb-1", "w2", 4, 0),
               machine_up(&f, &m[2], "ae-dxb-1", "w3", 4, 0)),
              NOTHING_MORE)

static int done(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM reservation");
    fixture_exec(&f, "UPDATE node SET state = 'READY', reason = '', is_drained = false");
    fixture_end_all(&f);
    return 0;
}

/* Of the machines whose names are in that list; tenant NULL: for maintenance. */
static void make(const char *names, const char *from, const char *tenant)
{
    fixture_exec(&f, "WITH r AS (INSERT INTO reservation (reservation_id, purpose, for_tenant, from_at, until_at) VALUES"
                     " (gen_random_uuid(), '%s', %s%s%s, now() + interval '%s', now() + interval '2 hours')"
                     " RETURNING reservation_id) INSERT INTO reservation_machine"
                     " SELECT r.reservation_id, n.node_id FROM r, node n WHERE n.name IN (%s)",
                 tenant ? "tenant" : "maintenance", tenant ? "'" : "NULL", tenant ? tenant : "", tenant ? "'" : "", from, names);
}

static void leader_looks(void)
{
    struct arena *a = arena_new(64 << 20);
    struct work w = { .app = &f.scheduler, .arena = a, .now_us = clock_wall_us(&clock_system) };
    struct slice told;
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, reservations_pass(&w, e), e));
    OK(RUN_SYSTEM(&w, f.scheduler.pool, 0, evict_windows(&w, &told, e), e));
    arena_free(a);
}

static int64_t draining(void)
{
    return fixture_count(&f, "SELECT count(*) FROM node WHERE state = 'DRAINING'");
}

static void maintenance_drains_sends_away_and_gives_back(void **state)
{
    (void)state;
    struct uuid jobs[3];
    struct lease_grant g[3];
    fixture_exec(&f, "INSERT INTO priority_class (class, value, preemptible, grace_s) VALUES ('firm', 1, false, 0)");
    submit(&f, f.tenant_a, 3, 4, 3, jobs);
    assert_int_equal(plan(&f), 3);
    for (size_t i = 0; i < MACHINES; i++) {
        assert_int_equal(take(&f, &m[i], 1, &g[i]), 1);
        assert_int_equal(tell(&f, &m[i], &g[i], 1, LE_START, NULL), 1);
    }
    char text[UUID_TEXT];
    uuid_text(g[1].job_id, text);
    fixture_exec(&f, "UPDATE job SET class = 'firm' WHERE job_id = '%s'", text);
    make("'w1', 'w2'", "1 hour", NULL);
    leader_looks();
    assert_int_equal(draining(), 0);            /* it has not begun */
    fixture_exec(&f, "UPDATE reservation SET from_at = now() - interval '1 second'");
    leader_looks();
    leader_looks();                             /* once is enough */
    assert_int_equal(draining(), 2);
    assert_string_equal(state_of(&f, g[0].job_id), "PREEMPTING");
    assert_string_equal(state_of(&f, g[1].job_id), "RUNNING");      /* its class may not be sent away */
    assert_string_equal(state_of(&f, g[2].job_id), "RUNNING");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE message = 'its machine is kept for maintenance'"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%%rsv\\_%%'"), 2);
    fixture_exec(&f, "UPDATE node SET reason = 'the fan is broken' WHERE name = 'w2'");        /* a person says more */
    fixture_exec(&f, "DELETE FROM reservation");
    leader_looks();
    assert_int_equal(draining(), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE name = 'w1' AND state = 'READY' AND NOT is_drained"), 1);
    fixture_check(&f);
    for (size_t i = 0; i < MACHINES; i++)
        tell(&f, &m[i], &g[i], 1, i ? LE_SUCCEED : LE_PREEMPT, NULL);
    fixture_exec(&f, "UPDATE node SET state = 'READY'");
}

static void whom_it_is_for_stays_when_it_begins(void **state)
{
    (void)state;
    struct lease_grant g;
    struct uuid own;
    char text[UUID_TEXT];
    submit(&f, f.tenant_b, 1, 4, 3, &own);
    assert_int_equal(plan(&f), 1);
    size_t at = 0;
    while (at < MACHINES && !take(&f, &m[at], 1, &g))
        at++;
    assert_int_equal(tell(&f, &m[at], &g, 1, LE_START, NULL), 1);
    uuid_text(f.tenant_b, text);
    make("'w1', 'w2', 'w3'", "-1 second", text);
    leader_looks();
    assert_string_equal(state_of(&f, own), "RUNNING");
    assert_int_equal(draining(), 0);            /* only maintenance drains */
    uuid_text(f.tenant_a, text);
    fixture_exec(&f, "UPDATE reservation SET for_tenant = '%s'", text);
    leader_looks();
    assert_string_equal(state_of(&f, own), "PREEMPTING");
    tell(&f, &m[at], &g, 1, LE_PREEMPT, NULL);
}

static void what_is_for_nobody_any_more_goes(void **state)
{
    (void)state;
    char text[UUID_TEXT];
    uuid_text(f.tenant_b, text);
    make("'w1'", "1 hour", text);
    make("'w2'", "1 hour", NULL);
    leader_looks();
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM reservation"), 2);
    fixture_exec(&f, "UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '%s'", text);
    fixture_exec(&f, "INSERT INTO reservation (reservation_id, purpose, from_at, until_at) VALUES (gen_random_uuid(),"
                     " 'maintenance', now() - interval '200 days', now() - interval '91 days')");
    leader_looks();
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM reservation"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM reservation_machine"), 1);
    fixture_exec(&f, "UPDATE tenant SET state = 'ACTIVE' WHERE tenant_id = '%s'", text);
}

static int64_t has(const char *name)
{
    return fixture_count(&f, "SELECT count(*) FROM reservation_machine m JOIN node n ON n.node_id = m.node_id"
                             "  JOIN reservation r ON r.reservation_id = m.reservation_id"
                             " WHERE r.purpose = 'tenant' AND n.name = '%s'", name);
}

static void fails(const char *name, const char *since)
{
    fixture_exec(&f, "UPDATE node SET state = 'LOST', last_seen_at = now() - interval '%s' WHERE name = '%s'", since, name);
}

static void what_was_lost_is_replaced(void **state)
{
    (void)state;
    char text[UUID_TEXT];
    uuid_text(f.tenant_a, text);
    make("'w1'", "1 hour", text);
    fails("w1", "1 hour");
    leader_looks();
    assert_int_equal(has("w1"), 1);             /* a person named it */
    fixture_exec(&f, "UPDATE reservation r SET zone = n.zone, flavor = n.flavor FROM node n WHERE n.name = 'w1'");
    fails("w1", "1 second");
    leader_looks();
    assert_int_equal(has("w1"), 1);             /* it may come back */
    make("'w2'", "90 minutes", NULL);           /* and that one is kept for maintenance in the same time */
    fails("w1", "1 hour");
    leader_looks();
    assert_int_equal(has("w1"), 0);
    assert_int_equal(has("w2"), 0);
    assert_int_equal(has("w3"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM audit_event"
                                       " WHERE convert_from(body, 'UTF8') LIKE '%%replace%%'"), 1);
    leader_looks();
    assert_int_equal(has("w3"), 1);
    fails("w3", "1 hour");
    leader_looks();
    assert_int_equal(has("w3"), 1);             /* no other is left */
    fixture_exec(&f, "DELETE FROM reservation WHERE purpose = 'maintenance'");
    leader_looks();
    assert_int_equal(has("w2"), 1);
    fixture_exec(&f, "UPDATE node SET state = 'QUARANTINED' WHERE name = 'w2'");
    fixture_exec(&f, "UPDATE node SET state = 'READY' WHERE name = 'w1'");
    leader_looks();
    assert_int_equal(has("w1"), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM reservation_machine"), 1);
    fixture_exec(&f, "UPDATE node SET state = 'READY', pool = 'lent', name = 'lent-3' WHERE name = 'w3'");
    (void)kit_engine(&f, "lent", 2);
    fails("w1", "1 hour");
    leader_looks();
    assert_int_equal(has("lent-3"), 0);         /* it is an engine's, here for one lease */
    fixture_exec(&f, "DELETE FROM engine");
    leader_looks();
    assert_int_equal(has("lent-3"), 1);
    fixture_exec(&f, "UPDATE node SET pool = 'default', name = replace(name, 'lent-', 'w')");
}

/* What a prediction is told of a machine's windows has an end. */
static void windows_told_are_bounded(void **state)
{
    (void)state;
    fixture_exec(&f, "WITH r AS (INSERT INTO reservation (reservation_id, purpose, from_at, until_at)"
                     "  SELECT gen_random_uuid(), 'maintenance', now() + 2 * i * interval '1 hour',"
                     "         now() + (2 * i + 1) * interval '1 hour' FROM generate_series(1, 70) i RETURNING reservation_id)"
                     " INSERT INTO reservation_machine SELECT r.reservation_id, n.node_id FROM r, node n WHERE n.name = 'w1'");
    assert_int_equal(fixture_count(&f, "SELECT max(length(kept) - length(replace(kept, ',', '')) + 1)"
                                       "  FROM machine_kinds('x', 10)"), 64);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM machine_kinds('x', 10), reservation r WHERE"
                                       " kept LIKE (extract(epoch FROM r.from_at) * 1000000)::bigint || ':%%'"
                                       " AND r.from_at = (SELECT min(from_at) FROM reservation)"), 1);     /* the nearest */
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, done)
    const struct CMUnitTest tests[] = {
        T(maintenance_drains_sends_away_and_gives_back),
        T(whom_it_is_for_stays_when_it_begins),
        T(what_is_for_nobody_any_more_goes),
        T(what_was_lost_is_replaced),
        T(windows_told_are_bounded),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
