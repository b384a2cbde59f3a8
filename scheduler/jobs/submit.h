/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - what a submission needs from the database before it is stored: its inputs, and a machine that could ever run it.
 *
 * Whoever has many asks for their names at once (submit_names.h) and then prepares each; submit_prepare_one does both for one.
 * A noop job needs neither a read nor a wait: capacity and residency are looked up in memories that are refreshed every few seconds. A train job
 * reads its data set version (one transaction in the tenant's scope) and fixes `dataset_version` 0 to the latest.
 * Errors: NOT_FOUND (data set), RESIDENCY, UNPLACEABLE with the numbers, those of job_check. */
#pragma once
#include "scheduler/jobs/job.h"

struct principal;
struct submit_names;

/* Fills s->job and s->inputs. */
enum errc submit_prepare(struct work *w, const struct job_create *in, const struct principal *p, const struct submit_names *names,
                         struct job_submission *s, struct err *e) MUST_CHECK;
enum errc submit_prepare_one(struct work *w, const struct job_create *in, const struct principal *p, struct job_submission *s,
                             struct err *e) MUST_CHECK;
