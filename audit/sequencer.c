/* SPDX-License-Identifier: Apache-2.0 */
/* sequencer.c - one tick: read what is safely committed, hash it here, write numbers, chains and states in bulk.
 *
 * Five statements whatever the number of events, three of which travel with COMMIT. The order (xid, ord) is an index; a row
 * comparison with the cursor begins the scan where the last tick ended. Nothing is kept between ticks: a new leader needs no
 * warm-up and no old leader can write from memory, because the cursor row is locked first. Numbers of transactions order the
 * events of one cluster only. The function that takes the lock sees that the database was moved and
 * begins an epoch (migrations/functions/audit_epoch_take.sql): what it left without a number comes first, out of a list. */
#include "audit/sequencer.h"
#include <stdlib.h>
#include "audit/fields.h"
#include "audit/sequencer_int.h"
#include "core/base/assert.h"

enum { TICK_MAX = 100000 };

SCHEMA_OF(sequencer_place, "How far the sequencer has come", 
  FIELD(sequencer_place, xid, 0, .doc = "Transaction of the last event"),
  FIELD(sequencer_place, ord, 0, .doc = "Its place in that order"),
  FIELD(sequencer_place, since_ord, 0, .doc = "Where the epoch begins"),
  FIELD(sequencer_place, is_open, 0, .doc = "False while an epoch is being opened"),
  FIELD(sequencer_place, has_backlog, 0, .doc = "Events of epochs before come first"));

static const struct stmt cursor_lock = { .name = "audit_cursor_lock", .row = &sequencer_place_schema, .card = CARD_ONE, .sql =
  "SELECT xid::text AS xid, ord, since_ord, is_open, has_backlog FROM audit_epoch_take()" };

static const struct stmt cursor_move = { .name = "audit_cursor_move", .params = "si", .card = CARD_NONE, .sql =
  "UPDATE audit_cursor SET xid = $1::xid8, ord = $2 WHERE id = 1" };

struct pending_row {
    struct uuid tenant_id, event_id;
    struct str xid;
    int64_t ord;
    struct bytes body;
};
SCHEMA_OF(pending_row, "An event without a number", FIELD(pending_row, tenant_id, 0, .doc = "Whose log"),
  FIELD(pending_row, event_id, 0, .doc = "The event"), FIELD(pending_row, xid, 0, .doc = "Transaction that wrote it"),
  FIELD(pending_row, ord, 0, .doc = "Order of insertion"), FIELD(pending_row, body, 0, .max = 65536, .doc = "Canonical bytes"));

static const struct stmt pending_read = { .name = "audit_pending_read", .params = "siii", .row = &pending_row_schema,
                                          .card = CARD_MANY,
  .sql =
  "SELECT e.tenant_id, e.event_id, e.xid::text AS xid, e.ord, e.body FROM audit_event e\n"
  " WHERE (e.xid, e.ord) > ($1::xid8, $2) AND e.xid < pg_snapshot_xmin(pg_current_snapshot()) AND e.ord > $4\n"
  " ORDER BY e.xid, e.ord LIMIT $3" };          /* of the table: the column of the answer is a text, where 10000 < 9999 */

static const struct stmt backlog_read = { .name = "audit_backlog_read", .params = "i", .row = &pending_row_schema,
                                          .card = CARD_MANY,
  .sql =
  "SELECT e.tenant_id, e.event_id, e.xid::text AS xid, e.ord, e.body\n"
  "  FROM audit_backlog b JOIN audit_event e ON e.tenant_id = b.tenant_id AND e.event_id = b.event_id\n"
  " ORDER BY b.ord, b.event_id LIMIT $1" };

static const struct stmt backlog_done = { .name = "audit_backlog_done", .params = "UU", .card = CARD_NONE, .sql =
  "DELETE FROM audit_backlog b USING unnest($1, $2) AS d(tenant_id, event_id)\n"
  " WHERE b.tenant_id = d.tenant_id AND b.event_id = d.event_id" };

