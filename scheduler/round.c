/* SPDX-License-Identifier: Apache-2.0 */
/* round.c - one row of the leader's, and one function that counts. */
#include "scheduler/round.h"
#include "core/db/tx.h"

static const struct stmt note = { .name = "scheduler_round_note", .params = "is", .card = CARD_NONE, .sql =
    "INSERT INTO scheduler_round (id, at, plan_us, version) VALUES (1, clock_timestamp(), $1, $2)\n"
    "    ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at, plan_us = EXCLUDED.plan_us, version = EXCLUDED.version" };
const struct stmt *const round_scheduler_stmts[] = { &note, NULL };

SCHEMA_OF(system_facts, "How the platform is, in numbers",
    FIELD(system_facts, server_version, 0, .doc = "Of PostgreSQL"), FIELD(system_facts, in_recovery, 0, .doc = "This server is a standby"),
    FIELD(system_facts, standbys, 0, .doc = "Connected to this server"), FIELD_OPT(system_facts, replay_age_ms, 0, .doc = "Of a standby: behind by"),
    FIELD_OPT(system_facts, round_age_ms, 0, .doc = "Since planning last went well"), FIELD_OPT(system_facts, round_us, 0, .doc = "How long it took"),
    FIELD(system_facts, round_version, 0, .doc = "Of the scheduler"), FIELD(system_facts, unnumbered, 0, .doc = "Audit events without a number"),
    FIELD_OPT(system_facts, unnumbered_age_ms, 0, .doc = "Age of the oldest"), FIELD(system_facts, unsigned_logs, 0, .doc = "Logs longer than their newest head"),
    FIELD_OPT(system_facts, head_age_ms, 0, .doc = "Since a head was signed"), FIELD(system_facts, waiting, 0, .doc = "Jobs"),
    FIELD(system_facts, running, 0, .doc = "Attempts"), FIELD(system_facts, nodes_ready, 0, .doc = "Machines"),
    FIELD(system_facts, nodes_draining, 0, .doc = "Machines"), FIELD(system_facts, nodes_quarantined, 0, .doc = "Machines"),
    FIELD(system_facts, nodes_lost, 0, .doc = "Machines"), FIELD(system_facts, slots, 0, .doc = "Of ready machines"),
    FIELD(system_facts, used_slots, 0, .doc = "Leased"));
static const struct stmt facts = { .name = "system_facts", .params = "", .row = &system_facts_schema, .card = CARD_ONE, .sql =
    "SELECT server_version, in_recovery, standbys, replay_age_ms, round_age_ms, round_us, round_version, unnumbered, unnumbered_age_ms,\n"
    "       unsigned_logs, head_age_ms, waiting, running, nodes_ready, nodes_draining, nodes_quarantined, nodes_lost, slots, used_slots\n"
    "  FROM system_facts()" };
const struct stmt *const system_facts_stmts[] = { &facts, NULL };

enum errc round_note(struct work *w, int64_t plan_us, struct err *e)
{
    return db_exec(w->tx, &note, ARGS(A_I64(plan_us), A_STR(STR(FALAJ_VERSION))), NULL, e);
}

enum errc system_facts_read(struct work *w, struct system_facts *ret, struct err *e)
{
    return db_one(w->tx, &facts, NO_ARGS, ret, e);
}
