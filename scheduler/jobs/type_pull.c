/* SPDX-License-Identifier: Apache-2.0 */
/* type_pull.c - an image that a job of ours brings from a registry: the registry must be allowed in the zone, and the credentials
 * are a secret that lies there. What the row says is not kept in the job: the lease gets it as it is by then (lease_pull). */
#include "core/base/cleanup.h"
#include "core/json/encode.h"
#include "core/wire/image_ref.h"
#include "core/wire/type_pull.h"
#include "core/wire/type_run.h"
#include "registry/catalog/secret.h"
#include "scheduler/jobs/job_prepare.h"
#include "scheduler/jobs/registry_host.h"
#include "tenants/access/authz.h"
#include "tenants/access/principal.h"
#include "tenants/home/project.h"
#include "tenants/home/residency_facts.h"

enum { PULL_ATTEMPTS = 3, PULL_RUNTIME_S = 3600, SPEC_MAX = 4096 };

/* Callers make none by themselves: what makes one has settled it. */
enum errc job_prepare_pull(struct work *w, struct job_submission *s, struct err *e)
{
    (void)w;
    (void)s;
    return FAIL_AT(e, INVALID, "/kind", "POST /v1/environments makes jobs that pull images");
}

static enum errc may(struct work *w, enum permission perm, struct str zone, struct uuid project_id, struct err *e)
{
    const struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip, .zone = zone, .project_id = project_id };
    const struct decision d = authz_decide(w->principal, perm, &ctx);
    return d.allowed ? ERR_OK : authz_refuse(&d, perm, e);
}

static enum errc take_credentials(struct work *w, const struct pull_order *o, struct job_submission *s, struct pull_job *spec,
                                  struct err *e)
{
    struct job_input *input = ARENA_NEW(w->arena, struct job_input);
    struct secret_found f;
    if (!o->credentials.len)
        return ERR_OK;
    TRY(may(w, PERM_SECRET_USE, s->job.zone, s->job.project_id, e));
    TRY(secret_find(w, s->job.project_id, o->credentials, 0, &f, e));
    if (!str_eq(f.zone, s->job.zone))
        return FAIL(e, UNPROCESSABLE, "The secret %.*s lies in zone %.*s, and the image is pulled in zone %.*s; make one there",
                    STR_ARG(o->credentials), STR_ARG(f.zone), STR_ARG(s->job.zone));
    struct str *named = ARENA_NEW(w->arena, struct str);
    *named = str_fmt(w->arena, "%.*s@%ld", STR_ARG(o->credentials), (long)f.value_version);
    spec->secrets = (struct slice){ named, 1 };
    *input = (struct job_input){ STR(RUN_SECRET_INPUT PULL_CREDENTIALS), f.object_id };
    s->inputs = (struct slice){ input, 1 };
    return ERR_OK;
}

enum errc pull_job_make(struct work *w, struct pull_order *o, struct job_submission *s, struct err *e)
{
    CLEANUP(buf_releasep) struct buf text = BUF(SPEC_MAX);
    struct image_ref ref;
    struct registry_host host;
    struct residency_question q = { .data_class = o->data_class, .zone = o->zone.len ? o->zone : w->principal->home_zone,
                                    .purpose = str_c(job_types[JOB_PULL].purpose) };
    if (image_ref_parse(o->registry, &ref, e) != ERR_OK) {
        err_field(e, "/from/registry");
        return e->code;
    }
    if (project_for_new(w, w->tx, o->project_id, &o->project_id, e) != ERR_OK) {
        err_field(e, "/from/project_id");
        return e->code;
    }
    TRY(may(w, PERM_ENVIRONMENT_MANAGE, q.zone, o->project_id, e));
    TRY(residency_check(w, RACT_SUBMIT, &q, false, NULL, e));
    if (registry_host_find(w, q.zone, ref.host, &host, e) != ERR_OK) {
        err_field(e, "/from/registry");
        return e->code;
    }
    struct pull_job spec = { .registry = ref.host, .repository = ref.name, .digest = ref.digest,
                             .allow_setuid = o->allow_setuid, .ca_pem = STR("") };
    o->from = str_fmt(w->arena, "%.*s/%.*s@%.*s", STR_ARG(ref.host), STR_ARG(ref.name), STR_ARG(ref.digest));
    o->digest = ref.digest;
    s->kind_name = str_c(job_types[JOB_PULL].name);
    s->job = (struct job){
        .tenant_id = w->tenant_id, .job_id = uuid_v7(w->now_us), .name = str_fmt(w->arena, "import %.*s", STR_ARG(o->name)),
        .kind = JOB_PULL, .state = JOB_PENDING, .reason = str_c(job_reason_names[JR_RESOURCES]), .message = STR(""),
        .pool = o->pool, .queue = STR("default"), .slots = 1, .memory_bytes = o->memory_bytes, .max_attempts = PULL_ATTEMPTS,
        .max_runtime_s = PULL_RUNTIME_S, .version = 1, .created_by = w->principal->user_id, .submitted_at = { w->now_us },
        .zone = q.zone, .data_class = str_c(data_class_names[o->data_class]), .project_id = o->project_id,
    };
    if (take_credentials(w, o, s, &spec, e) != ERR_OK) {
        err_field(e, "/from/credentials");
        return e->code;
    }
    json_encode(&pull_job_schema, &spec, &text);
    s->job.spec.text = str_dup(w->arena, buf_str(&text));
    return ERR_OK;
}
