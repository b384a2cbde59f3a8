/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h - the first way in: a platform administrator's token, made by whoever may start falaj-api on its machine.
 *
 * Makes the user "operator" of the platform with the role platform-admin when there is none, and a fresh token for it (30 days),
 * audited in the platform's log. The token is returned once. Where a falaj-keyd is configured it gets a password as well, for the
 * console: a new one each time, "" where there is none. */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"

struct stmt;
enum errc bootstrap_admin(const struct app *app, struct arena *arena, char ret_token[TOKEN_TEXT], char ret_password[21],
                          struct err *e) MUST_CHECK;
extern const struct stmt *const bootstrap_stmts[];
