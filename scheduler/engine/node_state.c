/* SPDX-License-Identifier: Apache-2.0 */
/* node_state.c - acts of people on machines. The rows are moved by a function of the database that only the platform's scope may use:
 * falaj_app has no right to change the table. */
#include "scheduler/engine/node_state.h"
#include "core/db/tx.h"
#include "core/redis/wake.h"
#include "scheduler/jobs/job.h"

SCHEMA_EXTERN(node_moved, "A machine after a change of its state, and the jobs it has",
    FIELD_ID(node_moved, node_id, "nod", F_ALWAYS, .doc = "The machine"), FIELD(node_moved, zone, F_ALWAYS, .doc = "Its zone"),
    FIELD(node_moved, state, F_ALWAYS, .doc = "READY, DRAINING, QUARANTINED or LOST (released: until it is heard again)"),
    FIELD(node_moved, reason, 0, .doc = "Why, as it was given"),
    FIELD(node_moved, jobs_running, 0, .doc = "Jobs leased to it at that moment"),
    FIELD_IDS(node_moved, job_ids, "job", 0, .max = NODE_JOBS_SHOWN, .doc = "Some of them"));

struct moved_row { struct uuid node_id; };
SCHEMA_OF(moved_row, "Moved", FIELD(moved_row, node_id, 0, .doc = "Machine"));
struct job_row { struct uuid job_id; int64_t total; };
SCHEMA_OF(job_row, "A job on a machine", FIELD(job_row, job_id, 0, .doc = "Job"), FIELD(job_row, total, 0, .doc = "How many there are"));

static const struct stmt node_move_stmt = { .name = "node_move", .params = "usSs", .row = &moved_row_schema, .card = CARD_MAYBE, .sql =
    "SELECT node_id FROM node_move($1, $2, $3, $4) AS node_id" };
static const struct stmt node_jobs_stmt = { .name = "node_jobs", .params = "ui", .row = &job_row_schema, .card = CARD_MANY, .sql =
    "SELECT job_id, total FROM node_jobs($1, $2)" };

const struct stmt *const node_state_stmts[] = { &node_move_stmt, &node_jobs_stmt, NULL };

static const struct move {
    struct str wanted;
    struct str froms[4];        /* the states it may be in, the wanted one included */
    size_t nfroms;
} moves[] = {
    [NODE_DRAIN] = { STR("DRAINING"), { STR("READY"), STR("DRAINING") }, 2 },
    [NODE_UNDRAIN] = { STR("READY"), { STR("DRAINING"), STR("READY") }, 2 },
    [NODE_QUARANTINE] = { STR("QUARANTINED"), { STR("READY"), STR("DRAINING"), STR("LOST"), STR("QUARANTINED") }, 4 },
    [NODE_RELEASE] = { STR("LOST"), { STR("QUARANTINED"), STR("LOST") }, 2 },
};

struct wakes {
    struct redis_client *redis;
    char channel[sizeof WAKE_NODE_PREFIX + UUID_HEX];
};

static void wake(void *ctx)
{
    struct wakes *k = ctx;
    wake_publish(k->redis, str_c(k->channel), STR("1"));
    wake_publish(k->redis, STR(WAKE_SCHEDULER), STR("1"));
}

static enum errc jobs_of(struct work *w, struct uuid node_id, struct node_moved *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &node_jobs_stmt, ARGS(A_UUID(node_id), A_I64(NODE_JOBS_SHOWN)), &rows, NODE_JOBS_SHOWN, e));
    const struct job_row *r = rows.items;
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        ids[i] = r[i].job_id;
    ret->job_ids = (struct slice){ ids, rows.n };
    ret->jobs_running = rows.n ? r[0].total : 0;
    return ERR_OK;
}

enum errc node_move(struct work *w, const struct node *n, enum node_act act, struct str reason, struct node_moved *ret, struct err *e)
{
    const struct move *m = &moves[act];
    struct moved_row row;
    bool found = false;
    TRY(db_maybe(w->tx, &node_move_stmt, ARGS(A_UUID(n->node_id), A_STR(m->wanted), A_STRS(m->froms, m->nfroms), A_STR(reason)), &row, &found, e));
    if (!found && act == NODE_UNDRAIN && n->is_spent)
        return FAIL(e, CONFLICT, "The machine was lent for one lease and has had it; it leaves when that has ended");
    if (!found)
        return FAIL(e, CONFLICT, "The machine is %.*s", STR_ARG(n->state));
    *ret = (struct node_moved){ .node_id = n->node_id, .zone = n->zone, .state = m->wanted, .reason = reason };
    TRY(jobs_of(w, n->node_id, ret, e));
    struct wakes *k = ARENA_NEW(w->arena, struct wakes);
    *k = (struct wakes){ .redis = w->app->redis, .channel = WAKE_NODE_PREFIX };
    hex_encode(n->node_id.b, 16, k->channel + sizeof WAKE_NODE_PREFIX - 1);
    db_after_commit(w->tx, wake, k);
    return ERR_OK;
}
