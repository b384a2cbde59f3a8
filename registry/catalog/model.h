/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a named model in versions that never change, each the output "model" of a completed job.
 *
 * Invariants: version numbers are dense from 1, also under concurrent registrations (the row of the model is locked by the statement that
 * counts); a version was decrypted and accepted by core/data/model_mlp.h: a perceptron that can be served, or a file with a
 * graph, whose signature and numbers are sound; the graph itself is judged by the worker that serves it. metrics are the
 * numbers of the job's result.
 * Memory: w->arena. Errors: NOT_FOUND (job, model), CONFLICT (job not completed, or without model), BAD_DATA, DAMAGED. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/home/shown_name.h"

struct model {
    struct uuid model_id;
    struct str name;
    SHOWN_NAME;
    struct str description;
    int64_t latest_version, version;
    struct uuid project_id;                 /* that of the jobs its versions come from; nil: the tenant as a whole */
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema model_schema;

struct model_new {
    struct str name, description;
    struct uuid job_id;
};
extern const struct schema model_new_schema;

struct model_version {
    struct uuid model_id;
    struct str name;
    SHOWN_NAME;
    int64_t version;
    struct uuid object_id, job_id;
    int64_t fence;
    struct str family, engine;
    int64_t inputs, outputs;
    struct json signature;                  /* core/data/model_sig.h; absent: of a version from before signatures were kept */
    struct json metrics;
    struct str zone, sha256;
    int64_t size_bytes;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema model_version_schema;

/* What is known of a job's output "model" once it was read. */
struct model_weights {
    struct uuid object_id;
    int64_t inputs, outputs;
    struct str family, signature;           /* signature: JSON */
};
/* Reads it to its end, to know that it is whole and can be served: its header judges, the numbers go through one piece at a time.
 * Has a short transaction of its own; none is open while the file is read and keyd is asked. w->tx must be NULL. */
enum errc model_weights_check(struct work *w, struct uuid job_id, struct model_weights *ret, struct err *e) MUST_CHECK;
/* weights: as they were checked; CONFLICT when the job has another output by now. */
enum errc model_register(struct work *w, const struct model_new *in, const struct model_weights *weights,
                         struct model_version *ret, struct err *e) MUST_CHECK;
enum errc model_get(struct work *w, struct uuid model_id, struct model *ret, struct err *e) MUST_CHECK;
/* version 0: the latest. Lists, and what models and data sets share: versioned.h. */
enum errc model_version_get(struct work *w, struct uuid model_id, int64_t version, struct model_version *ret, struct err *e) MUST_CHECK;
