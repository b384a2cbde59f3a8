/* SPDX-License-Identifier: Apache-2.0 */
/* quota_rule.h - rules that divide slots and GPUs among tenants, projects and queues, by flavor and zone; kept here, obeyed by the planner
 * (scheduler/plan/rulebook.h has the arithmetic).
 *
 * The platform sets the rules of place tenant, the tenant divides what it has among its projects and queues. Invariants, judged after each
 * change and before its commit: what siblings have together is not more than their parent has; nothing is set below what is used; nobody
 * takes away what a neighbour has borrowed. Changes take the planners' lock, so no plan is made of half a change.
 * Errors: CONFLICT with both numbers, PRECONDITION, EXISTS, NOT_FOUND. Memory: w->arena. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct quota_rule {
    struct uuid rule_id;
    struct str place;
    struct uuid project_id;
    struct str queue, resource, flavor, zone;
    int64_t nominal;
    bool has_borrowing_limit, has_lending_limit;
    int64_t borrowing_limit, lending_limit, weight;
    int64_t used;                       /* by live attempts, now */
    int64_t version;
    struct timestamp created_at;
};
extern const struct schema quota_rule_schema;
extern const char *const quota_rule_resource_names[];

/* place: "tenant", "project" or "queue". */
enum errc quota_rule_create(struct work *w, const struct quota_rule *in, struct quota_rule *ret, struct err *e) MUST_CHECK;
/* Changes the numbers; places says whose rules the caller may touch: "tenant" only, or all others. expected_version -1: any. */
enum errc quota_rule_set(struct work *w, struct uuid rule_id, bool is_platform, const struct quota_rule *numbers, int64_t expected_version,
                         struct quota_rule *ret, struct err *e) MUST_CHECK;
enum errc quota_rule_delete(struct work *w, struct uuid rule_id, bool is_platform, int64_t expected_version, struct err *e) MUST_CHECK;
enum errc quota_rule_get(struct work *w, struct uuid rule_id, struct quota_rule *ret, struct err *e) MUST_CHECK;
enum errc quota_rule_list(struct work *w, struct str place, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

/* Names of queues that rules of the tenant which the caller may see are about, in their order, at most limit. */
struct rule_queue_name { struct str name; };
enum errc quota_rule_queues(struct work *w, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const quota_rule_stmts[];
