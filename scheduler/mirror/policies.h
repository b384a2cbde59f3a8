/* SPDX-License-Identifier: Apache-2.0 */
/* policies.h - what a plan needs to know of zones and tenants, kept from plan to plan: the law, where data may be, and limits.
 *
 * What is kept is of one revision (residency_revision, which every change of a zone's law, a policy, or a tenant's zones,
 * state or limits raises). Each plan reads the revision before its tenants; another revision forgets all of it, so no plan judges
 * by older facts than it would have read. Dates are judged by the judge at each question: a policy that expires needs no new
 * revision. Who is not ACTIVE is not kept.
 * Calling order: policies_new -> (policies_recall, policies_keep*)* (one thread) -> policies_free. NULL: nothing is kept.
 * Memory: texts live until the next policies_recall. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct policies;

struct policies *policies_new(void);
void policies_free(struct policies *p);         /* NULL is fine */
void policies_forget(struct policies *p);       /* NULL is fine */
/* Fills those of the tenants, named by their tenant_id, that are known. Returns how many are not. */
size_t policies_recall(struct policies *p, int64_t revision, struct snap_tenant *tenants, bool *is_known, size_t n);
/* As it was read after policies_recall; what it uses at the moment is zero. */
void policies_keep(struct policies *p, const struct snap_tenant *t);
/* struct residency_zone, the law as it is now; after policies_recall. */
enum errc policies_law(struct work *w, struct slice *ret, struct err *e) MUST_CHECK;

/* Asks the judge for every job: each policy, class and purpose once. zones: struct residency_zone, the law as it is now. */
enum errc snapshot_judge(struct snapshot *s, struct slice zones, int64_t now_us, struct arena *a, struct err *e) MUST_CHECK;
