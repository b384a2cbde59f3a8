/* SPDX-License-Identifier: Apache-2.0 */
/* tenant_life.h - suspending, resuming and ending a tenant. For the platform's people.
 *
 *     ACTIVE <-> SUSPENDED;  ACTIVE or SUSPENDED -> DELETING (two approvals) -> DELETED after the days of grace (scheduler/duty/tenant_reaper.h)
 *                            DELETING -> SUSPENDED (called off within the grace)
 *
 * From the commit on every call of the tenant's people is refused with TENANT_SUSPENDED, within 5 s everywhere, and nothing of it is
 * started any more. Running jobs finish, or are stopped with the waiting ones. A deletion always stops them.
 * tenant_suspend, tenant_resume and tenant_undelete act in the tenant's scope (R_TENANT_PATH); tenant_ask_delete in the platform's, where
 * its request waits.
 * Errors: NOT_FOUND, CONFLICT (not in a state to do that; a legal hold), and those of approval.h. */
#pragma once
#include "tenants/access/approval.h"
#include "tenants/home/tenant.h"

enum errc tenant_suspend(struct work *w, struct uuid tenant_id, bool stop_running, struct str reason, struct tenant *ret, struct err *e) MUST_CHECK;
enum errc tenant_resume(struct work *w, struct uuid tenant_id, struct tenant *ret, struct err *e) MUST_CHECK;
enum errc tenant_ask_delete(struct work *w, struct uuid tenant_id, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
enum errc tenant_undelete(struct work *w, struct uuid tenant_id, struct tenant *ret, struct err *e) MUST_CHECK;

extern const struct approval_kind tenant_delete_kind;
extern const struct stmt *const tenant_life_stmts[];
