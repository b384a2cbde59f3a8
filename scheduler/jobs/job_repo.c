/* SPDX-License-Identifier: Apache-2.0 */
/* job_repo.c - SQL of jobs. job_submit_many and job_rows are definer functions (migrations/functions/) because one transaction
 * serves many tenants there; everything else runs in the scope of one tenant. */
#include "scheduler/jobs/job_repo.h"
#include "core/db/tx.h"
#include "core/wire/lease_wire.h"
#include "scheduler/jobs/dependency.h"

SCHEMA_EXTERN(job, "A job and where it is in its life",
    FIELD(job, tenant_id, F_NOOUT, .doc = "Tenant"),
    FIELD_ID(job, job_id, "job", F_ALWAYS, .doc = "The job"),
    FIELD(job, name, F_ALWAYS, .doc = "Name shown in lists"),
    FIELD_ENUM(job, kind, 0, job_kind_names, .doc = "What it does"),
    FIELD_ENUM(job, state, 0, job_state_names, .doc = "Where it is in its life"),
    FIELD(job, reason, 0, .doc = "Why it waits"),
    FIELD(job, message, 0, .doc = "What happened last, in words"),
    FIELD(job, spec, 0, .by = &job_spec_answers, .doc = "What was asked, by kind"),
    FIELD(job, zone, 0, .doc = "Zone it is pinned to; absent: any zone that the tenant may use"),
    FIELD(job, pool, 0, .doc = "Pool of machines"),
    FIELD(job, data_class, 0, .doc = "Class of the data it reads"),
    FIELD(job, slots, 0, .doc = "Slots on one machine"),
    FIELD(job, gpus, 0, .doc = "GPUs on one machine"),
    FIELD(job, cpu_milli, 0, .doc = "Thousandths of a processor; 0: what its slots stand for"),
    FIELD(job, memory_bytes, 0, .doc = "Memory on one machine; 0: what its slots stand for"),
    FIELD(job, gpu_milli, 0, .doc = "Thousandths of one GPU; 1000: whole ones"),
    FIELD(job, gpu_models, 0, .doc = "Models of GPU that will do, between commas; empty: any"),
    FIELD(job, engine, 0, .doc = "What its machines must have: what computes its model, or falaj-rank for mpirun on several; "
                                 "empty: nothing beside Falaj's own operations"),
    FIELD(job, nodes, 0, .doc = "Machines that it runs on at once, at least"),
    FIELD(job, nodes_max, 0, .doc = "Machines that it runs on at once, at most; not above nodes: always nodes"),
    FIELD_AS(job, cls, "class", 0, .doc = "Priority class"),
    FIELD(job, priority, 0, .doc = "Higher goes first within its class"),
    FIELD(job, max_attempts, 0, .doc = "Times it may be tried"),
    FIELD_AS(job, max_runtime_s, "max_runtime_s", 0, .doc = "Seconds one attempt may run"),
    FIELD(job, requeue_count, 0, .doc = "Times it went back to the queue"),
    FIELD(job, fence, 0, .doc = "Number of the newest attempt"),
    FIELD(job, version, 0, .doc = "Grows with every transition"),
    FIELD(job, cancel_requested, 0, .doc = "Somebody asked it to stop"),
    FIELD(job, result, 0, .doc = "What it reported at its end"),
    FIELD_ID(job, created_by, "usr", F_ALWAYS, .doc = "Who submitted it"),
    FIELD(job, submitted_at, F_ALWAYS, .doc = "When it was submitted"),
    FIELD_ID(job, project_id, "prj", 0, .doc = "Project it belongs to; absent: the tenant as a whole"),
    FIELD_ID(job, array_id, "arr", F_NOCOL, .doc = "Array that it is a task of; told where one job is read"),
    FIELD(job, queue, 0, .doc = "Queue whose quota it uses"),
    FIELD(job, begin_at, 0, .doc = "It does not start before; absent: at once"),
    FIELD(job, deadline_at, 0, .doc = "It ends as DEADLINE if it still waits then; absent: none"),
    FIELD(job, suspend_requested, 0, .doc = "Asked to be put aside: it becomes SUSPENDED when its machine has ended it"),
    FIELD(job, retry, 0, .doc = "Failures that are followed by another attempt, as it was submitted; absent: of machines alone"),
    FIELD(job, started_at, 0, .doc = "When its newest attempt began to run"),
    FIELD(job, finished_at, 0, .doc = "When it ended"));

