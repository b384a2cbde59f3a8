/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - the rules of jobs. Submissions of many callers become one statement and one commit; what a replayed call gets is read
 * back, so it is the job as it is now with the id it was first given. */
#include "scheduler/jobs/job.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"
#include "core/redis/wake.h"
#include "core/wire/lease_wire.h"
#include "scheduler/jobs/array_tasks.h"
#include "scheduler/jobs/booking.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_repo.h"
#include "scheduler/plan/snapshot.h"
#include "tenants/access/principal.h"
#include "tenants/accounts/quota.h"

/* How long a submission waits for a row that another transaction holds. A commit takes some milliseconds. */
#define PATIENT "0"
#define HASTY "100ms"

SCHEMA_EXTERN(job_create, "A job to submit",
    FIELD(job_create, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name shown in lists"),
    FIELD_ENUM(job_create, kind, F_REQ, job_kind_names, .doc = "What it does; serve is made by deployments only"),
    FIELD(job_create, spec, 0, .max = 65536, .dflt = "{}", .by = &job_spec_variants, .doc = "What to do, by kind"),
    FIELD(job_create, zone, 0, .max = 31, .check = check_slug, .doc = "Run in this zone only"),
    FIELD(job_create, pool, 0, .max = 63, .check = check_slug, .dflt = "default", .doc = "Pool of machines"),
    FIELD_ID(job_create, project_id, "prj", 0, .doc = "Project it belongs to; absent: the tenant as a whole, or your only project"),
    FIELD(job_create, queue, 0, .min = 1, .max = 63, .check = check_slug, .dflt = "default", .doc = "Queue whose quota it uses"),
    FIELD(job_create, slots, 0, .min = 1, .max = 4096, .dflt = "1", .doc = "Slots on one machine"),
    FIELD(job_create, gpus, 0, .min = 0, .max = 64, .dflt = "0", .doc = "GPUs on one machine"),
    FIELD(job_create, cpu_milli, 0, .min = 0, .max = 4096000, .dflt = "0",
          .doc = "Thousandths of a processor; 0: one for each slot. Each processor begun counts as a slot at least"),
    FIELD(job_create, memory_bytes, 0, .min = 0, .max = MEMORY_BYTES_MAX, .dflt = "0",
          .doc = "Memory on one machine; 0: a GiB for each slot"),
    FIELD(job_create, gpu_milli, 0, .min = 0, .max = 1000, .dflt = "0",
          .doc = "Thousandths of one GPU, where machines keep shares apart; 0 or 1000: whole ones"),
    FIELD(job_create, gpu_models, 0, .max = 255, .dflt = "", .check = check_gpu_models, .pattern_doc = GPU_MODELS_PATTERN,
          .doc = "Models of GPU that will do, between commas; empty: any"),
    FIELD_AS(job_create, cls, "class", 0, .min = 1, .max = 63, .check = check_slug, .dflt = "default",
             .doc = "Priority class: a higher value goes first within the tenant"),
    FIELD(job_create, priority, 0, .min = -1000, .max = 1000, .dflt = "0", .doc = "Higher goes first within its class"),
    FIELD_LIST(job_create, dependencies, &dependency_schema, F_NOEMPTY, .max = DEPENDENCIES_MAX,
               .doc = "Jobs to wait for; all must be met"),
    FIELD(job_create, begin_at, 0, .doc = "Not to start before; absent: at once"),
    FIELD(job_create, deadline_at, 0, .doc = "To have started until then; a job that still waits ends as DEADLINE"),
    FIELD(job_create, force_queue, 0, .dflt = "false",
          .doc = "Wait for a machine that could hold it; else such a job is refused while there is none"),
    FIELD(job_create, max_attempts, 0, .min = 1, .max = 100, .dflt = "3", .doc = "Times it may be tried when machines fail"),
    FIELD_SUB(job_create, nodes, &job_nodes_schema, 0,
              .doc = "Machines that it runs on at once, each with all that is asked of one; absent: one. For jobs of the kinds "
                     "train and run; of min up to max, as many as are free, for train alone"),
    FIELD_SUB(job_create, retry, &retry_schema, 0, 
              .doc = "Failures that are followed by another attempt; absent: of machines alone"),
    FIELD(job_create, max_runtime_seconds, 0, .min = 1, .max = 2592000, .dflt = "86400", .doc = "Seconds one attempt may run"));

bool check_gpu_models(struct str s, const char **why)
{
    struct str one, rest = s;
    *why = "name models by letters, digits, '.', '_' and '-', 63 at most each, between commas";
    bool ok = true;
    const char *of_one;
    for (bool more = s.len > 0; ok && more;) {
        more = str_cut(rest, ',', &one, &rest);
        ok = one.len && check_gpu_model(one, &of_one);
    }
    return ok;
}

/* A share is of one GPU; processors count as slots, so that quotas and prices count them. */
static enum errc check_size(const struct job_create *in, struct job *j, struct err *e)
{
    const bool is_share = in->gpu_milli > 0 && in->gpu_milli < GPU_MILLI;
    if (is_share && in->gpus > 1)
        return FAIL_AT(e, INVALID, "/gpu_milli", "A share is of one GPU; %ld were asked: leave gpus away, or gpu_milli",
                       (long)in->gpus);
    if (in->gpu_models.len && !in->gpus && !is_share)
        return FAIL_AT(e, INVALID, "/gpu_models", "Models are named, but no GPU is asked: set gpus or gpu_milli");
    const int64_t begun = (in->cpu_milli + SLOT_CPU_MILLI - 1) / SLOT_CPU_MILLI;
    j->slots = in->slots > begun ? in->slots : begun;
    j->gpus = is_share ? 1 : in->gpus;
    j->gpu_milli = is_share ? in->gpu_milli : GPU_MILLI;
    j->cpu_milli = in->cpu_milli;
    j->memory_bytes = in->memory_bytes;
    j->gpu_models = in->gpu_models;
    j->engine = STR("");                  /* what it reads says otherwise */
    j->cls = in->cls.len ? in->cls : STR("default");
    return ERR_OK;
}

/* A begin that has passed is none. */
static enum errc check_times(const struct job_create *in, int64_t now_us, struct job *j, struct err *e)
{
    if (in->deadline_at.us && in->deadline_at.us <= now_us)
        return FAIL_AT(e, INVALID, "/deadline_at", "The deadline has passed: name a time in the future, or none");
    if (in->deadline_at.us && in->begin_at.us >= in->deadline_at.us)
        return FAIL_AT(e, INVALID, "/deadline_at", "The deadline comes before the job may begin (begin_at)");
    j->deadline_at = in->deadline_at;
    if (in->begin_at.us <= now_us)
        return ERR_OK;
    j->begin_at = in->begin_at;
    j->reason = str_c(job_reason_names[JR_BEGIN_TIME]);
    return ERR_OK;
}

static enum errc check_spec(const struct job_create *in, struct arena *a, struct err *e)
{
    const struct schema *schema = job_types[in->kind].spec;
    void *spec = arena_alloc(a, schema->size);
    if (json_decode(schema, in->spec.text, a, spec, e) != ERR_OK) {
        char below[sizeof e->field];
        memcpy(below, e->field, sizeof below);
        return err_field(e, "/spec%.80s", below);
    }
    return ERR_OK;
}

enum errc job_check(const struct job_create *in, const struct principal *p, struct arena *a, int64_t now_us, struct job *ret, struct err *e)
{
    if (!job_is_submitted(in->kind))
        return FAIL_AT(e, INVALID, "/kind", "Jobs of kind %s are made by %s", job_types[in->kind].name, job_types[in->kind].made_by);
    if (principal_is_platform(p))
        return FAIL(e, FORBIDDEN, "The platform itself runs no jobs");
    TRY(check_spec(in, a, e));
    *ret = (struct job){
        .tenant_id = p->tenant_id, .job_id = uuid_v7(now_us), .name = in->name, .kind = in->kind, .state = JOB_PENDING,
        .reason = str_c(job_reason_names[JR_RESOURCES]), .message = STR(""), .spec = in->spec, .zone = in->zone, .pool = in->pool,
        .queue = in->queue,
        .data_class = STR("internal"), .priority = in->priority, .max_attempts = in->max_attempts,
        .max_runtime_s = in->max_runtime_seconds, .retry = { retry_text(&in->retry, a) },
        .version = 1, .created_by = p->user_id, .submitted_at = { now_us },
    };
    TRY(job_nodes_check(&in->nodes, in->kind, &ret->nodes, &ret->nodes_max, e));
    TRY(check_times(in, now_us, ret, e));
    return check_size(in, ret, e);
}

static enum errc read_replays(struct work *w, struct job_submission **items, size_t n, struct err *e)
{
    size_t k = 0;
    struct arena *a = w->arena;
    struct uuid *tenants = ARENA_ARRAY(a, struct uuid, n), *jobs = ARENA_ARRAY(a, struct uuid, n);
    struct job_submission **which = ARENA_ARRAY(a, struct job_submission *, n);
    for (size_t i = 0; i < n; i++)
        if (items[i]->verdict == JOB_REPLAY) {
            which[k] = items[i];
            tenants[k] = items[i]->job.tenant_id;
            jobs[k++] = items[i]->job.job_id;
        }
    if (!k)
        return ERR_OK;
    struct job *found = ARENA_ARRAY(a, struct job, k);
    bool *is = ARENA_ARRAY(a, bool, k);
    TRY(job_get_many(w, tenants, jobs, k, found, is, e));
    for (size_t i = 0; i < k; i++)
        if (is[i])
            which[i]->job = found[i];
    return ERR_OK;
}

static enum errc submit_many(struct work *w, struct job_submission **items, size_t n, const char *lock_wait, struct err *e)
{
    /* The definer function sees the tenants that the items name; the transaction itself is scoped to nobody. */
    const unsigned flags = job_repo_is_single(items, n) ? TX_SINGLE : 0;
    TRY(RUN_SYSTEM(w, w->app->pool, flags, job_repo_submit_many(w->tx, items, n, lock_wait, e), e));
    return read_replays(w, items, n, e);
}

enum errc job_submit_many(struct work *w, struct job_submission **items, size_t n, struct err *e)
{
    return submit_many(w, items, n, PATIENT, e);
}

enum errc job_submit_hasty(struct work *w, struct job_submission **items, size_t n, struct err *e)
{
    return submit_many(w, items, n, HASTY, e);
}

enum errc job_submit_in_tx(struct work *w, struct job_submission *item, struct err *e)
{
    TRY(job_repo_submit_many(w->tx, &item, 1, PATIENT, e));
    return job_verdict_err(item, e);
}

enum errc job_submit_try(struct work *w, struct job_submission *s, struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    static const char no_sha[32];
    char key[UUID_TEXT];
    s->event_id = uuid_v7(w->now_us);
    uuid_text(s->event_id, key);
    s->kind_name = str_c(job_kind_names[s->job.kind]);
    s->route = STR("job_check");
    s->key = str_dup(w->arena, str_c(key));
    s->sha = str_n(no_sha, sizeof no_sha);
    s->event = STR("{}");
    TRY(db_begin(w->app->pool, SCOPE_SYSTEM, 0, w->arena, &tx, e));
    TRY(job_repo_submit_many(tx, &s, 1, PATIENT, e));
    return job_verdict_err(s, e);
}

enum errc job_verdict_err(const struct job_submission *s, struct err *e)
{
    switch (s->verdict) {
    case JOB_STORED:
    case JOB_REPLAY:
        return ERR_OK;
    case JOB_KEY_REUSED:
        return FAIL(e, IDEMPOTENCY_REUSE, "This Idempotency-Key was used for a different request");
    case JOB_KEY_BUSY:
        return FAIL(e, IN_PROGRESS, "The first call with this Idempotency-Key is still running");
    case JOB_NO_QUOTA:
        break;
    case JOB_NO_PENDING:
        return FAIL(e, QUOTA, "%.*s", STR_ARG(s->message));
    case JOB_INPUT_GONE:
        return FAIL(e, NOT_FOUND, "The %s that this job reads has just been deleted", job_types[s->job.kind].reads);
    case JOB_NO_BUDGET:
        return FAIL(e, BUDGET, "%.*s", STR_ARG(s->message));
    }
    return FAIL(e, QUOTA, "The quota of jobs does not allow this: 1 asked, room for %ld", (long)(s->room > 0 ? s->room : 0));
}

enum errc job_get(struct work *w, struct uuid job_id, struct job *ret, struct err *e)
{
    return job_repo_get(w->tx, w->tenant_id, job_id, ret, e);
}

enum errc job_get_many(struct work *w, const struct uuid *tenants, const struct uuid *jobs, size_t n, struct job *ret, bool *found,
                       struct err *e)
{
    bool any = false;
    TRY(RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY | TX_SINGLE, job_repo_get_many(w->tx, tenants, jobs, n, ret, found, e), e));
    for (size_t i = 0; i < n; i++)
        any |= found[i] && array_task_name_fits(ret[i].name);
    if (!any)
        return ERR_OK;
    return RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY | TX_SINGLE, job_repo_array_ids(w->tx, tenants, jobs, n, ret, e), e);
}

