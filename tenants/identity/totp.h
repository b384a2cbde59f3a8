/* SPDX-License-Identifier: Apache-2.0 */
/* totp.h - the second factor of a person: an authenticator app, and ten recovery codes for the day the telephone is lost.
 *
 * The secret is sealed under a key of the tenant derived from the zone's sign-in secret and bound to tenant and user; it is shown once,
 * when it is made. It counts only after a first code has been confirmed. A time step is taken once, whatever happens at the same moment;
 * a recovery code too. Recovery codes are 80 random bits, so a digest is enough for them.
 * Calling order: totp_begin -> totp_confirm -> totp_prove*. Memory: w->arena; secrets on the stack are wiped.
 * Errors: CONFLICT (is set up already, or nothing is begun), UNAUTHENTICATED (totp_confirm: the code is wrong), NOT_FOUND (totp_remove). */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { RECOVERY_CODES = 10, RECOVERY_TEXT = 20 };

/* secret_text: base32; uri: otpauth://, for a QR code. */
enum errc totp_begin(struct work *w, struct uuid user_id, struct str user_name, struct str tenant_name, struct str *ret_secret, struct str *ret_uri,
                     struct err *e) MUST_CHECK;
enum errc totp_confirm(struct work *w, struct uuid user_id, struct str code, struct str ret_codes[RECOVERY_CODES], struct err *e) MUST_CHECK;
/* A code of the app or a recovery code. *ret false: wrong, used, or no second factor. */
enum errc totp_prove(struct work *w, struct uuid user_id, struct str code, bool *ret, struct err *e) MUST_CHECK;
enum errc totp_is_set(struct work *w, struct uuid user_id, bool *ret, struct err *e) MUST_CHECK;
enum errc totp_remove(struct work *w, struct uuid user_id, struct err *e) MUST_CHECK;

extern const struct stmt *const totp_stmts[];
