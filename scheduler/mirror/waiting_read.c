/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_read.c - one statement brings what came, what changed otherwise, what is in doubt and a slice of the queue, so all
 * is of one moment: what was applied must then be what the slice says.
 *
 * "Since the last read" is what that one's snapshot did not see (pg_visible_in_snapshot): a transaction that was under way
 * then is in the next answer, and no row comes twice. Ids of transactions beyond the newest one are those of a database that
 * was restored from a dump; they were loaded. Parts that are read beside it (waiting_load.c) are younger than that moment.
 *
 * The first row says of which database it is, and whether notes were removed that the last read did not see: then what is known
 * is forgotten, and so it is where the last read saw transactions that are yet to come. */
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "core/table/schema.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/waiting_int.h"
#include "scheduler/plan/askset.h"
#include "scheduler/plan_check.h"

#include <stdlib.h>

enum kind { K_HEAD, K_CAME, K_CHANGED, K_SLICE };
struct waiting_row { struct waiting_fact f; int64_t what, came; struct str seen_by, epoch; bool is_behind; };
#define JOB(m, ...) FIELD_AS(waiting_row, f.j.m, #m, 0, ##__VA_ARGS__)
SCHEMA_OF(waiting_row, "A waiting job, or one that waits no longer", FIELD(waiting_row, what, 0, .doc = "Why it is read"),
    FIELD(waiting_row, seen_by, 0, .doc = "The first row: what this statement sees"),
    FIELD(waiting_row, epoch, 0, .doc = "And of which database"),
    FIELD(waiting_row, is_behind, 0, .doc = "And whether notes since the last read are gone"),
    FIELD(waiting_row, came, 0, .doc = "The transaction that stored it, where that is asked for"),
    FIELD_AS(waiting_row, f.is_ready, "is_ready", 0, .doc = "In the queue"),
    FIELD_AS(waiting_row, f.may_go, "may_go", 0, .doc = "Not asked to stop"),
    JOB(tenant_id, .doc = "Tenant"), JOB(job_id, .doc = "Job"), JOB(reason, .doc = "Why it waits"),
    JOB(message, .doc = "In words"), JOB(zone, .doc = "Pinned zone"), JOB(pool, .doc = "Pool"),
    JOB(kind, .doc = "Kind of job"), JOB(data_class, .doc = "Of its data"),
    JOB(queue, .doc = "Queue"), JOB(project_id, .doc = "Project"), JOB(slots, .doc = "Slots"), JOB(gpus, .doc = "GPUs"),
    JOB(priority, .doc = "Priority"), JOB(fence, .doc = "Newest attempt"), JOB(cpu_milli, .doc = "Processors"),
    JOB(memory_bytes, .doc = "Memory"), JOB(nodes, .doc = "Machines at once"), JOB(nodes_max, .doc = "At most"),
    JOB(max_runtime_s, .doc = "Limit"),
    JOB(gpu_milli, .doc = "Of one GPU"), JOB(gpu_models, .doc = "Models that will do"),
    JOB(engine, .doc = "Of its model"),
    FIELD_AS(waiting_row, f.j.cls, "class", 0, .doc = "Priority class"), JOB(version, .doc = "Version"),
    JOB(submitted_at, .doc = "When"), JOB(shape, .doc = "What it asks for"));

#define WISHES(version)                                                                                                      \
    "j.reason, j.message, j.zone, j.pool, j.kind, j.data_class, j.queue, j.project_id, j.slots, j.gpus, j.priority,\n"       \
    "       j.fence, j.cpu_milli, j.memory_bytes, j.nodes, j.nodes_max, j.max_runtime_s, j.gpu_milli, j.gpu_models, j.class,\n" \
    "       j.engine, " version " AS version, j.submitted_at, j.shape"
#define READY "j.queued AND j.not_before IS NULL"
#define ROW READY " AS is_ready, NOT j.cancel_requested AS may_go, j.tenant_id, j.job_id, " WISHES("j.version")
#define SINCE(xid)                                                                                                           \
    xid " >= pg_snapshot_xmin($1::text::pg_snapshot) AND NOT pg_visible_in_snapshot(" xid ", $1::text::pg_snapshot)\n"       \
    "     AND " xid " < pg_snapshot_xmax(pg_current_snapshot())"
