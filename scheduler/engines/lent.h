/* SPDX-License-Identifier: Apache-2.0 */
/* lent.h - a machine that an engine lends is here for one lease: which machines those are, and that they get no second.
 *
 * Its worker ends after that lease (worker.leases_max) and takes no other, so another one would expire without a start and cost
 * its job a try. So the transaction that gives the lease drains the machine (lent_drain), and a machine stays drained when it
 * falls silent and is heard again (node.is_spent); a new run of its name makes it ready once more
 * (engine_run_begin). The planner sees the
 * same rule as snap_node.once: one lease takes all of the machine's slots, and none is given in advance.
 * The rule is read from the database with the machine (NODE_LENT); engines that come and go raise the revision that a mirror
 * is read with. Errors: those of the transaction, which must be the scheduler's. */
#pragma once
#include "core/base/id.h"

struct db_tx;
struct stmt;

/* Of a row `n` of node: its name is one that an engine of its zone and pool gives, <engine>-<place>. */
#define NODE_LENT(n)                                                                                                     \
    "EXISTS (SELECT FROM engine lends WHERE lends.zone = " n ".zone AND lends.pool = " n ".pool\n"                        \
    "          AND left(" n ".name, length(lends.name) + 1) = lends.name || '-'\n"                                         \
    "          AND substr(" n ".name, length(lends.name) + 2) ~ '^[0-9]+$')"
/* Of a row n of node: it is no engine's. */
#define NODE_STAYS "NOT " NODE_LENT("n")
/* What a machine becomes that has had its lease: the mark is a column, the words are for people. */
#define LENT_WORDS "lent for one lease"
#define LENT_DRAINED "is_drained = true, is_spent = true, reason = '" LENT_WORDS "'"

/* Queued: the machines, which must be lent ones, take no more leases. n may be 0. */
void lent_drain(struct db_tx *tx, const struct uuid *nodes, size_t n);

extern const struct stmt *const lent_stmts[];
