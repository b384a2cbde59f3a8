/* SPDX-License-Identifier: Apache-2.0 */
/* type_run.c - a program before it is stored: what each of its inputs is by now, with versions fixed in the spec. Zone and class
 * are those of all inputs together (job_input.h). */
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_run.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_input.h"
#include "registry/catalog/secret.h"
#include "scheduler/jobs/environment.h"
#include "scheduler/jobs/environment_shared.h"
#include "scheduler/jobs/job_prepare.h"
#include "tenants/access/authz.h"

enum { SPEC_MAX = 65536 };

static enum errc find(struct work *w, const struct job *j, const struct run_input *in, struct job_found *ret, struct err *e)
{
    struct job_dataset d = { 0 };
    if (in->from == RUN_MODEL)
        return job_input_model(w, in->id, in->version, ret, e);
    if (in->from == RUN_JOB)
        return job_input_output(w, in->id, in->output, ret, e);
    TRY(job_dataset_find(w, j, in->id, in->version, JOB_DATA_ANY, &d, e));
    *ret = (struct job_found){ .object_id = d.object_id, .zone = d.zone, .data_class = d.data_class, .version = d.version };
    return ERR_OK;
}

/* One input; its text with the version that it has now. */
static enum errc take(struct work *w, struct job *j, struct str *text, struct job_input *ret, struct err *e)
{
    struct run_input in;
    struct job_found f;
    if (!run_input(*text, &in))
        return FAIL(e, INVALID, "must be an input");
    TRY(find(w, j, &in, &f, e));
    TRY(job_input_join(w, j, &f, e));
    *ret = (struct job_input){ in.name, f.object_id };
    if (in.from == RUN_DATASET)
        *text = str_fmt(w->arena, "%.*s=%.*s@%ld", STR_ARG(in.name), STR_ARG(id_text(w->arena, "dst", in.id)), (long)f.version);
    else if (in.from == RUN_MODEL)
        *text = str_fmt(w->arena, "%.*s=%.*s@%ld", STR_ARG(in.name), STR_ARG(id_text(w->arena, "mdl", in.id)), (long)f.version);
    return ERR_OK;
}

/* zone STR_NULL: not known yet. */
static enum errc may_use(struct work *w, const struct job *j, struct str zone, struct err *e)
{
    const struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip, .zone = zone, .project_id = j->project_id,
                                       .zone_later = !zone.ptr };
    const struct decision d = authz_decide(w->principal, PERM_SECRET_USE, &ctx);
    return d.allowed ? ERR_OK : authz_refuse(&d, PERM_SECRET_USE, e);
}

/* A secret lies in the job's zone, and does not make what comes out secret: the class of the data stays as it is. */
static enum errc take_secret(struct work *w, struct job *j, struct str *text, struct job_input *ret, struct err *e)
{
    struct run_secret want;
    struct secret_found f;
    if (!run_secret(*text, &want))
        return FAIL(e, INVALID, "must be a secret");
    TRY(may_use(w, j, STR_NULL, e));
    TRY(RUN_READ(w, secret_find(w, j->project_id, want.name, want.version, &f, e), e));
    TRY(may_use(w, j, f.zone, e));
    TRY(job_input_place(w, j, f.zone, STR("internal"), e));
    *ret = (struct job_input){ str_fmt(w->arena, RUN_SECRET_INPUT "%.*s", STR_ARG(want.place)), f.object_id };
    *text = str_fmt(w->arena, "%.*s=%.*s@%ld", STR_ARG(want.place), STR_ARG(want.name), (long)f.value_version);
    return ERR_OK;
}

/* Behind the inputs, which say the zone. */
static enum errc take_secrets(struct work *w, struct job *j, const struct run_job *r, struct job_input *ret, struct err *e)
{
    for (size_t i = 0; i < r->secrets.n; i++)
        if (take_secret(w, j, (struct str *)r->secrets.items + i, &ret[i], e) != ERR_OK) {
            err_field(e, "/spec/secrets/%zu", i);
            return e->code;
        }
    return ERR_OK;
}

