/* SPDX-License-Identifier: Apache-2.0 */
/* job_input.h - what several kinds read beside data sets: versions of models, outputs of other jobs; and the rules for a job that
 * reads more than one thing.
 *
 * All inputs lie in one zone, which becomes the job's, and each is judged for itself. What comes out takes the strictest class of
 * what went in; classes that laws of their own bind (health, banking, gov) are not mixed, as no class is under two of these laws.
 * Memory: w->arena. Errors, without a pointer, which the caller adds: NOT_FOUND, RESIDENCY, UNPROCESSABLE. */
#pragma once
#include "scheduler/jobs/job.h"

struct job_found {
    struct uuid object_id;
    struct str zone, data_class;
    struct str name;                /* of a model; else STR_NULL */
    struct str engine;              /* of a model: job_engine_of */
    int64_t version;                /* 0 of an output */
};

/* What a job asks of a machine for a version with this engine (model_version.engine): nothing for our own operations. */
static inline struct str job_engine_of(struct str engine) { return str_eq_c(engine, "falaj") ? STR("") : engine; }
/* version 0: the latest. */
enum errc job_input_model(struct work *w, struct uuid model_id, int64_t version, struct job_found *ret,
                          struct err *e) MUST_CHECK;
enum errc job_input_output(struct work *w, struct uuid job_id, struct str output, struct job_found *ret,
                           struct err *e) MUST_CHECK;
/* One more of j's inputs lies there, of that class: j's zone becomes it. */
enum errc job_input_place(struct work *w, struct job *j, struct str zone, struct str data_class, struct err *e) MUST_CHECK;
/* One more of j's inputs: zone and class of j become those of both. */
enum errc job_input_join(struct work *w, struct job *j, const struct job_found *f, struct err *e) MUST_CHECK;
/* What settling a spec refused, with the spec's place in the submission before its member. Returns e->code. */
enum errc job_spec_fault(struct work *w, struct err *e);