#define IS_BEHIND                                                                                                            \
    "pg_snapshot_xmax($1::text::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) OR EXISTS (\n"                       \
    "          SELECT FROM change_swept s WHERE s.upto >= pg_snapshot_xmin($1::text::pg_snapshot)\n"                        \
    "             AND s.upto < pg_snapshot_xmax(pg_current_snapshot()))"
#define SLICE(where, order, most)                                                                                            \
    "SELECT 3::bigint AS what, NULL::text AS seen_by, NULL::text AS epoch, NULL::boolean AS is_behind, x.* FROM (\n"         \
    "    SELECT " ROW " FROM job j WHERE " READY " AND " where "\n"                                                          \
    "     ORDER BY " order " LIMIT " most ") x"
/* The slice in the order of the index job_ready, which no one comparison of rows follows: the rest of the priority, of the
 * shape, of all. */
#define SLICES(tenant, shape, priority, job, most)                                                                           \
    "  (" SLICE("j.tenant_id = " tenant " AND j.shape = " shape " AND j.priority = " priority " AND j.job_id > " job,        \
                "j.job_id", most) ")\n"                                                                                      \
    "  UNION ALL\n"                                                                                                          \
    "  (" SLICE("j.tenant_id = " tenant " AND j.shape = " shape " AND j.priority < " priority,                               \
                "j.priority DESC, j.job_id", most) ")\n"                                                                     \
    "  UNION ALL\n"                                                                                                          \
    "  (" SLICE("(j.tenant_id, j.shape) > (" tenant ", " shape ")", "j.tenant_id, j.shape, j.priority DESC, j.job_id",       \
                most) ")"
/* Of changes: who was noted or is in doubt is looked up; who was admitted, by a note of another scheduler's, waits no longer in
 * the version that the note has. */
static const struct stmt waiting_rows = { .name = "waiting_rows", .params = "sUUuiiuiii", .row = &waiting_row_schema,
                                          .card = CARD_MANY, .sql =
    "(SELECT 0::bigint AS what, pg_current_snapshot()::text AS seen_by, " MIRROR_EPOCH " AS epoch,\n"
    "        coalesce(" IS_BEHIND ", false) AS is_behind, h.*\n"
    "   FROM (VALUES (1)) one LEFT JOIN LATERAL (SELECT " ROW " FROM job j WHERE false) h ON true)\n"
    "UNION ALL\n"
    "(SELECT 1, NULL, NULL, NULL, " ROW " FROM job j WHERE " READY " AND " SINCE("j.ready_xid") "\n"
    "  ORDER BY j.ready_xid LIMIT $9)\n"
    "UNION ALL\n"
    "(SELECT 2, NULL, NULL, NULL, coalesce(" READY ", false), NOT coalesce(j.cancel_requested, c.version IS NOT NULL),\n"
    "       c.of_tenant, c.of_job, " WISHES("coalesce(j.version, c.version, 9223372036854775807)") "\n"
    "   FROM (SELECT of_tenant, of_job, NULL::bigint AS version FROM job_change WHERE " SINCE("changed_xid") "\n"
    "         UNION SELECT t.* FROM plan_change p, unnest(p.tenants, p.jobs, p.versions) AS t(of_tenant, of_job, version)\n"
    "                WHERE p.writer <> $10 AND " SINCE("p.changed_xid") "\n"
    "         UNION SELECT d.*, NULL FROM unnest($2, $3) AS d(of_tenant, of_job)) c\n"
    "   LEFT JOIN LATERAL (\n"
    "     SELECT job.* FROM job WHERE job.tenant_id = c.of_tenant AND job.job_id = c.of_job AND c.version IS NULL LIMIT 1) j\n"
    "     ON true LIMIT $9)\n"
    "UNION ALL\n"
    "SELECT s.* FROM (\n" SLICES("$4", "$5", "$6", "$7", "$8") ") s" };

/* Parts of all that waits. By when jobs came, which is how they lie in the table: each page is read once. Of one transaction
 * may be more than a part has, or of none that is known; then in the order of job_ready, where the next job mostly lies
 * elsewhere. */
