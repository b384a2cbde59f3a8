/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve.c - a serving job: the weights it reads, in the zone where they lie. It is tried again for as long as its deployment
 * lives. */
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_serve.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job_input.h"
#include "scheduler/jobs/job_prepare.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"

enum { SERVE_ATTEMPTS = 100, SERVE_RUNTIME_S = 31536000, SPEC_MAX = 4096 };

enum errc job_prepare_serve(struct work *w, struct job_submission *s, struct err *e)
{
    struct serve_job serve = { 0 };
    struct object o;
    struct job_input *input = ARENA_NEW(w->arena, struct job_input);
    TRY(json_decode(&serve_job_schema, s->job.spec.text, w->arena, &serve, e));
    TRY(object_get(w, serve.model_object_id, &o, e));
    struct residency_question q = { .data_class = data_class_of(o.data_class), .zone = o.zone,
                                   .purpose = str_c(job_types[s->job.kind].purpose) };
    TRY(residency_check(w, RACT_SUBMIT, &q, false, NULL, e));
    s->job.zone = o.zone;
    s->job.data_class = o.data_class;
    *input = (struct job_input){ STR("model"), serve.model_object_id };
    s->inputs = (struct slice){ input, 1 };
    return ERR_OK;
}

enum errc serve_job_make(struct work *w, const struct serve_order *o, struct job_submission *s, struct err *e)
{
    CLEANUP(buf_releasep) struct buf spec = BUF(SPEC_MAX);
    const struct serve_job serve = { o->name, o->model_id, o->model_version, o->object_id, o->knobs };
    json_encode(&serve_job_schema, &serve, &spec);
    s->job = (struct job){
        .tenant_id = w->tenant_id, .job_id = uuid_v7(w->now_us), .name = str_fmt(w->arena, "serve %.*s", STR_ARG(o->name)),
            .kind = JOB_SERVE,
        .state = JOB_PENDING, .reason = str_c(job_reason_names[JR_RESOURCES]), .message = STR(""),
            .spec = { str_dup(w->arena, buf_str(&spec)) },
        .pool = STR("default"), .queue = STR("default"), .slots = o->slots, .engine = job_engine_of(o->engine),
        .max_attempts = SERVE_ATTEMPTS,
        .max_runtime_s = SERVE_RUNTIME_S, .version = 1, .created_by = w->principal->user_id, .submitted_at = { w->now_us },
    };
    s->kind_name = str_c(job_types[JOB_SERVE].name);
    return job_prepare_serve(w, s, e);
}
