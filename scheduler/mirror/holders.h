/* SPDX-License-Identifier: Apache-2.0 */
/* holders.h - running attempts whose class may be preempted (scheduler/plan/preempt.h), as the database has them.
 *
 * Where no class goes before a preemptible one this is one small read, and none of attempts.
 * Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/preempt.h"

struct stmt;

enum errc holders_read(struct work *w, struct holders *ret, struct err *e) MUST_CHECK;
extern const struct stmt *const holders_stmts[];
