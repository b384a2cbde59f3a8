/* SPDX-License-Identifier: Apache-2.0 */
/* queue_usage.h - what declared queues use, summed up by the leader every QUEUE_USAGE_S seconds: slot and GPU seconds of what
 * their attempts hold, halved every seven days (after Kueue's admission fairness). Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"

struct stmt;

enum { QUEUE_USAGE_S = 60, QUEUE_HALF_LIFE_S = 7 * 86400 };

enum errc queue_usage_pass(struct work *w, struct err *e) MUST_CHECK;

extern const struct stmt *const queue_usage_stmts[];
