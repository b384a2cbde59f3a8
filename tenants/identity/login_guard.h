/* SPDX-License-Identifier: Apache-2.0 */
/* login_guard.h - how often something may be guessed at: a try is counted before it is judged, and success wipes the count.
 *
 * Counted is the digest of what was tried (kind, tenant or user, name), whether such an account exists or not: the answer tells nothing.
 * From auth.lock_after tries in a row on, each makes the next ones wait: auth.lock_first_ms, doubled by every further try, at most
 * auth.lock_max_ms. While it waits nothing is judged, right or wrong. A count is forgotten after a day of silence.
 * Calling order: guard_try in a transaction of its own, committed before the answer is known; guard_clear with the success.
 * Errors: RATE, and how long to wait. */
#pragma once
#include "core/base/work.h"

struct stmt;

enum errc guard_try(struct work *w, const char *kind, struct str a, struct str b, int64_t *ret_wait_s, struct err *e) MUST_CHECK;
void guard_clear(struct work *w, const char *kind, struct str a, struct str b);        /* queued */
/* Old counts and dead device grants; housekeeping. */
void guard_sweep(struct work *w);                                                      /* queued */

extern const struct stmt *const login_guard_stmts[];
