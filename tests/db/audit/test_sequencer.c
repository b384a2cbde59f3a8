/* SPDX-License-Identifier: Apache-2.0 */
/* test_sequencer.c - events of a real PostgreSQL: sequenced without loss, signed, exported and verified offline. */
#include <time.h>
#include "audit/event.h"
#include "audit/export.h"
#include "audit/sequencer.h"
#include "core/base/cleanup.h"
#include "core/base/work.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "tests/db/harness.h"
#include "tests/unit/audit/fixture.h"

static const char DB[] = "falaj";
static struct pg_harness *pg;
static struct db_pool *app_pool, *seq_pool;
static struct sequencer *sequencer;
static struct key *key;
static struct uuid tenant_a, tenant_b;
static struct err e;

#define OK(call)                                                                                  \
    do {                                                                                          \
        if ((call) != ERR_OK)                                                                     \
            fail_msg("%s: %s (%s) at %s:%d", #call, e.msg, e.detail, e.file ? e.file : "?", e.line); \
    } while (0)

static enum errc sign(void *ctx, struct str zone, const void *p, size_t n, uint8_t sig[AUDIT_SIG], char key_id[AUDIT_KEY_ID],
                      struct err *err)
{
    struct key *k = ctx;
    assert_true(str_eq_c(zone, "ae-dxb-1"));
    memcpy(key_id, k->id, AUDIT_KEY_ID);
    return p ? ed25519_sign(&k->seed, p, n, sig, err) : ERR_OK;
}

static void add_tenant(struct uuid u, const char *name)
{
    char sql[512], text[UUID_TEXT];
    uuid_text(u, text);
    snprintf(sql, sizeof sql, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES"
             " ('%s', '%s', '%s', 'ae-dxb-1', ARRAY['ae-dxb-1'])", text, name, name);
    pg_harness_exec(pg, DB, sql);
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const app_lists[] = { audit_event_stmts, audit_export_stmts, audit_proof_stmts, NULL };
    static const struct stmt *const *const seq_lists[] = { sequencer_stmts, sequencer_head_stmts, audit_event_stmts, NULL };
    pg = pg_harness_new();
    pg_harness_exec_file(pg, NULL, "migrations/roles.sql");
    pg_harness_exec(pg, NULL, "CREATE DATABASE falaj OWNER falaj_owner");
    pg_harness_exec_file(pg, DB, "migrations/0001_foundation.sql");
    pg_harness_exec(pg, DB, "INSERT INTO zone (code, name, country) VALUES ('ae-dxb-1', 'Dubai', 'AE')");
    key = key_make();
    tenant_a = uuid_v7(1000);
    tenant_b = uuid_v7(2000);
    add_tenant(tenant_a, "aaa");
    add_tenant(tenant_b, "bbb");
    app_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_app", DB), .size = 4, .lists = app_lists });
    seq_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_sequencer", DB), .size = 2, .lists = seq_lists });
    OK(db_pool_check(app_pool, &e));
    OK(db_pool_check(seq_pool, &e));
    sequencer = sequencer_new(STR("ae-dxb-1"), sign, key);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sequencer_free(sequencer);
    db_pool_free(app_pool);
    db_pool_free(seq_pool);
    key_free(key);
    pg_harness_free(pg);
    return 0;
}

/* A unit of work: an arena, and in it a transaction of a pool. */
struct unit {
    struct app app;
    struct work w;
};
static struct unit *unit_open(struct db_pool *pool, struct db_scope scope)
{
    struct unit *u = calloc(1, sizeof *u);
    u->app.pool = app_pool;
    u->w = (struct work){ .app = &u->app, .arena = arena_new(512u << 20), .tenant_id = scope.tenant_id, .now_us = clock_wall_us(&clock_system) };
    if (pool)
        OK(db_begin(pool, scope, 0, u->w.arena, &u->w.tx, &e));
    return u;
}
static void unit_close(struct unit *u)
{
    arena_free(u->w.arena);
    free(u);
}
static void unit_commit(struct unit *u)
{
    OK(db_commit(u->w.tx, &e));
    unit_close(u);
}

static void append(struct unit *u, int n)
{
    for (int i = 0; i < n; i++) {
        struct audit_event ev = audit_event_of(&u->w, AUDIT_JOB_SUBMIT);
        audit_event_detail(&ev, AUDIT_D_INT("i", i));
        OK(audit_append(&u->w, &ev, &e));
    }
}
static void append_committed(struct uuid tenant, int n)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant));
    append(u, n);
    unit_commit(u);
}
static size_t tick(size_t max)
{
    size_t done = 0;
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(sequencer_tick(&u->w, sequencer, max, &done, &e));
    unit_commit(u);
    return done;
}
static size_t sign_heads(void)
{
    size_t n = 0;
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(sequencer_sign_heads(&u->w, sequencer, 1000, &n, &e));
    unit_commit(u);
    return n;
}
static size_t listed(struct uuid tenant, struct audit_row *last)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant));
    struct audit_row *rows;
    size_t n;
    OK(audit_list(&u->w, tenant, 0, 1000, &rows, &n, &e));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows[i].tseq, i + 1);
    if (n && last)
        *last = rows[n - 1];
    unit_commit(u);
    return n;
}

