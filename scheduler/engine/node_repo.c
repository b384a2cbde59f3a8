/* SPDX-License-Identifier: Apache-2.0 */
/* node_repo.c - SQL of machines. The table has no tenant: a machine serves many, and says nothing about them. */
#include "scheduler/engine/node_repo.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "scheduler/engine/lease_move.h"
#include "core/db/list_find.h"

enum { DEVICES_TEXT_MAX = 1 << 16 };

SCHEMA_EXTERN(node, "A worker machine",
    FIELD_ID(node, node_id, "nod", F_ALWAYS, .doc = "The machine"),
    FIELD(node, zone, F_ALWAYS, .doc = "Residency zone it stands in"),
    FIELD(node, pool, F_ALWAYS, .doc = "Pool it belongs to"), FIELD(node, name, F_ALWAYS, .doc = "Its name"),
    FIELD(node, identity, F_ALWAYS, .doc = "URI of its certificate"),
    FIELD(node, state, F_ALWAYS, .doc = "READY, DRAINING, QUARANTINED or LOST"),
    FIELD(node, slots, 0, .doc = "Leases of one slot it runs at once"), FIELD(node, cpus, 0, .doc = "Processors"),
    FIELD(node, memory_bytes, 0, .doc = "Memory"), FIELD(node, gpus, 0, .doc = "GPUs"),
    FIELD(node, cpu_milli, 0, .doc = "Thousandths of a processor for jobs; 0: not said"),
    FIELD(node, gpu_model, 0, .doc = "Model of its GPUs"), FIELD(node, gpu_shared, 0,
                                                                 .doc = "Its GPUs keep jobs with shares apart"),
    FIELD(node, devices, 0, .by = NULL, .doc = "Its GPUs: index, uuid, model, memory_bytes, isolation"),
    FIELD(node, programs, 0, .doc = "It starts programs of tenants (jobs of kind run)"),
    FIELD(node, gangs, 0, .doc = "It runs parts of jobs on several machines"),
    FIELD(node, gang_programs, 0, .doc = "It runs parts of programs on several machines"),
    FIELD(node, engines, F_ALWAYS,
          .doc = "What computes models outside our operations there, and falaj-rank where mpirun starts ranks: names and "
                 "versions between commas"),
    FIELD(node, flavor, F_ALWAYS, .doc = "What kind of machine it is, for quotas and prices"),
    FIELD(node, backend, F_ALWAYS, .doc = "Compute backend in use"),
    FIELD(node, version, F_ALWAYS, .doc = "Version of its agent"), FIELD(node, boot_id, F_NOOUT, .doc = "This run of its agent"),
    FIELD(node, last_seen_at, F_ALWAYS, .doc = "When it was last heard of"),
    FIELD(node, created_at, F_ALWAYS, .doc = "When it first registered"),
    FIELD(node, is_due, F_NOOUT, .doc = "That it was heard of is to be noted"),
    FIELD(node, reason, F_ALWAYS, .doc = "Why it is drained or in quarantine"),
    FIELD(node, is_spent, F_ALWAYS,
          .doc = "An engine lent it for one lease and it has had it: it leaves when that has ended"),
    FIELD(node, silent_ms, 0, .doc = "Time since it was last heard of"),
    FIELD(node, cert_ends_at, 0, .doc = "When its newest certificate of the zone's authority ends"),
    FIELD_OPT(node, used_slots, 0, .doc = "Slots of what is leased to it now; for the platform alone"),
    FIELD_OPT(node, used_gpus, 0, .doc = "GPUs of what is leased to it now; for the platform alone"),
    FIELD_OPT(node, running, 0, .doc = "How many attempts are leased to it now; for the platform alone"));

SCHEMA_EXTERN(node_work, "What a machine has to do: whose and how much, without names or data",
    FIELD_ID(node_work, attempt_id, "att", F_ALWAYS, .doc = "The attempt"),
    FIELD_ID(node_work, job_id, "job", 0, .doc = "Its job"),
    FIELD_ID(node_work, tenant_id, "tnt", 0, .doc = "Whose job it is, by id alone"),
    FIELD(node_work, kind, F_ALWAYS, .doc = "noop, train or serve"),
    FIELD(node_work, zone, F_ALWAYS, .doc = "The machine's zone"),
    FIELD(node_work, slots, 0, .doc = "Slots it takes"), FIELD(node_work, gpus, 0, .doc = "GPUs it takes"),
    FIELD(node_work, state, F_ALWAYS, .doc = "LEASED, STARTING or RUNNING"),
    FIELD(node_work, leased_at, 0, .doc = "When the machine got it"),
    FIELD(node_work, started_at, 0, .doc = "When it began to run; absent until then"));

SCHEMA_OF(node_run, "The run of an agent", FIELD(node_run, node_id, 0, .doc = "Machine"), FIELD(node_run, boot_id, 0, .doc = "Run"),
    FIELD(node_run, is_heard, 0, .doc = "It was heard of lately"));

