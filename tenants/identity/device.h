/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the device grant (RFC 8628): a program without a browser is let in by a person who has one.
 *
 *     PENDING -> APPROVED -> USED | DENIED; after ten minutes nothing
 *
 * The device code is 178 random bits; the user code is eight consonants (34 bits), which nobody can guess at within ten minutes because
 * tries are counted (login_guard.h). Digests of both are kept. A device that asks more often than every interval_s is told slow_down and
 * has to wait 5 s longer (RFC 8628 3.5). Who is let in gets a token of the user who let it in, once.
 * The table has no tenant before that, so these run in any scope. Memory: w->arena. Errors: NOT_FOUND (device_look, device_decide). */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { DEVICE_TTL_S = 600, DEVICE_INTERVAL_S = 5, USER_CODE_LETTERS = 8, USER_CODE_TEXT = 10 };

struct device {
    struct str client, ip, state;
    struct uuid of_tenant, of_user;
    bool is_too_fast, is_expired;
};

/* Pure: eight letters of ours in either case, with one dash or spaces between; ret is their plain form, NUL-ended. */
bool user_code_read(struct str text, char ret[USER_CODE_LETTERS + 1]);

/* device_code needs TOKEN_TEXT bytes; user_code is shown as BCDF-GHJK. */
enum errc device_start(struct work *w, struct str client, char *device_code, char user_code[USER_CODE_TEXT], struct err *e) MUST_CHECK;
enum errc device_look(struct work *w, struct str user_code, struct device *ret, struct err *e) MUST_CHECK;
/* For w->principal. */
enum errc device_decide(struct work *w, struct str user_code, bool approve, struct device *ret, struct err *e) MUST_CHECK;
/* The tenant of a device code; nil: not known or not approved. */
enum errc device_tenant(struct work *w, struct str device_code, struct uuid *ret, struct err *e) MUST_CHECK;
/* Counts the poll; state is the one before it: APPROVED once only. found false: no such code. */
enum errc device_poll(struct work *w, struct str device_code, struct device *ret, bool *ret_found, struct err *e) MUST_CHECK;

extern const struct stmt *const device_stmts[];
