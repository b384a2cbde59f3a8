/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - machines coming up and being heard of. What a machine says of itself is believed only where its certificate says the
 * same; an attempt of an earlier run of its agent ends in the transaction that registers the new run. */
#include "scheduler/engine/node.h"
#include "scheduler/engine/lease_move.h"
#include "scheduler/engine/node_repo.h"
#include "core/db/list_find.h"
#include "tenants/access/actor.h"

enum { VOIDED_MAX = 8192 };

static enum errc check_identity(struct work *w, const struct node_register *in, struct str identity, struct err *e)
{
    struct str want = str_fmt(w->arena, "spiffe://%.*s/worker/%.*s/%.*s", STR_ARG(in->zone), STR_ARG(in->pool), STR_ARG(in->name));
    if (!str_eq(want, identity))
        return FAIL(e, FORBIDDEN, "Zone, pool and name must be those of the certificate");
    return ERR_OK;
}

/* Jobs choose a machine by the model of its GPUs, so they are of one. */
static enum errc check_devices(const struct node_register *in, struct err *e)
{
    const struct node_device *d = in->devices.items;
    if (in->devices.n && (int64_t)in->devices.n != in->gpus)
        return FAIL_AT(e, INVALID, "/devices", "%zu devices came for %ld GPUs: name all of them, or none", in->devices.n,
                       (long)in->gpus);
    for (size_t i = 0; i < in->devices.n; i++) {
        if (d[i].index != (int64_t)i)
            return FAIL_AT(e, INVALID, "/devices", "Device %zu has index %ld: their order is that of their indexes, from 0", i,
                           (long)d[i].index);
        if (!str_eq(d[i].model, d[0].model))
            return FAIL_AT(e, INVALID, "/devices", "Models %.*s and %.*s on one machine: register a worker for each",
                           STR_ARG(d[0].model), STR_ARG(d[i].model));
    }
    return ERR_OK;
}

/* Agents make their boot_id by uuid_v7, whose order is that of time. */
static bool is_later(struct uuid a, struct uuid b)
{
    return a.b[6] >> 4 == 7 && b.b[6] >> 4 == 7 && uuid_cmp(a, b) > 0;
}

static enum errc void_earlier_run(struct work *w, const struct node_register *in, struct str identity, struct err *e)
{
    struct node_run run = { 0 };
    struct slice rows = { 0 };
    struct expiry_counts counts;
    bool found;
    TRY(node_repo_boot(w->tx, identity, NODE_SILENCE_MS, &run, &found, e));
    if (!found || uuid_eq(run.boot_id, in->boot_id))
        return ERR_OK;
    if (run.is_heard && is_later(run.boot_id, in->boot_id))
        return FAIL(e, STALE, "A later run of this machine's agent is at work");
    TRY(node_repo_live(w->tx, run.node_id, VOIDED_MAX, &rows, e));
    return lease_expire(w, rows.items, rows.n, &counts, e);
}

enum errc node_register(struct work *w, const struct node_register *in, struct str identity, struct node *ret, struct err *e)
{
    TRY(check_identity(w, in, identity, e));
    TRY(check_devices(in, e));
    TRY(void_earlier_run(w, in, identity, e));
    enum errc rc = node_repo_upsert(w->tx, uuid_v7(w->now_us), in, identity, ret, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL_AT(e, NOT_FOUND, "/zone", "Zone %.*s does not exist yet", STR_ARG(in->zone));
    if (rc != ERR_OK)
        return rc;
    struct audit_event ev = audit_event_of(w, AUDIT_NODE_REGISTER);
    audit_event_by_node(&ev, ret->node_id, ret->zone);
    ev.tenant_id = UUID_NIL;
    ev.resource_kind = STR("node");
    ev.resource_prefix = "nod";
    ev.resource_id = ret->node_id;
    audit_event_detail(&ev, AUDIT_D_INT("slots", ret->slots));
    audit_event_detail(&ev, AUDIT_D_INT("gpus", ret->gpus));
    lease_wake_after_commit(w, &(struct lease_wakes){ .scheduler = true });
    return audit_append(w, &ev, e);
}

void node_beat_ask(struct work *w, struct node_call *c)
{
    c->ask = node_repo_beat_ask(w->tx, c);
}

enum errc node_beat(struct work *w, struct uuid node_id, struct uuid boot_id, struct str identity, struct node *ret, struct err *e)
{
    struct node_call c = { node_id, boot_id, identity, NULL };
    node_beat_ask(w, &c);
    return node_beat_told(w, &c, ret, e);
}

enum errc node_not_registered(struct err *e)
{
    return FAIL(e, STALE, "This run of the agent is not registered; register again");
}

enum errc node_beat_told(struct work *w, const struct node_call *c, struct node *ret, struct err *e)
{
    bool found;
    TRY(node_repo_beat_told(w->tx, c, ret, &found, e));
    return found ? ERR_OK : node_not_registered(e);
}

enum errc node_get(struct work *w, struct uuid node_id, struct node *ret, struct err *e)
{
    return node_repo_get(w->tx, node_id, ret, e);
}

enum errc node_list(struct work *w, const struct node_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct list_find find = { .q = f->q, .sort = f->by_name ? STR("name") : STR_NULL };
    list_find_by(&find, "state", f->state);
    list_find_by(&find, "zone", f->zone);
    list_find_by(&find, "pool", f->pool);
    return list_find(w, &node_list_stmt, &find, position, limit, ret, e);
}

enum errc node_work_list(struct work *w, struct uuid node_id, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return node_repo_work(w->tx, node_id, position, limit, ret, e);
}

enum errc node_set_flavor(struct work *w, struct uuid node_id, struct str flavor, struct node *ret, struct err *e)
{
    bool done;
    TRY(node_repo_get(w->tx, node_id, ret, e));
    TRY(node_repo_set_flavor(w->tx, node_id, flavor, &done, e));
    if (!done)
        return FAIL(e, CONFLICT, "Something runs on the machine; drain it first");
    return node_repo_get(w->tx, node_id, ret, e);
}

enum errc node_mark_lost(struct work *w, int64_t *ret_lost, struct err *e)
{
    return node_repo_mark_lost(w->tx, NODE_SILENCE_MS, ret_lost, e);
}
