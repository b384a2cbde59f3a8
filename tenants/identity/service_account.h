/* SPDX-License-Identifier: Apache-2.0 */
/* service_account.h - users that are programs, and whose they are. Their roles are within those of who makes them (binding.h); the
 * maker, and who manages tokens, makes their tokens. Errors: those of user.h; NOT_FOUND for another's. */
#pragma once
#include "core/base/work.h"
#include "tenants/identity/user.h"

enum errc service_account_create(struct work *w, struct str name, struct slice roles, struct app_user *ret, struct err *e) MUST_CHECK;
/* The caller made it and may use token:service. False for what is not there. */
bool service_account_is_own(struct work *w, struct uuid user_id);
/* Own ones; with user:manage all. */
enum errc service_account_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
enum errc service_account_end(struct work *w, struct uuid user_id, struct err *e) MUST_CHECK;

extern const struct stmt *const service_account_stmts[];
