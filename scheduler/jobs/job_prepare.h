/* SPDX-License-Identifier: Apache-2.0 */
/* job_prepare.h - what a submission of each kind needs before it is stored; one function per row of job_type.def, in type_<name>.c.
 *
 * Given: s->job with its spec checked by the schema of its kind. The function reads what the spec names, writes what it found back into
 * the spec (so that the job says for ever what it read), and fills s->inputs and the job's zone and data class.
 * Errors carry JSON pointers: NOT_FOUND, RESIDENCY, INVALID. */
#pragma once
#include "core/wire/type_serve.h"
#include "scheduler/jobs/job.h"

#define JOB_TYPE(NAME, name, ...) enum errc job_prepare_##name(struct work *w, struct job_submission *s, struct err *e) MUST_CHECK;
#include "core/wire/job_type.def"
#undef JOB_TYPE

/* By enum job_kind. */
extern enum errc (*const job_prepare_fns[JOB_KIND_COUNT])(struct work *w, struct job_submission *s, struct err *e);

/* The job that serves these weights; its zone and class are those of the weights. Fill the identity of the call afterwards. */
struct serve_order {
    struct str name;
    struct uuid model_id;
    int64_t model_version;
    struct uuid object_id;
    struct str engine;                      /* model_version.engine */
    int64_t slots;
    struct serve_knobs knobs;
};
enum errc serve_job_make(struct work *w, const struct serve_order *o, struct job_submission *s, struct err *e) MUST_CHECK;
/* The job that checks an image for an environment. What it read is filled in: dataset_version, object_id, project_id. */
struct inspect_order {
    struct str name, pool, digest;          /* digest empty or STR_NULL: the archive's only image */
    struct uuid dataset_id;
    int64_t dataset_version;                /* 0: the latest */
    bool allow_setuid, owns_archive;        /* owns_archive: refused where the data set has other versions */
    int64_t memory_bytes;                   /* 0: by the archive's size */
    struct uuid object_id, project_id;
};
enum errc inspect_job_make(struct work *w, struct inspect_order *o, struct job_submission *s, struct err *e) MUST_CHECK;
/* The job that pulls an image from a registry for an environment. What it found is filled in: from, digest, project_id. */
struct pull_order {
    struct str name, pool;
    struct str registry;                    /* image_ref.h */
    struct str credentials;                 /* name of a secret; empty or STR_NULL: none */
    struct str zone;                        /* empty or STR_NULL: the home zone */
    int data_class;                         /* enum data_class */
    struct uuid project_id;
    bool allow_setuid;
    int64_t memory_bytes;                   /* 0: what a slot stands for */
    struct str from, digest;                /* HOST/NAME@DIGEST */
};
enum errc pull_job_make(struct work *w, struct pull_order *o, struct job_submission *s, struct err *e) MUST_CHECK;
