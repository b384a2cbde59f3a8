/* SPDX-License-Identifier: Apache-2.0 */
/* lent.c - the statement of the rule. Rows are locked in the order of their ids, as of two that drain neither waits for the
 * other. One that is LOST meanwhile is drained when it is heard again. */
#include "scheduler/engines/lent.h"
#include "core/db/arg.h"
#include "core/db/tx.h"

static const struct stmt drain = { .name = "lent_drain", .params = "U", .card = CARD_NONE, .sql =
    "UPDATE node SET state = CASE node.state WHEN 'READY' THEN 'DRAINING' ELSE node.state END, " LENT_DRAINED "\n"
    "  FROM (SELECT node_id FROM node WHERE node_id = ANY ($1) AND state IN ('READY', 'LOST')\n"
    "         ORDER BY node_id FOR NO KEY UPDATE) x WHERE node.node_id = x.node_id" };
const struct stmt *const lent_stmts[] = { &drain, NULL };

void lent_drain(struct db_tx *tx, const struct uuid *nodes, size_t n)
{
    if (n)
        db_queue(tx, &drain, ARGS(A_UUIDS(nodes, n)), false);
}
