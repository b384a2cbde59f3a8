/* SPDX-License-Identifier: Apache-2.0 */
/* last_change.h - the newest successful event about an object, for a caller who came too late with a change of it.
 *
 * What has a number is found by pages (bloom.h), in the newest 32 that may have it. Events without a number yet, usually the
 * change that won, are searched among the tenant's newest ones, so that no older change is named instead.
 * Memory: w->arena. Errors: those of the transaction, which the caller opened in the scope of the tenant. */
#pragma once
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/base/clock.h"

struct work;
struct stmt;

struct audit_last_change {
    struct timestamp at;
    struct str actor;           /* kind of who did it */
    struct uuid actor_id;
};

/* family is what the action begins with, up to a dot: "user.". */
MUST_CHECK enum errc audit_last_change(struct work *w, struct uuid tenant, struct str resource_id, struct str family,
                                       struct audit_last_change *ret, bool *found, struct err *e);

extern const struct stmt *const audit_last_change_stmts[];