#define NODE_COLUMNS \
    "node_id, zone, pool, name, identity, state, slots, cpus, memory_bytes, gpus, backend, flavor, version, boot_id, last_seen_at, " \
    "created_at, cpu_milli, gpu_model, gpu_shared, devices, programs, gangs, gang_programs, engines"

/* A tenant sees no certificates. */
#define SEEN_COLUMNS                                                                                                         \
    ", reason, is_spent,\n"                                                                                              \
    "       (extract(epoch FROM clock_timestamp() - last_seen_at) * 1000)::bigint AS silent_ms,\n"                       \
    "       (SELECT max(c.ends_at) FROM node_cert c WHERE c.identity = node.identity) AS cert_ends_at,\n"         \
    "       used_slots, used_gpus, running"
#define NODE_LOADED "node LEFT JOIN LATERAL node_load(node.node_id) ON true"

/* The state of a machine that is heard again: silence does not undo what people ordered. */
#define HEARD(n) "CASE WHEN " n "state <> 'LOST' THEN " n "state WHEN " n "is_drained THEN 'DRAINING' ELSE 'READY' END"

static const struct stmt node_upsert = { .name = "node_upsert", .params = "ussssiiiissuisbsbbbs", .row = &node_schema,
                                         .card = CARD_ONE, .sql =
    "INSERT INTO node (node_id, zone, pool, name, identity, slots, cpus, memory_bytes, gpus, backend, version, boot_id, flavor,\n"
    "                  cpu_milli, gpu_model, gpu_shared, devices, programs, gangs, gang_programs, engines)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, CASE WHEN $9 > 0 THEN 'gpu' ELSE 'cpu' END,\n"
    "        $13, $14, $15, $16::jsonb, $17, $18, $19, $20)\n"
    "ON CONFLICT (identity) DO UPDATE SET slots = EXCLUDED.slots, cpus = EXCLUDED.cpus, memory_bytes = EXCLUDED.memory_bytes,\n"
    "   gpus = EXCLUDED.gpus, backend = EXCLUDED.backend, version = EXCLUDED.version, boot_id = EXCLUDED.boot_id,\n"
    "   cpu_milli = EXCLUDED.cpu_milli, gpu_model = EXCLUDED.gpu_model, gpu_shared = EXCLUDED.gpu_shared,\n"
    "   devices = EXCLUDED.devices, programs = EXCLUDED.programs, gangs = EXCLUDED.gangs,\n"
    "   gang_programs = EXCLUDED.gang_programs, engines = EXCLUDED.engines,\n"
    "   last_seen_at = clock_timestamp(), state = " HEARD("node.") "\n"
    "RETURNING " NODE_COLUMNS };

static const struct stmt node_boot = { .name = "node_boot", .params = "si", .row = &node_run_schema, .card = CARD_MAYBE, .sql =
    "SELECT node_id, boot_id, last_seen_at > clock_timestamp() - $2 * interval '1 millisecond' AS is_heard FROM node WHERE identity = $1\n"
    "   FOR NO KEY UPDATE" };

static const struct stmt node_live = { .name = "node_live", .params = "ui", .row = &overdue_schema, .card = CARD_MANY, .sql =
    "SELECT " OVERDUE_COLUMNS("'boot'") "\n"
    "  FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id\n"
    " WHERE a.live AND (a.tenant_id, a.attempt_id) IN (\n"
    "       SELECT h.tenant_id, h.attempt_id FROM machine_hold h WHERE h.node_id = $1)\n"
    " ORDER BY j.tenant_id, j.job_id LIMIT $2 FOR NO KEY UPDATE OF j, a" };

/* Reads alone, so that who only asks for work waits for no commit; what is to be noted is written by the next. */
static const struct stmt node_heard_stmt = { .name = "node_heard", .params = "uus", .row = &node_schema, .card = CARD_MAYBE,
    .sql =
    "SELECT " NODE_COLUMNS ", " NODE_IS_DUE("") " AS is_due\n"
    "  FROM node WHERE node_id = $1 AND boot_id = $2 AND identity = $3" };
static const struct stmt node_beat_stmt = { .name = "node_beat", .params = "uus", .card = CARD_NONE, .sql =
    "UPDATE node SET last_seen_at = clock_timestamp(), state = " HEARD("") "\n"
    " WHERE node_id = $1 AND boot_id = $2 AND identity = $3" };

static const struct stmt node_get_stmt = { .name = "node_get", .params = "u", .row = &node_schema, .card = CARD_ONE, .sql =
    "SELECT " NODE_COLUMNS SEEN_COLUMNS " FROM " NODE_LOADED " WHERE node_id = $1" };

/* The page first, then what it costs to look at each machine of it. */
const struct stmt node_list_stmt = { .name = "node_list", .params = LIST_FIND_PARAMS, .row = &node_schema, .card = CARD_MANY, .sql =
    "SELECT " NODE_COLUMNS SEEN_COLUMNS " FROM (SELECT " NODE_COLUMNS ", reason, is_spent, found_place\n"
    "          FROM " LIST_FIND("node")
    "  JOIN node ON node_id = found_id) " NODE_LOADED " ORDER BY found_place" };

