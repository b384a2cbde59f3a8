/* SPDX-License-Identifier: Apache-2.0 */
/* test_tail.c - a log is read on from where one stopped: wanted codes alone, in order, in bounded steps, and only of its
 * tenant. */
#include "tests/db/tenants/fixture.h"
#include "audit/tail.h"
#include "core/db/run_tx.h"

static struct uuid a, b;
static struct db_pool *pool;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { audit_tail_stmts, NULL };
    world_new(lists, 2);
    pool = pool_make("falaj_scheduler", 2, lists, 0);
    OK(db_pool_check(pool, &e));
    a = new_id();
    b = new_id();
    tenant_make(a, "amana");
    tenant_make(b, "bahr");
    sql("INSERT INTO audit_seq (tenant_id, tseq, event_id, leaf, chain, at, code, resource_kind, resource_id)"
        " SELECT '%s', i, gen_random_uuid(), decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), now(),"
        " CASE i %% 10 WHEN 0 THEN 'FLJ-JOB-006S' WHEN 1 THEN 'FLJ-APR-001D' ELSE 'FLJ-JOB-001S' END, 'job', 'job_' || i"
        " FROM generate_series(1, 12000) i", hex(a));
    sql("INSERT INTO audit_seq SELECT '%s', tseq, gen_random_uuid(), leaf, chain, at, code FROM audit_seq WHERE tseq = 10",
        hex(b));
    sql("INSERT INTO audit_log_state (tenant_id, size, chain, frontier) VALUES ('%s', 12000, '', ''), ('%s', 1, '', '')",
        hex(a), hex(b));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    db_pool_free(pool);
    world_free();
    return 0;
}

static size_t read_on(struct work *w, int64_t after, int64_t *ret_next, int64_t *ret_first)
{
    static const struct str codes[] = { { "FLJ-JOB-006", 11 }, { "FLJ-APR-001", 11 } };
    struct slice rows = { 0 };
    OK(RUN_SYSTEM(w, pool, TX_READ_ONLY, audit_tail_read(w, a, after, codes, 2, &rows, ret_next, &e), &e));
    const struct audit_tail_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        assert_true(r[i].tseq > after && (!i || r[i].tseq > r[i - 1].tseq));
        assert_true(str_starts(r[i].code, "FLJ-JOB-006") || str_starts(r[i].code, "FLJ-APR-001"));
    }
    *ret_first = rows.n ? r[0].tseq : 0;
    return rows.n;
}

static void everything_once_in_bounded_steps(void **state)
{
    (void)state;
    struct work w = { .app = &app, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) };
    int64_t at = 0, first;
    size_t all = 0, n;
    for (int steps = 0; at < 12000; steps++) {
        int64_t next;
        assert_true(steps < 20);
        n = read_on(&w, at, &next, &first);
        assert_true(n <= AUDIT_TAIL_MAX && next > at && next <= at + AUDIT_TAIL_SPAN);
        all += n;
        at = next;
    }
    assert_int_equal(all, 2400);
    assert_int_equal(read_on(&w, at, &at, &first), 0);
    assert_int_equal(at, 12000);
    arena_free(w.arena);
}

static void which_logs_have_grown(void **state)
{
    (void)state;
    struct work w = { .app = &app, .arena = arena_new(4 << 20), .now_us = clock_wall_us(&clock_system) };
    const struct uuid ids[] = { a, b };
    const int64_t after[] = { 12000, 0 };
    struct slice rows = { 0 };
    OK(RUN_SYSTEM(&w, pool, TX_READ_ONLY, audit_tail_grown(&w, ids, after, 2, &rows, &e), &e));
    assert_true(rows.n == 1 && uuid_eq(*(struct uuid *)rows.items, b));
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(everything_once_in_bounded_steps),
        cmocka_unit_test(which_logs_have_grown) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
