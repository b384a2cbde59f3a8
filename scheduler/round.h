/* SPDX-License-Identifier: Apache-2.0 */
/* round.h - what is left in the database for those who look from outside: when planning last went well, and how the platform is.
 *
 * round_note is the leader's, in the system's scope; system_facts_read is for the platform's staff, in the platform's scope.
 * Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

MUST_CHECK enum errc round_note(struct work *w, int64_t plan_us, struct err *e);

/* Numbers that nobody could know are absent (has_… false). */
struct system_facts {
    struct str server_version, round_version;
    bool in_recovery, has_replay_age_ms, has_round_age_ms, has_round_us, has_unnumbered_age_ms, has_head_age_ms;
    int64_t standbys, replay_age_ms, round_age_ms, round_us, unnumbered, unnumbered_age_ms, unsigned_logs, head_age_ms, waiting, running,
        nodes_ready, nodes_draining, nodes_quarantined, nodes_lost, slots, used_slots;
};
MUST_CHECK enum errc system_facts_read(struct work *w, struct system_facts *ret, struct err *e);

extern const struct stmt *const round_scheduler_stmts[];
extern const struct stmt *const system_facts_stmts[];