static const struct stmt node_work_stmt = { .name = "node_work", .params = "uui", .row = &node_work_schema, .card = CARD_MANY, .sql =
    "SELECT attempt_id, job_id, tenant_id, kind, zone, slots, gpus, state, leased_at, started_at FROM node_work($1, $2, $3)" };

static const struct stmt node_mark_lost_stmt = { .name = "node_mark_lost", .params = "i", .card = CARD_NONE, .sql =
    "UPDATE node SET state = 'LOST'\n"
    " WHERE state IN ('READY', 'DRAINING') AND last_seen_at < clock_timestamp() - $1 * interval '1 millisecond'" };

struct flavor_row { bool done; };
SCHEMA_OF(flavor_row, "Whether it was set", FIELD(flavor_row, done, 0, .doc = "Set"));
static const struct stmt node_flavor_stmt = { .name = "node_flavor_set", .params = "us", .row = &flavor_row_schema, .card = CARD_ONE, .sql =
    "SELECT node_flavor_set($1, $2) AS done" };

const struct stmt *const node_stmts[] = { &node_get_stmt, &node_list_stmt, &node_work_stmt, &node_flavor_stmt, NULL };
const struct stmt *const node_worker_stmts[] = { &node_upsert, &node_boot, &node_live, &node_heard_stmt, &node_beat_stmt, NULL };
const struct stmt *const node_scheduler_stmts[] = { &node_mark_lost_stmt, NULL };

enum errc node_repo_upsert(struct db_tx *tx, struct uuid new_id, const struct node_register *in, struct str identity, struct node *ret,
                           struct err *e)
{
    CLEANUP(buf_releasep) struct buf devices = BUF(DEVICES_TEXT_MAX);
    const struct node_device *d = in->devices.items;
    const size_t n = in->devices.n;
    bool is_shared = n > 0;
    buf_add_char(&devices, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(&devices, ',');
        json_encode(&node_device_schema, &d[i], &devices);
        is_shared &= d[i].isolation != GPU_NONE;
    }
    buf_add_char(&devices, ']');
    return db_one(tx, &node_upsert, ARGS(A_UUID(new_id), A_STR(in->zone), A_STR(in->pool), A_STR(in->name), A_STR(identity), A_I64(in->slots),
                                         A_I64(in->cpus), A_I64(in->memory_bytes), A_I64(in->gpus), A_STR(in->backend), A_STR(in->version),
                                         A_UUID(in->boot_id), A_I64(in->cpu_milli ? in->cpu_milli : in->cpus * 1000),
                                         A_STR(n ? d[0].model : STR("")), A_BOOL(is_shared), A_STR(buf_str(&devices)),
                                         A_BOOL(in->programs), A_BOOL(in->gangs), A_BOOL(in->gang_programs),
                                         A_STR(in->engines.ptr ? in->engines : STR(""))), ret, e);
}

enum errc node_repo_live(struct db_tx *tx, struct uuid node_id, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(tx, &node_live, ARGS(A_UUID(node_id), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc node_repo_boot(struct db_tx *tx, struct str identity, int64_t silence_ms, struct node_run *ret, bool *found, struct err *e)
{
    return db_maybe(tx, &node_boot, ARGS(A_STR(identity), A_I64(silence_ms)), ret, found, e);
}

struct db_ask *node_repo_beat_ask(struct db_tx *tx, const struct node_call *c)
{
    return db_ask(tx, &node_heard_stmt, ARGS(A_UUID(c->node_id), A_UUID(c->boot_id), A_STR(c->identity)));
}

void node_repo_beat(struct db_tx *tx, const struct node_call *c)
{
    db_queue(tx, &node_beat_stmt, ARGS(A_UUID(c->node_id), A_UUID(c->boot_id), A_STR(c->identity)), false);
}

enum errc node_repo_beat_told(struct db_tx *tx, const struct node_call *c, struct node *ret, bool *found, struct err *e)
{
    TRY(db_told_maybe(tx, c->ask, ret, found, e));
    if (*found && ret->is_due)
        node_repo_beat(tx, c);
    return ERR_OK;
}

enum errc node_repo_set_flavor(struct db_tx *tx, struct uuid node_id, struct str flavor, bool *done, struct err *e)
{
    struct flavor_row r;
    TRY(db_one(tx, &node_flavor_stmt, ARGS(A_UUID(node_id), A_STR(flavor)), &r, e));
    *done = r.done;
    return ERR_OK;
}

enum errc node_repo_get(struct db_tx *tx, struct uuid node_id, struct node *ret, struct err *e)
{
    return db_one(tx, &node_get_stmt, ARGS(A_UUID(node_id)), ret, e);
}

enum errc node_repo_mark_lost(struct db_tx *tx, int64_t silence_ms, int64_t *ret_lost, struct err *e)
{
    return db_exec(tx, &node_mark_lost_stmt, ARGS(A_I64(silence_ms)), ret_lost, e);
}

enum errc node_repo_work(struct db_tx *tx, struct uuid node_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(tx, &node_work_stmt, ARGS(A_UUID(node_id), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}
