/* SPDX-License-Identifier: Apache-2.0 */
/* custody.c - an edge: the regular work of the audit log, each task in transactions of its own. */
#include "scheduler/duty/custody.h"
#include "audit/anchor.h"
#include "audit/event.h"
#include "audit/reconcile.h"
#include "audit/retention.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ARENA_MAX = 256 << 20, DROP_BATCH = 10000, STEP_MS = 2000, WEBHOOK_TRIES = 5, LINE_BYTES = 1024 };
static const int64_t DAY_MS = 86400000, COUNT_MS = 600000, SETTLE_US = 300000000;

struct custody {
    const struct app *app;
    struct db_pool *pool, *retention;
    struct arena *arena;
    struct beat *beat;
};

struct task_row { struct str state; };
SCHEMA_OF(task_row, "A task that is due", FIELD(task_row, state, 0, .doc = "Where it ended"));
static const struct stmt claim = { .name = "audit_task_claim", .params = "si", .row = &task_row_schema, .card = CARD_MAYBE, .sql =
  "UPDATE audit_task SET done_at = clock_timestamp() WHERE name = $1 AND done_at <= clock_timestamp() - $2 * interval '1 millisecond'\n"
  "RETURNING state" };
static const struct stmt task_state = { .name = "audit_task_state", .params = "s", .row = &task_row_schema, .card = CARD_ONE, .sql =
  "SELECT state FROM audit_task WHERE name = $1 FOR UPDATE" };
static const struct stmt task_keep = { .name = "audit_task_keep", .params = "ss", .card = CARD_NONE, .sql =
  "UPDATE audit_task SET state = $2 WHERE name = $1" };
struct lag_row { int64_t waiting; double delay_s, head_age_s; };
SCHEMA_OF(lag_row, "Whether the log keeps up", FIELD(lag_row, waiting, 0, .doc = "Events without a number"),
    FIELD(lag_row, delay_s, 0, .doc = "Age of the oldest"), FIELD(lag_row, head_age_s, 0, .doc = "Age of the newest head of the zone"));
static const struct stmt lag = { .name = "audit_lag", .row = &lag_row_schema, .card = CARD_ONE, .sql =
  "SELECT w.n AS waiting, coalesce(extract(epoch FROM clock_timestamp() - w.oldest), 0)::float8 AS delay_s,\n"
  "       coalesce((SELECT extract(epoch FROM clock_timestamp()) - h.ts_us / 1000000.0 FROM audit_head h\n"
  "         WHERE h.tenant_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' ORDER BY h.size DESC LIMIT 1), 0)::float8 AS head_age_s\n"
  "  FROM audit_unnumbered() w" };
struct count_row { int64_t n; };
SCHEMA_OF(count_row, "What the log lacks", FIELD(count_row, n, 0, .doc = "Events of the last day without a number"));
static const struct stmt count = { .name = "audit_count", .row = &count_row_schema, .card = CARD_ONE, .sql = "SELECT audit_count_unnumbered() AS n" };

const struct stmt *const custody_stmts[] = { &claim, &task_state, &task_keep, &lag, &count, NULL };

