/* SPDX-License-Identifier: Apache-2.0 */
/* type_batch.h - the spec of a job that puts rows of a data set, or one request, through a version of a model. */
#pragma once
#include "core/base/id.h"
#include "core/wire/job_type.h"
#include "core/wire/spec_dataset.h"

enum { BATCH_REQUEST_MAX = 32768, BATCH_FROM_MAX = 128 };

/* What the result of a data set is: a table, a row for each row that was read. */
enum batch_result { BATCH_CSV, BATCH_NPY };
extern const char *const batch_result_names[];

struct batch_job {
    struct uuid model_id, dataset_id;           /* dataset_id nil: a request in its place */
    int64_t model_version, dataset_version;     /* 0: the latest at submit */
    struct str request;                         /* JSON, as POST /v2/models/{name}/infer takes it; empty: none */
    struct str request_from;                    /* job_ID/OUTPUT, whose content is such a body; empty: none */
    int64_t request_json_bytes;                 /* how long its JSON is, where binary tensors follow; 0: all of it */
    struct slice keep;                          /* struct str: names of the model's outputs; none: all of them */
    int result;                                 /* enum batch_result */
    int64_t max_call_seconds;                   /* of one call of an engine that is not ours */
    struct str model_name;                      /* filled in at submit, like the rest */
    SPEC_DATASET;
};
/* "job_…/predictions". false: it has another form. */
bool batch_from(struct str text, struct uuid *ret_job, struct str *ret_output);
/* Exactly one of data set, request and request_from; what belongs to one is not said of another. INVALID with the member. */
enum errc batch_job_settle(const struct batch_job *b, struct err *e) MUST_CHECK;