static const struct stmt waiting_part = { .name = "waiting_part", .params = "ii", .row = &waiting_row_schema, .card = CARD_MANY,
                                          .sql =
    "SELECT j.ready_xid::text::bigint AS came, " ROW " FROM job j\n"
    " WHERE " READY " AND j.ready_xid >= $1::bigint::text::xid8 ORDER BY j.ready_xid LIMIT $2" };
static const struct stmt waiting_walk = { .name = "waiting_walk", .params = "uiiui", .row = &waiting_row_schema,
                                          .card = CARD_MANY, .sql =
    "SELECT s.* FROM (\n" SLICES("$1", "$2", "$3", "$4", "$5") ") s" };

#define SWEEP(table)                                                                                                         \
    "DELETE FROM " table " WHERE ctid = ANY (ARRAY(SELECT ctid FROM " table "\n"                                             \
    "   WHERE changed_xid < pg_snapshot_xmin($1::text::pg_snapshot)\n"                                                 \
    "   ORDER BY changed_xid LIMIT $2))"
static const struct stmt waiting_swept = { .name = "waiting_swept", .params = "si", .card = CARD_NONE,
                                           .sql = SWEEP("job_change") };
static const struct stmt waiting_plans_swept = { .name = "waiting_plans_swept", .params = "si", .card = CARD_NONE,
                                                 .sql = SWEEP("plan_change") };

struct seen_row { struct str seen_by; };
SCHEMA_OF(seen_row, "What a statement sees", FIELD(seen_row, seen_by, 0, .doc = "The transactions that it sees"));
static const struct stmt waiting_sees = { .name = "waiting_sees", .params = "", .row = &seen_row_schema, .card = CARD_ONE,
                                          .sql = "SELECT pg_current_snapshot()::text AS seen_by" };

const struct stmt *const waiting_stmts[] = { &waiting_rows, &waiting_part, &waiting_walk, &waiting_swept,
                                             &waiting_plans_swept, &waiting_sees, NULL };

static int by_index(const void *a, const void *b)
{
    const struct snap_job *x = &((const struct waiting_fact *)a)->j, *y = &((const struct waiting_fact *)b)->j;
    const int c = uuid_cmp(x->tenant_id, y->tenant_id);
    if (c || x->shape != y->shape)
        return c ? c : x->shape < y->shape ? -1 : 1;
    return x->priority != y->priority ? (x->priority > y->priority ? -1 : 1) : uuid_cmp(x->job_id, y->job_id);
}

/* An answer, taken apart; slice: in the order of the index. */
struct answer {
    struct waiting_fact *changes, *slice;
    size_t nchanges, nslice;
    struct str seen_by, epoch;
    bool is_behind;
};

static struct answer answer_of(struct slice rows, int64_t slice, int64_t seen, struct arena *a)
{
    const struct waiting_row *r = rows.items;
    struct answer x = { .changes = ARENA_ARRAY(a, struct waiting_fact, rows.n + 1),
                        .slice = ARENA_ARRAY(a, struct waiting_fact, rows.n + 1) };
    for (size_t i = 0; i < rows.n; i++) {
        struct waiting_fact f = r[i].f;
        f.seen = seen;
        if (r[i].what == K_HEAD) {
            x.seen_by = r[i].seen_by;
            x.epoch = r[i].epoch;
            x.is_behind = r[i].is_behind;
        } else if (r[i].what == K_SLICE)
            x.slice[x.nslice++] = f;
        else
            x.changes[x.nchanges++] = f;
    }
    qsort(x.slice, x.nslice, sizeof *x.slice, by_index);
    if (x.nslice > (size_t)slice)       /* each of the three gives as many */
        x.nslice = (size_t)slice;
    return x;
}

static void mend(struct waiters *m, const char *event)
{
    log_event(LOG_WARN, event, "what", LOG_S("jobs"), NULL);
    waiting_forget(m);
}

static void compare(struct waiters *m, const struct answer *x, bool is_last)
{
    m->count.compared += (int64_t)x->nslice;
    if (waiting_same(m, x->slice, x->nslice, &m->after, is_last))
        return;
    m->count.differing++;
    metrics_inc(M_scheduler_mirror_total, "differed");
    mend(m, "scheduler.mirror_differs");
}

