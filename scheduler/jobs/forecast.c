/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.c - one job in a snapshot of its own (outlook.h), explained and planned. */
#include "scheduler/jobs/forecast.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/jobs/submit.h"
#include "scheduler/plan/placement.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"

struct ahead { int64_t ahead; };
SCHEMA_OF(ahead, "Jobs before one", FIELD(ahead, ahead, 0, .doc = "How many"));
struct moments { struct timestamp not_before, room_by; };
SCHEMA_OF(moments, "When a job may start", FIELD(moments, not_before, 0, .doc = "Not before"),
    FIELD(moments, room_by, 0, .doc = "A machine has room by then"));

SCHEMA_EXTERN(quota_outlook, "A quota with a job in it", FIELD(quota_outlook, resource, F_ALWAYS, .doc = "What is limited"),
    FIELD(quota_outlook, used, 0, .doc = "In use now"), FIELD(quota_outlook, limit, 0, .doc = "Most that may be in use"),
    FIELD(quota_outlook, after, 0, .doc = "In use with this job; slots, gpus and running_jobs once it runs"),
    FIELD(quota_outlook, within, 0, .doc = "after is not more than limit"));
SCHEMA_EXTERN(cost_outlook, "What a job may cost, on the dearest flavor of today", FIELD(cost_outlook, currency, 0, .doc = "Currency"),
    FIELD(cost_outlook, per_hour_minor, 0, .doc = "Minor units an hour, rounded up"),
    FIELD(cost_outlook, max_minor, 0, .doc = "Minor units until max_runtime_seconds, one attempt, rounded up"));

SCHEMA_EXTERN(explain_step, "A constraint of a job and what it leaves",
    FIELD(explain_step, constraint, F_ALWAYS,
          .doc = "zone, pool, a field of the job, free_ and a field, nodes, quota_rule, quota"),
    FIELD(explain_step, machines, 0, .doc = "Machines that it and those before it leave"),
    FIELD(explain_step, detail, 0, .doc = "Where it leaves none: what lacks, with numbers"));
SCHEMA_EXTERN(near_miss, "The machine that lacks least", FIELD(near_miss, zone, 0, .doc = "Where it stands"),
    FIELD(near_miss, flavor, 0, .doc = "Its flavor"), FIELD(near_miss, lacks, 0, .doc = "What it lacks, with numbers"),
    FIELD(near_miss, never, 0, .doc = "It lacks that even when nothing runs there, and so does every other"));
SCHEMA_EXTERN(start_outlook, "When a job may start",
    FIELD(start_outlook, at, 0, .doc = "The time"),
    FIELD(start_outlook, basis, 0, .doc = "not_before: it may not start sooner; room: a machine has room by then and is kept "
                                          "for nobody else, if what runs runs to its limit and no other job takes the place"));

static const struct stmt job_moments = { .name = "job_moments", .params = "uuSssiiii", .row = &moments_schema, .card = CARD_ONE,
    .sql =
    "SELECT (SELECT not_before FROM job WHERE tenant_id = $1 AND job_id = $2 AND not_before > clock_timestamp()\n"
    "                  AND not_before < 'infinity') AS not_before,\n"
    "       machine_room_by($3, $4, $5, $6, $7, $8, $9) AS room_by" };
static const struct stmt job_ahead_stmt = { .name = "job_ahead", .params = "uusii", .row = &ahead_schema, .card = CARD_ONE, .sql =
    "SELECT job_ahead($1, $2, $3, $4, $5) AS ahead" };
static const struct stmt job_cost = { .name = "job_cost", .params = "iii", .row = &cost_outlook_schema, .card = CARD_MAYBE, .sql =
    "SELECT c.currency, ceil(budget_most('money', c.currency, $1, $2, 3600) / budget_unit('money'))::bigint AS per_hour_minor,\n"
    "       ceil(budget_most('money', c.currency, $1, $2, $3) / budget_unit('money'))::bigint AS max_minor\n"
    "  FROM (SELECT DISTINCT currency FROM price WHERE valid_from <= now()) c ORDER BY 3 DESC, 1 LIMIT 1" };

const struct stmt *const forecast_stmts[] = { &job_ahead_stmt, &job_moments, &job_cost, NULL };

static enum errc count_ahead(struct work *w, const struct job *j, int64_t *ret, struct err *e)
{
    struct ahead a;
    TRY(db_one(w->tx, &job_ahead_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(j->job_id), A_STR(j->cls), A_I64(j->priority),
                                             A_I64(FORECAST_AHEAD)), &a, e));
    *ret = a.ahead;
    return ERR_OK;
}

/* Of what it asks of one machine, on all: at least, and at most. */
static int64_t on_all(const struct job *j, int64_t of_one)
{
    return j->nodes > 1 ? j->nodes * of_one : of_one;
}

static int64_t on_most(const struct job *j, int64_t of_one)
{
    return job_nodes_most(j) > 1 ? job_nodes_most(j) * of_one : of_one;
}

