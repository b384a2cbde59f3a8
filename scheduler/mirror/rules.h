/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - quota rules and what live attempts use of them, read into a rule book (scheduler/plan/rulebook.h).
 *
 * rules_read is the planner's, in the system's scope; rules_read_own answers a tenant's questions about its own jobs in that
 * tenant's scope, and of other tenants it learns sums alone. Memory: w->arena. Errors: those of the database. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/rulebook.h"

struct schema;
struct stmt;

/* A rule and a declared queue as a row gives them; the queue clock reads them under aliases by the same. */
extern const struct schema rule_schema, rule_queue_schema;

/* The rules of these tenants, of their cohorts and what live attempts use of them, linked. In one statement, so that the
 * numbers fit. */
enum errc rules_read(struct work *w, const struct uuid *tenants, size_t n, struct rulebook *ret, struct err *e) MUST_CHECK;
/* Those of w's tenant, with the same cohorts. A caller held to some projects sees the use of those alone. */
enum errc rules_read_own(struct work *w, struct rulebook *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const rules_stmts[];          /* of rules_read */
extern const struct stmt *const rules_own_stmts[];      /* of both */
