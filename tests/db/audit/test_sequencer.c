/* SPDX-License-Identifier: Apache-2.0 */
/* test_sequencer.c - events are numbered without loss, whatever the order in which transactions commit. */
#include "tests/db/audit/fixture.h"

static void a_slow_transaction_loses_nothing(void **state)
{
    (void)state;
    struct unit *slow = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_row *rows;
    size_t n;
    append(slow, 1);
    OK(audit_list(&slow->w, tenant_a, 0, 10, &rows, &n, &e));       /* sends the queued INSERT: it has its transaction id now */
    append_committed(tenant_a, 1);
    assert_int_equal(tick(1000), 0);
    unit_commit(slow);
    assert_int_equal(tick(1000), 2);
    assert_int_equal(tick(1000), 0);
    assert_int_equal(listed(tenant_a, NULL), 2);
}

static void a_rolled_back_event_was_never_there(void **state)
{
    (void)state;
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    append(u, 3);
    db_rollback(u->w.tx);
    unit_close(u);
    assert_int_equal(tick(1000), 0);
    assert_int_equal(listed(tenant_a, NULL), 2);
}

static void small_ticks_give_the_same_chain(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        append_committed(tenant_a, 3);
        append_committed(tenant_b, 2);
    }
    size_t sum = 0, n;
    while ((n = tick(7)) > 0)
        sum += n;
    assert_int_equal(sum, 50);
    assert_int_equal(listed(tenant_a, NULL), 32);
    assert_int_equal(listed(tenant_b, NULL), 20);
}

/* Numbers of transactions are compared as numbers: 10000 comes after 9999. */
static void a_tick_over_a_power_of_ten_numbers_each_event_once(void **state)
{
    (void)state;
    size_t before = listed(tenant_a, NULL);
    pg_harness_exec(pg, DB, "DO $$ DECLARE n bigint; goal bigint; BEGIN\n"
                            "n := pg_current_xact_id()::text::bigint; goal := 10 ^ length(n::text) - 4; COMMIT;\n"
                            "WHILE n < goal LOOP n := pg_current_xact_id()::text::bigint; COMMIT; END LOOP; END $$");
    for (int i = 0; i < 8; i++)
        append_committed(tenant_a, 1);
    assert_int_equal(tick(1000), 8);
    assert_int_equal(tick(1000), 0);
    assert_int_equal(listed(tenant_a, NULL), before + 8);
}

static double now_s(void)
{
    return (double)clock_mono_us(&clock_system) / 1e6;
}

static void throughput(void **state)
{
    (void)state;
    enum { N = 100000 };
    char sql[1024], text[UUID_TEXT];
    uuid_text(tenant_a, text);
    snprintf(sql, sizeof sql, "SET SESSION AUTHORIZATION falaj_scheduler; INSERT INTO audit_event (tenant_id, event_id, body) SELECT '%s', gen_random_uuid(),"
             " convert_to('{\"v\":1,\"event_id\":\"' || g || '\"' || repeat('x', 560) || '}', 'UTF8') FROM generate_series(1, %d) g", text, N);
    pg_harness_exec(pg, DB, sql);
    pg_harness_exec(pg, DB, "ANALYZE audit_event");
    double t = now_s();
    size_t n, sum = 0;
    while ((n = tick(10000)) > 0)
        sum += n;
    t = now_s() - t;
    assert_int_equal(sum, N);
    print_message("sequenced %d events of 600 bytes in %.2f s: %.0f events/s\n", N, t, N / t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_slow_transaction_loses_nothing),
        cmocka_unit_test(a_rolled_back_event_was_never_there),
        cmocka_unit_test(small_ticks_give_the_same_chain),
        cmocka_unit_test(a_tick_over_a_power_of_ten_numbers_each_event_once),
        cmocka_unit_test(throughput) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
