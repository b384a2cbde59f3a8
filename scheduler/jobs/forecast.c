/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.c - one job in a snapshot of its own: its tenant's quotas, the machines of its pool (alike ones once), the judge's zones. */
#include "scheduler/jobs/forecast.h"
#include "core/db/run_tx.h"
#include "scheduler/plan/placement.h"
#include "scheduler/jobs/submit.h"
#include "scheduler/jobs/job_snap.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"

struct shape {
    struct str zone, pool, flavor;
    int64_t slots, gpus, free_slots, free_gpus, machines;
};
SCHEMA_OF(shape, "Ready machines that are alike", FIELD(shape, zone, 0, .doc = "Zone"), FIELD(shape, pool, 0, .doc = "Pool"), FIELD(shape, flavor, 0, .doc = "Flavor"),
    FIELD(shape, slots, 0, .doc = "Slots"), FIELD(shape, gpus, 0, .doc = "GPUs"), FIELD(shape, free_slots, 0, .doc = "Slots not booked"),
    FIELD(shape, free_gpus, 0, .doc = "GPUs not booked"), FIELD(shape, machines, 0, .doc = "How many"));
struct ahead { int64_t ahead; };
SCHEMA_OF(ahead, "Jobs before one", FIELD(ahead, ahead, 0, .doc = "How many"));

SCHEMA_EXTERN(zone_outlook, "What a zone has for a job", FIELD(zone_outlook, zone, F_ALWAYS, .doc = "Zone"),
    FIELD(zone_outlook, allowed, 0, .doc = "The job may run there"), FIELD(zone_outlook, reason, 0, .doc = "Why not"),
    FIELD(zone_outlook, ready_nodes, 0, .doc = "Ready machines of the job's pool there"),
    FIELD(zone_outlook, free_slots, 0, .doc = "Most slots free on one of them"), FIELD(zone_outlook, free_gpus, 0, .doc = "Most GPUs free on one of them"),
    FIELD(zone_outlook, fits_now, 0, .doc = "The job may run there and one machine has room for it now"));
SCHEMA_EXTERN(quota_outlook, "A quota with a job in it", FIELD(quota_outlook, resource, F_ALWAYS, .doc = "What is limited"),
    FIELD(quota_outlook, used, 0, .doc = "In use now"), FIELD(quota_outlook, limit, 0, .doc = "Most that may be in use"),
    FIELD(quota_outlook, after, 0, .doc = "In use with this job; slots, gpus and running_jobs once it runs"),
    FIELD(quota_outlook, within, 0, .doc = "after is not more than limit"));
SCHEMA_EXTERN(cost_outlook, "What a job may cost, on the dearest flavor of today", FIELD(cost_outlook, currency, 0, .doc = "Currency"),
    FIELD(cost_outlook, per_hour_minor, 0, .doc = "Minor units an hour, rounded up"),
    FIELD(cost_outlook, max_minor, 0, .doc = "Minor units until max_runtime_seconds, one attempt, rounded up"));

static const struct stmt machine_room_stmt = { .name = "machine_room", .params = "si", .row = &shape_schema, .card = CARD_MANY, .sql =
    "SELECT zone, pool, flavor, slots, gpus, free_slots, free_gpus, machines FROM machine_room($1, $2)" };
static const struct stmt job_ahead_stmt = { .name = "job_ahead", .params = "uuii", .row = &ahead_schema, .card = CARD_ONE, .sql =
    "SELECT job_ahead($1, $2, $3, $4) AS ahead" };
static const struct stmt job_cost = { .name = "job_cost", .params = "iii", .row = &cost_outlook_schema, .card = CARD_MAYBE, .sql =
    "SELECT c.currency, ceil(budget_most('money', c.currency, $1, $2, 3600) / budget_unit('money'))::bigint AS per_hour_minor,\n"
    "       ceil(budget_most('money', c.currency, $1, $2, $3) / budget_unit('money'))::bigint AS max_minor\n"
    "  FROM (SELECT DISTINCT currency FROM price WHERE valid_from <= now()) c ORDER BY 3 DESC, 1 LIMIT 1" };

const struct stmt *const forecast_stmts[] = { &machine_room_stmt, &job_ahead_stmt, &job_cost, NULL };

