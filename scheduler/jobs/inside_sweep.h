/* SPDX-License-Identifier: Apache-2.0 */
/* inside_sweep.h - the ends of sessions (scheduler/jobs/inside.h) that nobody holds any more: never come for, or of a falaj-api
 * that is gone. What that counted is gone with it, so the log says only that, and why. */
#pragma once
#include "scheduler/jobs/inside.h"

/* Of the transaction's tenant, at most 64: their rows go, and each end is written into the log. */
MUST_CHECK enum errc inside_note_lost(struct work *w, struct err *e);
/* By the clock of falaj-api: the same for all tenants that have such, in the order of their ids, one transaction each. The first
 * error is told when all had their turn. */
MUST_CHECK enum errc inside_sweep(const struct app *app, int64_t *ret_tenants, struct err *e);
