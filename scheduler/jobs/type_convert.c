/* SPDX-License-Identifier: Apache-2.0 */
/* type_convert.c - a conversion before it is stored: the version of the file that it reads, fixed. How large the model will be is
 * known when it is made: the upload of the output asks the quota. */
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_convert.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_prepare.h"

enum { SPEC_MAX = 65536 };

enum errc job_prepare_convert(struct work *w, struct job_submission *s, struct err *e)
{
    struct convert_job *t = ARENA_NEW(w->arena, struct convert_job);
    struct job_dataset d = { 0 };
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    TRY(json_decode(&convert_job_schema, s->job.spec.text, w->arena, t, e));
    TRY(job_dataset_find(w, &s->job, t->dataset_id, t->dataset_version, JOB_DATA_MODEL, &d, e));
    t->dataset_version = d.version;
    if (t->engine != CONVERT_ANY)
        s->job.engine = str_c(convert_engine_names[t->engine]);
    json_encode(&convert_job_schema, t, &b);
    return job_dataset_read_by(w, s, &d, &b, e);
}