static int64_t amount_of(const struct job *j, struct str resource)
{
    if (str_eq_c(resource, "slots"))
        return on_all(j, j->slots);
    if (str_eq_c(resource, "gpus"))
        return on_all(j, j->gpus);
    return str_eq_c(resource, "jobs") || str_eq_c(resource, "running_jobs") || str_eq_c(resource, "pending_jobs") ? 1 : 0;
}

static enum errc quotas_of(struct work *w, const struct job *j, struct slice *ret, struct err *e)
{
    struct slice rows = { 0 };
    size_t n = 0;
    TRY(quota_list(w, &rows, e));
    const struct quota *q = rows.items;
    struct quota_outlook *out = ARENA_ARRAY(w->arena, struct quota_outlook, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        int64_t more = amount_of(j, q[i].resource);
        if (more)
            out[n++] = (struct quota_outlook){ q[i].resource, q[i].used, q[i].hard_limit, q[i].used + more, q[i].used + more <= q[i].hard_limit };
    }
    *ret = (struct slice){ out, n };
    return ERR_OK;
}

/* What keeps the job itself back, beside machines and quota, is a step of its own. */
static void add_gates(const struct job *j, struct str waits_for, struct arena *a, struct explain *x)
{
    char at[TIME_TEXT];
    if (waits_for.len)
        explain_gate(x, STR("dependency"), waits_for);
    if (str_eq_c(j->reason, job_reason_names[JR_BEGIN_TIME])) {
        time_text(j->begin_at.us, at);
        explain_gate(x, STR("begin_at"), str_fmt(a, "it does not start before %s", at));
    }
    if (j->state == JOB_HELD)
        explain_gate(x, STR("hold"), j->message);
    if (j->state == JOB_SUSPENDED)
        explain_gate(x, STR("suspended"), j->message);
}

static void tell(const struct outlook *o, const struct job *j, struct str waits_for, struct arena *a, struct forecast_room *ret)
{
    struct explain x;
    explain_job(&o->snap, o->alike, &o->snap.tenants.items[0], &o->snap.jobs.items[0], a, &x);
    add_gates(j, waits_for, a, &x);
    struct explain_step *steps = ARENA_ARRAY(a, struct explain_step, x.n);
    memcpy(steps, x.steps, x.n * sizeof *steps);
    *ret = (struct forecast_room){ .zones = o->zones, .constraints = { steps, x.n } };
    if (x.has_nearest)
        ret->nearest = (struct near_miss){ x.nearest.zone, x.nearest.flavor, x.lacks, x.is_never };
}

/* The numbers beside the verdict, in one transaction of the tenant. */
static enum errc look_around(struct work *w, struct forecast *ret, struct err *e)
{
    struct outlook o;
    bool has_price;
    struct cost_outlook cost;
    TRY(outlook_read(w, &ret->job, &o, e));
    tell(&o, &ret->job, STR(""), w->arena, &ret->room);
    TRY(quotas_of(w, &ret->job, &ret->quotas, e));
    const struct job *j = &ret->job;
    TRY(db_maybe(w->tx, &job_cost, ARGS(A_I64(on_most(j, j->slots)), A_I64(on_most(j, j->gpus)), A_I64(j->max_runtime_s)), &cost,
                 &has_price, e));
    if (has_price)
        ret->estimate = cost;
    return count_ahead(w, &ret->job, &ret->ahead, e);
}

enum errc forecast_check(struct work *w, const struct job_create *in, const struct principal *p, struct forecast *ret, struct err *e)
{
    struct job_submission *s = ARENA_NEW(w->arena, struct job_submission);
    *ret = (struct forecast){ 0 };
    if (submit_prepare_one(w, in, p, s, &ret->verdict) == ERR_OK)
        (void)!job_submit_try(w, s, &ret->verdict);
    if (err_row(ret->verdict.code)->http >= 500) {
        *e = ret->verdict;
        return e->code;
    }
    ret->job = s->job;
    if (uuid_is_nil(s->job.job_id))
        return ERR_OK;
    return RUN_READ(w, look_around(w, ret, e), e);
}

/* The first moment from which the machine's windows let the job start; 0: it has more windows than are known. */
static int64_t after_windows(const struct snap_node *n, const struct snap_job *j, int64_t at_us)
{
    const int64_t start_us = reserved_next_start(n, j, at_us);
    const bool is_cut = n->nkept >= OUTLOOK_WINDOWS && start_us > n->kept[n->nkept - 1].from_us;
    return is_cut ? 0 : start_us;
}

static bool stands_well(const struct snap_node *n, const struct snap_job *j)
{
    bool is_allowed = false;
    for (size_t i = 0; i < j->zones.n; i++)
        is_allowed |= str_eq(((const struct str *)j->zones.items)[i], n->zone);
    return is_allowed && str_eq(n->pool, j->pool) && snap_job_takes(j, n);
}

/* Since room_us there is room on one of the machines that could hold the job, nobody says on which: the latest moment at which
 * each of them lets it start. Or a machine that has room today and is kept lets it start sooner. 0: nothing is known. */
