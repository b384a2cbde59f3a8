/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h - the first two people of a platform, made by whoever may start falaj-api on its machine.
 *
 * Makes the user "operator" of the platform with the role platform-admin when there is none, and a fresh token for it (30 days),
 * audited in the platform's log. The token is returned once. Where a falaj-keyd is configured it gets a password as well, for the
 * console: a new one each time, "" where there is none.
 * With a name: a compliance officer of that name instead, once, while the platform has no active one; later ones are appointed by
 * two people. Both come from the installation, so each is a second person beside the other (tenants/access/second_person.h): that
 * two people stand at the machine, and who they are, is what the installer vouches for and no program can check. Whoever may
 * start falaj-api holds its database role and stands outside of four eyes; the events (rule "bootstrap") show what was made.
 * Errors: CONFLICT (an officer is there; the name is taken by somebody with another role). */
#pragma once
#include "core/base/work.h"
#include "core/crypto/token.h"

struct stmt;
/* officer: name of the compliance officer; NULL: the operator. */
enum errc bootstrap_person(const struct app *app, struct arena *arena, const char *officer, char ret_token[TOKEN_TEXT],
                           char ret_password[21], struct err *e) MUST_CHECK;
/* At the start: writes into the platform's log that any two accounts count as two people here (approval.separation = accounts).
 * */
enum errc bootstrap_note_separation(const struct app *app, struct err *e) MUST_CHECK;
extern const struct stmt *const bootstrap_stmts[];
