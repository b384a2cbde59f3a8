/* SPDX-License-Identifier: Apache-2.0 */
/* array_template.h - a submission that has passed its checks, kept to become jobs later: the text of job_array.template.
 *
 * It holds what submit_prepare found, versions fixed, so that all tasks read the same and the leader needs no right to look
 * anything up. Not in it, and to be filled for each task: ids, tenant, project, maker, the index in name and spec, and the
 * identity of the call. Memory: the arena. Errors: MALFORMED and those of a schema, for a text that this program did not write.
 * */
#pragma once
#include "scheduler/jobs/job.h"

struct str array_template_text(const struct job_submission *s, struct arena *a);
enum errc array_template_read(struct str text, struct arena *a, struct job_submission *ret, struct err *e) MUST_CHECK;
