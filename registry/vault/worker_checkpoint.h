/* SPDX-License-Identifier: Apache-2.0 */
/* worker_checkpoint.h - states of unfinished jobs as sealed objects of kind "checkpoint": written by the live lease of a job,
 * read
 * by its later ones, on any machine of the zone.
 *
 * The lease was checked as worker_object.h says, so an older fence neither writes nor reads. A checkpoint counts from the moment
 * that it is kept: whole, COMMITTED and booked in the tenant's quota in one transaction. The CHECKPOINTS_KEPT newest of a job
 * stay,
 * and none outlives its job: checkpoint_sweep. What is removed is forgotten with its data key and its rows.
 * Calling order: worker_checkpoint_new -> worker_output_expects, stage, store (worker_object.h) -> worker_checkpoint_keep. Read
 * by
 * worker_keys and worker_input_open, like inputs.
 * Errors: as worker_object.h; QUOTA (nothing is changed, the ones before stay), CONFLICT (not all of it has come). */
#pragma once
#include "registry/vault/worker_object.h"

enum { CHECKPOINTS_KEPT = 2, CHECKPOINTS_LISTED = 16 };

/* As its owner sees it. */
struct checkpoint {
    struct uuid object_id;
    int64_t step;
    int64_t fence;                  /* of the attempt that wrote it */
    int64_t size_bytes;             /* sealed, as the quota has it */
    struct str zone;
    struct timestamp kept_at;
    int64_t place;                  /* 1: the next attempt begins with it; 2: with this one if that cannot be read; and so on */
};
extern const struct schema checkpoint_schema;

/* A new object and its key. ret_is_first: of this attempt, so the caller notes for the log that it writes checkpoints. */
enum errc worker_checkpoint_new(struct work *w, const struct worker_lease *l, struct str public_key, struct uuid *ret_object,
                                int64_t *ret_version, bool *ret_is_first, struct worker_release *ret, struct err *e) MUST_CHECK;
/* All of it has come: it counts from the commit on. Asked again, nothing happens. */
enum errc worker_checkpoint_keep(struct work *w, const struct worker_lease *l, struct uuid object_id, int64_t step,
                                 struct err *e) MUST_CHECK;
/* The whole ones of a job, the newest first: those kept, and what a running transaction is about to forget. */
enum errc checkpoint_list(struct work *w, struct uuid job_id, struct slice *ret, struct err *e) MUST_CHECK;
/* Those of jobs that have ended, and those that were left half written; a system transaction of its own. */
enum errc checkpoint_sweep(const struct app *app, struct arena *a, int64_t *ret_removed, struct err *e) MUST_CHECK;
