/* SPDX-License-Identifier: Apache-2.0 */
/* submit_names.h - the queue and the priority class that a submission names: whether there are such.
 *
 * Submissions that come together are asked for at once, by one statement that looks each name of a tenant up once, however
 * many name it (docs/adr/0106). A job that names neither, or `default`, costs nothing: where nothing is to be asked, no statement
 * is sent.
 * Order: submit_names_ask for all, then submit_names_check for each where its other checks are.
 * Memory: w->arena. Errors of asking: those of the transaction; of a name, see submit_names_check. */
#pragma once
#include "scheduler/jobs/job.h"

struct stmt;

/* What became of one submission's names. */
struct submit_names { bool no_queue, no_class; };

/* in[i] is the tenants[i]'s; ret: n of them. */
enum errc submit_names_ask(struct work *w, const struct job_create *const *in, const struct uuid *tenants, size_t n,
                           struct submit_names *ret, struct err *e) MUST_CHECK;
/* INVALID at /class, UNPROCESSABLE at /queue with the nearest name of those that w may see. */
enum errc submit_names_check(struct work *w, const struct job *j, const struct submit_names *names, struct err *e) MUST_CHECK;

extern const struct stmt *const submit_names_stmts[];
