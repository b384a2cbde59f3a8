/* SPDX-License-Identifier: Apache-2.0 */
/* lease_member.c - statements that only attempts on several machines run. */
#include "scheduler/engine/lease_member.h"
#include "core/db/tx.h"
#include "scheduler/engine/lease_report_int.h"

static const struct stmt member_check = { .name = "lease_member_check", .params = "uuis", .row = &lease_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT a.tenant_id, a.attempt_id, a.job_id, m.node_id, a.fence, m.rank, a.nodes, j.state AS job_state, j.kind, n.zone,\n"
    "       j.data_class, m.lease_until\n"
    "  FROM attempt_member m JOIN attempt a ON a.tenant_id = m.tenant_id AND a.attempt_id = m.attempt_id\n"
    "  JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.fence = a.fence\n"
    "  JOIN node n ON n.node_id = m.node_id\n"
    " WHERE m.tenant_id = $1 AND m.attempt_id = $2 AND a.fence = $3 AND n.identity = $4 AND a.live AND m.live AND m.rank > 0\n"
    "   AND m.lease_until > clock_timestamp() AND n.state IN ('READY', 'DRAINING')" };

static const struct stmt member_write = { .name = "lease_member_write", .params = "UUISBiBIBI", .card = CARD_NONE, .sql =
    "UPDATE attempt_member SET state = i.state, live = i.live, lease_until = clock_timestamp() + $6 * interval '1 millisecond',\n"
    "       started_at = coalesce(started_at, CASE WHEN i.state = 'RUNNING' THEN clock_timestamp() END),\n"
    "       finished_at = CASE WHEN NOT i.live THEN clock_timestamp() END,\n"
    "       cpu_mj = CASE WHEN i.has_cpu_mj THEN i.cpu_mj ELSE attempt_member.cpu_mj END,\n"
    "       gpu_mj = CASE WHEN i.has_gpu_mj THEN i.gpu_mj ELSE attempt_member.gpu_mj END\n"
    "  FROM unnest($1, $2, $3, $4, $5, $7, $8, $9, $10)\n"
    "       AS i(tenant_id, attempt_id, rank, state, live, has_cpu_mj, cpu_mj, has_gpu_mj, gpu_mj)\n"
    " WHERE attempt_member.tenant_id = i.tenant_id AND attempt_member.attempt_id = i.attempt_id\n"
    "   AND attempt_member.rank = i.rank AND attempt_member.live" };

static const struct stmt meet_put = { .name = "lease_meet_put", .params = "uuis", .card = CARD_NONE, .sql =
    "UPDATE attempt_member SET endpoint = $4\n"
    " WHERE tenant_id = $1 AND attempt_id = $2 AND rank = $3 AND live AND endpoint IS DISTINCT FROM $4" };

/* Who has met the others and is done was there: the first rank may hear of it later. */
struct meet_row { int64_t rank; struct str endpoint, zone, pool, name; };
SCHEMA_OF(meet_row, "A machine of a gang", FIELD(meet_row, rank, 0, .doc = "Which"), FIELD(meet_row, endpoint, 0, .doc = "Where"),
    FIELD(meet_row, zone, 0, .doc = "Zone"), FIELD(meet_row, pool, 0, .doc = "Pool"), FIELD(meet_row, name, 0, .doc = "Machine"));
static const struct stmt meet_read = { .name = "lease_meet_read", .params = "uu", .row = &meet_row_schema,
                                        .card = CARD_MANY, .sql =
    "SELECT m.rank, coalesce(m.endpoint, '') AS endpoint, n.zone, n.pool, n.name\n"
    "  FROM attempt_member m JOIN node n ON n.node_id = m.node_id\n"
    " WHERE m.tenant_id = $1 AND m.attempt_id = $2 AND (m.live OR m.state = 'SUCCEEDED') ORDER BY m.rank" };

const struct stmt *const lease_member_stmts[] = { &member_check, &member_write, &meet_put, &meet_read, NULL };

enum errc lease_member_check(struct db_tx *tx, struct uuid tenant, struct uuid attempt, int64_t fence, struct str identity,
                             struct lease *ret, bool *found, struct err *e)
{
    return db_maybe(tx, &member_check, ARGS(A_UUID(tenant), A_UUID(attempt), A_I64(fence), A_STR(identity)), ret, found, e);
}

