/* SPDX-License-Identifier: Apache-2.0 */
/* leader.h - one scheduler leads, any number stand by: a session advisory lock in PostgreSQL.
 *
 * The lock dies with its connection, so a leader whose connection broke stops leading; what it may still have had in its hands is
 * made harmless by plan_apply's checks. leader_check is asked before each round. A leader of which nothing was heard for
 * LEADER_SILENCE_MS, because its machine is frozen or cut off, leads no more: PostgreSQL ends its session. A round may take
 * longer: a thread of the leader's speaks meanwhile. One thread at a time. */
#pragma once
#include <stdbool.h>
#include "core/base/clock.h"

struct leader;

enum {
    LEADER_SILENCE_MS = 2500,
    LEADER_LOOK_US = 250000,            /* who stands by asks again so often */
};

struct leader *leader_new(const char *conninfo, const struct clock *clock);
void leader_free(struct leader *l);
/* True while leading; tries again (at most four times a second) when not. Who begins to lead ends the sessions of this role that
 * hold the planners' lock. */
bool leader_check(struct leader *l);
/* The database answered its last question, leading or standing by. From any thread. */
bool leader_is_connected(const struct leader *l);
/* How often it began to lead. Another number than before, though leader_check never said false: the lock was lost and taken
 * again in between, perhaps of another server that lacks what the last one had. */
int64_t leader_term(const struct leader *l);
