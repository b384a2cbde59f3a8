/* SPDX-License-Identifier: Apache-2.0 */
/* job_dataset.h - the data set that a submission reads: the version, fixed, with the copy that lies in the job's zone.
 *
 * Calling order, in a job_prepare_<kind>: job_dataset_find -> the spec written anew with ret->version -> job_dataset_read_by.
 * Memory: w->arena. Errors, with JSON pointers into the submission: NOT_FOUND, RESIDENCY (the version lies in another zone than
 * the job names), UNPROCESSABLE (a version of another format than the kind reads), INVALID. */
#pragma once
#include "core/wire/spec_dataset.h"
#include "scheduler/jobs/job.h"

struct job_dataset {
    int64_t version;
    struct uuid object_id;
    struct str zone, data_class;
    int64_t column_count;
    SPEC_DATASET;
    int64_t room;                   /* bytes that the tenant may store in all */
};
extern const struct stmt *const job_dataset_stmts[];

/* What a kind reads: tables and tokens, model files, images, or whatever it is. */
enum job_data { JOB_DATA_ROWS, JOB_DATA_MODEL, JOB_DATA_IMAGE, JOB_DATA_ANY };
/* version 0: the latest. */
enum errc job_dataset_find(struct work *w, const struct job *j, struct uuid dataset_id, int64_t version, enum job_data want,
                           struct job_dataset *ret, struct err *e) MUST_CHECK;
/* The data set as the submission's one input; zone and class are its own, the spec is what was written into `spec`. */
enum errc job_dataset_read_by(struct work *w, struct job_submission *s, const struct job_dataset *d, const struct buf *spec,
                              struct err *e) MUST_CHECK;