SCHEMA_EXTERN(job_event, "A transition of a job",
    FIELD(job_event, version, 0, .doc = "The job's version after it"),
    FIELD(job_event, state, F_ALWAYS, .doc = "State after it"), FIELD(job_event, reason, F_ALWAYS, .doc = "Why it waits"),
    FIELD(job_event, message, F_ALWAYS, .doc = "What happened"), FIELD(job_event, fence, 0, .doc = "Attempt, 0: none yet"),
    FIELD(job_event, at, F_ALWAYS, .doc = "When"));

struct submit_row {
    int64_t ord;
    struct str verdict;
    struct uuid job_id;
    int64_t room;
    struct timestamp submitted_at;
    struct str message;
};
SCHEMA_OF(submit_row, "Verdict of a submission", FIELD(submit_row, ord, 0, .doc = "Which"), FIELD(submit_row, verdict, 0, .doc = "Verdict"),
          FIELD(submit_row, job_id, 0, .doc = "The job, or the first one of a replay"), FIELD(submit_row, room, 0, .doc = "Room in the quota"),
          FIELD(submit_row, submitted_at, 0, .doc = "When, by the clock of the database"),
          FIELD(submit_row, message, 0, .doc = "Why not, with numbers"));


static const struct stmt job_submit_many_stmt = { .name = "job_submit_many", .params = "UUSSSSSSIIIIIUSSYUYISUUSsIIISSIIISU", .row = &submit_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT ord, verdict, job_id, room, submitted_at, message\n"
    /* The lock's limit is set before the function runs, since that asks for what it gives. */
    "  FROM (SELECT set_config('lock_timeout', $25, true) IS NOT NULL OFFSET 0) s(is_set)\n"
    " CROSS JOIN LATERAL job_submit_many(CASE WHEN is_set THEN $1 END, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,\n"
    "                       $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,\n"
    "                       $26, $27, $28, $29, $30, $31, $32, $33, $34, $35)" };