static enum errc sink(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)err;
    assert_true(buf_add(ctx, p, n));
    return ERR_OK;
}
static struct verify_result export_and_verify(struct audit_export_opts o, const struct audit_head *previous)
{
    struct buf b = BUF(512u << 20);
    struct unit *u = unit_open(NULL, SCOPE_TENANT(o.tenant_id));
    struct audit_export_result r;
    struct audit_key k;
    memcpy(k.key_id, key->id, sizeof k.key_id);
    memcpy(k.pub, key->pub, 32);
    o.keys = &k;
    o.key_count = 1;
    o.sink = sink;
    o.sink_ctx = &b;
    OK(audit_export(&u->w, &o, &r, &e));
    struct verify_result v = verify_text(buf_str(&b), key, previous);
    if (v.damage != VERIFY_OK)
        fail_msg("%s: %s at %llu line %llu", verify_damage_text(v.damage), v.text, (unsigned long long)v.tseq, (unsigned long long)v.line);
    assert_int_equal(v.count, r.count);
    unit_close(u);
    buf_release(&b);
    return v;
}

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

static void heads_are_signed_once_per_growth(void **state)
{
    (void)state;
    assert_int_equal(sign_heads(), 2);
    assert_int_equal(sign_heads(), 0);
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_head h;
    struct str body;
    uint8_t sig[AUDIT_SIG];
    OK(audit_newest_head(&u->w, tenant_a, &h, &body, sig, &e));
    assert_int_equal(h.size, 32);
    assert_true(ed25519_verify(key->pub, body.ptr, body.len, sig));
    unit_commit(u);
}

static void every_kind_of_bundle_verifies(void **state)
{
    (void)state;
    static const uint64_t some[] = { 1, 2, 17, 31, 32 };
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, NULL);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_b, .from = 5, .to = 11 }, NULL);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a, .only = some, .only_count = 5 }, NULL);
    struct verify_result before = export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, NULL);
    append_committed(tenant_a, 9);
    assert_int_equal(tick(1000), 9);
    assert_int_equal(sign_heads(), 1);
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a }, &before.head);       /* a checkpoint lies at 32 */
    export_and_verify((struct audit_export_opts){ .tenant_id = tenant_a, .from = 35, .prev_size = 32 }, &before.head);
}

static void an_export_says_no_to_what_is_not_signed(void **state)
{
    (void)state;
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    struct buf b = BUF(1 << 20);
    struct audit_export_result r;
    struct audit_export_opts o = { .tenant_id = tenant_a, .to = 1000, .sink = sink, .sink_ctx = &b };
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_INVALID);
    o.to = 0;
    o.tenant_id = uuid_v7(9);
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_NOT_FOUND);
    assert_int_equal(b.len, 0);
    unit_close(u);
    buf_release(&b);
}

static void a_row_changed_in_the_database_is_found(void **state)
{
    (void)state;
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_b));
    struct buf b = BUF(1 << 20);
    struct audit_export_result r;
    struct audit_export_opts o = { .tenant_id = tenant_b, .sink = sink, .sink_ctx = &b };
    char sql[512], text[UUID_TEXT];
    uuid_text(tenant_b, text);
    snprintf(sql, sizeof sql, "UPDATE audit_event e SET body = convert_to(replace(convert_from(body, 'UTF8'), 'success', 'damaged'), 'UTF8')"
             " FROM audit_seq s WHERE s.event_id = e.event_id AND s.tenant_id = '%s' AND s.tseq = 13", text);
    pg_harness_exec(pg, DB, sql);
    OK(audit_export(&u->w, &o, &r, &e));
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_true(v.damage == VERIFY_EDITED && v.tseq == 13);
    snprintf(sql, sizeof sql, "DELETE FROM audit_seq WHERE tenant_id = '%s' AND tseq = 9", text);
    pg_harness_exec(pg, DB, sql);
    assert_int_equal(audit_export(&u->w, &o, &r, &e), ERR_DAMAGED);
    unit_close(u);
    buf_release(&b);
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
    snprintf(sql, sizeof sql, "INSERT INTO audit_event (tenant_id, event_id, body) SELECT '%s', gen_random_uuid(),"
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_slow_transaction_loses_nothing), cmocka_unit_test(a_rolled_back_event_was_never_there),
        cmocka_unit_test(small_ticks_give_the_same_chain), cmocka_unit_test(heads_are_signed_once_per_growth),
        cmocka_unit_test(every_kind_of_bundle_verifies), cmocka_unit_test(an_export_says_no_to_what_is_not_signed),
        cmocka_unit_test(a_row_changed_in_the_database_is_found), cmocka_unit_test(throughput) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