static const struct stmt seq_insert = { .name = "audit_seq_insert", .params = "UIUYYTSSSUSSSSS", .card = CARD_NONE, .sql =
  "INSERT INTO audit_seq (tenant_id, tseq, event_id, leaf, chain, at, code, action, actor, actor_id, resource_kind, resource_id, outcome,\n"
  "                       request_id, source)\n"
  /* In the list of columns they are asked value by value; in FROM each would fill a store of its own first. */
  "SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), unnest($8), unnest($9),\n"
  "       unnest($10), unnest($11), unnest($12), unnest($13), unnest($14), unnest($15)" };

SCHEMA_OF(log_state_row, "What a log has come to", FIELD(log_state_row, tenant_id, 0, .doc = "Whose log"),
  FIELD(log_state_row, size, 0, .doc = "Entries"), FIELD(log_state_row, chain, 0, .doc = "Last chain value"),
  FIELD(log_state_row, frontier, 0, .max = PACKED_MAX, .doc = "Subtree roots, largest first"));

static const struct stmt state_read = { .name = "audit_state_read", .params = "U", .row = &log_state_row_schema, .card = CARD_MANY, .sql =
  "SELECT tenant_id, size, chain, frontier FROM audit_log_state WHERE tenant_id = ANY($1)" };

/* What this version numbers can be opened (fields.h). Where an older one numbered in between it begins anew. */
static const struct stmt state_write = { .name = "audit_state_write", .params = "UIYY", .card = CARD_NONE, .sql =
  "INSERT INTO audit_log_state AS s (tenant_id, size, chain, frontier, updated_at, opened_from, opened_to)\n"
  "SELECT u.tenant_id, u.size, u.chain, u.frontier, clock_timestamp(), 1, u.size\n"
  "  FROM unnest($1, $2, $3, $4) AS u(tenant_id, size, chain, frontier)\n"
  "    ON CONFLICT (tenant_id) DO UPDATE\n"
  "   SET size = EXCLUDED.size, chain = EXCLUDED.chain, frontier = EXCLUDED.frontier, updated_at = EXCLUDED.updated_at,\n"
  "       opened_from = CASE WHEN s.opened_to = s.size THEN s.opened_from ELSE s.size + 1 END, opened_to = EXCLUDED.size" };

const struct stmt *const sequencer_stmts[] = { &cursor_lock, &cursor_move, &pending_read, &backlog_read, &backlog_done,
                                               &seq_insert,
                                              &state_read, &state_write, NULL };

struct sequencer *sequencer_new(struct str zone, audit_sign_fn sign, void *sign_ctx)
{
    struct sequencer *s = calloc(1, sizeof *s);
    ASSERT(s && zone.len <= AUDIT_ZONE_MAX);
    memcpy(s->zone, zone.ptr, zone.len);
    s->sign = sign;
    s->sign_ctx = sign_ctx;
    return s;
}

void sequencer_free(struct sequencer *s)
{
    free(s);
}

void sequencer_freep(struct sequencer **s)
{
    sequencer_free(*s);
    *s = NULL;
}

enum errc sequencer_lock(struct db_tx *tx, struct sequencer_place *ret, struct err *e)
{
    return db_one(tx, &cursor_lock, NO_ARGS, ret, e);
}

enum errc log_state_of(const struct log_state_row *row, struct log_state *ret, struct err *e)
{
    ret->tenant_id = row->tenant_id;
    if (row->chain.data.len != MERKLE_HASH || row->size < 0 ||
        !merkle_unpack((uint64_t)row->size, row->frontier.data.ptr, row->frontier.data.len, &ret->tree))
        return FAIL(e, INTERNAL, "the stored state of an audit log does not fit its size");
    memcpy(ret->chain.b, row->chain.data.ptr, MERKLE_HASH);
    return ERR_OK;
}

static int compare_states(const void *a, const void *b)
{
    return uuid_cmp(((const struct log_state *)a)->tenant_id, ((const struct log_state *)b)->tenant_id);
}

