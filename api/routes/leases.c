/* SPDX-License-Identifier: Apache-2.0 */
/* leases.c - what workers call: come up, take leases (long poll), report. Who calls is what its certificate says. */
#include "api/pipeline.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "scheduler/engine/lease.h"
#include "scheduler/engine/lease_call.h"
#include "scheduler/engine/node.h"
#include "scheduler/jobs/inside.h"

/* The two calls of which a machine at work makes many ask the register (R_GATE_OWN), the machine's row and what they are about at
 * once, and are told in that order: one wait. Who may not call is refused before anything is written. */
enum { WAIT_MAX_MS = 10000 };       /* a machine that only waits is heard of at least so often */

static enum errc register_node(struct work *w, const void *in, void *out, struct err *e)
{
    struct node n;
    TRY(node_register(w, in, w->principal->name, &n, e));
    *(struct node_registered *)out = (struct node_registered){ n.node_id, NODE_HEARTBEAT_MS, w->app->config->scheduler_lease_ms };
    return ERR_OK;
}

/* The greatest attempt that the machine has, once it has this answer: they come in their order. */
static struct uuid newest_of(const struct lease_next_out *o, struct uuid after)
{
    const struct lease_grant *g = o->leases.items;
    return o->leases.n ? g[o->leases.n - 1].attempt_id : after;
}

/* What the first wait said is there besides new leases is asked for in one more. */
static enum errc hear(struct work *w, const struct lease_next_in *i, const struct lease_call_facts *f, struct lease_offer *o,
                      const struct node *n, struct lease_next_out *ret, bool *ret_left, struct err *e)
{
    struct db_ask *notices = NULL, *sessions = NULL;
    if (f->has_notices || f->is_member)
        notices = lease_notices_ask(w, i->node_id, i->told);
    if (f->has_sessions)
        sessions = inside_notices_ask(w, i->node_id);
    o->is_all = f->has_late || f->is_member;
    if (!uuid_is_nil(i->after))
        TRY(lease_offer_told(w, n, o, &ret->leases, ret_left, e));
    else                                                    /* an agent of an earlier release */
        TRY(lease_take(w, n, i->free_slots, i->max, o->lease_ms, &ret->leases, e));
    if (notices)
        TRY(lease_notices_told(w, notices, &ret->notices, e));
    return sessions ? inside_notices_told(w, sessions, &ret->sessions, e) : ERR_OK;
}

static enum errc next(struct work *w, const void *in, void *out, struct err *e)
{
    const struct lease_next_in *i = in;
    struct lease_next_out *ret = out;
    const int64_t wait_ms = i->wait_ms < WAIT_MAX_MS ? i->wait_ms : WAIT_MAX_MS, lease_ms = w->app->config->scheduler_lease_ms;
    const struct node n = { .node_id = i->node_id };
    struct lease_call c = { .node_id = i->node_id, .boot_id = i->boot_id, .after = i->after, .identity = w->principal->name,
                            .told = i->told, .lease_ms = lease_ms };
    struct lease_offer o = { .after = i->after, .free_slots = i->free_slots, .max = i->max, .lease_ms = lease_ms };
    struct lease_call_facts f;
    if (wait_ms && !w->deadline_mono_us && call_is_seen(w, i->node_id, i->after))
        return call_park(w, i->node_id, wait_ms);
    TRY(gate_fingerprint(w, &c.fingerprint, e));
    struct db_ask *facts = lease_call_ask(w, &c);
    const bool is_old = uuid_is_nil(i->after);
    bool left = is_old;
    if (!is_old && i->max > 0)
        o.ask = lease_offer_ask(w, i->node_id, i->after, i->max);
    TRY(lease_call_told(w, facts, &f, e));
    TRY(gate_judge(w, &f.gate, e));
    TRY(lease_call_admit(w, &c, &f, e));
    TRY(hear(w, i, &f, &o, &n, ret, &left, e));
    bool is_over = w->deadline_mono_us && clock_mono_us(w->app->clock) >= w->deadline_mono_us;
    if (!ret->sessions.n)
        db_only_read(w->tx);        /* unless it was noted that the machine lives, or a lease was renewed */
    if (!left && !ret->notices.n)
        call_seen(w, i->node_id, newest_of(ret, i->after));
    /* What did not fit may by now: the machine may have more free since it asked. */
    if (ret->leases.n || ret->notices.n || ret->sessions.n || (left && !is_old) || !wait_ms || is_over)
        return ERR_OK;
    return call_park(w, i->node_id, wait_ms);
}

static enum errc report(struct work *w, const void *in, void *out, struct err *e)
{
    const struct lease_report_in *i = in;
    struct node n;
    struct node_call beat = { i->node_id, i->boot_id, w->principal->name, NULL };
    struct db_ask *gate;
    TRY(gate_ask(w, &gate, e));
    node_beat_ask(w, &beat);
    struct lease_hold *hold = lease_hold_ask(w, i->node_id, i->items.items, i->items.n);
    TRY(gate_told(w, gate, e));
    TRY(node_beat_told(w, &beat, &n, e));
    TRY(lease_report(w, &n, hold, i->items.items, i->items.n, w->app->config->scheduler_lease_ms,
                     &((struct lease_report_out *)out)->items, e));
    if (i->has_dropped)
        metrics_add(M_lease_items_dropped_total, (double)i->dropped);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/nodes/register", .lane = LANE_WORKERS,
      .op = "node_register", .perm = PERM_NODE_SELF, .handler = register_node,
      .in = &node_register_schema, .status = 200, .out = &node_registered_schema, .flags = R_NODE, .rate = RL_NONE, .resource = "node",
      .doc = "A machine comes up; leases of an earlier run of its agent become void" },
    { .method = HTTP_POST, .path = "/v1/leases/next", .lane = LANE_WORKERS,
      .op = "lease_next", .perm = PERM_NODE_SELF, .handler = next, .in = &lease_next_in_schema,
      .status = 200, .out = &lease_next_out_schema, .flags = R_NODE | R_GATE_OWN, .rate = RL_NONE,
      .doc = "Take leases; waits until there is one" },
    { .method = HTTP_POST, .path = "/v1/leases/report", .lane = LANE_WORKERS,
      .op = "lease_report", .perm = PERM_NODE_SELF, .handler = report,
      .in = &lease_report_in_schema, .status = 200, .out = &lease_report_out_schema,
      .flags = R_NODE | R_GATE_OWN, .rate = RL_NONE,
      .doc = "Say what happened to attempts: started, still running, ended; a stale item changes nothing" },
};
extern const struct route_table lease_routes;
ROUTE_TABLE(lease_routes, rows);
