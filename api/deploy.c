/* SPDX-License-Identifier: Apache-2.0 */
/* deploy.c - a deployment and the jobs that serve it change in one transaction. The job runs in the zone of the model's
 * weights and
 * is tried again for as long as its deployment lives. */
#include "api/deploy.h"
#include "api/api.h"
#include "api/jobs_int.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/json/decode.h"
#include "core/wire/infer_wire.h"
#include "registry/catalog/model.h"
#include "serving/roll.h"
#include "tenants/access/actor.h"
#include "tenants/home/project.h"

/* What is told of two signatures; a refusal is shorter still (struct err). */
enum { SIGNATURES_MAX = 2000 };

static enum errc job_audit(struct work *w, struct job_submission *s, struct err *e)
{
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_JOB_SUBMIT);
    struct audit_rows rows;
    ev.zone = s->job.zone;
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = s->job.job_id;
    ev.http_status = 201;
    audit_event_detail(&ev, AUDIT_D_STR("kind", s->kind_name));
    TRY(audit_encode_many(w->arena, &ev, 1, &rows, e));
    s->event_id = rows.event_ids[0];
    s->event = rows.bodies[0];
    return ERR_OK;
}

enum errc job_made_store(struct work *w, struct job_submission *s, struct err *e)
{
    s->route = str_c(call_of(w)->route->op);
    s->key = str_fmt(w->arena, "%.*s:%.*s", STR_ARG(s->kind_name), STR_ARG(id_text(w->arena, "job", s->job.job_id)));
    s->sha = str_n((const char *)call_of(w)->request_sha, 32);
    TRY(job_audit(w, s, e));
    TRY(job_submit_in_tx(w, s, e));
    if (s->verdict == JOB_INPUT_GONE)
        return job_verdict_err(s, e);
    if (s->verdict != JOB_STORED)
        return FAIL(e, RETRY, "Another call made the job at the same time; try again");
    jobs_wake_after_commit(w, s->job.job_id);
    return ERR_OK;
}

static enum errc find_version(struct work *w, const struct deploy_order *o, struct model_version *ret, struct err *e)
{
    enum errc rc = model_version_get(w, o->model_id, o->model_version, ret, e);
    return rc == ERR_NOT_FOUND ? FAIL_AT(e, NOT_FOUND, o->model_version ? "/model_version" : "/model_id",
                                         "There is no such model version") : rc;
}

/* Stores the job that serves these weights. */
static enum errc submit(struct work *w, const struct deploy_order *o, const struct model_version *v, struct uuid *ret_job,
                        struct err *e)
{
    const struct serve_order order = { o->name, v->model_id, v->version, v->object_id, v->engine, o->slots, o->knobs };
    struct job_submission s = { .verdict = JOB_STORED };
    struct model m;
    TRY(model_get(w, v->model_id, &m, e));
    TRY(serve_job_make(w, &order, &s, e));
    TRY(project_for_new(w, w->tx, m.project_id, &s.job.project_id, e));
    TRY(job_made_store(w, &s, e));
    *ret_job = s.job.job_id;
    return ERR_OK;
}

enum errc deploy_make(struct work *w, const struct deploy_order *o, struct deployment *ret, struct err *e)
{
    struct model_version v;
    struct deployment_row row = { .deployment_id = uuid_v7(w->now_us), .name = o->name };
    TRY(find_version(w, o, &v, e));
    TRY(submit(w, o, &v, &row.job_id, e));
    row.model_id = v.model_id;
    row.model_version = v.version;
    return deployment_insert(w, &row, ret, e);
}

static void merge(struct deploy_order *o, const struct deploy_change *c)
{
    int64_t *const now[SERVE_KNOB_COUNT] = { &o->knobs.max_batch_size, &o->knobs.max_queue_delay_microseconds,
                                             &o->knobs.max_queue_size, &o->knobs.default_timeout_microseconds,
                                             &o->knobs.max_sequences, &o->knobs.max_context, &o->knobs.weight_bits };
    const int64_t want[SERVE_KNOB_COUNT] = { c->knobs.max_batch_size, c->knobs.max_queue_delay_microseconds,
                                             c->knobs.max_queue_size, c->knobs.default_timeout_microseconds,
                                             c->knobs.max_sequences, c->knobs.max_context, c->knobs.weight_bits };
    for (int i = 0; i < SERVE_KNOB_COUNT; i++)
        if (c->has_knob[i])
            *now[i] = want[i];
    if (c->has_slots)
        o->slots = c->slots;
    if (c->has_model_version)
        o->model_version = c->model_version;
}