static const struct stmt job_read_many_stmt = { .name = "job_read_many", .params = "UU", .row = &job_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM job_rows($1, $2)" };
struct array_of { int64_t ord; struct uuid array_id; };
SCHEMA_OF(array_of, "Whose task a job is", FIELD(array_of, ord, 0, .doc = "Which job"),
          FIELD(array_of, array_id, 0, .doc = "The array"));
static const struct stmt job_array_ids_stmt = { .name = "job_array_ids", .params = "UU", .row = &array_of_schema,
    .card = CARD_MANY, .sql = "SELECT ord, array_id FROM job_array_ids($1, $2)" };

static const struct stmt job_get_stmt = { .name = "job_get", .params = "uu", .row = &job_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM job WHERE tenant_id = $1 AND job_id = $2" };

static const struct stmt job_events_stmt = { .name = "job_events", .params = "uuii", .row = &job_event_schema, .card = CARD_MANY, .sql =
    "SELECT version, state, reason, message, fence, at FROM job_step\n"
    " WHERE tenant_id = $1 AND job_id = $2 AND version > $3 ORDER BY version LIMIT $4" };

static const struct stmt job_cancel_request = { .name = "job_cancel_request", .params = "uu", .row = &job_schema, .card = CARD_MAYBE, .sql =
    "UPDATE job SET cancel_requested = true WHERE tenant_id = $1 AND job_id = $2 AND finished_at IS NULL RETURNING " ROW_COLUMNS };

struct holder_row { struct uuid node_id; };
SCHEMA_OF(holder_row, "Who runs a job", FIELD(holder_row, node_id, 0, .doc = "Machine"));
static const struct stmt job_holder = { .name = "job_holder", .params = "uui", .row = &holder_row_schema,
                                         .card = CARD_MANY, .sql =
    "SELECT node_id FROM machine_hold WHERE tenant_id = $1 AND job_id = $2 LIMIT $3" };

struct guard_row { int64_t ord; struct str verdict, message; };
SCHEMA_OF(guard_row, "A submission that is refused", FIELD(guard_row, ord, 0, .doc = "Which"),
          FIELD(guard_row, verdict, 0, .doc = "Verdict"), FIELD(guard_row, message, 0, .doc = "Why not, with numbers"));
static const struct stmt submit_guard_gangs = { .name = "submit_guard_gangs", .params = "UUIIIUSSs", .row = &guard_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT ord, verdict, message\n"
    "  FROM (SELECT set_config('lock_timeout', $9, true) IS NOT NULL OFFSET 0) s(is_set)\n"
    " CROSS JOIN LATERAL submit_guard_gangs(CASE WHEN is_set THEN $1 END, $2, $3, $4, $5, $6, $7, $8)" };
static const struct stmt job_retry_put = { .name = "job_retry_put", .params = "UUS", .card = CARD_NONE, .sql =
    "SELECT job_retry_put($1, $2, $3)" };

static const struct stmt job_bounds_put = { .name = "job_bounds_put", .params = "UUII", .card = CARD_NONE, .sql =
    "SELECT job_bounds_put($1, $2, $3, $4)" };
static const struct stmt job_engine_put = { .name = "job_engine_put", .params = "UUS", .card = CARD_NONE, .sql =
    "SELECT job_engine_put($1, $2, $3)" };
static const struct stmt array_wait_put = { .name = "array_wait_put", .params = "UUUS", .card = CARD_NONE, .sql =
    "SELECT array_wait_put($1, $2, $3, $4)" };

const struct stmt *const job_stmts[] = { &job_submit_many_stmt, &job_read_many_stmt, &job_array_ids_stmt, &job_get_stmt,
                                         &job_events_stmt, &job_cancel_request, &job_holder, &job_retry_put, &job_bounds_put,
                                         &job_engine_put, &array_wait_put, &submit_guard_gangs, NULL };
const struct stmt *const job_submit_stmts[] = { &job_submit_many_stmt, &job_retry_put, &job_bounds_put, &job_engine_put,
                                                &array_wait_put,
                                                &submit_guard_gangs, NULL };

struct flat_input {
    int64_t ord;
    struct str name;
    struct uuid object_id;
};

static size_t flatten_inputs(struct db_tx *tx, struct job_submission **items, size_t n, struct flat_input **ret)
{
    size_t total = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        total += items[i]->inputs.n;
    *ret = ARENA_ARRAY(db_arena(tx), struct flat_input, total + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < items[i]->inputs.n; j++) {
            const struct job_input *in = (const struct job_input *)items[i]->inputs.items + j;
            (*ret)[k++] = (struct flat_input){ (int64_t)i + 1, in->name, in->object_id };
        }
    return total;
}

struct flat_dependency {
    int64_t ord;
    struct str type;
    struct uuid on_job_id;
};

static size_t flatten_dependencies(struct db_tx *tx, struct job_submission **items, size_t n, struct flat_dependency **ret)
{
    size_t total = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        total += items[i]->dependencies.n;
    *ret = ARENA_ARRAY(db_arena(tx), struct flat_dependency, total + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < items[i]->dependencies.n; j++) {
            const struct dependency *d = (const struct dependency *)items[i]->dependencies.items + j;
            if (uuid_is_nil(d->array_id))
                (*ret)[k++] = (struct flat_dependency){ (int64_t)i + 1, str_c(dependency_type_names[d->type]), d->job_id };
        }
    return k;
}

static bool waits_for_array(const struct job_submission *s)
{
    const struct dependency *d = s->dependencies.items;
    bool is = false;
    for (size_t i = 0; i < s->dependencies.n; i++)
        is |= !uuid_is_nil(d[i].array_id);
    return is;
}

static enum job_verdict verdict_of(struct str s)
{
    return str_eq_c(s, "ok") ? JOB_STORED : str_eq_c(s, "replay") ? JOB_REPLAY : str_eq_c(s, "reused") ? JOB_KEY_REUSED
         : str_eq_c(s, "gone") ? JOB_INPUT_GONE : str_eq_c(s, "busy") ? JOB_KEY_BUSY
         : str_eq_c(s, "pending") ? JOB_NO_PENDING : str_eq_c(s, "budget") ? JOB_NO_BUDGET
         : JOB_NO_QUOTA;
}

bool job_repo_is_single(struct job_submission **it, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (it[i]->job.retry.text.ptr || job_nodes_most(&it[i]->job) > 1 || it[i]->job.engine.len ||
            waits_for_array(it[i]))
            return false;
    return true;
}

struct array_wait { struct uuid tenant_id, job_id, array_id; struct str type; };

/* Of those that were stored. */
static enum errc put_array_waits(struct db_tx *tx, struct job_submission **it, size_t n, struct err *e)
{
    size_t total = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        total += waits_for_array(it[i]) && it[i]->verdict == JOB_STORED ? it[i]->dependencies.n : 0;
    if (!total)
        return ERR_OK;
    struct array_wait *all = ARENA_ARRAY(db_arena(tx), struct array_wait, total);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; it[i]->verdict == JOB_STORED && j < it[i]->dependencies.n; j++) {
            const struct dependency *d = (const struct dependency *)it[i]->dependencies.items + j;
            if (!uuid_is_nil(d->array_id))
                all[k++] = (struct array_wait){ it[i]->job.tenant_id, it[i]->job.job_id, d->array_id,
                                                str_c(dependency_type_names[d->type]) };
        }
    return db_exec(tx, &array_wait_put, ARGS(A_UUIDS_OF(all, k, tenant_id), A_UUIDS_OF(all, k, job_id),
                                             A_UUIDS_OF(all, k, array_id), A_STRS_OF(all, k, type)), NULL, e);
}

/* Of those that were stored. */
static enum errc put_retries(struct db_tx *tx, struct job_submission **it, size_t n, struct err *e)
{
    struct job_submission **some = ARENA_ARRAY(db_arena(tx), struct job_submission *, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (it[i]->job.retry.text.ptr && it[i]->verdict == JOB_STORED)
            some[k++] = it[i];
    if (!k)
        return ERR_OK;
    return db_exec(tx, &job_retry_put, ARGS(A_UUIDS_VIA(some, k, job.tenant_id), A_UUIDS_VIA(some, k, job.job_id),
                                            A_STRS_VIA(some, k, job.retry.text)), NULL, e);
}

static enum errc put_nodes(struct db_tx *tx, struct job_submission **it, size_t n, struct err *e)
{
    struct job_submission **some = ARENA_ARRAY(db_arena(tx), struct job_submission *, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (job_nodes_most(&it[i]->job) > 1 && it[i]->verdict == JOB_STORED)
            some[k++] = it[i];
    if (!k)
        return ERR_OK;
    return db_exec(tx, &job_bounds_put, ARGS(A_UUIDS_VIA(some, k, job.tenant_id), A_UUIDS_VIA(some, k, job.job_id),
                                            A_I64S_VIA(some, k, job.nodes), A_I64S_VIA(some, k, job.nodes_max)), NULL, e);
}

static enum errc put_engines(struct db_tx *tx, struct job_submission **it, size_t n, struct err *e)
{
    struct job_submission **some = ARENA_ARRAY(db_arena(tx), struct job_submission *, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (it[i]->job.engine.len && it[i]->verdict == JOB_STORED)
            some[k++] = it[i];
    if (!k)
        return ERR_OK;
    return db_exec(tx, &job_engine_put, ARGS(A_UUIDS_VIA(some, k, job.tenant_id), A_UUIDS_VIA(some, k, job.job_id),
                                            A_STRS_VIA(some, k, job.engine)), NULL, e);
}

/* With a job on several machines among them, all are judged by what their machines may take together: a budget that reserves
 * promises the most. (*it)[0..*n): what goes on. */
static enum errc refuse_gangs(struct db_tx *tx, struct job_submission ***it, size_t *n, const char *lock_wait, struct err *e)
{
    struct slice rows = { 0 };
    struct job_submission **all = *it;
    int64_t *slots = ARENA_ARRAY(db_arena(tx), int64_t, *n + 1), *gpus = ARENA_ARRAY(db_arena(tx), int64_t, *n + 1);
    bool has_gangs = false, *is_refused = ARENA_ARRAY(db_arena(tx), bool, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        const struct job *j = &all[i]->job;
        const int64_t nodes = job_nodes_most(j) > 1 ? job_nodes_most(j) : 1;
        has_gangs |= nodes > 1;
        slots[i] = nodes * j->slots;
        gpus[i] = nodes * j->gpus;
    }
    if (!has_gangs)
        return ERR_OK;
    TRY(db_many(tx, &submit_guard_gangs, ARGS(A_UUIDS_VIA(all, *n, job.tenant_id), A_UUIDS_OR_NULL_VIA(all, *n, job.project_id),
                A_I64S(slots, *n), A_I64S(gpus, *n), A_I64S_VIA(all, *n, job.max_runtime_s), A_UUIDS_VIA(all, *n, job.created_by),
                A_STRS_VIA(all, *n, route), A_STRS_VIA(all, *n, key), A_TEXT(lock_wait)), &rows, *n, e));
    const struct guard_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        all[r[i].ord - 1]->verdict = verdict_of(r[i].verdict);
        all[r[i].ord - 1]->message = r[i].message;
        is_refused[r[i].ord - 1] = true;
    }
    *it = ARENA_ARRAY(db_arena(tx), struct job_submission *, *n + 1);
    size_t k = 0;
    for (size_t i = 0; i < *n; i++)
        if (!is_refused[i])
            (*it)[k++] = all[i];
    *n = k;
    return ERR_OK;
}

enum errc job_repo_submit_many(struct db_tx *tx, struct job_submission **it, size_t n, const char *lock_wait, struct err *e)
{
    TRY(refuse_gangs(tx, &it, &n, lock_wait, e));
    if (!n)
        return ERR_OK;
    struct flat_input *in;
    struct slice rows = { 0 };
    size_t nin = flatten_inputs(tx, it, n, &in);
    struct flat_dependency *dep;
    size_t ndep = flatten_dependencies(tx, it, n, &dep);
    TRY(db_many(tx, &job_submit_many_stmt, ARGS(
        A_UUIDS_VIA(it, n, job.tenant_id), A_UUIDS_VIA(it, n, job.job_id), A_STRS_VIA(it, n, job.name), A_STRS_VIA(it, n, kind_name),
        A_STRS_VIA(it, n, job.spec.text), A_STRS_VIA(it, n, job.zone), A_STRS_VIA(it, n, job.pool), A_STRS_VIA(it, n, job.data_class),
        A_I64S_VIA(it, n, job.slots), A_I64S_VIA(it, n, job.gpus), A_I64S_VIA(it, n, job.priority), A_I64S_VIA(it, n, job.max_attempts),
        A_I64S_VIA(it, n, job.max_runtime_s), A_UUIDS_VIA(it, n, job.created_by), A_STRS_VIA(it, n, route), A_STRS_VIA(it, n, key),
        A_BYTESS_VIA(it, n, sha), A_UUIDS_VIA(it, n, event_id), A_BYTESS_VIA(it, n, event),
        A_I64S_OF(in, nin, ord), A_STRS_OF(in, nin, name), A_UUIDS_OF(in, nin, object_id),
        A_UUIDS_OR_NULL_VIA(it, n, job.project_id), A_STRS_VIA(it, n, job.queue), A_TEXT(lock_wait),
        A_I64S_VIA(it, n, job.cpu_milli), A_I64S_VIA(it, n, job.memory_bytes), A_I64S_VIA(it, n, job.gpu_milli),
        A_STRS_VIA(it, n, job.gpu_models), A_STRS_VIA(it, n, job.cls),
        A_I64S_VIA(it, n, job.begin_at.us), A_I64S_VIA(it, n, job.deadline_at.us),
        A_I64S_OF(dep, ndep, ord), A_STRS_OF(dep, ndep, type), A_UUIDS_OF(dep, ndep, on_job_id)), &rows, n, e));
    const struct submit_row *r = rows.items;
    if (rows.n != n)
        return FAIL(e, INTERNAL, "job_submit_many answered %zu of %zu", rows.n, n);
    for (size_t i = 0; i < n; i++) {
        struct job_submission *s = it[r[i].ord - 1];
        s->verdict = verdict_of(r[i].verdict);
        s->room = r[i].room;
        s->message = r[i].message;
        s->job.submitted_at = r[i].submitted_at;        /* so that the first answer says what every later one says */
        if (s->verdict == JOB_REPLAY)
            s->job.job_id = r[i].job_id;
    }
    TRY(put_nodes(tx, it, n, e));
    TRY(put_engines(tx, it, n, e));
    TRY(put_array_waits(tx, it, n, e));
    return put_retries(tx, it, n, e);
}

enum errc job_repo_get(struct db_tx *tx, struct uuid tenant, struct uuid job_id, struct job *ret, struct err *e)
{
    return db_one(tx, &job_get_stmt, ARGS(A_UUID(tenant), A_UUID(job_id)), ret, e);
}

enum errc job_repo_get_many(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct job *ret, bool *found,
                            struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(tx, &job_read_many_stmt, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n)), &rows, n, e));
    const struct job *r = rows.items;
    for (size_t i = 0; i < n; i++) {
        found[i] = false;
        for (size_t k = 0; k < rows.n && !found[i]; k++)
            if (uuid_eq(r[k].job_id, jobs[i]) && uuid_eq(r[k].tenant_id, tenants[i])) {
                ret[i] = r[k];
                found[i] = true;
            }
    }
    return ERR_OK;
}

