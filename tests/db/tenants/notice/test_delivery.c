/* SPDX-License-Identifier: Apache-2.0 */
/* test_delivery.c - an event is queued once for each target, tenants come in turns, a claim is a lease, and what is too much
 * is dead. */
#include "tests/db/tenants/fixture.h"
#include "core/db/run_tx.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/rule.h"

static struct uuid a, b, rule_a, rule_b;
static struct db_pool *daemon_pool;
static struct app sender;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { notice_delivery_stmts, notice_rule_stmts, NULL },
        *const *const daemons[] = { notice_delivery_daemon_stmts, NULL };
    world_new(lists, 4);
    daemon_pool = pool_make("falaj_scheduler", 4, daemons, 0);
    OK(db_pool_check(daemon_pool, &e));
    sender = (struct app){ .program = "test", .clock = &clock_system, .pool = daemon_pool, .config = world_config };
    a = new_id();
    b = new_id();
    rule_a = new_id();
    rule_b = new_id();
    tenant_make(a, "amana");
    tenant_make(b, "bahr");
    sql("INSERT INTO notice_cursor (tenant_id, tseq) VALUES ('%s', 0), ('%s', 0)", hex(a), hex(b));
    sql("INSERT INTO notice_rule (tenant_id, notification_id, name, kind, events, url, sealed, zone, created_by) VALUES"
        " ('%s', '%s', 'n', 'webhook', '{job-failed}', 'https://a.example/', 'x', 'z', '%s'),"
        " ('%s', '%s', 'n', 'webhook', '{job-failed}', 'https://b.example/', 'x', 'z', '%s')", hex(a), hex(rule_a), hex(a),
            hex(b), hex(rule_b), hex(b));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    db_pool_free(daemon_pool);
    world_free();
    return 0;
}

static struct work unit(void)
{
    return (struct work){ .app = &sender, .arena = arena_new(64 << 20), .now_us = clock_wall_us(&clock_system) };
}

static int64_t put(struct uuid tenant, struct uuid rule, size_t n, size_t first)
{
    struct work w = unit();
    struct notice_new *list = ARENA_ARRAY(w.arena, struct notice_new, n);
    int64_t dead = -1;
    for (size_t i = 0; i < n; i++)
        list[i] = (struct notice_new){ .delivery_id = new_id(), .notification_id = rule, .target = rule, .kind = STR("webhook"),
            .event = STR("job-failed"), .source = str_fmt(w.arena, "audit:%zu", first + i), .resource_kind = STR("job"),
                .resource_id = STR(""),
            .name = STR("j"), .detail = STR("{}"), .at = { w.now_us } };
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_put(&w, tenant, list, n, &dead, &e), &e));
    arena_free(w.arena);
    return dead;
}

/* How many of each; ids of the first `keep` in out. */
static void claim(int64_t share, const struct uuid *busy, size_t n_busy, int64_t room, size_t of[2], struct notice_result *out)
{
    struct work w = unit();
    struct slice rows = { 0 };
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_claim(&w, "webhook", share, busy, n_busy, room, &rows, &e), &e));
    of[0] = of[1] = 0;
    for (size_t i = 0; i < rows.n; i++) {
        const struct notice_claimed *d = (const struct notice_claimed *)rows.items + i;
        assert_true(d->url.ptr && d->sealed.data.len == 1 && !d->address.ptr);
        of[uuid_eq(d->tenant_id, b)]++;
        if (out)
            out[i] = (struct notice_result){ .tenant_id = d->tenant_id, .delivery_id = d->delivery_id };
    }
    arena_free(w.arena);
}

static void settle(struct notice_result *r, size_t n)
{
    struct work w = unit();
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_settle(&w, r, n, &e), &e));
    arena_free(w.arena);
}