static enum errc count_ahead(struct work *w, const struct job *j, int64_t *ret, struct err *e)
{
    struct ahead a;
    TRY(db_one(w->tx, &job_ahead_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(j->job_id), A_I64(j->priority), A_I64(FORECAST_AHEAD)), &a, e));
    *ret = a.ahead;
    return ERR_OK;
}

static struct str why_not(const struct residency_facts *f, const struct job *j, struct str zone, struct work *w)
{
    struct residency_question q = { .data_class = data_class_of(j->data_class), .zone = zone,
                                    .purpose = str_c(job_types[j->kind].purpose), .now_us = w->now_us };
    if (j->zone.ptr && !str_eq(j->zone, zone))
        return str_fmt(w->arena, "The job is pinned to %.*s", STR_ARG(j->zone));
    struct residency_verdict v = residency_allows(f, &q);
    return v.allowed ? STR_NULL : str_dup(w->arena, str_c(v.text));
}

static bool is_of_tenant(const struct residency_facts *f, struct str zone)
{
    const struct str *allowed = f->allowed.items;
    const struct residency_class_zone *cz = f->class_zones.items;
    for (size_t i = 0; i < f->allowed.n; i++)
        if (str_eq(allowed[i], zone))
            return true;
    for (size_t i = 0; i < f->class_zones.n; i++)
        if (str_eq(cz[i].zone, zone))
            return true;
    return str_eq(f->home, zone);
}

/* The tenant's zones and the one that the job names; another is of no use to it and is not named. */
static enum errc zones_of(struct work *w, const struct job *j, struct slice shapes, struct slice *ret, struct err *e)
{
    const struct residency_facts *f;
    const struct shape *s = shapes.items;
    TRY(residency_facts_of(w, &f, e));
    const struct residency_zone *z = f->zones.items;
    struct zone_outlook *out = ARENA_ARRAY(w->arena, struct zone_outlook, f->zones.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < f->zones.n; i++) {
        if (!is_of_tenant(f, z[i].code) && !(j->zone.ptr && str_eq(j->zone, z[i].code)))
            continue;
        struct zone_outlook *o = &out[n++];
        *o = (struct zone_outlook){ .zone = z[i].code, .reason = why_not(f, j, z[i].code, w) };
        o->allowed = !o->reason.ptr;
        for (size_t k = 0; k < shapes.n; k++) {
            if (!str_eq(s[k].zone, z[i].code) || !str_eq(s[k].pool, j->pool))
                continue;
            o->ready_nodes += s[k].machines;
            o->free_slots = s[k].free_slots > o->free_slots ? s[k].free_slots : o->free_slots;
            o->free_gpus = s[k].free_gpus > o->free_gpus ? s[k].free_gpus : o->free_gpus;
            o->fits_now |= o->allowed && s[k].free_slots >= j->slots && s[k].free_gpus >= j->gpus;
        }
    }
    *ret = (struct slice){ out, n };
    return ERR_OK;
}

static enum errc read_shapes(struct work *w, const struct job *j, struct slice *ret, struct err *e)
{
    *ret = (struct slice){ 0 };
    return db_many(w->tx, &machine_room_stmt, ARGS(A_STR(j->pool), A_I64(FORECAST_SHAPES)), ret, FORECAST_SHAPES, e);
}

