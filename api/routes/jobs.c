/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - routes of jobs. Submissions and reads are combined: what waits goes to PostgreSQL as one statement. */
#include "api/api_int.h"
#include "api/jobs_int.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/json/encode.h"
#include "core/redis/wake.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_wake.h"
#include "scheduler/jobs/job_hold.h"
#include "scheduler/jobs/job_suspend.h"
#include "scheduler/jobs/submit.h"
#include "scheduler/jobs/submit_names.h"
#include "tenants/access/actor.h"
#include "tenants/home/project.h"

struct job_ref { struct uuid job_id; };
SCHEMA_OF(job_ref, "Which job", FIELD_ID(job_ref, job_id, "job", F_PATH, .doc = "The job"));
struct dependencies_in { struct uuid job_id; struct slice dependencies; };
SCHEMA_OF(dependencies_in, "What a job waits for", FIELD_ID(dependencies_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD_LIST(dependencies_in, dependencies, &dependency_schema, F_REQ, .max = DEPENDENCIES_MAX,
               .doc = "Jobs to wait for instead of those it waits for now; all must be met; none: it waits for nobody"));
struct dependencies_out { struct slice data; };
SCHEMA_OF(dependencies_out, "What a job waits for",
    FIELD_LIST(dependencies_out, data, &dependency_row_schema, 0, .max = DEPENDENCIES_MAX, .doc = "Those jobs"));
struct job_batch_in { struct slice jobs; };
SCHEMA_OF(job_batch_in, "Jobs to submit together",
    FIELD_LIST(job_batch_in, jobs, &job_create_schema, F_REQ, .min = 1, .max = 1000, .doc = "The jobs; each keeps its own verdict"));
struct job_batch_item { struct uuid job_id; struct str code, detail, pointer; };
SCHEMA_OF(job_batch_item, "Verdict on one job of a batch", FIELD_ID(job_batch_item, job_id, "job", 0, .doc = "The job, when stored"),
    FIELD(job_batch_item, code, 0, .doc = "ok, or the error's code"), FIELD(job_batch_item, detail, 0, .doc = "What is wrong"),
    FIELD(job_batch_item, pointer, 0, .doc = "Where"));
struct job_batch_out { struct slice data; };
SCHEMA_OF(job_batch_out, "Verdicts in the order of the request",
    FIELD_LIST(job_batch_out, data, &job_batch_item_schema, 0, .max = 1000, .doc = "One per job"));

static struct audit_event submit_event(struct call *c, const struct job *job)
{
    struct audit_event ev = audit_event_by(&c->work, c->principal, AUDIT_JOB_SUBMIT);
    ev.zone = job->zone;
    ev.tenant_id = c->principal->tenant_id;
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = job->job_id;
    ev.rule = c->audit.rule;
    ev.http_status = 201;
    audit_event_detail(&ev, AUDIT_D_STR("kind", str_c(job_kind_names[job->kind])));
    return ev;
}

static void prepare(struct call *c, const struct job_create *in, const struct submit_names *names, struct str key,
                    struct job_submission *s, struct err *e)
{
    if (submit_prepare(&c->work, in, c->principal, names, s, e) != ERR_OK)
        return;
    struct audit_event ev = submit_event(c, &s->job);
    struct audit_rows rows;
    if (audit_encode_many(c->work.arena, &ev, 1, &rows, e) != ERR_OK)
        return;
    s->kind_name = str_c(job_kind_names[s->job.kind]);
    s->route = str_c(c->route->op);
    s->key = key;
    s->sha = str_n((const char *)c->request_sha, 32);
    s->event_id = rows.event_ids[0];
    s->event = rows.bodies[0];
}

/* What is wrong with one item must not become its neighbours' error: a batch that fails for what is in it is stored one by one. */
static void store_each(struct work *w, struct job_submission **items, struct call **who, size_t n)
{
    struct err e = { 0 };
    enum errc rc = job_submit_hasty(w, items, n, &e);
    bool is_about_items = rc != ERR_OK && rc != ERR_UNAVAILABLE && rc != ERR_DEADLINE && rc != ERR_RETRY && n > 1;
    for (size_t i = 0; i < n; i++) {
        if (is_about_items)
            (void)!job_submit_hasty(w, &items[i], 1, &who[i]->err);
        else if (rc != ERR_OK)
            who[i]->err = e;
    }
}

/* NULL: they could not be asked for, and all of these calls are refused with that. */
static const struct submit_names *ask_names(struct work *w, struct call **calls, size_t n)
{
    struct err e = { 0 };
    const struct job_create **in = ARENA_ARRAY(w->arena, const struct job_create *, n);
    const struct work **who = ARENA_ARRAY(w->arena, const struct work *, n);
    struct submit_names *names = ARENA_ARRAY(w->arena, struct submit_names, n);
    for (size_t i = 0; i < n; i++) {
        in[i] = calls[i]->in;
        who[i] = &calls[i]->work;
    }
    if (submit_names_ask(w, in, who, n, names, &e) == ERR_OK)
        return names;
    for (size_t i = 0; i < n; i++)
        calls[i]->err = e;
    return NULL;
}

static void submit_combined(struct work *w, struct call **calls, size_t n)
{
    struct job_submission *all = ARENA_ARRAY(w->arena, struct job_submission, n), **items = ARENA_ARRAY(w->arena, struct job_submission *, n);
    struct call **who = ARENA_ARRAY(w->arena, struct call *, n);
    const struct submit_names *names = ask_names(w, calls, n);
    size_t k = 0;
    for (size_t i = 0; names && i < n; i++) {
        struct call *c = calls[i];
        prepare(c, c->in, &names[i], c->idempotency_key, &all[i], &c->err);
        if (c->err.code != ERR_OK)
            continue;
        who[k] = c;
        items[k++] = &all[i];
    }
    if (k)
        store_each(w, items, who, k);
    bool any = false;
    for (size_t i = 0; i < k; i++) {
        if (who[i]->err.code != ERR_OK)
            continue;
        (void)!job_verdict_err(items[i], &who[i]->err);
        who[i]->replayed = items[i]->verdict == JOB_REPLAY;
        any |= items[i]->verdict == JOB_STORED;
        struct job *out = ARENA_NEW(who[i]->work.arena, struct job);
        *out = items[i]->job;
        if (who[i]->replayed)
            jobs_copy(out, who[i]->work.arena);
        who[i]->out = out;
    }
    if (any)
        wake_publish(w->app->redis, STR(WAKE_SUBMITTED), STR("1"));
}

void jobs_copy(struct job *j, struct arena *a)
{
    struct str *texts[] = { &j->name, &j->reason, &j->message, &j->spec.text, &j->zone, &j->pool, &j->data_class, &j->queue,
                            &j->result.text, &j->retry.text,
                            &j->gpu_models, &j->cls };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = str_dup(a, *texts[i]);
}

static void read_combined(struct work *w, struct call **calls, size_t n)
{
    struct uuid *tenants = ARENA_ARRAY(w->arena, struct uuid, n), *jobs = ARENA_ARRAY(w->arena, struct uuid, n);
    struct job *found = ARENA_ARRAY(w->arena, struct job, n);
    bool *is = ARENA_ARRAY(w->arena, bool, n);
    struct err e = { 0 };
    for (size_t i = 0; i < n; i++) {
        tenants[i] = calls[i]->work.tenant_id;
        jobs[i] = ((const struct job_ref *)calls[i]->in)->job_id;
    }
    enum errc rc = job_get_many(w, tenants, jobs, n, found, is, &e);
    for (size_t i = 0; i < n; i++) {
        if (rc != ERR_OK)
            calls[i]->err = e;
        else if (!is[i] || !project_is_in(calls[i]->work.projects, found[i].project_id))
            FAIL(&calls[i]->err, NOT_FOUND, "There is no such object");
        else
            calls[i]->out = &found[i];
    }
}

/* The batch's own record of its key, before its jobs and (with the answer) after them. */
static enum errc batch_key(struct call *c, struct str answer, struct err *e)
{
    bool is_first;
    if (answer.ptr)
        return RUN_WRITE(&c->work, (idempotency_end(c, c->status, answer), ERR_OK), e);
    return RUN_WRITE(&c->work, idempotency_claim(c, &is_first, e), e);
}

/* A batch is one call, with one record of its Idempotency-Key that keeps its answer. Its jobs are stored by a transaction of their own,
 * each under the key and its number with a space between, which no client's key has: what a lost call had stored is found again.
 * 201: all are stored. 207 (RFC 4918 §11.1's meaning, with a body of ours): some, or none. */
static enum errc submit_batch(struct call *c, struct job_batch_out *out, struct err *e)
{
    const struct job_batch_in *in = c->in;
    struct arena *a = c->work.arena;
    size_t n = in->jobs.n, k = 0;
    struct job_submission *all = ARENA_ARRAY(a, struct job_submission, n), **items = ARENA_ARRAY(a, struct job_submission *, n);
    struct job_batch_item *ret = ARENA_ARRAY(a, struct job_batch_item, n);
    size_t *at = ARENA_ARRAY(a, size_t, n);
    struct err *errs = ARENA_ARRAY(a, struct err, n);
    const struct job_create **each = ARENA_ARRAY(a, const struct job_create *, n);
    const struct work **who = ARENA_ARRAY(a, const struct work *, n);
    struct submit_names *names = ARENA_ARRAY(a, struct submit_names, n);
    for (size_t i = 0; i < n; i++) {
        each[i] = (const struct job_create *)in->jobs.items + i;
        who[i] = &c->work;
    }
    TRY(submit_names_ask(&c->work, each, who, n, names, e));
    for (size_t i = 0; i < n; i++) {
        prepare(c, each[i], &names[i], str_fmt(a, "%.*s %zu", STR_ARG(c->idempotency_key), i), &all[i], &errs[i]);
        if (errs[i].code == ERR_OK) {
            at[k] = i;
            items[k++] = &all[i];
        }
    }
    if (k)
        TRY(job_submit_many(&c->work, items, k, e));
    for (size_t i = 0; i < k; i++) {
        (void)!job_verdict_err(items[i], &errs[at[i]]);
        if (errs[at[i]].code == ERR_OK)
            ret[at[i]].job_id = items[i]->job.job_id;
    }
    c->status = 201;
    c->did_nothing = true;
    for (size_t i = 0; i < n; i++) {
        if (errs[i].code == ERR_OK)
            c->did_nothing = false;
        else
            c->status = 207;
        ret[i].code = str_c(err_row(errs[i].code)->wire);
        if (errs[i].code != ERR_OK) {
            ret[i].detail = str_dup(a, str_c(errs[i].msg));
            ret[i].pointer = str_fmt(a, "/jobs/%zu%s", i, errs[i].field);
        }
    }
    out->data = (struct slice){ ret, n };
    wake_publish(c->work.app->redis, STR(WAKE_SUBMITTED), STR("1"));
    return ERR_OK;
}

static enum errc batch(struct work *w, const void *in, void *out, struct err *e)
{
    struct call *c = call_of(w);
    CLEANUP(buf_releasep) struct buf answer = BUF(4 << 20);
    (void)in;
    if (c->idempotency_key.len > 240)
        return FAIL(e, INVALID, "The Idempotency-Key of a batch has at most 240 characters");
    TRY(batch_key(c, STR_NULL, e));
    if (c->replayed)
        return ERR_OK;
    TRY(submit_batch(c, out, e));
    json_encode(&job_batch_out_schema, out, &answer);
    return batch_key(c, buf_str(&answer), e);
}

static enum errc cancel(struct work *w, const void *in, void *out, struct err *e)
{
    struct job *j = out;
    TRY(job_cancel(w, ((const struct job_ref *)in)->job_id, j, e));
    jobs_wake_after_commit(w, j->job_id);
    return ERR_OK;
}

static enum errc dependencies(struct work *w, const void *in, void *out, struct err *e)
{
    struct job j;
    TRY(job_get(w, ((const struct job_ref *)in)->job_id, &j, e));
    return dependency_list(w, j.job_id, &((struct dependencies_out *)out)->data, e);
}

static enum errc set_dependencies(struct work *w, const void *in, void *out, struct err *e)
{
    const struct dependencies_in *d = in;
    TRY(dependency_set(w, d->job_id, &d->dependencies, e));
    jobs_wake_after_commit(w, d->job_id);
    return dependency_list(w, d->job_id, &((struct dependencies_out *)out)->data, e);
}

static enum errc hold(struct work *w, const void *in, void *out, struct err *e)
{
    struct job *j = out;
    TRY(job_hold(w, ((const struct job_ref *)in)->job_id, j, e));
    jobs_wake_after_commit(w, j->job_id);
    return ERR_OK;
}

static enum errc suspend(struct work *w, const void *in, void *out, struct err *e)
{
    struct job *j = out;
    TRY(job_suspend(w, ((const struct job_ref *)in)->job_id, j, e));
    jobs_wake_after_commit(w, j->job_id);
    return ERR_OK;
}

static enum errc resume(struct work *w, const void *in, void *out, struct err *e)
{
    struct job *j = out;
    TRY(job_resume(w, ((const struct job_ref *)in)->job_id, j, e));
    jobs_wake_after_commit(w, j->job_id);
    return ERR_OK;
}

static enum errc release(struct work *w, const void *in, void *out, struct err *e)
{
    struct job *j = out;
    TRY(job_release(w, ((const struct job_ref *)in)->job_id, j, e));
    jobs_wake_after_commit(w, j->job_id);
    return ERR_OK;
}

struct wake_ctx { struct redis_client *redis; struct str channel; };

static void wake_now(void *ctx)
{
    struct wake_ctx *k = ctx;
    wake_publish(k->redis, k->channel, STR("1"));
    wake_publish(k->redis, STR(WAKE_SCHEDULER), STR("1"));
}

void jobs_wake_after_commit(struct work *w, struct uuid job_id)
{
    struct wake_ctx *k = ARENA_NEW(w->arena, struct wake_ctx);
    char text[WAKE_JOB_TEXT];
    size_t n;
    *k = (struct wake_ctx){ w->app->redis, str_dup(w->arena, job_wake_channel(&job_id, 1, text, &n)) };
    db_after_commit(w->tx, wake_now, k);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/jobs", .lane = LANE_CALLS,
      .op = "job_submit", .perm = PERM_JOB_SUBMIT, .combine = submit_combined, .in = &job_create_schema,
      .status = 201, .out = &job_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "job", .audit = AUDIT_JOB_SUBMIT, .doc = "Submit a job" },
    { .method = HTTP_POST, .path = "/v1/jobs:batch", .lane = LANE_CALLS,
      .op = "job_submit_batch", .perm = PERM_JOB_SUBMIT, .handler = batch, .in = &job_batch_in_schema,
      .status = 201, .out = &job_batch_out_schema, .flags = R_IDEMPOTENT | R_NO_TX | R_PARTIAL, .rate = RL_WRITE,
      .audit = AUDIT_JOB_SUBMIT,
      .doc = "Submit up to 1,000 jobs; each keeps its own verdict" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}", .lane = LANE_CALLS,
      .op = "job_get", .perm = PERM_JOB_READ, .combine = read_combined, .in = &job_ref_schema,
      .status = 200, .out = &job_schema, .resource = "job", .doc = "Read one job" },
    { .method = HTTP_POST, .path = "/v1/jobs/{job_id}/cancel", .lane = LANE_CALLS,
      .op = "job_cancel", .perm = PERM_JOB_CANCEL, .handler = cancel, .in = &job_ref_schema,
      .status = 200, .out = &job_schema, .rate = RL_WRITE, .resource = "job", .audited = true, .audit = AUDIT_JOB_CANCEL,
      .doc = "Cancel a job: at once while it waits, else its worker is told to stop it" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/dependencies", .lane = LANE_CALLS,
      .op = "job_dependencies", .perm = PERM_JOB_READ, .handler = dependencies, .in = &job_ref_schema,
      .status = 200, .out = &dependencies_out_schema, .resource = "job", .doc = "The jobs that a job waits for" },
    { .method = HTTP_PUT, .path = "/v1/jobs/{job_id}/dependencies", .lane = LANE_CALLS,
      .op = "job_dependencies_set", .perm = PERM_JOB_SUBMIT, .handler = set_dependencies, .in = &dependencies_in_schema,
      .status = 200, .out = &dependencies_out_schema, .rate = RL_WRITE, .resource = "job", .audited = true, .audit = AUDIT_JOB_HOLD,
      .doc = "Change what a waiting job waits for; a cycle is refused and printed" },
    { .method = HTTP_POST, .path = "/v1/jobs/{job_id}/hold", .lane = LANE_CALLS,
      .op = "job_hold", .perm = PERM_JOB_CANCEL, .handler = hold, .in = &job_ref_schema,
      .status = 200, .out = &job_schema, .rate = RL_WRITE, .resource = "job", .audited = true, .audit = AUDIT_JOB_HOLD,
      .doc = "Hold a waiting job back until it is released" },
    { .method = HTTP_POST, .path = "/v1/jobs/{job_id}/release", .lane = LANE_CALLS,
      .op = "job_release", .perm = PERM_JOB_CANCEL, .handler = release, .in = &job_ref_schema,
      .status = 200, .out = &job_schema, .rate = RL_WRITE, .resource = "job", .audited = true, .audit = AUDIT_JOB_HOLD,
      .doc = "Let a job that a person held back wait for its turn again" },
    { .method = HTTP_POST, .path = "/v1/jobs/{job_id}/suspend", .lane = LANE_CALLS,
      .op = "job_suspend", .perm = PERM_JOB_CANCEL, .handler = suspend, .in = &job_ref_schema,
      .status = 200, .out = &job_schema, .rate = RL_WRITE, .resource = "job", .audited = true, .audit = AUDIT_JOB_SUSPEND,
      .doc = "Put a job aside: at once while it waits, else its machine is told to write a checkpoint and end it" },
    { .method = HTTP_POST, .path = "/v1/jobs/{job_id}/resume", .lane = LANE_CALLS,
      .op = "job_resume", .perm = PERM_JOB_CANCEL, .handler = resume, .in = &job_ref_schema,
      .status = 200, .out = &job_schema, .rate = RL_WRITE, .resource = "job", .audited = true, .audit = AUDIT_JOB_SUSPEND,
      .doc = "Let a job that was put aside wait for its turn again; it goes on from its newest checkpoint" },
};
extern const struct route_table job_routes;
ROUTE_TABLE(job_routes, rows);
