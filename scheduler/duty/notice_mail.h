/* SPDX-License-Identifier: Apache-2.0 */
/* notice_mail.h - sends one claimed mail through smtp.url, and says what becomes of a delivery after a try.
 *
 * No mail server, no confirmed address and what the server refuses for good are DEAD at once; all else is tried again.
 * Blocks for MAIL_TIMEOUT_MS at most, and about a second once *is_over (NULL: never): the mail comes again. Memory: the arena. */
#pragma once
#include <stdatomic.h>
#include "core/base/work.h"
#include "tenants/notice/delivery.h"

struct notice_result notice_mail(const struct app *app, struct arena *a, const struct notice_claimed *d,
    const atomic_bool *is_over);
/* A try that failed: WAITING with its pause, changed by a fifth at random, or DEAD after notify.tries; no reason yet. */
struct notice_result notice_result_of(const struct app *app, struct uuid tenant, struct uuid delivery, struct uuid rule,
    int64_t tries);
/* Writes results down in w->tx, with an audit event of each that is DEAD. */
enum errc notice_write(struct work *w, const struct notice_result *r, size_t n, struct err *e) MUST_CHECK;
/* Pure. The pause after so many tries: pause_ms times 1, 60, 360, 1440, 3600, 7200, 7200, …, a week at most. */
int64_t notice_pause_ms(int64_t tries, int64_t pause_ms);
