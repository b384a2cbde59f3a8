/* SPDX-License-Identifier: Apache-2.0 */
/* idle_watch.h - the leader's look at running jobs whose machines say that what they hold is not used: it tells their people,
 * takes that back, and asks for them to be put aside, as plan/idle_rule.h judges by the tenant's rule (jobs/idle_policy.h).
 *
 * Who is told sees it in the job's reason (Idle), message and events, and where they chose it by a notification (event
 * job-idle), all from one audit event. Deployments, and what is being cancelled or put aside anyway, are left alone. Sessions of
 * people count as use but for forwarded ports, which a page that was left open keeps busy. At most `most` jobs a pass, of
 * tenants in turns: one whose jobs are many leaves the others their places.
 * In w->tx. Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { IDLE_WATCH_MAX = 1000 };
struct idle_watch_result { int64_t noticed, withdrawn, stopped; };
enum errc idle_watch_pass(struct work *w, int64_t most, struct idle_watch_result *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const idle_watch_stmts[];
