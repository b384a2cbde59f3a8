/* SPDX-License-Identifier: Apache-2.0 */
/* lease_call.h - a machine's call for work, asked of the database as one row: what the register says of its certificate,
 * whether this is the registered run of its agent, and whether there is anything besides new leases that it must hear.
 *
 * Nearly every call has nothing but leases to hear of. What the row says is there is then read by the statement that has it
 * (lease_notices_ask, inside_notices_ask, lease_offer), in one more wait; what it says is not there is not asked for.
 * A row that was committed after the call looked is heard of by the next one: its wake-up comes after that commit.
 * Calling order: lease_call_ask -> (other reads are asked) -> lease_call_told -> node_gate_judge -> lease_call_admit, before
 * anything is written. Memory: the transaction's arena. Errors: STALE (lease_call_admit). */
#pragma once
#include "core/base/work.h"
#include "scheduler/engine/enrol.h"

struct db_ask;
struct stmt;

struct lease_call {
    struct uuid node_id, boot_id, after;        /* after: the greatest attempt that the machine has */
    struct str identity;
    struct str fingerprint;                     /* of its certificate, 32 bytes */
    struct slice told;                          /* struct uuid: attempts whose notices it has heard */
    int64_t lease_ms;
};

struct lease_call_facts {
    struct gate_facts gate;
    bool is_run;                                /* this run of its agent is registered */
    bool is_due;                                /* that it is heard of is to be noted */
    bool is_member;                             /* it holds parts of attempts on several machines */
    bool has_late;                              /* a lease that it should have by now waits for it still */
    bool has_notices, has_sessions;
};

struct db_ask *lease_call_ask(struct work *w, const struct lease_call *c);
enum errc lease_call_told(struct work *w, struct db_ask *ask, struct lease_call_facts *ret, struct err *e) MUST_CHECK;
/* STALE: this run of the agent is not registered. What is to be noted of it is written. */
enum errc lease_call_admit(struct work *w, const struct lease_call *c, const struct lease_call_facts *f,
                           struct err *e) MUST_CHECK;

extern const struct stmt *const lease_call_stmts[];     /* worker routes */
