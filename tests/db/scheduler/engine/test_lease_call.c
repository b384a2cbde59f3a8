/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_call.c - what a machine's call for work finds in one row, on a real PostgreSQL: each thing that it must hear of is
 * seen, and what is not there is not. */
#include "scheduler/engine/node_repo.h"
#include "tests/db/scheduler/fixture.h"

static struct machine m;
static struct uuid after;

FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0), NOTHING_MORE)

static const char fingerprint[FINGERPRINT_BYTES] = "thirty-two bytes of fingerprint";

static struct lease_call a_call(void)
{
    return (struct lease_call){ .node_id = m.node.node_id, .boot_id = m.node.boot_id, .after = after, .identity = m.identity,
                                .fingerprint = str_n(fingerprint, sizeof fingerprint), .lease_ms = f.config->scheduler_lease_ms };
}

/* What the call finds, and with ret_new how many leases are greater than `after`; ret_rc: whether this run may ask. */
static struct lease_call_facts facts_of(const struct lease_call *c, size_t *ret_new, enum errc *ret_rc)
{
    struct work w = { .app = &f.api, .arena = arena_new(1 << 20), .now_us = 1 };
    struct lease_call_facts x;
    struct lease_offer o = { .after = c->after, .free_slots = 64, .max = 16, .lease_ms = c->lease_ms };
    struct slice rows = { 0 };
    bool left;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
    struct db_ask *ask = lease_call_ask(&w, c);
    o.ask = lease_offer_ask(&w, c->node_id, c->after, o.max);
    OK(lease_call_told(&w, ask, &x, e));
    struct err why;
    const enum errc rc = lease_call_admit(&w, c, &x, &why);
    if (ret_rc)
        *ret_rc = rc;
    if (rc == ERR_OK && ret_new) {
        OK(lease_offer_told(&w, &m.node, &o, &rows, &left, e));
        *ret_new = rows.n;
    }
    OK(db_commit(w.tx, e));
    x.gate.state = STR("");                 /* lay in the arena */
    arena_free(w.arena);
    return x;
}

static void assert_only(bool is_member, bool has_late, bool has_notices, bool has_sessions)
{
    const struct lease_call c = a_call();
    const struct lease_call_facts x = facts_of(&c, NULL, NULL);
    assert_int_equal(x.is_member, is_member);
    assert_int_equal(x.has_late, has_late);
    assert_int_equal(x.has_notices, has_notices);
    assert_int_equal(x.has_sessions, has_sessions);
}

static int forget(void **state)
{
    (void)state;
    fixture_exec(&f, "DELETE FROM job_session");
    fixture_exec(&f, "DELETE FROM attempt_member");
    after = UUID_LEAST;
    fixture_end_all(&f);
    return 0;
}

/* One lease that the machine has read. */
static struct lease_grant leased(void)
{
    struct lease_grant g;
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 3, NULL), 1);
    assert_int_equal(plan(&f), 1);
    /* However slow this machine is. */
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() + interval '1 hour' WHERE live");
    after = UUID_LEAST;
    assert_int_equal(offer(&f, &m, &after, 4, &g), 1);
    return g;
}

static void only_the_registered_run_of_a_machine_may_ask(void **state)
{
    (void)state;
    struct lease_call c = a_call();
    enum errc rc;
    assert_true(uuid_eq(facts_of(&c, NULL, &rc).gate.node_id, m.node.node_id));
    assert_int_equal(rc, ERR_OK);
    c.boot_id = uuid_v7(1);
    assert_false(facts_of(&c, NULL, &rc).is_run);
    assert_int_equal(rc, ERR_STALE);
    c = a_call();
    c.node_id = uuid_v7(1);
    assert_false(facts_of(&c, NULL, &rc).is_run);
    assert_int_equal(rc, ERR_STALE);
    c = a_call();
    c.identity = STR("spiffe://other");
    assert_true(uuid_is_nil(facts_of(&c, NULL, &rc).gate.node_id));
    assert_int_equal(rc, ERR_STALE);
}