enum errc job_events(struct work *w, struct uuid job_id, int64_t after_version, int64_t limit, struct slice *ret, struct err *e)
{
    return job_repo_events(w->tx, w->tenant_id, job_id, after_version, limit, ret, e);
}

struct node_wake { struct redis_client *redis; struct slice nodes; };

static void wake_nodes(void *ctx)
{
    const struct node_wake *k = ctx;
    char channel[sizeof WAKE_NODE_PREFIX + UUID_HEX] = WAKE_NODE_PREFIX;
    for (size_t i = 0; i < k->nodes.n; i++) {
        hex_encode(((const struct uuid *)k->nodes.items)[i].b, 16, channel + sizeof WAKE_NODE_PREFIX - 1);
        wake_publish(k->redis, str_c(channel), STR("1"));
    }
}

/* The machines that run the job ask at once what they are to stop, instead of hearing it with their next report. */
static enum errc tell_holders(struct work *w, struct uuid job_id, struct err *e)
{
    struct node_wake *k = ARENA_NEW(w->arena, struct node_wake);
    k->redis = w->app->redis;
    TRY(job_repo_holders(w->tx, w->tenant_id, job_id, &k->nodes, e));
    if (k->nodes.n)
        db_after_commit(w->tx, wake_nodes, k);
    return ERR_OK;
}

/* The request comes first and takes the row: what it shows then is where the job stands until the commit. */
enum errc job_cancel(struct work *w, struct uuid job_id, struct job *ret, struct err *e)
{
    struct slice moved;
    bool found;
    TRY(job_repo_cancel_request(w->tx, w->tenant_id, job_id, ret, &found, e));
    if (!found) {
        TRY(job_get(w, job_id, ret, e));
        return FAIL(e, CONFLICT, "The job has ended already (%s)", job_state_names[ret->state]);
    }
    if (!job_state_waits((enum job_state)ret->state))
        return tell_holders(w, job_id, e);
    struct job_move m = { .tenant_id = w->tenant_id, .job_id = job_id, .event = JE_CANCEL, .version = ret->version, .fence = JOB_ANY_FENCE,
                          .message = STR("Cancelled before it started") };
    TRY(job_apply(w->tx, &m, 1, &moved, e));
    if (moved.n != 1)
        return FAIL(e, INTERNAL, "a waiting job under lock was not cancelled");
    TRY(job_get(w, job_id, ret, e));
    struct booking *b = booking_new(w->arena, 1);
    booking_add(b, w->tenant_id);
    booking_write(w->tx, b);
    return ERR_OK;
}
