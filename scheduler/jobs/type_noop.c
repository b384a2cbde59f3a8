/* SPDX-License-Identifier: Apache-2.0 */
/* type_noop.c - a job that does nothing reads nothing. */
#include "scheduler/jobs/job_prepare.h"

enum errc job_prepare_noop(struct work *w, struct job_submission *s, struct err *e)
{
    (void)w, (void)s, (void)e;
    return ERR_OK;
}
