/* SPDX-License-Identifier: Apache-2.0 */
/* deployment.h - a model version under a name that clients call; behind it runs a job of kind serve.
 *
 * Invariants: a name is taken by one ACTIVE deployment of a tenant; each has its job, which the caller makes in the same transaction
 * before the row and cancels when it is deleted (api/deploy.h). ready: the job runs and its
 * live attempt has said where it listens. The endpoint is for falaj-api alone.
 * Memory: w->arena. Errors: NOT_FOUND (also another tenant's, also deleted), EXISTS (name). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/type_serve.h"

/* Where a roll stands (serving/roll.h): none, its job loads, it has turned and the old job drains, it was given up. */
enum roll_kind { ROLL_NONE, ROLL_LOADING, ROLL_DRAINING, ROLL_FAILED };
extern const char *const roll_names[];

struct deployment {
    struct uuid deployment_id;
    struct str name;
    struct uuid model_id;
    int64_t model_version;
    struct str engine;              /* what computes it: falaj, onnxruntime */
    struct uuid job_id;
    struct str state, job_state;
    bool ready;
    int64_t version;
    int roll;                       /* enum roll_kind */
    int64_t next_version;           /* LOADING: what shall be served, by next_job_id */
    struct uuid next_job_id;
    struct str roll_error;          /* why the last roll was given up; STR_NULL: it was not */
    int64_t slots;
    struct serve_knobs knobs;
    struct uuid project_id;         /* that of the model; nil: the tenant as a whole */
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema deployment_schema;

struct deployment_row {
    struct uuid deployment_id;
    struct str name;
    struct uuid model_id;
    int64_t model_version;
    struct uuid job_id;
};
enum errc deployment_insert(struct work *w, const struct deployment_row *in, struct deployment *ret, struct err *e) MUST_CHECK;
enum errc deployment_get(struct work *w, struct uuid deployment_id, struct deployment *ret, struct err *e) MUST_CHECK;
/* What is zero does not filter. */
struct deployment_filter {
    struct uuid model_id, project_id, created_by;
    bool has_ready, ready;
    struct str q, sort;                     /* as in list_find.h */
};
enum errc deployment_list(struct work *w, const struct deployment_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* ret: its jobs, for the caller to cancel; nil where there is none. */
struct deployment_jobs { struct uuid job_id, next_job_id, old_job_id; };
enum errc deployment_delete(struct work *w, struct uuid deployment_id, struct deployment_jobs *ret, struct err *e) MUST_CHECK;
/* The ACTIVE one that clients call by this name. */
enum errc deployment_find(struct work *w, struct str name, struct deployment *ret, struct err *e) MUST_CHECK;

/* Where an ACTIVE deployment of that name listens, and for which attempt; endpoint STR_NULL: not ready. */
struct deployment_target {
    struct uuid deployment_id, attempt_id;
    struct str endpoint, zone, data_class;  /* zone: of the machine; class: of the model's data */
    int64_t model_version;
};
enum errc deployment_target(struct work *w, struct str name, struct deployment_target *ret, struct err *e) MUST_CHECK;

/* Run as falaj_app, in one tenant's scope. */
extern const struct stmt *const deployment_stmts[];
