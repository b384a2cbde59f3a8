/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - why somebody may or may not do something, and who may. The same judgement as authz.h, told in full.
 *
 * explain_bindings and explain_who are pure; explain_user reads one user and those of the tenant whose roles have the permission. Nothing
 * is said of a token's scopes: what is explained is the user. Nothing of the tenant's content is read.
 * Memory: w->arena. Errors: NOT_FOUND (user). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/authz.h"

struct stmt;

enum { EXPLAIN_WHO_MAX = 100 };

struct explained_binding {
    struct uuid binding_id;
    struct str role, place, zone;
    struct uuid project_id;
    struct str verdict;             /* binding_verdict_names */
    struct str why;                 /* in words */
};
extern const struct schema explained_binding_schema;

struct explained_user {
    struct uuid user_id;
    struct str name, role;
};
extern const struct schema explained_user_schema;

struct explanation {
    bool allowed;
    struct str permission, rule;
    struct slice bindings;          /* struct explained_binding, in the order judged */
    struct slice missing;           /* struct str: what would have to be otherwise */
    struct slice who_may;           /* struct explained_user, at most EXPLAIN_WHO_MAX */
};
extern const struct schema explanation_schema;

struct explain_question {
    enum permission perm;
    struct authz_context ctx;
    int64_t mfa_us;                 /* when the second factor is taken to have been proved; 0: never */
};

/* One who holds one binding. */
struct explain_holder {
    struct uuid user_id;
    struct str name;
    struct binding binding;
};

/* Pure. What each of a user's bindings (struct binding) says to the question; fills all but who_may. */
void explain_bindings(const struct explain_question *q, struct slice bindings, struct arena *a, struct explanation *ret);
/* Pure. The first EXPLAIN_WHO_MAX different users among holders (struct explain_holder) whose binding applies, behind those that who_may holds already. */
void explain_who(const struct explain_question *q, struct slice holders, struct arena *a, struct explanation *ret);
enum errc explain_user(struct work *w, const struct explain_question *q, struct uuid user_id, struct explanation *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const explain_stmts[];
