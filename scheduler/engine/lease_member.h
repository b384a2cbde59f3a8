/* SPDX-License-Identifier: Apache-2.0 */
/* lease_member.h - the ranks behind the first of attempts on several machines: each has a lease of its own under the attempt's
 * fence.
 *
 * Rank 0 is the attempt and goes through lease.h alone. A rank behind it is taken, started, renewed and ended by its own
 * machine; its good end changes nothing but its row, and what goes wrong with it ends the attempt for all. The machines meet
 * here: each says where it listens, and hears of the others once all have said it. Memory: the arena of the transaction. */
#pragma once
#include "scheduler/engine/lease.h"

struct db_tx;
struct node;

/* lease_check for a rank behind the first; ret->node_id is its machine. */
enum errc lease_member_check(struct db_tx *tx, struct uuid tenant, struct uuid attempt, int64_t fence, struct str identity,
                             struct lease *ret, bool *found, struct err *e) MUST_CHECK;
/* Of a lease that lease_check has proven; any rank. UNPROCESSABLE: it is on one machine alone. */
enum errc lease_meet(struct work *w, const struct lease *l, struct str endpoint, struct lease_gang_out *ret,
                     struct err *e) MUST_CHECK;
