/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - a worker machine: who it is (the URI of its certificate), what it has, when it was last heard of.
 *
 * Invariants: one row per identity; `boot_id` names the run of the agent, and a new one voids every lease of the run before in the
 * same transaction; a machine that missed three heartbeats is LOST until it is heard again.
 * Calling order: node_register -> (node_beat -> lease_take | lease_report)*. Operators: node_list, node_get.
 * Memory: w->arena. Errors: NOT_FOUND (zone or node), STALE (another boot: register again), FORBIDDEN (not what the certificate says). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/lease_wire.h"

struct db_ask;
struct stmt;

enum { NODE_HEARTBEAT_MS = 10000, NODE_MISSED_MAX = 3, NODE_SILENCE_MS = NODE_HEARTBEAT_MS * NODE_MISSED_MAX };

struct node {
    struct uuid node_id;
    struct str zone, pool, name, identity, state;
    int64_t slots, cpus, memory_bytes, gpus;
    int64_t cpu_milli;
    struct str gpu_model;
    bool gpu_shared, programs, gangs, gang_programs;
    struct str engines;             /* lease_wire.h */
    struct json devices;
    struct str flavor, backend, version;
    struct uuid boot_id;
    struct timestamp last_seen_at, created_at;
    bool is_due;                    /* node_beat: it was noted */
    struct str reason;              /* from here on: node_get and node_list */
    bool is_spent;
    int64_t silent_ms;
    struct timestamp cert_ends_at;
    bool has_used_slots, has_used_gpus, has_running;    /* in the platform's scope alone */
    int64_t used_slots, used_gpus, running;
};
extern const struct schema node_schema;

/* identity: the verified URI SAN, spiffe://<zone>/worker/<pool>/<name>; the three must equal what is sent. STALE: a later run of the agent is
 * registered and heard of, so that two agents of one name do not take the machine from each other for ever. */
enum errc node_register(struct work *w, const struct node_register *in, struct str identity, struct node *ret, struct err *e) MUST_CHECK;
/* The machine lives: refreshes last_seen_at (at most once a second) and takes LOST back. STALE: not this identity or boot. */
enum errc node_beat(struct work *w, struct uuid node_id, struct uuid boot_id, struct str identity, struct node *ret, struct err *e) MUST_CHECK;
/* The same in two steps, between which other reads may be asked (db_ask). */
struct node_call {
    struct uuid node_id, boot_id;
    struct str identity;
    struct db_ask *ask;             /* node_beat_ask writes it */
};
/* What who is not the registered run is told: STALE. */
enum errc node_not_registered(struct err *e) MUST_CHECK;
void node_beat_ask(struct work *w, struct node_call *c);
enum errc node_beat_told(struct work *w, const struct node_call *c, struct node *ret, struct err *e) MUST_CHECK;
enum errc node_get(struct work *w, struct uuid node_id, struct node *ret, struct err *e) MUST_CHECK;
/* Members that are absent filter nothing. */
struct node_filter {
    struct str state, zone, pool;
    struct str q;                   /* part of the name, as in list_find.h */
    bool by_name;                   /* zone, pool, name upwards; else newest first */
};
enum errc node_list(struct work *w, const struct node_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* A live attempt as the platform's staff see it: whose and how big, no names and no data. */
struct node_work {
    struct uuid attempt_id, job_id, tenant_id;
    struct str kind, zone, state;
    int64_t slots, gpus;
    struct timestamp leased_at, started_at;
};
extern const struct schema node_work_schema;
/* In the platform's scope. position: the last attempt of the page before; nil: from the start. */
enum errc node_work_list(struct work *w, struct uuid node_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* CONFLICT while something runs there. */
enum errc node_set_flavor(struct work *w, struct uuid node_id, struct str flavor, struct node *ret, struct err *e) MUST_CHECK;
/* Scheduler: READY and DRAINING machines not heard of for NODE_MISSED_MAX heartbeats become LOST. */
enum errc node_mark_lost(struct work *w, int64_t *ret_lost, struct err *e) MUST_CHECK;

extern const struct stmt *const node_stmts[];           /* people: list, get */
extern const struct stmt *const node_worker_stmts[];    /* worker routes: register, beat */
extern const struct stmt *const node_scheduler_stmts[];