static struct work work_of(const struct app *app, struct arena *a)
{
    return (struct work){ .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
}

/* True for the one that may do the task now. */
static bool is_due(struct custody *c, const char *name, int64_t every_ms)
{
    struct work w = work_of(c->app, c->arena);
    struct task_row row;
    struct err e = { 0 };
    bool due = false;
    enum errc rc = RUN_SYSTEM(&w, c->pool, 0, db_maybe(w.tx, &claim, ARGS(A_TEXT(name), A_I64(every_ms)), &row, &due, &e), &e);
    if (rc != ERR_OK)
        log_err(LOG_WARN, "custody.claim", &e);
    return rc == ERR_OK && due;
}

/* ------------------------------------------------------------------------------------------------------------------- anchors */
struct target {
    const char *kind;
    struct str name;
};

static enum errc is_wanted(struct work *w, const struct target *t, struct anchor_head *h, bool *ret, struct err *e)
{
    bool found, has = false;
    TRY(audit_anchor_newest(w, h, &found, e));
    if (found)
        TRY(audit_anchor_has(w, t->kind, t->name, h->size, &has, e));
    *ret = found && !has;
    return ERR_OK;
}

static enum errc put(const struct app *app, struct arena *a, const struct target *t, const struct anchor_head *h, struct anchor_proof *proof, struct err *e)
{
    const struct config *c = app->config;
    if (*t->kind == 'f')
        return audit_anchor_file(h, c->audit_anchor_dir, proof, e);
    if (*t->kind == 'z')
        return audit_anchor_zone(h, app->keyd, t->name, proof, e);
    return audit_anchor_webhook(a, h, c->audit_anchor_webhook, c->audit_anchor_secret, WEBHOOK_TRIES, clock_wall_us(app->clock), e);
}

static enum errc anchor_one(const struct app *app, struct db_pool *pool, struct arena *a, const struct target *t, struct err *e)
{
    struct work w = work_of(app, a);
    struct anchor_head h;
    struct anchor_proof proof = { 0 };
    struct err why = { 0 };
    bool wanted;
    if (!t->name.len)
        return ERR_OK;
    TRY(RUN_SYSTEM(&w, pool, TX_READ_ONLY, is_wanted(&w, t, &h, &wanted, e), e));
    if (!wanted)
        return ERR_OK;
    enum errc rc = put(app, a, t, &h, &proof, &why);
    if (rc != ERR_OK)
        log_err(LOG_ERROR, "custody.anchor", &why);
    w.now_us = clock_wall_us(app->clock);
    return RUN_SYSTEM(&w, pool, 0, audit_anchor_note(&w, &h, t->kind, t->name, &proof, rc, e), e);
}

enum errc custody_anchor(const struct app *app, struct db_pool *pool, struct arena *a, struct err *e)
{
    const struct config *c = app->config;
    const struct target targets[] = { { "file", str_c(c->audit_anchor_dir) }, { "zone", str_c(c->audit_anchor_zone) },
                                      { "webhook", str_c(c->audit_anchor_webhook) } };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        TRY(anchor_one(app, pool, a, &targets[i], e));
    return ERR_OK;
}

/* ----------------------------------------------------------------------------------------------------------------- retention */
enum errc custody_retention(const struct app *app, struct db_pool *retention_pool, struct arena *a, int64_t *ret_dropped, struct err *e)
{
    int64_t round;
    *ret_dropped = 0;
    do {
        struct work w = work_of(app, a);
        struct audit_dropped *logs;
        size_t n;
        round = 0;
        TRY(RUN_SYSTEM(&w, retention_pool, 0, audit_retention_drop(&w, DROP_BATCH, &logs, &n, e), e));
        for (size_t i = 0; i < n; i++)
            round += logs[i].dropped;
        *ret_dropped += round;
    } while (round >= DROP_BATCH);
    if (*ret_dropped)
        log_event(LOG_INFO, "custody.retention", "dropped", LOG_I(*ret_dropped), NULL);
    return ERR_OK;
}

/* ----------------------------------------------------------------------------------------------------------------- reconcile */
static enum errc compare_lines(struct work *w, FILE *f, struct reconcile *r, long *ret_at, struct err *e)
{
    char line[LINE_BYTES];
    int64_t until_us = w->now_us - SETTLE_US;
    while (fgets(line, sizeof line, f)) {
        struct str s = str_c(line);
        if (!s.len || s.ptr[s.len - 1] != '\n')
            break;                      /* still being written */
        s.len--;
        if (!reconcile_takes(s, until_us))
            break;
        TRY(reconcile_line(w, r, s, e));
        *ret_at = ftell(f);
    }
    return reconcile_end(w, r, e);
}

/* From where the last pass ended, or from the start of a log that was cut since. */
static enum errc compare(struct work *w, FILE *f, struct reconcile *r, struct err *e)
{
    struct task_row row;
    struct stat st;
    int64_t at;
    TRY(db_one(w->tx, &task_state, ARGS(A_TEXT("reconcile")), &row, e));
    if (!str_to_i64(row.state, 0, INT64_MAX, &at) || fstat(fileno(f), &st) != 0 || at > st.st_size)
        at = 0;
    long end = (long)at;
    if (fseek(f, end, SEEK_SET) != 0)
        return FAIL(e, IO, "the access log cannot be read");
    TRY(compare_lines(w, f, r, &end, e));
    TRY(audit_reconcile_note(w, r, e));
    return db_exec(w->tx, &task_keep, ARGS(A_TEXT("reconcile"), A_STR(str_fmt(w->arena, "%ld", end))), NULL, e);
}

enum errc custody_reconcile(const struct app *app, struct db_pool *pool, struct arena *a, const char *path, struct err *e)
{
    struct work w = work_of(app, a);
    struct reconcile *r = ARENA_NEW(a, struct reconcile);
    FILE *f = fopen(path, "re");
    if (!f)
        return FAIL(e, IO, "the access log cannot be opened");
    reconcile_init(r);
    enum errc rc = RUN_SYSTEM(&w, pool, 0, compare(&w, f, r, e), e);
    fclose(f);
    if (rc == ERR_OK && r->missing)
        log_event(LOG_ERROR, "custody.reconcile", "missing", LOG_I(r->missing), "first", LOG_S(r->first[0]), NULL);
    return rc;
}

/* ------------------------------------------------------------------------------------------------------------------- thread */
static enum errc measure(struct custody *c, struct err *e)
{
    struct work w = work_of(c->app, c->arena);
    struct lag_row row;
    TRY(RUN_SYSTEM(&w, c->pool, TX_READ_ONLY, db_one(w.tx, &lag, NO_ARGS, &row, e), e));
    metrics_set(M_audit_lag_events, (double)row.waiting);
    metrics_set(M_audit_merge_delay_seconds, row.delay_s);
    metrics_set(M_audit_checkpoint_age_seconds, row.head_age_s);
    return ERR_OK;
}

enum errc custody_count(const struct app *app, struct db_pool *pool, struct arena *a, struct err *e)
{
    struct work w = work_of(app, a);
    struct count_row row;
    TRY(RUN_SYSTEM(&w, pool, 0, db_one(w.tx, &count, NO_ARGS, &row, e), e));
    if (row.n)
        log_event(LOG_ERROR, "custody.count", "unnumbered", LOG_I(row.n), NULL);
    return ERR_OK;
}

static int64_t round_once(void *ctx, bool is_woken)
{
    struct custody *c = ctx;
    const struct config *cfg = c->app->config;
    struct err e = { 0 };
    int64_t dropped;
    (void)is_woken;
    arena_reset(c->arena);
    if (measure(c, &e) != ERR_OK)
        log_err(LOG_WARN, "custody.measure", &e);
    if (is_due(c, "count", COUNT_MS) && custody_count(c->app, c->pool, c->arena, &e) != ERR_OK)
        log_err(LOG_WARN, "custody.count", &e);
    if (is_due(c, "anchor", cfg->audit_anchor_ms) && custody_anchor(c->app, c->pool, c->arena, &e) != ERR_OK)
        log_err(LOG_ERROR, "custody.anchor", &e);
    if (c->retention && is_due(c, "retention", DAY_MS) && custody_retention(c->app, c->retention, c->arena, &dropped, &e) != ERR_OK)
        log_err(LOG_ERROR, "custody.retention", &e);
    if (*cfg->audit_access_log && is_due(c, "reconcile", DAY_MS) &&
        custody_reconcile(c->app, c->pool, c->arena, cfg->audit_access_log, &e) != ERR_OK)
        log_err(LOG_ERROR, "custody.reconcile", &e);
    return STEP_MS * INT64_C(1000);
}

struct custody *custody_new(const struct app *app, struct db_pool *sequencer_pool, struct db_pool *retention_pool)
{
    struct custody *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->app = app;
    c->pool = sequencer_pool;
    c->retention = retention_pool;
    c->arena = arena_new(ARENA_MAX);
    c->beat = beat_new("custody", 0, round_once, c);
    return c;
}

void custody_free(struct custody *c)
{
    if (!c)
        return;
    beat_free(c->beat);
    arena_free(c->arena);
    free(c);
}