enum errc job_repo_array_ids(struct db_tx *tx, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct job *ret,
                             struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(tx, &job_array_ids_stmt, ARGS(A_UUIDS(tenants, n), A_UUIDS(jobs, n)), &rows, n, e));
    const struct array_of *r = rows.items;
    for (size_t i = 0; i < rows.n; i++)
        ret[r[i].ord - 1].array_id = r[i].array_id;
    return ERR_OK;
}

enum errc job_repo_events(struct db_tx *tx, struct uuid tenant, struct uuid job_id, int64_t after, int64_t limit, struct slice *ret,
                          struct err *e)
{
    return db_many(tx, &job_events_stmt, ARGS(A_UUID(tenant), A_UUID(job_id), A_I64(after), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc job_repo_holders(struct db_tx *tx, struct uuid tenant, struct uuid job_id, struct slice *ret, struct err *e)
{
    return db_many(tx, &job_holder, ARGS(A_UUID(tenant), A_UUID(job_id), A_I64(GANG_NODES_MAX)), ret, GANG_NODES_MAX, e);
}

enum errc job_repo_cancel_request(struct db_tx *tx, struct uuid tenant, struct uuid job_id, struct job *ret, bool *found, struct err *e)
{
    return db_maybe(tx, &job_cancel_request, ARGS(A_UUID(tenant), A_UUID(job_id)), ret, found, e);
}
