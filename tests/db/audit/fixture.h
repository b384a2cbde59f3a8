/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a PostgreSQL with the schema, two tenants, and the steps of an audit log: append, tick, sign, list, export. */
#pragma once
#include <time.h>
#include "audit/event.h"
#include "audit/export.h"
#include "audit/anchor.h"
#include "audit/erasure.h"
#include "audit/erasure_keeper.h"
#include "audit/export_job.h"
#include "audit/head_proof.h"
#include "audit/hold.h"
#include "audit/last_change.h"
#include "audit/pii.h"
#include "audit/reconcile.h"
#include "audit/retention.h"
#include "audit/search.h"
#include "audit/sequencer.h"
#include "audit/shadow.h"
#include "audit/thing_name.h"
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
static struct keyd_client *fx_keyd;     /* where a test starts one */
static struct audit_pii *fx_pii;
static struct erasure_keeper *fx_erasures;

/* The one integer that a query of the superuser gives. */
static inline int64_t number(const char *sql)
{
    return pg_harness_number(pg, DB, sql);
}

#define OK(call)                                                                                  \
    do {                                                                                          \
        if ((call) != ERR_OK)                                                                     \
            fail_msg("%s: %s (%s) at %s:%d", #call, e.msg, e.detail, e.file ? e.file : "?", e.line); \
    } while (0)

static inline enum errc sign(void *ctx, struct str zone, const void *p, size_t n, uint8_t sig[AUDIT_SIG], char key_id[AUDIT_KEY_ID],
                      struct err *err)
{
    struct key *k = ctx;
    assert_true(str_eq_c(zone, "ae-dxb-1"));
    memcpy(key_id, k->id, AUDIT_KEY_ID);
    return p ? ed25519_sign(&k->seed, p, n, sig, err) : ERR_OK;
}

static inline void add_tenant(struct uuid u, const char *name)
{
    char sql[512], text[UUID_TEXT];
    uuid_text(u, text);
    snprintf(sql, sizeof sql, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES"
             " ('%s', '%s', '%s', 'ae-dxb-1', ARRAY['ae-dxb-1'])", text, name, name);
    pg_harness_exec(pg, DB, sql);
}

static inline int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const app_lists[] = { audit_event_stmts, audit_export_stmts, audit_proof_stmts,
                                                           audit_head_proof_stmts, audit_search_stmts, audit_thing_stmts,
                                                           audit_last_change_stmts, audit_hold_stmts,
                                                           audit_retention_stmts, audit_erasure_stmts, erasure_keeper_stmts, audit_pii_stmts, audit_export_job_stmts, NULL };
    static const struct stmt *const *const seq_lists[] = { sequencer_stmts, sequencer_head_stmts, sequencer_page_stmts, audit_event_stmts, audit_export_stmts, audit_shadow_stmts,
                                                           audit_anchor_stmts, audit_reconcile_stmts, NULL };
    pg = pg_harness_new();
    pg_harness_migrate(pg, DB);
    pg_harness_exec(pg, DB, "INSERT INTO zone (code, name, country) VALUES ('ae-dxb-1', 'Dubai', 'AE')");
    key = key_make();
    tenant_a = uuid_v7(1000);
    tenant_b = uuid_v7(2000);
    add_tenant(tenant_a, "aaa");
    add_tenant(tenant_b, "bbb");
    /* The tests count from 1: without the first entries of the logs, and without what the shadow saw of this setup. */
    pg_harness_exec(pg, DB, "DELETE FROM audit_event; UPDATE audit_shadow SET event_id = gen_random_uuid()");
    app_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_app", DB), .size = 4, .lists = app_lists });
    seq_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_sequencer", DB), .size = 2, .lists = seq_lists });
    OK(db_pool_check(app_pool, &e));
    OK(db_pool_check(seq_pool, &e));
    sequencer = sequencer_new(STR("ae-dxb-1"), sign, key);
    return 0;
}

static inline int teardown(void **state)
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
static inline struct unit *unit_open(struct db_pool *pool, struct db_scope scope)
{
    struct unit *u = calloc(1, sizeof *u);
    u->app = (struct app){ .program = "test", .clock = &clock_system, .pool = app_pool, .keyd = fx_keyd, .pii = fx_pii, .erasures = fx_erasures };
    u->w = (struct work){ .app = &u->app, .arena = arena_new(512u << 20), .tenant_id = scope.tenant_id, .now_us = clock_wall_us(&clock_system) };
    if (pool)
        OK(db_begin(pool, scope, 0, u->w.arena, &u->w.tx, &e));
    return u;
}
static inline void unit_close(struct unit *u)
{
    arena_free(u->w.arena);
    free(u);
}
static inline void unit_commit(struct unit *u)
{
    OK(db_commit(u->w.tx, &e));
    unit_close(u);
}

static inline void append(struct unit *u, int n)
{
    for (int i = 0; i < n; i++) {
        struct audit_event ev = audit_event_of(&u->w, AUDIT_JOB_SUBMIT);
        audit_event_detail(&ev, AUDIT_D_INT("i", i));
        OK(audit_append(&u->w, &ev, &e));
    }
}
static inline void append_committed(struct uuid tenant, int n)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant));
    append(u, n);
    unit_commit(u);
}
static inline size_t tick(size_t max)
{
    size_t done = 0;
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(sequencer_tick(&u->w, sequencer, max, &done, &e));
    unit_commit(u);
    return done;
}
static inline bool make_pages(void)
{
    bool more;
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(sequencer_pages(&u->w, &more, &e));
    unit_commit(u);
    return more;
}
static inline size_t sign_heads(void)
{
    size_t n = 0;
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    OK(sequencer_sign_heads(&u->w, sequencer, 1000, &n, &e));
    unit_commit(u);
    return n;
}
static inline size_t listed(struct uuid tenant, struct audit_row *last)
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

static inline enum errc sink(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)err;
    assert_true(buf_add(ctx, p, n));
    return ERR_OK;
}
/* The export's text in b, which is emptied first. */
static inline enum errc export_to(struct audit_export_opts o, struct buf *b)
{
    struct unit *u = unit_open(NULL, SCOPE_TENANT(o.tenant_id));
    struct audit_export_result r;
    o.sink = sink;
    o.sink_ctx = b;
    buf_clear(b);
    enum errc rc = audit_export(&u->w, &o, &r, &e);
    unit_close(u);
    return rc;
}
static inline struct verify_result export_and_verify(struct audit_export_opts o, const struct audit_head *previous)
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
