/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL goes and comes back: what callers get meanwhile, what a lost COMMIT looks like, and that the pool recovers by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/fault.h"
#include "core/db/pool.h"
#include "core/db/session.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tests/db/harness.h"
#include "tests/lib/wait.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct total {
    int64_t n;
};
SCHEMA_OF(total, "A number", FIELD(total, n, 0));
static const struct stmt row_add = { .name = "row_add", .params = "i", .card = CARD_NONE, .sql = "INSERT INTO t VALUES ($1)" };
static const struct stmt row_count = { .name = "row_count", .row = &total_schema, .card = CARD_ONE, .sql = "SELECT count(*) AS n FROM t" };
static const struct stmt *const list[] = { &row_add, &row_count, NULL };
static const struct stmt *const *const lists[] = { list, NULL };

static struct pg_harness *pg;
static struct err e;

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_exec(pg, NULL, "CREATE ROLE app LOGIN; CREATE TABLE t (a bigint); GRANT ALL ON t TO app");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

static struct db_pool *new_pool(int size)
{
    return db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = size, .lists = lists });
}

static enum errc insert_one(struct db_pool *p)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_tx *tx;
    TRY(db_begin(p, SCOPE_SYSTEM, 0, a, &tx, &e));
    db_queue(tx, &row_add, ARGS(A_I64(1)), true);
    return db_commit(tx, &e);
}

static int64_t count_rows(struct db_pool *p)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_tx *tx;
    struct total t = { -1 };
    if (db_begin(p, SCOPE_SYSTEM, TX_READ_ONLY, a, &tx, &e) != ERR_OK || db_one(tx, &row_count, NO_ARGS, &t, &e) != ERR_OK ||
        db_commit(tx, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    return t.n;
}

static void test_stop_and_start(void **state)
{
    (void)state;
    struct db_pool *p = new_pool(2);
    assert_int_equal(insert_one(p), ERR_OK);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_tx *open;
    struct total t;
    assert_int_equal(db_begin(p, SCOPE_SYSTEM, 0, a, &open, &e), ERR_OK);
    assert_int_equal(db_one(open, &row_count, NO_ARGS, &t, &e), ERR_OK);
    int64_t before = t.n;
    pg_harness_stop(pg);
    db_queue(open, &row_add, ARGS(A_I64(2)), true);
    assert_int_equal(db_commit(open, &e), ERR_UNAVAILABLE);
    int64_t start = clock_mono_us(&clock_system);
    for (int i = 0; i < 50; i++)
        assert_int_equal(insert_one(p), ERR_UNAVAILABLE);
    assert_true(clock_mono_us(&clock_system) - start < 1000000);       /* fails fast while it is gone */
    assert_int_equal(db_pool_ping(p, &e), ERR_UNAVAILABLE);
    pg_harness_start(pg);
    WAIT_WHILE(insert_one(p) != ERR_OK);
    assert_int_equal(count_rows(p), before + 1);
    db_pool_free(p);
}

static void test_restart_costs_idle_connections_nothing(void **state)
{
    (void)state;
    struct db_pool *p = new_pool(2);
    assert_int_equal(insert_one(p), ERR_OK);
    int64_t before = count_rows(p);
    pg_harness_stop(pg);
    pg_harness_start(pg);
    if (insert_one(p) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    assert_int_equal(count_rows(p), before + 1);
    db_pool_free(p);
}

/* With a timeout pg_terminate_backend returns when the backend has gone. */
static void kill_backends(void)
{
    pg_harness_exec(pg, NULL, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'app'");
}

static void test_killed_backend(void **state)
{
    (void)state;
    struct db_pool *p = new_pool(1);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_tx *tx;
    struct total t;
    assert_int_equal(db_begin(p, SCOPE_SYSTEM, 0, a, &tx, &e), ERR_OK);
    assert_int_equal(db_one(tx, &row_count, NO_ARGS, &t, &e), ERR_OK);
    kill_backends();
    assert_int_equal(db_one(tx, &row_count, NO_ARGS, &t, &e), ERR_UNAVAILABLE);
    db_rollback(tx);
    assert_int_equal(count_rows(p), t.n);
    kill_backends();
    assert_int_equal(insert_one(p), ERR_OK);        /* an idle one is replaced before it is used */
    db_pool_free(p);
}

static void test_lost_commit(void **state)
{
    (void)state;
    struct db_pool *p = new_pool(1);
    int64_t before = count_rows(p);
    fault_setup("commit_reply_lost:1");
    assert_int_equal(insert_one(p), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.detail, "commit outcome unknown"));
    assert_int_equal(count_rows(p), before + 1);    /* it was done */
    fault_setup("commit_lost:1");
    assert_int_equal(insert_one(p), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.detail, "commit outcome unknown"));
    assert_int_equal(count_rows(p), before + 1);    /* it was not */
    fault_setup("statement_lost:1");
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_tx *tx;
    struct total t;
    assert_int_equal(db_begin(p, SCOPE_SYSTEM, 0, a, &tx, &e), ERR_OK);
    assert_int_equal(db_one(tx, &row_count, NO_ARGS, &t, &e), ERR_UNAVAILABLE);
    db_rollback(tx);
    assert_int_equal(count_rows(p), before + 1);
    db_pool_free(p);
}

/* COMMIT that travels with the last statement: whether it was done is as little known as of one that goes alone. */
static void test_lost_last_statement(void **state)
{
    (void)state;
    struct db_pool *p = new_pool(1);
    int64_t before = count_rows(p);
    for (int is_done = 1; is_done >= 0; is_done--) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        struct db_tx *tx;
        struct total t;
        fault_setup(is_done ? "commit_reply_lost:1" : "commit_lost:1");
        assert_int_equal(db_begin(p, SCOPE_SYSTEM, TX_ENDS, a, &tx, &e), ERR_OK);
        db_queue(tx, &row_add, ARGS(A_I64(1)), false);
        db_last(tx);
        assert_int_equal(db_one(tx, &row_count, NO_ARGS, &t, &e), ERR_UNAVAILABLE);
        assert_non_null(strstr(e.detail, "commit outcome unknown"));
        db_rollback(tx);
        assert_int_equal(count_rows(p), before + 1);
    }
    db_pool_free(p);
}