static bool is_as_served(const struct deploy_order *o, const struct model_version *v, const struct roll_state *s,
                         const struct serve_knobs *knobs)
{
    return v->version == s->model_version && o->slots == s->slots && !memcmp(&o->knobs, knobs, sizeof *knobs);
}

static enum errc read_signature(struct work *w, struct json text, struct infer_signature *ret, struct err *e)
{
    *ret = (struct infer_signature){ 0 };
    return json_decode(&infer_signature_schema, text.text, w->arena, ret, e);
}

/* Versions from before signatures were kept are not known to differ. */
static enum errc check_signature(struct work *w, const struct deploy_change *c, const struct roll_state *s,
                                 const struct model_version *next, struct err *e)
{
    struct model_version v;
    struct infer_signature is, will;
    CLEANUP(buf_releasep) struct buf text = BUF(SIGNATURES_MAX);
    if (c->allow_new_signature || next->version == s->model_version)
        return ERR_OK;
    TRY(model_version_get(w, s->model_id, s->model_version, &v, e));
    if (!v.signature.text.len || !next->signature.text.len)
        return ERR_OK;
    TRY(read_signature(w, v.signature, &is, e));
    TRY(read_signature(w, next->signature, &will, e));
    if (infer_signature_same(&is, &will))
        return ERR_OK;
    buf_printf(&text, "Version %ld has another signature than version %ld, which serves, so its callers would fail: ",
               (long)next->version, (long)v.version);
    infer_signature_print(&text, &will);
    buf_add_c(&text, "; it serves ");
    infer_signature_print(&text, &is);
    buf_add_c(&text, ". allow_new_signature rolls all the same");
    return FAIL_AT(e, UNPROCESSABLE, "/model_version", "%.*s", STR_ARG(buf_str(&text)));
}

enum errc deploy_roll(struct work *w, const struct deploy_change *c, struct deployment *ret, struct err *e)
{
    struct serve_job now = { 0 };
    struct roll_state s = { 0 };
    struct model_version v;
    struct uuid job_id;
    TRY(roll_lock(w, c->deployment_id, &s, e));
    TRY(json_decode(&serve_job_schema, s.spec.text, w->arena, &now, e));
    struct deploy_order o = { s.name, s.model_id, s.model_version, s.slots, now.knobs };
    merge(&o, c);
    TRY(find_version(w, &o, &v, e));
    TRY(check_signature(w, c, &s, &v, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("from_version", s.model_version));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("to_version", v.version));
    if (is_as_served(&o, &v, &s, &now.knobs)) {
        audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", STR("taken_back")));
        TRY(roll_give_up(w, &s, STR("It was taken back before it turned"), e));
    } else {
        audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("step", STR("began")));
        TRY(submit(w, &o, &v, &job_id, e));
        TRY(roll_begin(w, &s, job_id, v.version, c->deadline_s ? c->deadline_s : DEPLOY_DEADLINE_S, e));
    }
    if (!uuid_is_nil(s.next_job_id))
        jobs_wake_after_commit(w, s.next_job_id);
    return deployment_get(w, s.deployment_id, ret, e);
}

static enum errc cancel(struct work *w, struct uuid job_id, struct err *e)
{
    struct job job;
    if (uuid_is_nil(job_id))
        return ERR_OK;
    enum errc rc = job_cancel(w, job_id, &job, e);
    if (rc != ERR_OK && rc != ERR_CONFLICT)         /* CONFLICT: it has ended already */
        return rc;
    jobs_wake_after_commit(w, job_id);
    return ERR_OK;
}

enum errc deploy_stop(struct work *w, struct uuid deployment_id, struct err *e)
{
    struct deployment_jobs jobs;
    TRY(deployment_delete(w, deployment_id, &jobs, e));
    TRY(cancel(w, jobs.job_id, e));
    TRY(cancel(w, jobs.next_job_id, e));
    return cancel(w, jobs.old_job_id, e);
}
