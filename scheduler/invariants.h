/* SPDX-License-Identifier: Apache-2.0 */
/* invariants.h - the promises of the queue (J1 to J7 of docs), counted by the database itself: a violation is a bug.
 *
 * Runs a definer function that looks across tenants and gives back counts only. Memory: w->arena. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct invariant {
    struct str name, doc;
    int64_t violations;
};
extern const struct schema invariant_schema;
enum errc invariants_check(struct work *w, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const invariants_stmts[];