static void the_register_is_told_with_it(void **state)
{
    (void)state;
    const struct lease_call c = a_call();
    struct lease_call_facts x = facts_of(&c, NULL, NULL);
    struct err why;
    assert_false(x.gate.is_known || x.gate.is_current);
    assert_int_equal(node_gate_judge(&x.gate, false, &why), ERR_OK);
    assert_int_equal(node_gate_judge(&x.gate, true, &why), ERR_FORBIDDEN);
    fixture_exec(&f, "INSERT INTO node_cert (fingerprint, identity, source, not_after, ends_at)\n"
                     "VALUES (convert_to('%s', 'UTF8') || '\\x00', '%.*s', 'join', now() + interval '1 day',\n"
                     "        now() + interval '1 hour')",
                 fingerprint, STR_ARG(m.identity));
    x = facts_of(&c, NULL, NULL);
    assert_true(x.gate.is_known && x.gate.is_current);
    assert_int_equal(node_gate_judge(&x.gate, true, &why), ERR_OK);
    fixture_exec(&f, "UPDATE node_cert SET ends_at = now() - interval '1 second'");
    x = facts_of(&c, NULL, NULL);
    assert_true(x.gate.is_known && !x.gate.is_current);
    assert_int_equal(node_gate_judge(&x.gate, true, &why), ERR_FORBIDDEN);
    fixture_exec(&f, "DELETE FROM node_cert");
}

static void that_it_is_heard_of_is_noted_once_a_second(void **state)
{
    (void)state;
    const struct lease_call c = a_call();
    fixture_exec(&f, "UPDATE node SET last_seen_at = now() + interval '1 hour'");
    assert_false(facts_of(&c, NULL, NULL).is_due);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE last_seen_at > now()"), 1);
    fixture_exec(&f, "UPDATE node SET last_seen_at = now() - interval '1 hour', state = 'LOST'");
    assert_true(facts_of(&c, NULL, NULL).is_due);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node\n"
                                       " WHERE last_seen_at > now() - interval '30 minutes' AND state = 'READY'"), 1);
}

static void a_lease_is_new_until_it_is_had_and_late_when_nobody_took_it(void **state)
{
    (void)state;
    size_t fresh;
    assert_only(false, false, false, false);
    leased();
    struct lease_call c = a_call();
    facts_of(&c, &fresh, NULL);
    assert_int_equal(fresh, 0);
    assert_only(false, false, false, false);
    fixture_exec(&f, "UPDATE attempt SET lease_until = now() + interval '1 second' WHERE live");
    assert_only(false, true, false, false);
    c.after = UUID_LEAST;                   /* who has not had it is given it as a new one */
    assert_false(facts_of(&c, &fresh, NULL).has_late);
    assert_int_equal(fresh, 1);
    c.after = after;                        /* now it is taken */
    assert_false(facts_of(&c, &fresh, NULL).has_late);
    assert_int_equal(fresh, 0);
}

static void a_notice_is_there_until_the_machine_knows(void **state)
{
    (void)state;
    struct lease_grant g = leased();
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    assert_only(false, false, false, false);
    cancel_job(&f, f.tenant_a, g.job_id);
    assert_only(false, false, true, false);
    struct lease_call c = a_call();
    c.told = (struct slice){ &g.attempt_id, 1 };
    assert_false(facts_of(&c, NULL, NULL).has_notices);
}

static void sessions_and_parts_of_gangs_are_seen(void **state)
{
    (void)state;
    leased();
    fixture_exec(&f, "INSERT INTO job_session (tenant_id, session_id, job_id, attempt_id, node_id, user_id, kind, ask)\n"
                     "SELECT tenant_id, gen_random_uuid(), job_id, attempt_id, node_id, gen_random_uuid(), 'shell', '{}'\n"
                     "  FROM attempt WHERE live");
    assert_only(false, false, false, true);
    fixture_exec(&f, "UPDATE job_session SET joined = true");
    assert_only(false, false, false, false);
    fixture_exec(&f, "INSERT INTO attempt_member (tenant_id, attempt_id, rank, job_id, node_id, slots, gpus, cpu_milli,\n"
                     "                            memory_bytes, gpu_milli, devices, lease_until)\n"
                     "SELECT tenant_id, attempt_id, 1, job_id, node_id, 1, 0, 0, 0, 1000, 0, now() + interval '1 hour'\n"
                     "  FROM attempt WHERE live");
    assert_only(true, false, false, false);
    fixture_exec(&f, "UPDATE attempt_member SET live = false, finished_at = now(), state = 'SUCCEEDED'");
    assert_only(false, false, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(only_the_registered_run_of_a_machine_may_ask, forget),
        cmocka_unit_test_teardown(the_register_is_told_with_it, forget),
        cmocka_unit_test_teardown(that_it_is_heard_of_is_noted_once_a_second, forget),
        cmocka_unit_test_teardown(a_lease_is_new_until_it_is_had_and_late_when_nobody_took_it, forget),
        cmocka_unit_test_teardown(a_notice_is_there_until_the_machine_knows, forget),
        cmocka_unit_test_teardown(sessions_and_parts_of_gangs_are_seen, forget),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