/* What only read waits for no COMMIT, and notices nothing of one that is lost; what wrote does, whatever it says. */
static void test_only_read(void **state)
{
    (void)state;
    struct db_pool *p = new_pool(1);
    int64_t before = count_rows(p);
    fault_setup("commit_lost:1");
    for (int writes = 0; writes <= 1; writes++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        struct db_tx *tx;
        struct total t;
        assert_int_equal(db_begin(p, SCOPE_SYSTEM, 0, a, &tx, &e), ERR_OK);
        if (writes)
            db_queue(tx, &row_add, ARGS(A_I64(1)), false);
        assert_int_equal(db_one(tx, &row_count, NO_ARGS, &t, &e), ERR_OK);
        db_only_read(tx);
        assert_int_equal(db_commit(tx, &e), writes ? ERR_UNAVAILABLE : ERR_OK);
    }
    assert_int_equal(count_rows(p), before);
    db_pool_free(p);
}

static void test_session_locks(void **state)
{
    (void)state;
    const char *conninfo = pg_harness_conninfo(pg, "app", NULL);
    CLEANUP(db_session_freep) struct db_session *one = NULL, *two = NULL;
    bool held = false;
    assert_int_equal(db_session_new(conninfo, "one", 0, &one, &e), ERR_OK);
    assert_int_equal(db_session_new(conninfo, "two", 0, &two, &e), ERR_OK);
    assert_int_equal(db_session_try_lock(one, 77, &held, &e), ERR_OK);
    assert_true(held);
    assert_int_equal(db_session_try_lock(two, 77, &held, &e), ERR_OK);
    assert_false(held);
    assert_int_equal(db_session_alive(one, &e), ERR_OK);
    pg_harness_exec(pg, NULL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'one'");
    WAIT_WHILE(db_session_alive(one, &e) == ERR_OK);        /* the signal is taken when the backend runs again */
    assert_int_equal(db_session_alive(one, &e), ERR_UNAVAILABLE);
    WAIT_WHILE(db_session_try_lock(two, 77, &held, &e) == ERR_OK && !held);
    assert_true(held);
    assert_int_equal(db_session_unlock(two, 77, &e), ERR_OK);
    assert_int_equal(db_session_unlock(two, 77, &e), ERR_CONFLICT);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_text_rows rows;
    assert_int_equal(db_session_query(two, "SELECT $1::text, NULL", (const char *const[]){ "x" }, 1, a, &rows, &e), ERR_OK);
    assert_true(rows.nrows == 1 && rows.ncols == 2 && str_eq_c(rows.cells[0], "x") && !rows.cells[1].ptr);
    assert_int_equal(db_session_exec_script(two, "SELECT 1; SELECT nonsense", &e), ERR_INTERNAL);
}

/* The whole machine is frozen, and a statement may take ten minutes: that nobody takes a new connection either is noticed long
 * before, else this test runs into its own limit. */
static void test_frozen_machine(void **state)
{
    (void)state;
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 1,
                                                            .lists = lists, .statement_timeout_ms = 600000 });
    assert_int_equal(insert_one(p), ERR_OK);
    pid_t backend = (pid_t)pg_harness_number(pg, NULL, "SELECT max(pid) FROM pg_stat_activity WHERE usename = 'app'");
    pid_t postmaster = (pid_t)pg_harness_number(pg, NULL,
                                                "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::bigint");
    assert_int_equal(kill(postmaster, SIGSTOP) | kill(backend, SIGSTOP), 0);
    enum errc rc = insert_one(p);
    assert_int_equal(kill(backend, SIGCONT) | kill(postmaster, SIGCONT), 0);
    assert_int_equal(rc, ERR_UNAVAILABLE);
    assert_int_equal(insert_one(p), ERR_OK);
    db_pool_free(p);
}