/* A name means what it means now: the job says for ever which image it was. */
static enum errc mean_image(struct work *w, const struct job *j, struct run_environment *in, struct err *e)
{
    struct environment_found found;
    if (!in->is_named)
        return ERR_OK;
    TRY(RUN_READ(w, environment_find(w, j->project_id, in->environment_id, in->name, in->digest, &found, e), e));
    *in = (struct run_environment){ .dataset_id = found.dataset_id, .version = found.dataset_version, .digest = found.digest };
    return ERR_OK;
}

/* One that is published to all: its zone is the job's, and what comes out of the job has the class of what else went in. It is no
 * input of the job's own: what the spec says is asked again at each release (shared_environment_of). */
static enum errc take_shared(struct work *w, struct job *j, struct str digest, struct err *e)
{
    struct shared_found found;
    TRY(RUN_READ(w, shared_environment_find(w, digest, j->zone.ptr ? j->zone : w->principal->home_zone, &found, e), e));
    TRY(job_input_place(w, j, found.zone, found.data_class, e));
    return RUN_READ(w, shared_environment_permits(w, found.zone, digest, e), e);
}

/* An image is read as data is: its zone becomes the job's, and its class one of those that come out. */
static enum errc take_image(struct work *w, struct job *j, struct run_job *r, struct job_input *ret, size_t *ret_n, struct err *e)
{
    struct run_environment in;
    struct job_dataset d = { 0 };
    *ret_n = 0;
    if (!run_environment(r->environment, &in) || in.is_host)
        return ERR_OK;
    if (in.is_shared)
        return take_shared(w, j, in.digest, e);
    TRY(mean_image(w, j, &in, e));
    TRY(job_dataset_find(w, j, in.dataset_id, in.version, JOB_DATA_IMAGE, &d, e));
    TRY(job_input_join(w, j, &(struct job_found){ .object_id = d.object_id, .zone = d.zone, .data_class = d.data_class }, e));
    TRY(RUN_READ(w, environment_permits(w, in.dataset_id, d.version, in.digest, e), e));
    r->environment = str_fmt(w->arena, "%.*s@%ld%s%.*s", STR_ARG(id_text(w->arena, "dst", in.dataset_id)), (long)d.version,
                             in.digest.len ? "/" : "", STR_ARG(in.digest));
    *ret = (struct job_input){ STR(RUN_IMAGE_INPUT), d.object_id };
    *ret_n = 1;
    return ERR_OK;
}

enum errc job_prepare_run(struct work *w, struct job_submission *s, struct err *e)
{
    struct run_job *r = ARENA_NEW(w->arena, struct run_job);
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&run_job_schema, s->job.spec.text, w->arena, r, e));
    if (run_job_settle(r, e) != ERR_OK)
        return job_spec_fault(w, e);
    struct job_input *inputs = ARENA_ARRAY(w->arena, struct job_input, r->inputs.n + r->secrets.n + 2);
    for (size_t i = 0; i < r->inputs.n; i++)
        if (take(w, &s->job, (struct str *)r->inputs.items + i, &inputs[i], e) != ERR_OK) {
            err_field(e, "/spec/inputs/%zu", i);
            return e->code;
        }
    size_t images;
    if (take_image(w, &s->job, r, inputs + r->inputs.n, &images, e) != ERR_OK) {
        err_field(e, "/spec/environment");
        return e->code;
    }
    TRY(take_secrets(w, &s->job, r, inputs + r->inputs.n + images, e));
    if (r->launcher == RUN_MPI && s->job.nodes > 1)
        s->job.engine = STR(RUN_RANKS_ENGINE);
    s->inputs = (struct slice){ inputs, r->inputs.n + images + r->secrets.n };
    json_encode(&run_job_schema, r, &b);
    if (b.overflow)
        return FAIL_AT(e, INVALID, "/spec", "The spec is too long");
    s->job.spec.text = str_dup(w->arena, buf_str(&b));
    return ERR_OK;
}
