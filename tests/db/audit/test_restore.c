/* SPDX-License-Identifier: Apache-2.0 */
/* test_restore.c - the log goes on where the database goes: into another cluster that counts its transactions from low, and
 * onto a standby that takes over. Each restore is real: pg_dump, initdb, psql; pg_basebackup, pg_promote. */
#include "tests/db/audit/fixture.h"

#include <inttypes.h>

static int64_t unnumbered(void)
{
    return number("SELECT count(*) FROM audit_event e WHERE NOT EXISTS (SELECT FROM audit_seq s WHERE s.tenant_id = e.tenant_id"
                  " AND s.event_id = e.event_id)");
}

static int64_t told(const char *kind)
{
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE"
             " '%%FLJ-AUD-010S%%\"kind\":\"%s\"%%'", kind);
    return number(sql);
}

/* Pools of the same names on another cluster. */
static void go_to(struct pg_harness *to)
{
    static const struct stmt *const *const app_lists[] = { audit_event_stmts, audit_export_stmts, audit_proof_stmts, NULL };
    static const struct stmt *const *const seq_lists[] = { sequencer_stmts, sequencer_head_stmts, audit_event_stmts, NULL };
    db_pool_free(app_pool);
    db_pool_free(seq_pool);
    pg_harness_free(pg);
    pg = to;
    const char *app = pg_harness_conninfo(pg, "falaj_app", DB), *seq = pg_harness_conninfo(pg, "falaj_sequencer", DB);
    app_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = app, .size = 4, .lists = app_lists });
    seq_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = seq, .size = 2, .lists = seq_lists });
    OK(db_pool_check(seq_pool, &e));
}

static void tick_all(void)
{
    for (int i = 0; i < 8; i++)         /* more than the steps of opening an epoch: sequence, drain, list, backlog, events */
        tick(1000);
}

static void log_is_whole(struct uuid tenant, size_t size)
{
    struct audit_export_opts o = { .tenant_id = tenant };
    sign_heads();
    assert_int_equal(export_and_verify(o, NULL).count, size);
}

/* Burns numbers of transactions, so that this cluster is far ahead of a new one. */
static void grow_old(void)
{
    pg_harness_exec(pg, DB, "CREATE PROCEDURE burn(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..n LOOP"
                            " PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
    pg_harness_exec(pg, DB, "CALL burn(20000)");
    pg_harness_exec(pg, DB, "DROP PROCEDURE burn");
}

static void a_log_goes_on_in_a_new_cluster(void **state)
{
    (void)state;
    grow_old();
    append_committed(tenant_a, 30);
    append_committed(tenant_b, 10);
    tick_all();
    append_committed(tenant_a, 5);          /* no number yet when the dump is made */
    struct pg_harness *to = pg_harness_new_cluster();
    pg_harness_restore(pg, to, DB);
    int64_t before = number("SELECT pg_current_xact_id()::text::bigint");
    go_to(to);
    assert_true(number("SELECT pg_current_xact_id()::text::bigint") < before - 10000);
    append_committed(tenant_a, 7);          /* written before the sequencer looks */
    append_committed(tenant_b, 2);
    tick_all();
    append_committed(tenant_b, 3);
    tick_all();
    assert_int_equal(unnumbered(), 0);
    assert_int_equal(told("restore"), 2);
    assert_int_equal(number("SELECT count(*) FROM audit_backlog"), 0);
    assert_int_equal(listed(tenant_a, NULL), 43);       /* 30 + 5 + 7 and the event of the restore */
    assert_int_equal(listed(tenant_b, NULL), 16);
    log_is_whole(tenant_a, 43);
    log_is_whole(tenant_b, 16);
}

/* A transaction that took its place before the sequencer saw the restore and commits long after: its events come, none twice. */
static void an_open_transaction_is_waited_for(void **state)
{
    (void)state;
    struct pg_harness *to = pg_harness_new_cluster();
    grow_old();
    append_committed(tenant_a, 1);
    tick_all();
    size_t n0 = listed(tenant_a, NULL);
    pg_harness_restore(pg, to, DB);
    go_to(to);
    struct unit *slow = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_row *rows;
    size_t n;
    append(slow, 2);
    OK(audit_list(&slow->w, tenant_a, 0, 1, &rows, &n, &e));        /* sent: it has its transaction and its places now */
    append_committed(tenant_a, 3);
    tick_all();
    assert_int_equal(listed(tenant_a, NULL), n0);                   /* nothing is passed over: nothing is numbered yet */
    unit_commit(slow);
    struct unit *late = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    append(late, 1);
    OK(audit_list(&late->w, tenant_a, 0, 1, &rows, &n, &e));
    tick_all();
    append_committed(tenant_a, 1);
    tick_all();
    assert_int_equal(listed(tenant_a, NULL), n0 + 5);               /* what came before; `late` holds up what comes after it */
    unit_commit(late);
    tick_all();
    assert_int_equal(unnumbered(), 0);
    assert_int_equal(listed(tenant_a, NULL), n0 + 8);               /* 2 + 3 + 1 + 1 and the event of the restore */
    log_is_whole(tenant_a, n0 + 8);
}

/* The same cluster and database by name: a dump read back in beside it says itself that other transactions wrote it. */
static void a_dump_read_back_into_its_own_cluster_is_seen(void **state)
{
    (void)state;
    append_committed(tenant_b, 1);
    tick_all();
    int64_t before = told("restore"), epoch = number("SELECT epoch FROM database_epoch");
    pg_harness_exec(pg, DB, "CREATE TEMP TABLE was AS SELECT * FROM database_epoch; DELETE FROM database_epoch;"
                            " INSERT INTO database_epoch SELECT * FROM was");
    append_committed(tenant_b, 1);
    tick_all();
    assert_int_equal(number("SELECT epoch FROM database_epoch"), epoch + 1);
    assert_true(told("restore") > before);
    assert_int_equal(unnumbered(), 0);
}

static void a_standby_takes_over(void **state)
{
    (void)state;
    append_committed(tenant_a, 4);
    tick_all();
    append_committed(tenant_a, 2);
    size_t size = listed(tenant_a, NULL);
    struct pg_harness *standby = pg_harness_standby(pg);
    pg_harness_stop(pg);
    pg_harness_promote(standby);
    go_to(standby);
    append_committed(tenant_a, 3);
    tick_all();
    assert_int_equal(unnumbered(), 0);
    assert_true(told("timeline") >= 1);
    assert_int_equal(listed(tenant_a, NULL), size + 6);
    log_is_whole(tenant_a, size + 6);
    tick_all();
    assert_int_equal(listed(tenant_a, NULL), size + 6);             /* told once */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_log_goes_on_in_a_new_cluster),
        cmocka_unit_test(an_open_transaction_is_waited_for),
        cmocka_unit_test(a_dump_read_back_into_its_own_cluster_is_seen),
        cmocka_unit_test(a_standby_takes_over) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
