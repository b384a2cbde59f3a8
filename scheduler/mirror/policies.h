/* SPDX-License-Identifier: Apache-2.0 */
/* policies.h - what the judge of residency needs to know of tenants, kept from plan to plan.
 *
 * What is kept is of one revision (residency_revision, which every change of a zone's law, a tenant's zones or a policy raises).
 * Each plan reads the revision in the statement that reads its tenants; another revision forgets all of it, so no plan judges
 * by older facts than it would have read. Dates are judged by the judge at each question: a policy that expires needs no new
 * revision.
 * Calling order: policies_new -> policies_fill* (one thread) -> policies_free. w->app->policies NULL: nothing is kept.
 * Memory: texts live until the next policies_fill; without a memory in w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct policies;

struct policies *policies_new(void);
void policies_free(struct policies *p);         /* NULL is fine */
/* Fills zones and residency of these tenants, which stand in the order of their ids. revision: as it was read with them, or
 * before. */
enum errc policies_fill(struct work *w, int64_t revision, struct snap_tenant *tenants, size_t n, struct err *e) MUST_CHECK;
