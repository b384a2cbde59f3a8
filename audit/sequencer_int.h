/* SPDX-License-Identifier: Apache-2.0 */
/* sequencer_int.h - what the two halves of the sequencer share: the state of a log as it is stored, and the lock. */
#pragma once
#include "audit/sequencer.h"
#include "core/base/work.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

/* The log of tree heads of the whole zone has this id instead of a tenant's. */
#define ZONE_LOG ((struct uuid){ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } })

struct sequencer {
    char zone[AUDIT_ZONE_MAX + 1];
    audit_sign_fn sign;
    void *sign_ctx;
};

/* A row of audit_log_state. */
struct log_state_row {
    struct uuid tenant_id;
    int64_t size;
    struct bytes chain, frontier;
};

/* The same, in use. */
struct log_state {
    struct uuid tenant_id;
    struct merkle_frontier tree;
    struct merkle_hash chain;
};

enum { PACKED_MAX = MERKLE_PROOF_MAX * MERKLE_HASH };

/* What may be numbered now: the events above since_ord, behind (xid, ord). */
struct sequencer_place {
    struct str xid;
    int64_t ord, since_ord;
    bool is_open, has_backlog;
};

/* Take the one lock of sequencing, and open an epoch by one step where the database was moved. */
enum errc sequencer_lock(struct db_tx *tx, struct sequencer_place *ret, struct err *e);
/* Fill the states of n logs (tenant_id given); logs without a row begin anew. */
enum errc sequencer_load(struct work *w, struct log_state *states, size_t n, struct err *e);
void sequencer_store(struct work *w, const struct log_state *states, size_t n);
enum errc log_state_of(const struct log_state_row *row, struct log_state *ret, struct err *e);
