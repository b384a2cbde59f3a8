/* SPDX-License-Identifier: Apache-2.0 */
/* secret_use.h - the jobs that name a secret (registry/catalog/secret.h), ended ones among them.
 * Memory: w->arena. Errors: NOT_FOUND. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

/* A job, once, however many places it has the secret in. */
struct secret_use {
    struct uuid job_id;
    struct str job_name, state, target;     /* target: "env:TOKEN, file:key.pem" */
    int64_t value_version;
    struct uuid submitted_by;
    struct timestamp submitted_at;
};
extern const struct schema secret_use_schema;

/* Newest first, behind `position`; nil: from the start. */
enum errc secret_uses(struct work *w, struct uuid secret_id, struct uuid position, int64_t limit, struct slice *ret,
                      struct err *e) MUST_CHECK;

extern const struct stmt *const secret_use_stmts[];
