/* SPDX-License-Identifier: Apache-2.0 */
/* sequencer.h - gives committed events their numbers and their place in chain and tree, and signs the heads of the logs.
 *
 * An event is taken once its transaction id lies below pg_snapshot_xmin: then nothing that could come before it is still open,
 * so (xid, ord) is a total order that never grows behind the cursor and no event is lost to a slow transaction. That holds
 * within one cluster: a restore into another, or a standby that takes over, is seen, told in every log (audit.epoch) and gone
 * on with (ADR 0026). Invariants: tseq of a tenant is dense from 1; the cursor, the numbers and the states move in one
 * transaction; the cursor row is locked, so two sequencers cannot interleave. Calling order: sequencer_new -> { begin SYSTEM
 * scope as falaj_sequencer -> sequencer_tick -> commit }* and, each minute or on demand, { begin -> sequencer_sign_heads ->
 * commit }* -> sequencer_free. Both act in w->tx and leave commit to the edge.
 * Memory: results of a tick live in w->arena (about 1 KiB per event). Errors: those of the transaction, INTERNAL on bad state. */
#pragma once
#include "audit/head.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct work;
struct stmt;
struct sequencer;

/* Sign n bytes with the audit key of zone; main wires keyd_sign. With p NULL only key_id is asked for (it stands in the body). */
typedef enum errc (*audit_sign_fn)(void *ctx, struct str zone, const void *p, size_t n, uint8_t sig[AUDIT_SIG],
                                   char key_id[AUDIT_KEY_ID], struct err *e);

struct sequencer *sequencer_new(struct str zone, audit_sign_fn sign, void *sign_ctx);
void sequencer_free(struct sequencer *s);
void sequencer_freep(struct sequencer **s);

/* Sequence at most max_events (<= 100000); *done says how many. Equal to max_events: there is probably more. */
MUST_CHECK enum errc sequencer_tick(struct work *w, struct sequencer *s, size_t max_events, size_t *done, struct err *e);
/* Sign a head for every log that grew since its last head, at most `limit` logs, then the zone's. *signed_heads: how many. */
MUST_CHECK enum errc sequencer_sign_heads(struct work *w, struct sequencer *s, size_t limit, size_t *signed_heads,
                                          struct err *e);

/* Sum up full pages of logs for searches, at most 64 in a call; *more: there are probably more. Acts in w->tx like a tick. */
MUST_CHECK enum errc sequencer_pages(struct work *w, bool *more, struct err *e);

/* The lists belong to the pool of falaj_sequencer. */
extern const struct stmt *const sequencer_stmts[];
extern const struct stmt *const sequencer_head_stmts[];
extern const struct stmt *const sequencer_page_stmts[];