/* A frozen server takes what is sent and answers nothing. The first who finds that out tells the pool: the connections at rest
 * are of the same age and are not tried one after the other, nor are those of another pool of the process. */
static void test_frozen_server(void **state)
{
    (void)state;
    enum { SIZE = 3, FROZEN = SIZE + 1 };
    struct db_pool *other = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 1,
                                                                .lists = lists, .statement_timeout_ms = 1000 });
    assert_int_equal(insert_one(other), ERR_OK);
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = SIZE,
                                                            .lists = lists, .statement_timeout_ms = 1000 });
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_tx *tx[SIZE];
    struct total t;
    for (int i = 0; i < SIZE; i++) {
        assert_int_equal(db_begin(p, SCOPE_SYSTEM, 0, a, &tx[i], &e), ERR_OK);
        assert_int_equal(db_one(tx[i], &row_count, NO_ARGS, &t, &e), ERR_OK);
    }
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(db_commit(tx[i], &e), ERR_OK);
    int64_t pids[FROZEN];
    for (int i = 0; i < FROZEN; i++) {
        char sql[120];
        snprintf(sql, sizeof sql, "SELECT pid FROM pg_stat_activity WHERE usename = 'app' ORDER BY pid OFFSET %d LIMIT 1", i);
        pids[i] = pg_harness_number(pg, NULL, sql);
    }
    for (int i = 0; i < FROZEN; i++)
        assert_int_equal(kill((pid_t)pids[i], SIGSTOP), 0);
    enum errc first = insert_one(p), second = insert_one(p), of_other = insert_one(other);
    for (int i = 0; i < FROZEN; i++)
        kill((pid_t)pids[i], SIGCONT);
    assert_int_equal(first, ERR_UNAVAILABLE);
    assert_int_equal(second, ERR_OK);
    assert_int_equal(of_other, ERR_OK);
    db_pool_free(other);
    struct db_pool_stats stats;
    db_pool_stats(p, &stats);
    assert_int_equal(stats.open, 1);
    assert_int_equal(stats.broken, SIZE);
    db_pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_and_start),  cmocka_unit_test(test_restart_costs_idle_connections_nothing),
        cmocka_unit_test(test_killed_backend),  cmocka_unit_test(test_lost_commit),
        cmocka_unit_test(test_lost_last_statement), cmocka_unit_test(test_only_read),
        cmocka_unit_test(test_session_locks),   cmocka_unit_test(test_frozen_server),
        cmocka_unit_test(test_frozen_machine),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
