/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h - when the attempts that run now will have ended, for a plan that keeps machines until then (scheduler/plan/backfill.h).
 *
 * Who was told to leave ends after its grace; others after as long as their like took (expect.h), and never later than their
 * longest runtime. A deployment has no end. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/backfill.h"

struct stmt;

/* A row for each machine of each live attempt, at most ENDS_MAX; what is beyond does not end. */
enum { ENDS_MAX = 20000 };
enum errc ends_read(struct work *w, int64_t now_us, struct ends *ret, struct err *e) MUST_CHECK;
extern const struct stmt *const ends_stmts[];