enum errc lease_meet(struct work *w, const struct lease *l, struct str endpoint, struct lease_gang_out *ret, struct err *e)
{
    struct slice rows = { 0 };
    char hex[UUID_HEX];
    if (l->nodes < 2)
        return FAIL(e, UNPROCESSABLE, "This lease is of a job on one machine, which has nobody to meet");
    db_queue(w->tx, &meet_put, ARGS(A_UUID(l->tenant_id), A_UUID(l->attempt_id), A_I64(l->rank), A_STR(endpoint)), false);
    TRY(db_many(w->tx, &meet_read, ARGS(A_UUID(l->tenant_id), A_UUID(l->attempt_id)), &rows, GANG_NODES_MAX, e));
    const struct meet_row *r = rows.items;
    struct lease_gang_member *m = ARENA_ARRAY(w->arena, struct lease_gang_member, rows.n + 1);
    hex_encode(l->attempt_id.b, sizeof l->attempt_id.b, hex);
    *ret = (struct lease_gang_out){ .missing = l->nodes - (int64_t)rows.n };
    for (size_t i = 0; i < rows.n; i++) {
        ret->missing += !r[i].endpoint.len;
        m[i] = (struct lease_gang_member){ r[i].rank, r[i].endpoint, str_fmt(w->arena, "spiffe://%.*s/lease/%.*s/%.*s/%s",
            STR_ARG(r[i].zone), STR_ARG(r[i].pool), STR_ARG(r[i].name), hex) };
    }
    if (!ret->missing)
        ret->members = (struct slice){ m, rows.n };
    return ERR_OK;
}

/* The others go on, until rank 0 says how all of it ended. */
static const char *own_end(int event)
{
    return event == LE_SUCCEED ? "SUCCEEDED" : event == LE_CANCEL ? "CANCELLED" : event == LE_PREEMPT ? "PREEMPTED" : NULL;
}

bool report_judge_member(struct report *r, struct track *t, const struct lease_item *it, size_t i, bool *ret_new)
{
    const char *own = own_end(it->event);
    if (!t->live)
        return own && str_eq_c(t->state, own);
    if (t->h->job_fence != it->fence || it->outputs.n)
        return false;                   /* what a job gives, rank 0 gives */
    *ret_new = true;
    t->is_renewed = true;
    t->has_cpu_mj = it->has_cpu_mj;
    t->cpu_mj = it->cpu_mj;
    t->has_gpu_mj = it->has_gpu_mj;
    t->gpu_mj = it->gpu_mj;
    if (str_eq_c(t->state, "LEASED"))
        t->state = STR("STARTING");
    if (it->event == LE_START)
        t->state = STR("RUNNING");
    if (it->event <= LE_START)
        return true;
    t->is_over = !own && report_end(r, t, it, i);
    if (t->is_over)
        return true;
    t->state = own ? str_c(own) : STR("FAILED");    /* rank 0 has not begun: the reaper ends it */
    t->live = false;
    return true;
}

void report_write_members(struct report *r)
{
    struct line { struct uuid tenant_id, attempt_id; int64_t rank; struct str state; bool live, has_cpu_mj, has_gpu_mj;
                  int64_t cpu_mj, gpu_mj; };
    struct line *l = NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->ntracks; i++) {
        const struct track *t = &r->tracks[i];
        if (!t->h || !t->h->rank || !t->is_renewed || t->is_over)
            continue;
        if (!l)
            l = ARENA_ARRAY(r->w->arena, struct line, r->ntracks);
        l[n++] = (struct line){ t->tenant_id, t->attempt_id, t->h->rank, t->state, t->live, t->has_cpu_mj,
                                t->has_gpu_mj, t->cpu_mj, t->gpu_mj };
    }
    if (n)
        db_queue(r->w->tx, &member_write, ARGS(A_UUIDS_OF(l, n, tenant_id), A_UUIDS_OF(l, n, attempt_id), A_I64S_OF(l, n, rank),
                 A_STRS_OF(l, n, state), A_BOOLS_OF(l, n, live), A_I64(r->lease_ms), A_BOOLS_OF(l, n, has_cpu_mj),
                 A_I64S_OF(l, n, cpu_mj), A_BOOLS_OF(l, n, has_gpu_mj), A_I64S_OF(l, n, gpu_mj)), false);
}