static void an_event_is_queued_once_for_a_target(void **state)
{
    (void)state;
    assert_int_equal(put(a, rule_a, 3, 0), 0);
    assert_int_equal(put(a, rule_a, 5, 0), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM notice_delivery WHERE tenant_id = '%s'", hex(a)), 5);
}

static void tenants_take_turns_and_a_claim_is_a_lease(void **state)
{
    (void)state;
    size_t of[2];
    put(a, rule_a, 100, 0);
    put(b, rule_b, 2, 0);
    claim(4, NULL, 0, 4, of, NULL);
    assert_true(of[0] == 2 && of[1] == 2);      /* the first of each before the second of any */
    claim(4, NULL, 0, 64, of, NULL);
    assert_true(of[0] == 4 && of[1] == 0);      /* what is claimed is not due */
    claim(4, &a, 1, 64, of, NULL);
    assert_true(of[0] == 0 && of[1] == 0);      /* who is busy gets no more */
    sql("UPDATE notice_delivery SET next_at = clock_timestamp() - interval '1 s' WHERE tries = 1");
    claim(200, NULL, 0, 300, of, NULL);
    assert_true(of[0] == 100 && of[1] == 2);    /* and due again, should nobody settle it */
    assert_int_equal(NUMBER("SELECT count(*) FROM notice_delivery WHERE tries = 2"), 8);
}

static void what_was_settled_stays_so(void **state)
{
    (void)state;
    size_t of[2];
    struct notice_result r[1];
    struct slice rows;
    struct notice_delivery d;
    sql("DELETE FROM notice_delivery");
    put(b, rule_b, 1, 500);
    claim(1, NULL, 0, 1, of, r);
    r[0].state = STR("WAITING");
    r[0].reason = STR("The receiver answered 500");
    r[0].status = 500;
    r[0].pause_ms = 3600000;
    settle(r, 1);
    claim(1, NULL, 0, 1, of, NULL);
    assert_int_equal(of[1], 0);
    r[0].state = STR("DEAD");
    settle(r, 1);
    r[0].state = STR("DELIVERED");
    settle(r, 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM notice_delivery WHERE state = 'DEAD' AND status = 500"), 1);
    struct work *w = unit_open(a, NULL);
    REFUSED(notice_delivery_again(w, r[0].delivery_id, &d, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(b, NULL);
    OK(notice_delivery_list(w, rule_b, NOTICE_DEAD, UUID_NIL, 10, &rows, &e));
    assert_int_equal(rows.n, 1);
    OK(notice_delivery_again(w, r[0].delivery_id, &d, &e));
    assert_true(d.state == NOTICE_WAITING && d.tries == 0 && !d.has_status);
    REFUSED(notice_delivery_again(w, r[0].delivery_id, &d, &e), CONFLICT);
    unit_commit(w);
}

static void a_full_backlog_is_dead_and_told_of(void **state)
{
    (void)state;
    sql("DELETE FROM notice_delivery");
    assert_int_equal(put(a, rule_a, NOTICE_BACKLOG - 1, 0), 0);
    assert_int_equal(put(a, rule_a, 3, 10000), 2);
    assert_int_equal(put(b, rule_b, 1, 0), 0);          /* another's backlog is its own */
    assert_int_equal(NUMBER("SELECT count(*) FROM notice_delivery WHERE state = 'WAITING' AND tenant_id = '%s'", hex(a)),
        NOTICE_BACKLOG);
    int64_t n = -1;
    struct work *w = unit_open(a, NULL);
    REFUSED(notice_delivery_test(w, rule_a, &n, &e), LIMIT);
    unit_drop(w);
    w = unit_open(b, NULL);
    OK(notice_delivery_test(w, rule_b, &n, &e));
    assert_int_equal(n, 1);
    unit_commit(w);
}

static void old_ends_go(void **state)
{
    (void)state;
    int64_t n = -1;
    struct work w = unit();
    sql("DELETE FROM notice_delivery");
    put(a, rule_a, 3, 0);
    sql("UPDATE notice_delivery SET state = 'DEAD', ended_at = clock_timestamp() - interval '%d days'"
        " WHERE source <> 'audit:1'", NOTICE_KEEP_DAYS + 1);
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_prune(&w, 1, &n, &e), &e));
    assert_int_equal(n, 1);
    OK(RUN_SYSTEM(&w, daemon_pool, 0, notice_prune(&w, 10, &n, &e), &e));
    assert_int_equal(n, 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM notice_delivery"), 1);
    arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_event_is_queued_once_for_a_target),
        cmocka_unit_test(tenants_take_turns_and_a_claim_is_a_lease), cmocka_unit_test(what_was_settled_stays_so),
        cmocka_unit_test(a_full_backlog_is_dead_and_told_of), cmocka_unit_test(old_ends_go) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