static int64_t amount_of(const struct job *j, struct str resource)
{
    if (str_eq_c(resource, "slots"))
        return j->slots;
    if (str_eq_c(resource, "gpus"))
        return j->gpus;
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

/* The numbers beside the verdict, in one transaction of the tenant. */
static enum errc look_around(struct work *w, struct forecast *ret, struct err *e)
{
    struct slice shapes;
    bool has_price;
    struct cost_outlook cost;
    TRY(read_shapes(w, &ret->job, &shapes, e));
    TRY(zones_of(w, &ret->job, shapes, &ret->zones, e));
    TRY(quotas_of(w, &ret->job, &ret->quotas, e));
    TRY(db_maybe(w->tx, &job_cost, ARGS(A_I64(ret->job.slots), A_I64(ret->job.gpus), A_I64(ret->job.max_runtime_s)), &cost, &has_price, e));
    if (has_price)
        ret->estimate = cost;
    return count_ahead(w, &ret->job, &ret->ahead, e);
}

enum errc forecast_check(struct work *w, const struct job_create *in, const struct principal *p, struct forecast *ret, struct err *e)
{
    struct job_submission *s = ARENA_NEW(w->arena, struct job_submission);
    *ret = (struct forecast){ 0 };
    if (submit_prepare(w, in, p, s, &ret->verdict) == ERR_OK)
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

/* What the planner says of this job alone; placed: there is room. */
static enum errc plan_alone(struct work *w, const struct job *j, struct slice shapes, struct slice outlooks, struct waiting *ret, bool *placed, struct err *e)
{
    const struct shape *s = shapes.items;
    const struct zone_outlook *z = outlooks.items;
    struct snap_node *nodes = ARENA_ARRAY(w->arena, struct snap_node, shapes.n + 1);
    struct str *zones = ARENA_ARRAY(w->arena, struct str, outlooks.n + 1);
    struct snap_tenant tenant = { .tenant_id = w->tenant_id };
    struct snap_job job = job_snap(j);
    job.zones.items = zones;
    struct slice quotas = { 0 };
    struct plan plan;
    TRY(quota_list(w, &quotas, e));
    const struct quota *q = quotas.items;
    for (size_t i = 0; i < quotas.n; i++) {
        if (str_eq_c(q[i].resource, "slots")) {
            tenant.slots_used = q[i].used;
            tenant.slots_limit = q[i].hard_limit;
        } else if (str_eq_c(q[i].resource, "gpus")) {
            tenant.gpus_used = q[i].used;
            tenant.gpus_limit = q[i].hard_limit;
        }
    }
    for (size_t i = 0; i < outlooks.n; i++) {
        if (z[i].allowed)
            zones[job.zones.n++] = z[i].zone;
        else if (!job.denied.ptr || (j->zone.ptr && str_eq(j->zone, z[i].zone)))
            job.denied = z[i].reason;
    }
    if (job.zones.n)
        job.denied = STR_NULL;
    tenant.allowed_zones = job.zones;
    for (size_t i = 0; i < shapes.n; i++)
        nodes[i] = (struct snap_node){ .zone = s[i].zone, .pool = s[i].pool, .flavor = s[i].flavor, .slots = s[i].slots, .gpus = s[i].gpus,
                                       .free_slots = s[i].free_slots, .free_gpus = s[i].free_gpus };
    struct snapshot snap = { .nodes = { nodes, shapes.n }, .tenants = { &tenant, 1 }, .jobs = { &job, 1 } };
    placement_plan(&snap, w->arena, &plan);
    *placed = plan.places.n > 0;
    *ret = plan.waits.n ? plan.waits.items[0] : (struct waiting){ 0 };
    return ERR_OK;
}

enum errc forecast_wait(struct work *w, const struct job *job, struct job_wait *ret, struct err *e)
{
    struct slice shapes;
    struct waiting why;
    bool placed;
    *ret = (struct job_wait){ .code = STR("not_waiting"), .detail = str_fmt(w->arena, "The job does not wait: it is %s", job_state_names[job->state]) };
    TRY(read_shapes(w, job, &shapes, e));
    TRY(zones_of(w, job, shapes, &ret->zones, e));
    if (job->state == JOB_HELD) {
        ret->code = job->reason.len ? job->reason : STR("Held");
        ret->detail = job->message.len ? job->message : STR("Held back by a person");
        return ERR_OK;
    }
    if (job->state != JOB_PENDING)
        return ERR_OK;
    TRY(count_ahead(w, job, &ret->ahead, e));
    ret->position = ret->ahead + 1;
    TRY(plan_alone(w, job, shapes, ret->zones, &why, &placed, e));
    /* Rules and backoff are not seen by a plan of one job: the words of the last round stand. */
    bool is_elsewhere = placed && job->reason.len && !str_eq_c(job->reason, job_reason_names[JR_RESOURCES]) && job->message.len;
    ret->code = !placed ? why.reason : is_elsewhere ? job->reason : str_c(job_reason_names[JR_PRIORITY]);
    ret->detail = !placed ? why.message : is_elsewhere ? job->message
                : ret->ahead ? str_fmt(w->arena, "there is room for it; %ld of the tenant's jobs go first", (long)ret->ahead)
                : STR("there is room for it; it is placed at the next round, by the share of its tenant");
    return ERR_OK;
}
