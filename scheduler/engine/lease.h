/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h - the right of one worker to run one attempt of one job.
 *
 * A lease is granted by plan_apply (attempt LEASED, job ADMITTED), whose commit hands it out: its machine only reads it
 * (lease_offer), and the first report writes that it was taken, together with what else it says. Reports renew it and end it, or the
 * reaper does.
 * Invariants: at most one live attempt per job; the fence of a job only grows; every write names attempt, node and fence and demands
 * `live`; each transition of a job has one step (view job_step) and one audit event in its transaction; what job_submit booked (jobs) is given
 * back exactly once, by the transaction that ends the job. Slots and GPUs are held by being live.
 * Calling order: grant -> lease_offer | lease_take -> report start -> report renew* -> report of an end | expiry.
 * Memory: w->arena. Errors: STALE (lease_check). A stale item of a report is a verdict, not an error. Not offered: moving a lease. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/lease_wire.h"
#include "scheduler/jobs/job_state.h"

struct db_ask;
struct stmt;
struct node;

/* Up to max attempts that wait for this node, are greater than `after` and fit into free_slots. Nothing is written, so an answer
 * that is lost is given again to who asks with the same `after`. Those that lost a quarter of their lease waiting are taken as by
 * lease_take, whatever `after` says: they were lost on the way, or the clock that numbers attempts was turned back. */
/* *ret_left: more may wait for the node than was given, for there were max, or some did not fit into free_slots. */
enum errc lease_offer(struct work *w, const struct node *node, struct uuid after, int64_t free_slots, int64_t max,
                      int64_t lease_ms, struct slice *ret, bool *ret_left, struct err *e) MUST_CHECK;
/* The same in two steps, between which other reads may be asked (db_ask). Asked for are those greater than `after` alone; with
 * is_all, where leases wait late or parts of attempts on several machines may (lease_call.h), all are asked for once more. */
struct db_ask *lease_offer_ask(struct work *w, struct uuid node_id, struct uuid after, int64_t max);
struct lease_offer {
    struct uuid after;
    int64_t free_slots, max, lease_ms;
    struct db_ask *ask;                 /* NULL with is_all */
    bool is_all;
};
enum errc lease_offer_told(struct work *w, const struct node *node, const struct lease_offer *o, struct slice *ret,
                           bool *ret_left, struct err *e) MUST_CHECK;
/* Less than this of its life left: it is renewed before it is given, so that the machine, which gives up after two thirds of a
 * lease without an answer, gives up before its lease has run out. */
int64_t lease_late_ms(int64_t lease_ms);
/* Conditions: a lease ends within so many ms; attempt a has something to hear that is not among those told. */
#define LEASE_IS_LATE(a, ms) a ".lease_until < clock_timestamp() + " ms " * interval '1 millisecond'"
#define LEASE_IS_TOLD(told) "a.live AND (a.cancel_asked OR a.evict_until IS NOT NULL) AND a.attempt_id <> ALL (" told ")"
/* Up to max attempts that wait for this node and fit into free_slots: ADMITTED -> STARTING. */
enum errc lease_take(struct work *w, const struct node *node, int64_t free_slots, int64_t max, int64_t lease_ms, struct slice *ret,
                     struct err *e) MUST_CHECK;
/* Attempts of the node greater than `after` that have waited LEASE_WAIT_MS for a slot of it: back to the queue. Their machine
 * does not have them, and is given none of them by who calls this. lease_offer does so where something did not fit. */
enum { LEASE_WAIT_MS = 2000 };
enum errc lease_back(struct work *w, const struct node *node, struct uuid after, struct err *e) MUST_CHECK;
/* Attempts that the node holds and that shall end, but those of `told` (struct uuid); ret: struct lease_notice. In two steps,
 * between which other reads may be asked (db_ask). */
struct db_ask *lease_notices_ask(struct work *w, struct uuid node_id, struct slice told);
enum errc lease_notices_told(struct work *w, struct db_ask *ask, struct slice *ret, struct err *e) MUST_CHECK;
/* What a report names is locked and read: asked, for lease_report to be told, so that it waits together with what is asked
 * beside it. */
struct lease_hold;
struct lease_hold *lease_hold_ask(struct work *w, struct uuid node_id, const struct lease_item *items, size_t n);
/* Items in their order; ret: one struct lease_verdict per item. hold: of the same items; NULL: not asked yet. */
enum errc lease_report(struct work *w, const struct node *node, struct lease_hold *hold, const struct lease_item *items,
                       size_t n, int64_t lease_ms, struct slice *ret, struct err *e) MUST_CHECK;

/* A lease as other worker routes need it (keys, downloads, uploads). */
struct lease {
    struct uuid tenant_id, attempt_id, job_id, node_id;
    int64_t fence, rank, nodes;         /* rank: which of so many machines this is; 0 of 1: the only one */
    struct str job_state, kind, zone, data_class;   /* zone: of the node */
    struct timestamp lease_until;
};
extern const struct schema lease_schema;
/* STALE unless the attempt is live, of this fence, and held by the node of this identity. */
enum errc lease_check(struct work *w, struct uuid tenant_id, struct uuid attempt_id, int64_t fence, struct str identity,
                      struct lease *ret, struct err *e) MUST_CHECK;
/* The last lease of the job that the machine of this identity has, or had: what a lease of that job would be judged by.
 * The machine may work. NOT_FOUND: there is none. */
enum errc lease_had(struct work *w, struct uuid tenant_id, struct uuid job_id, struct str identity, struct lease *ret,
                    struct err *e) MUST_CHECK;

extern const struct stmt *const lease_stmts[];          /* worker routes */
extern const struct stmt *const lease_member_stmts[];   /* worker routes */
extern const struct stmt *const lease_back_stmts[];     /* worker routes */
extern const struct stmt *const lease_idle_stmts[];     /* worker routes */
extern const struct stmt *const lease_end_stmts[];      /* ending attempts: worker routes and scheduler */