static int64_t start_with_room(const struct snapshot *s, const struct snap_job *j, int64_t room_us)
{
    const struct ask a = snap_job_ask(j);
    int64_t all_us = room_us, one_us = 0;
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct snap_node *n = &s->nodes.items[i];
        if (!stands_well(n, j))
            continue;
        if (all_us && snap_node_could(n, &a)) {
            const int64_t at_us = after_windows(n, j, room_us);
            all_us = !at_us || at_us > all_us ? at_us : all_us;
        }
        if (snap_node_fits(n, &a)) {
            const int64_t at_us = after_windows(n, j, s->now_us);
            one_us = at_us && (!one_us || at_us < one_us) ? at_us : one_us;
        }
    }
    return !all_us || (one_us && one_us < all_us) ? one_us : all_us;
}

/* When it may start, where that is known: its own time, or the room that running attempts leave at their limits and windows leave
 * to it. A share of a GPU is not told from the number of GPUs, so that it has no such time; nor have several machines at once. */
static enum errc find_start(struct work *w, const struct job *j, const struct outlook *o, bool is_for_room,
                            struct start_outlook *ret, struct err *e)
{
    const struct snap_job *job = &o->snap.jobs.items[0];
    const struct ask a = snap_job_ask(job);
    struct moments m;
    TRY(db_one(w->tx, &job_moments, ARGS(A_UUID(w->tenant_id), A_UUID(j->job_id), A_STRS(job->zones.items, job->zones.n),
               A_STR(j->pool), A_STR(j->gpu_models), A_I64(a.slots), A_I64(a.gpus), A_I64(a.cpu_milli), A_I64(a.memory_bytes)),
               &m, e));
    if (m.not_before.us) {
        *ret = (struct start_outlook){ m.not_before, STR("not_before") };
        return ERR_OK;
    }
    const bool is_told = is_for_room && j->nodes < 2 && (!a.gpus || a.gpu_milli == GPU_MILLI);
    const int64_t at_us = is_told ? start_with_room(&o->snap, job, m.room_by.us) : 0;
    if (at_us)
        *ret = (struct start_outlook){ { at_us }, STR("room") };
    return ERR_OK;
}

enum errc forecast_wait(struct work *w, const struct job *job, struct job_wait *ret, struct err *e)
{
    struct outlook o;
    struct plan plan;
    struct slice others;
    *ret = (struct job_wait){ .code = STR("not_waiting"), .detail = str_fmt(w->arena, "The job does not wait: it is %s", job_state_names[job->state]) };
    TRY(outlook_read(w, job, &o, e));
    ret->room.zones = o.zones;
    if (!job_state_waits((enum job_state)job->state))
        return ERR_OK;
    TRY(dependency_list(w, job->job_id, &others, e));
    const struct str waits_for = dependency_words(&others, w->arena);
    tell(&o, job, waits_for, w->arena, &ret->room);
    if (job->state != JOB_PENDING) {
        ret->code = job->reason.len ? job->reason : STR("Held");
        ret->detail = job->message.len ? job->message : STR("Held back by a person");
        return ERR_OK;
    }
    TRY(count_ahead(w, job, &ret->ahead, e));
    ret->position = ret->ahead + 1;
    placement_plan(&o.snap, w->arena, &plan);
    const struct waiting why = plan.waits.n ? plan.waits.items[0] : (struct waiting){ 0 };
    const bool placed = plan.places.n > 0, is_for_room = !placed && (str_eq_c(why.reason, job_reason_names[JR_RESOURCES]) ||
                                                                     str_eq_c(why.reason, job_reason_names[JR_RESERVED]));
    TRY(find_start(w, job, &o, is_for_room, &ret->start, e));
    if (waits_for.len) {
        ret->code = str_c(job_reason_names[JR_DEPENDENCY]);
        ret->detail = str_fmt(w->arena, "waits for %.*s", STR_ARG(waits_for));
        return ERR_OK;
    }
    /* A time to wait for is not seen by a plan of one job, and goes before what it sees. */
    if (str_eq_c(job->reason, job_reason_names[JR_BEGIN_TIME]) && ret->start.at.us && str_eq_c(ret->start.basis, "not_before")) {
        ret->code = job->reason;
        ret->detail = STR("its time to begin has not come");
        return ERR_OK;
    }
    bool is_elsewhere = placed && job->reason.len && !str_eq_c(job->reason, job_reason_names[JR_RESOURCES]) && job->message.len;
    ret->code = !placed ? why.reason : is_elsewhere ? job->reason : str_c(job_reason_names[JR_PRIORITY]);
    ret->detail = !placed ? why.message : is_elsewhere ? job->message
                : ret->ahead ? str_fmt(w->arena, "there is room for it; %ld of the tenant's jobs go first", (long)ret->ahead)
                : STR("there is room for it; it is placed at the next round, by the share of its tenant");
    return ERR_OK;
}