static struct log_state *find_state(struct log_state *states, size_t n, struct uuid tenant)
{
    struct log_state key = { .tenant_id = tenant };
    return bsearch(&key, states, n, sizeof *states, compare_states);
}

enum errc sequencer_load(struct work *w, struct log_state *states, size_t n, struct err *e)
{
    struct { struct log_state_row *items; size_t n; } rows = { 0 };
    qsort(states, n, sizeof *states, compare_states);
    for (size_t i = 0; i < n; i++)
        chain_start(states[i].tenant_id, &states[i].chain);
    TRY(db_many(w->tx, &state_read, ARGS(A_UUIDS_OF(states, n, tenant_id)), &rows, n, e));
    for (size_t i = 0; i < rows.n; i++) {
        struct log_state *s = find_state(states, n, rows.items[i].tenant_id);
        if (!s)
            return FAIL(e, INTERNAL, "the state of another audit log came back");
        TRY(log_state_of(&rows.items[i], s, e));
    }
    return ERR_OK;
}

void sequencer_store(struct work *w, const struct log_state *states, size_t n)
{
    int64_t *sizes = ARENA_ARRAY(w->arena, int64_t, n);
    struct str *chains = ARENA_ARRAY(w->arena, struct str, n), *frontiers = ARENA_ARRAY(w->arena, struct str, n);
    for (size_t i = 0; i < n; i++) {
        sizes[i] = (int64_t)states[i].tree.size;
        chains[i] = str_n((const char *)states[i].chain.b, MERKLE_HASH);
        frontiers[i] = str_n((const char *)states[i].tree.node, (size_t)states[i].tree.count * MERKLE_HASH);
    }
    db_queue(w->tx, &state_write, ARGS(A_UUIDS_OF(states, n, tenant_id), A_I64S(sizes, n), A_BYTESS(chains, n), A_BYTESS(frontiers, n)),
             false);
}

/* The distinct tenants of the rows, as states to fill. Open addressing over a table of twice the rows. */
static struct log_state *distinct_logs(struct arena *a, const struct pending_row *rows, size_t n, size_t *ret_count)
{
    size_t cap = 16, count = 0;
    while (cap < 2 * n)
        cap *= 2;
    uint32_t *slot = ARENA_ARRAY(a, uint32_t, cap);     /* index + 1 of the first row of a tenant */
    for (size_t i = 0; i < n; i++) {
        size_t h = str_hash(str_n((const char *)rows[i].tenant_id.b, 16)) & (cap - 1);
        while (slot[h] && !uuid_eq(rows[slot[h] - 1].tenant_id, rows[i].tenant_id))
            h = (h + 1) & (cap - 1);
        if (!slot[h]) {
            slot[h] = (uint32_t)i + 1;
            count++;
        }
    }
    struct log_state *states = ARENA_ARRAY(a, struct log_state, count);
    *ret_count = count;
    for (size_t h = 0; h < cap; h++)
        if (slot[h])
            states[--count].tenant_id = rows[slot[h] - 1].tenant_id;
    return states;
}

struct numbered {
    struct uuid tenant_id, event_id;
    int64_t tseq;
    struct str leaf, chain;
    struct merkle_hash leaf_bytes, chain_bytes;
    struct timestamp at;                /* what queries search by; absent where a body is not canonical */
    struct str code, action, actor, resource_kind, resource_id, outcome, request_id, source;
    struct uuid actor_id;
};

/* Texts of the view that had to be unescaped die with it, so those are copied; the rest lie in the body. */
static struct str lasting(struct arena *a, const struct audit_view *v, struct str s)
{
    return s.ptr >= v->text && s.ptr < v->text + sizeof v->text ? str_dup(a, s) : s;
}

