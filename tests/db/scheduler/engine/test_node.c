/* SPDX-License-Identifier: Apache-2.0 */
/* test_node.c - who a machine is and how people see it: identity against certificate, pages, one row per identity. */
#include "tests/db/scheduler/fixture.h"
#include "scheduler/engine/node_state.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static enum errc enrol(const char *zone, const char *pool, const char *identity, struct node *ret)
{
    static int64_t second;           /* each run of an agent is later than the one before */
    struct node_register in = { .name = STR("w9"), .zone = str_c(zone), .pool = str_c(pool), .slots = 2, .cpus = 1, .memory_bytes = 1 << 20,
                                .backend = STR("ref"), .version = STR("0"), .boot_id = uuid_v7(++second * 1000000) };
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .now_us = clock_wall_us(&clock_system) };
    struct err e = { 0 };
    enum errc rc = db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, &e);
    assert_int_equal(rc, ERR_OK);
    rc = node_register(&w, &in, str_c(identity), ret, &e);
    if (rc == ERR_OK)
        rc = db_commit(w.tx, &e);
    db_rollback(rc == ERR_OK ? NULL : w.tx);
    arena_free(w.arena);
    return rc;
}

static void the_certificate_decides(void **state)
{
    (void)state;
    struct node n, again;
    assert_int_equal(enrol("ae-dxb-1", "default", "spiffe://ae-auh-1/worker/default/w9", &n), ERR_FORBIDDEN);
    assert_int_equal(enrol("ae-dxb-1", "gpu", "spiffe://ae-dxb-1/worker/default/w9", &n), ERR_FORBIDDEN);
    assert_int_equal(enrol("ae-dxb-1", "default", "spiffe://ae-dxb-1/worker/default/w99", &n), ERR_FORBIDDEN);
    assert_int_equal(enrol("ae-dxb-1", "default", "spiffe://ae-dxb-1/api", &n), ERR_FORBIDDEN);
    assert_int_equal(enrol("qa-doh-1", "default", "spiffe://qa-doh-1/worker/default/w9", &n), ERR_NOT_FOUND);
    assert_int_equal(enrol("ae-dxb-1", "default", "spiffe://ae-dxb-1/worker/default/w9", &n), ERR_OK);
    assert_int_equal(enrol("ae-dxb-1", "default", "spiffe://ae-dxb-1/worker/default/w9", &again), ERR_OK);
    assert_true(uuid_eq(n.node_id, again.node_id));
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node"), 1);
}

static void operators_page_through_all(void **state)
{
    (void)state;
    struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .tenant_id = UUID_NIL };
    struct machine m[5];
    struct uuid position = UUID_NIL;
    struct node_filter all = { .by_name = false };
    size_t seen = 0;
    char name[] = "p0";
    for (int i = 0; i < 5; i++, name[1]++)
        machine_up(&f, &m[i], "ae-auh-1", name, 2, 0);
    OK(db_begin(f.api.pool, SCOPE_TENANT(UUID_NIL), TX_READ_ONLY, w.arena, &w.tx, e));
    for (int page = 0; page < 6; page++) {
        struct slice rows;
        OK(node_list(&w, &all, position, 2, &rows, e));
        if (!rows.n)
            break;
        assert_true(rows.n <= 2);
        const struct node *n = rows.items;
        seen += rows.n;
        position = n[rows.n - 1].node_id;
    }
    assert_int_equal(seen, fixture_count(&f, "SELECT count(*) FROM node"));
    struct node one;
    OK(node_get(&w, m[0].node.node_id, &one, e));
    assert_true(str_eq_c(one.name, "p0") && str_eq_c(one.zone, "ae-auh-1") && str_eq_c(one.state, "READY"));
    struct err e = { 0 };
    assert_int_equal(node_get(&w, uuid_v7(77), &one, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
    arena_free(w.arena);
}

/* Whoever takes a machine out of work is told how many jobs that touches, and which. */
static void a_moved_machine_says_what_runs_on_it(void **state)
{
    (void)state;
    static const struct { enum node_act act; const char *state; } acts[] = {
        { NODE_DRAIN, "DRAINING" }, { NODE_DRAIN, "DRAINING" }, { NODE_UNDRAIN, "READY" },
    };
    struct machine m;
    struct lease_grant g[8];
    machine_up(&f, &m, "ae-dxb-1", "busy", 3, 0);
    fixture_exec(&f, "UPDATE node SET state = 'DRAINING' WHERE name <> 'busy'");
    submit(&f, f.tenant_a, 3, 1, 3, NULL);
    plan(&f);
    assert_int_equal(take(&f, &m, 8, g), 3);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .tenant_id = UUID_NIL };
        struct node_moved moved;
        struct node one;
        OK(db_begin(f.api.pool, SCOPE_TENANT(UUID_NIL), 0, w.arena, &w.tx, e));
        OK(node_get(&w, m.node.node_id, &one, e));
        OK(node_move(&w, &one, acts[i].act, STR("a new disk"), &moved, e));
        assert_int_equal(moved.jobs_running, 3);
        assert_int_equal(moved.job_ids.n, 3);
        OK(db_commit(w.tx, e));
        assert_true(str_eq_c(moved.state, acts[i].state) && str_eq_c(moved.reason, "a new disk"));
        arena_free(w.arena);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE name = 'busy' AND state = '%s'", acts[i].state), 1);
    }
    assert_int_equal(run_through(&f, &m, g, 3), 6);
}

/* Ten thousand machines are heard of twice a second: what is known already is not written again, and one that was lost is. */
static void a_beat_is_written_once_a_second(void **state)
{
    (void)state;
    struct machine m;
    machine_up(&f, &m, "ae-dxb-1", "beating", 1, 0);
    static const char *const now_is[] = { "last_seen_at = clock_timestamp()",
                                          "last_seen_at = clock_timestamp() - interval '2 seconds'",
                                          "last_seen_at = clock_timestamp(), state = 'LOST'" };
    static const char row[] = "SELECT xmin::text::bigint FROM node WHERE name = 'beating'";
    for (int turn = 0; turn < 3; turn++) {
        fixture_exec(&f, "UPDATE node SET %s WHERE name = 'beating'", now_is[turn]);
        const int64_t before = fixture_count(&f, row);
        struct work w = { .app = &f.api, .arena = arena_new(16 << 20), .now_us = clock_wall_us(&clock_system) };
        struct node n;
        struct err err = { 0 };
        OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, w.arena, &w.tx, e));
        OK(node_beat(&w, m.node.node_id, m.node.boot_id, m.identity, &n, e));
        assert_int_equal(node_beat(&w, m.node.node_id, uuid_v7(1), m.identity, &n, &err), ERR_STALE);
        assert_int_equal(node_beat(&w, m.node.node_id, m.node.boot_id, STR("spiffe://other"), &n, &err), ERR_STALE);
        OK(db_commit(w.tx, e));
        arena_free(w.arena);
        assert_int_equal(fixture_count(&f, row) != before, turn > 0);
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM node WHERE name = 'beating' AND state = 'READY'"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_certificate_decides),
        cmocka_unit_test(operators_page_through_all),
        cmocka_unit_test(a_moved_machine_says_what_runs_on_it),
        cmocka_unit_test(a_beat_is_written_once_a_second),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
