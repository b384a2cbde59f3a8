/* SPDX-License-Identifier: Apache-2.0 */
/* submit_names.h - the queue, the priority class and the project that a submission names: whether there are such.
 *
 * Submissions that come together are asked for at once, by one statement that looks each name of a tenant up once, however
 * many name it (docs/adr/0106). A job that names none of them costs nothing: where nothing is to be asked, no statement is sent.
 * Order: submit_names_ask for all, then submit_names_project and submit_names_check for each where its other checks are.
 * Memory: w->arena. Errors of asking: those of the transaction. */
#pragma once
#include "scheduler/jobs/job.h"

struct stmt;

/* What became of one submission's names. */
struct submit_names { bool no_queue, no_class, no_project, is_closed; };

/* in[i] is submitted by who[i]: its tenant, and the projects it is held to. ret: n of them. */
enum errc submit_names_ask(struct work *w, const struct job_create *const *in, const struct work *const *who, size_t n,
                           struct submit_names *ret, struct err *e) MUST_CHECK;
/* The project that the job goes to, as project_for_new (tenants/home/project.h) says it. */
enum errc submit_names_project(const struct work *w, const struct job_create *in, const struct submit_names *names,
                               struct uuid *ret, struct err *e) MUST_CHECK;
/* INVALID at /class, UNPROCESSABLE at /queue with the nearest name of those that w may see. */
enum errc submit_names_check(struct work *w, const struct job *j, const struct submit_names *names, struct err *e) MUST_CHECK;

extern const struct stmt *const submit_names_stmts[];