static void describe(struct arena *a, struct audit_view *v, struct str body, struct numbered *o)
{
    struct audit_fields f;
    merkle_leaf(body.ptr, body.len, &o->leaf_bytes);
    if (!audit_record_read(body, v))
        return;
    audit_fields_of(v, &o->leaf_bytes, &f);
    o->leaf_bytes = f.leaf;
    o->at.us = v->ts_us;
    o->code = lasting(a, v, v->code_text);
    o->action = lasting(a, v, v->action);
    o->actor = str_c(audit_actor_text(v->actor));
    o->actor_id = v->actor_id;
    o->resource_kind = lasting(a, v, v->resource_kind);
    o->resource_id = lasting(a, v, v->resource_id);
    o->outcome = lasting(a, v, v->outcome);
    o->request_id = lasting(a, v, v->request_id);
    o->source = lasting(a, v, v->src_ip);
}

static void number_events(struct arena *a, const struct pending_row *rows, size_t n, struct log_state *states, size_t nstates,
                          struct numbered *out)
{
    struct log_state *s = NULL;
    struct audit_view *view = ARENA_NEW(a, struct audit_view);
    for (size_t i = 0; i < n; i++) {
        struct numbered *o = &out[i];
        describe(a, view, rows[i].body.data, o);
        if (!s || !uuid_eq(s->tenant_id, rows[i].tenant_id))
            s = find_state(states, nstates, rows[i].tenant_id);
        chain_next(&s->chain, &o->leaf_bytes, &s->chain);
        merkle_add(&s->tree, &o->leaf_bytes);
        o->chain_bytes = s->chain;
        o->tenant_id = rows[i].tenant_id;
        o->event_id = rows[i].event_id;
        o->tseq = (int64_t)s->tree.size;
        o->leaf = str_n((const char *)o->leaf_bytes.b, MERKLE_HASH);
        o->chain = str_n((const char *)o->chain_bytes.b, MERKLE_HASH);
    }
}

enum errc sequencer_tick(struct work *w, struct sequencer *s, size_t max_events, size_t *done, struct err *e)
{
    (void)s;
    struct { struct pending_row *items; size_t n; } rows = { 0 };
    struct sequencer_place at;
    size_t n, nstates;
    if (max_events > TICK_MAX)
        max_events = TICK_MAX;
    TRY(sequencer_lock(w->tx, &at, e));
    if (at.has_backlog)
        TRY(db_many(w->tx, &backlog_read, ARGS(A_I64((int64_t)max_events)), &rows, max_events, e));
    else if (at.is_open)
        TRY(db_many(w->tx, &pending_read, ARGS(A_STR(at.xid), A_I64(at.ord), A_I64((int64_t)max_events), A_I64(at.since_ord)),
                    &rows, max_events, e));
    n = rows.n;
    if (n > 0) {
        struct log_state *states = distinct_logs(w->arena, rows.items, n, &nstates);
        struct numbered *out = ARENA_ARRAY(w->arena, struct numbered, n);
        TRY(sequencer_load(w, states, nstates, e));
        number_events(w->arena, rows.items, n, states, nstates, out);
        db_queue(w->tx, &seq_insert, ARGS(A_UUIDS_OF(out, n, tenant_id), A_I64S_OF(out, n, tseq), A_UUIDS_OF(out, n, event_id),
                                          A_BYTESS_OF(out, n, leaf), A_BYTESS_OF(out, n, chain), A_TIMES_OF(out, n, at),
                                          A_STRS_OF(out, n, code), A_STRS_OF(out, n, action), A_STRS_OF(out, n, actor),
                                          A_UUIDS_OR_NULL_OF(out, n, actor_id), A_STRS_OF(out, n, resource_kind),
                                          A_STRS_OF(out, n, resource_id), A_STRS_OF(out, n, outcome), A_STRS_OF(out, n, request_id),
                                          A_STRS_OF(out, n, source)), false);
        sequencer_store(w, states, nstates);
        if (at.has_backlog)
            db_queue(w->tx, &backlog_done, ARGS(A_UUIDS_OF(rows.items, n, tenant_id), A_UUIDS_OF(rows.items, n, event_id)),
                     false);
        else
            db_queue(w->tx, &cursor_move, ARGS(A_STR(rows.items[n - 1].xid), A_I64(rows.items[n - 1].ord)), false);
    }
    *done = n;
    return ERR_OK;
}
