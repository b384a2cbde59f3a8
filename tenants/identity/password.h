/* SPDX-License-Identifier: Apache-2.0 */
/* password.h - passwords of local accounts: what is acceptable, and where they stand.
 *
 * Acceptable: 12 to 1024 bytes as they were sent, not one of the commonest, not one character repeated, not the person's name. There are
 * no rules of composition and no dates of expiry (NIST SP 800-63B 5.1.1.2).
 * login_find answers for every (tenant, name): found false where there is no account with a password.
 * Memory: w->arena. Errors: INVALID at `field`, and what falaj-keyd and the database say. */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { PASSWORD_MIN = 12, PASSWORD_MAX = 1024 };

struct login_account {
    struct uuid tenant_id, user_id;
    struct str tenant_state, user_state, phc, zone;
    bool has_totp;
};
/* In the platform's scope. */
enum errc login_find(struct work *w, struct str tenant, struct str name, struct login_account *ret, bool *ret_found, struct err *e) MUST_CHECK;
/* Of a user of w->tenant_id. */
enum errc password_get(struct work *w, struct uuid user_id, struct login_account *ret, bool *ret_found, struct err *e) MUST_CHECK;
/* Pure. name: STR_NULL or the person's. */
enum errc password_is_acceptable(struct str password, struct str name, const char *field, struct err *e) MUST_CHECK;
enum errc password_put(struct work *w, struct uuid user_id, struct str phc, struct str zone, struct err *e) MUST_CHECK;
/* A generated one: 20 characters without look-alikes, about 117 bits. ret needs 21 bytes. */
enum errc password_make(char ret[21], struct err *e) MUST_CHECK;

extern const struct stmt *const password_stmts[];
