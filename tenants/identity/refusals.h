/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.h - refused credentials on their way to the audit log: counted in memory, written now and then, so that whoever guesses
 * cannot fill the log. One event for each (reason, token, address) in a period, with the number of tries; when the table is full the
 * rest is one event of its own. Lost with the process: at most one period's counts.
 * An event stands in the log of the tenant whose token it was, else in the platform's, as a machine's join token always does.
 * Calling order: refusals_new -> refusals_note* (any thread) -> refusals_flush now and then -> refusals_free. */
#pragma once
#include "core/base/work.h"

enum { REFUSALS_MAX = 128 };

struct refusals;

struct refusal {
    const char *reason;             /* a literal: "unknown", "expired", "revoked", "address" … */
    bool is_enrolment;              /* a machine's, by join token */
    struct uuid tenant_id, user_id, token_id;       /* nil: not known */
    struct str address;
};

struct refusals *refusals_new(void);
void refusals_free(struct refusals *r);
void refusals_note(struct refusals *r, const struct refusal *what);
/* Writes and forgets all counts; what could not be written is counted again the next time. */
enum errc refusals_flush(struct refusals *r, const struct app *app, struct arena *a, struct err *e) MUST_CHECK;