void waiting_put(struct waiters *m, const struct waiting_part *p)
{
    waiting_apply(m, p->items, p->n);
    m->count.changed += (int64_t)p->n;
    m->from = p->next;
    if (p->is_last) {
        m->is_whole = true;
        m->count.loads++;
        metrics_inc(M_scheduler_mirror_total, "loaded");
    }
    if (waiting_bytes(m) > WAITING_BYTES_MAX) {
        mend(m, "scheduler.mirror_full");
        m->is_off = true;
    }
}

static void keep(char **text, struct str s)
{
    free(*text);
    *text = str_dup_heap(s);
}

/* The answer to a statement. slice: how many rows of the queue were asked for. */
static void take(struct waiters *m, const struct answer *x, int64_t slice)
{
    const bool is_last = x->nslice < (size_t)slice;
    const bool is_strange = m->last && (x->is_behind || !str_eq_c(x->epoch, m->epoch));
    if (is_strange || x->nchanges > WAITING_CHANGES) {  /* of many changes: a walk over all is cheaper */
        if (is_strange)
            log_event(LOG_INFO, "scheduler.mirror_behind", "epoch", LOG_STR(x->epoch), NULL);
        waiting_forget(m);
        return;
    }
    keep(&m->last, x->seen_by);
    keep(&m->epoch, x->epoch);
    m->ndoubts = 0;
    waiting_apply(m, x->changes, x->nchanges);
    m->count.changed += (int64_t)x->nchanges;
    if (!slice || !m->is_whole)
        return;
    compare(m, x, is_last);
    if (m->is_whole)
        m->after = is_last ? (struct waiting_key){ 0 } : waiting_key_of(&x->slice[x->nslice - 1]);
}

struct waiting_ask { struct db_ask *ask; int64_t slice; };
enum { MOST = 2 * (WAITING_CHANGES + 1) + 3 * WAITING_SLICE + 1 };

static struct waiting_ask *ask(struct work *w, const struct waiters *m, int64_t slice)
{
    struct waiting_ask *a = ARENA_NEW(w->arena, struct waiting_ask);
    *a = (struct waiting_ask){ db_ask(w->tx, &waiting_rows, ARGS(A_TEXT(m->last), A_UUIDS_OF(m->doubts, m->ndoubts, tenant_id),
                A_UUIDS_OF(m->doubts, m->ndoubts, job_id), A_UUID(m->after.tenant_id), A_I64(m->after.shape),
                A_I64(m->after.priority), A_UUID(m->after.job_id), A_I64(slice), A_I64(WAITING_CHANGES + 1), A_I64(m->writer))),
                slice };
    return a;
}

static enum errc told(struct work *w, struct waiters *m, struct waiting_ask *a, struct err *e)
{
    struct slice rows = { 0 };
    const int64_t seen = waiting_begin(m);
    TRY(db_told_many(w->tx, a->ask, &rows, MOST, e));
    const struct answer x = answer_of(rows, a->slice, seen, w->arena);
    take(m, &x, a->slice);
    return ERR_OK;
}

enum errc waiting_read_changes(struct work *w, struct err *e)
{
    return told(w, w->app->waiting, ask(w, w->app->waiting, 0), e);
}

static enum errc read_walk(struct work *w, struct waiting_part *p, int64_t most, struct err *e)
{
    struct slice rows = { 0 };
    const struct waiting_key *k = &p->from.after;
    TRY(db_many(w->tx, &waiting_walk, ARGS(A_UUID(k->tenant_id), A_I64(k->shape), A_I64(k->priority), A_UUID(k->job_id),
                A_I64(most)), &rows, (size_t)(3 * most), e));
    const struct answer x = answer_of(rows, most, p->seen, w->arena);
    p->items = x.slice;
    p->n = x.nslice;
    p->next = (struct waiting_from){ .walks = true };
    if (p->n)
        p->next.after = waiting_key_of(&p->items[p->n - 1]);
    return ERR_OK;
}

static enum errc read_came(struct work *w, struct waiting_part *p, int64_t most, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &waiting_part, ARGS(A_I64(p->from.came), A_I64(most)), &rows, (size_t)most, e));
    const struct waiting_row *r = rows.items;
    p->items = ARENA_ARRAY(w->arena, struct waiting_fact, rows.n + 1);
    for (p->n = 0; p->n < rows.n; p->n++) {
        p->items[p->n] = r[p->n].f;
        p->items[p->n].seen = p->seen;
    }
    /* Those of the last transaction are read again, since there may be more of it. */
    const int64_t came = rows.n ? r[rows.n - 1].came : 0;
    p->next = (struct waiting_from){ .came = came, .walks = came <= p->from.came };
    return ERR_OK;
}

