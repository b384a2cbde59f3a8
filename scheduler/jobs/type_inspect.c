/* SPDX-License-Identifier: Apache-2.0 */
/* type_inspect.c - the import of an image: the archive it reads, in the zone where it lies, and memory for twice of it. */
#include "core/base/cleanup.h"
#include "core/data/data_format.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_inspect.h"
#include "registry/catalog/dataset.h"
#include "scheduler/jobs/job_prepare.h"
#include "scheduler/plan/snapshot.h"
#include "tenants/access/principal.h"
#include "tenants/home/residency_facts.h"

enum { IMPORT_ATTEMPTS = 3, IMPORT_RUNTIME_S = 3600, SPEC_MAX = 4096,
       UNPACKED_SHARE = 8 /* memory for an archive: half holds it and its files, which gzip made a third */ };

static enum errc find(struct work *w, const struct inspect_job *in, struct dataset *d, struct dataset_version *v, struct err *e)
{
    enum errc rc = dataset_get(w, in->dataset_id, d, e);
    if (rc == ERR_OK)
        rc = dataset_version_get(w, in->dataset_id, in->dataset_version, v, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, "/dataset_id", "There is no such data set, or no such version of it");
    TRY(rc);
    return data_formats[v->format].is_image ? ERR_OK
         : FAIL_AT(e, UNPROCESSABLE, "/dataset_id", "An environment is made of an image (format oci); this version has the "
             "format %s",
                   data_format_names[v->format]);
}

static enum errc place(struct work *w, struct job_submission *s, const struct dataset *d, const struct dataset_version *v,
                       struct err *e)
{
    struct job_input *input = ARENA_NEW(w->arena, struct job_input);
    struct residency_question q = { .data_class = data_class_of(d->data_class), .zone = v->zone,
                                    .purpose = str_c(job_types[s->job.kind].purpose) };
    TRY(residency_check(w, RACT_SUBMIT, &q, false, NULL, e));
    s->job.zone = v->zone;
    s->job.data_class = d->data_class;
    s->job.project_id = d->project_id;
    *input = (struct job_input){ STR("dataset"), v->object_id };
    s->inputs = (struct slice){ input, 1 };
    return ERR_OK;
}

enum errc job_prepare_inspect(struct work *w, struct job_submission *s, struct err *e)
{
    struct inspect_job in = { 0 };
    struct dataset d;
    struct dataset_version v;
    TRY(json_decode(&inspect_job_schema, s->job.spec.text, w->arena, &in, e));
    TRY(find(w, &in, &d, &v, e));
    return place(w, s, &d, &v, e);
}

/* What a slot stands for is enough for small ones. */
static int64_t memory_for(int64_t asked, int64_t archive)
{
    const int64_t need = archive * UNPACKED_SHARE;
    return asked ? asked : need > SLOT_MEMORY_BYTES ? need : 0;
}

enum errc inspect_job_make(struct work *w, struct inspect_order *o, struct job_submission *s, struct err *e)
{
    CLEANUP(buf_releasep) struct buf spec = BUF(SPEC_MAX);
    struct inspect_job in = { o->dataset_id, o->dataset_version, o->digest.ptr ? o->digest : STR(""), o->allow_setuid };
    struct dataset d;
    struct dataset_version v;
    TRY(find(w, &in, &d, &v, e));
    if (o->owns_archive && d.latest_version > 1)
        return FAIL_AT(e, UNPROCESSABLE, "/owns_archive", "The data set goes with the environment, and all its %ld versions with "
                       "it: only a data set with one version can be an environment's own", (long)d.latest_version);
    in.dataset_version = o->dataset_version = v.version;
    o->object_id = v.object_id;
    o->project_id = d.project_id;
    json_encode(&inspect_job_schema, &in, &spec);
    s->job = (struct job){
        .tenant_id = w->tenant_id, .job_id = uuid_v7(w->now_us), .name = str_fmt(w->arena, "import %.*s", STR_ARG(o->name)),
        .kind = JOB_INSPECT, .state = JOB_PENDING, .reason = str_c(job_reason_names[JR_RESOURCES]), .message = STR(""),
        .spec = { str_dup(w->arena, buf_str(&spec)) }, .pool = o->pool, .queue = STR("default"), .slots = 1,
        .memory_bytes = memory_for(o->memory_bytes, v.size_bytes), .max_attempts = IMPORT_ATTEMPTS,
        .max_runtime_s = IMPORT_RUNTIME_S, .version = 1, .created_by = w->principal->user_id, .submitted_at = { w->now_us },
    };
    s->kind_name = str_c(job_types[JOB_INSPECT].name);
    return place(w, s, &d, &v, e);
}
