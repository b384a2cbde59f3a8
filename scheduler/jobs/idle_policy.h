/* SPDX-License-Identifier: Apache-2.0 */
/* idle_policy.h - for how long a tenant lets its jobs hold what they do not use (scheduler/plan/idle_rule.h judges).
 *
 * In the tenant's transaction. Errors: INVALID (a project twice), and those of the transaction. Memory: w->arena. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

enum { IDLE_LEAST_MIN = 5, IDLE_MOST_MIN = 43200, IDLE_NOTICE_MOST_MIN = 1440, IDLE_NOTICE_MIN = 15, IDLE_PROJECTS_MAX = 200 };

struct idle_policy {
    int64_t after_minutes;              /* 0: for ever */
    int64_t notice_minutes;
    struct slice projects;              /* struct str "prj_…=MINUTES": in these, so long */
};
extern const struct schema idle_policy_schema;
struct stmt;
extern const struct stmt *const idle_policy_stmts[];

/* "prj_…=MINUTES", 0 or from IDLE_LEAST_MIN. false: it has another form. */
bool idle_project(struct str text, struct uuid *ret_id, int64_t *ret_minutes);
/* Minutes for jobs of a project (nil: of none); 0: for ever. */
int64_t idle_policy_after(const struct idle_policy *p, struct uuid project_id);
MUST_CHECK enum errc idle_policy_get(struct work *w, struct idle_policy *ret, struct err *e);
MUST_CHECK enum errc idle_policy_set(struct work *w, const struct idle_policy *in, struct err *e);