enum errc waiting_read_part(struct work *w, struct waiting_part *p, int64_t most, struct err *e)
{
    TRY(p->from.walks ? read_walk(w, p, most, e) : read_came(w, p, most, e));
    p->is_last = p->n < (size_t)most;
    if (p->is_last)
        p->next = (struct waiting_from){ 0 };
    return ERR_OK;
}

struct waiting_ask *waiting_asked(struct work *w, bool compares)
{
    return ask(w, w->app->waiting, compares ? WAITING_SLICE : 0);
}

enum errc waiting_read(struct work *w, struct waiting_ask *a, struct err *e)
{
    return told(w, w->app->waiting, a, e);
}

/* A mirror that is off until the next term reads no notes, and those of who stands by go no sooner for that: in place of what it
 * read last stands what this statement sees. */
enum errc waiting_tidy(struct work *w, bool *ret_more, struct err *e)
{
    struct waiters *m = w->app->waiting;
    struct seen_row now;
    int64_t n = 0, plans = 0;
    *ret_more = false;
    if (!m || (!m->last && !m->is_off))
        return ERR_OK;
    if (m->sweep) {
        TRY(db_exec(w->tx, &waiting_swept, ARGS(A_TEXT(m->sweep), A_I64(WAITING_SWEPT)), &n, e));
        TRY(db_exec(w->tx, &waiting_plans_swept, ARGS(A_TEXT(m->sweep), A_I64(WAITING_SWEPT)), &plans, e));
    }
    *ret_more = n == WAITING_SWEPT || plans == WAITING_SWEPT;
    if (*ret_more)
        return ERR_OK;
    if (!m->last)
        TRY(db_one(w->tx, &waiting_sees, NULL, 0, &now, e));
    keep(&m->sweep, m->last ? str_c(m->last) : now.seen_by);
    return ERR_OK;
}

static bool still_waits(const struct waiters *m, struct uuid tenant_id, struct uuid job_id)
{
    const uint32_t i = waiting_find(m, tenant_id, job_id);
    return i && m->items[i].wish;
}

void waiting_doubt(struct waiters *m, const struct snapshot *s, const struct plan *p)
{
    if (!m || !m->last)
        return;
    if (m->ndoubts + p->places.n > WAITING_CHANGES) {
        waiting_forget(m);
        return;
    }
    if (m->ndoubts + p->places.n > m->capdoubts)
        m->doubts = list_alloc(m->doubts, m->capdoubts = 2 * (m->ndoubts + p->places.n), sizeof *m->doubts);
    for (size_t i = 0; i < p->places.n; i++) {
        const struct snap_job *j = &s->jobs.items[p->places.items[i].job];
        m->doubts[m->ndoubts++] = (struct doubt){ j->tenant_id, j->job_id };
    }
}

void waiting_settle(struct waiters *m, const struct plan_line *lines, size_t n)
{
    size_t kept = 0;
    if (!m || !m->last)
        return;
    for (size_t i = 0; i < n; i++) {
        struct waiting_fact f = { .j = *lines[i].job, .seen = m->statement };
        f.j.version++;
        waiting_apply(m, &f, 1);
    }
    for (size_t i = 0; i < m->ndoubts; i++)
        if (still_waits(m, m->doubts[i].tenant_id, m->doubts[i].job_id))
            m->doubts[kept++] = m->doubts[i];
    m->ndoubts = kept;
}

void waiting_told(struct waiters *m, const struct snapshot *s, const struct plan *p)
{
    for (size_t i = 0; m && m->last && i < p->waits.n; i++) {
        const struct snap_job *j = &s->jobs.items[p->waits.items[i].job];
        const uint32_t at = waiting_find(m, j->tenant_id, j->job_id);
        if (!at || !m->items[at].wish || m->items[at].version != j->version)
            continue;
        m->items[at].said = waiting_said(p->waits.items[i].reason, p->waits.items[i].message);
        m->items[at].reason = waiting_reason(p->waits.items[i].reason);
    }
}
