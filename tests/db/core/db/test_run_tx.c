/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_tx.c - what an act wrote is there when it ends well and gone when it does not; the connection always comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/db/pool.h"
#include "core/db/run_tx.h"
#include "tests/db/harness.h"

#include <stdio.h>

static const struct stmt note_add = { .name = "note_add", .params = "i", .card = CARD_NONE,
                                     .sql = "INSERT INTO note (id) VALUES ($1)" };
static const struct stmt *const list[] = { &note_add, NULL };
static const struct stmt *const *const lists[] = { list, NULL };

static struct pg_harness *pg;
static struct db_pool *pool;
static struct err e;

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_exec(pg, NULL, "CREATE ROLE app LOGIN; CREATE TABLE note (id bigint PRIMARY KEY); GRANT ALL ON note TO app");
    pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 2, .lists = lists,
                                              .checkout_timeout_ms = 200 });
    assert_int_equal(db_pool_check(pool, &e), ERR_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    db_pool_free(pool);
    pg_harness_free(pg);
    return 0;
}

static void expect_notes(const char *ids)
{
    char sql[256];
    snprintf(sql, sizeof sql, "DO $$ BEGIN IF (SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM note) <> '%s' THEN"
             " RAISE EXCEPTION '%%', (SELECT string_agg(id::text, ' ' ORDER BY id) FROM note); END IF; END $$", ids);
    pg_harness_exec(pg, NULL, sql);
}

static void expect_idle(void)
{
    struct db_pool_stats st;
    db_pool_stats(pool, &st);
    assert_int_equal(st.busy, 0);
}

struct acted { int64_t id; enum errc verdict; bool saw_tx, ran_after; };

static void after(void *ctx)
{
    ((struct acted *)ctx)->ran_after = true;
}

static enum errc act(struct work *w, struct acted *a, struct err *e_)
{
    a->saw_tx = w->tx != NULL;
    db_after_commit(w->tx, after, a);
    TRY(db_exec(w->tx, &note_add, ARGS(A_I64(a->id)), NULL, e_));
    return a->verdict == ERR_OK ? ERR_OK : FAIL(e_, CONFLICT, "no");
}

static void an_act_is_kept_or_gone(void **state)
{
    (void)state;
    struct app app = { .pool = pool };
    struct work w = { .app = &app, .arena = arena_new(1 << 20) };
    struct acted good = { .id = 1 }, bad = { .id = 2, .verdict = ERR_CONFLICT }, twice = { .id = 1 };
    assert_int_equal(RUN_WRITE(&w, act(&w, &good, &e), &e), ERR_OK);
    assert_true(good.saw_tx && good.ran_after && !w.tx);
    assert_int_equal(RUN_WRITE(&w, act(&w, &bad, &e), &e), ERR_CONFLICT);
    assert_string_equal(e.msg, "no");
    assert_true(bad.saw_tx && !bad.ran_after && !w.tx);
    assert_int_equal(RUN_SYSTEM(&w, pool, 0, act(&w, &twice, &e), &e), ERR_EXISTS);
    expect_idle();
    expect_notes("1");
    arena_free(w.arena);
}

static enum errc queue_twice(struct work *w)
{
    db_queue(w->tx, &note_add, ARGS(A_I64(7)), false);
    db_queue(w->tx, &note_add, ARGS(A_I64(7)), false);
    return ERR_OK;
}

static enum errc inner(struct work *w, struct acted *a, struct err *e_)
{
    struct db_tx *outer = w->tx;
    enum errc rc = RUN_WRITE(w, act(w, a, e_), e_);
    assert_ptr_equal(w->tx, outer);
    return rc;
}

static void failures_at_the_ends_are_the_caller_s(void **state)
{
    (void)state;
    struct app app = { .pool = pool };
    struct work w = { .app = &app, .arena = arena_new(1 << 20) };
    struct acted read = { .id = 3 }, apart = { .id = 4 };
    assert_int_equal(RUN_WRITE(&w, queue_twice(&w), &e), ERR_EXISTS);     /* seen by the commit only */
    assert_int_not_equal(RUN_READ(&w, act(&w, &read, &e), &e), ERR_OK);
    assert_int_equal(RUN_WRITE(&w, inner(&w, &apart, &e), &e),
                     ERR_OK);             /* beside an open transaction, on a connection of its own */
    expect_idle();
    expect_notes("1 4");
    pg_harness_stop(pg);
    struct acted never = { .id = 5 };
    assert_int_not_equal(RUN_WRITE(&w, act(&w, &never, &e), &e), ERR_OK);
    assert_null(w.tx);
    expect_idle();
    pg_harness_start(pg);
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_act_is_kept_or_gone),
                                       cmocka_unit_test(failures_at_the_ends_are_the_caller_s) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
