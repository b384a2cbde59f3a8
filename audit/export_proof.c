/* SPDX-License-Identifier: Apache-2.0 */
/* export_proof.c - the nodes of proofs, made from the leaf hashes of a log in one pass.
 *
 * The wanted ranges are sorted by their start; a sweep keeps a frontier for each range that contains the present leaf. Nodes of one
 * tree nest, so at most two per level are open at once, whatever the number of proofs. Stretches that no range wants are not read. */
#include <stdlib.h>
#include "audit/export_drops_int.h"
#include "audit/export_int.h"
#include "core/base/assert.h"

enum { LEAF_PAGE = 20000, OPEN_MAX = 4 * MERKLE_PROOF_MAX };

struct leaf_row {
    int64_t tseq;
    struct bytes leaf;
};
SCHEMA_OF(leaf_row, "A leaf of a log", FIELD(leaf_row, tseq, 0, .doc = "Its number"),
  FIELD(leaf_row, leaf, 0, .min = MERKLE_HASH, .max = MERKLE_HASH, .doc = "Its hash"));

static const struct stmt leaf_page = { .name = "audit_leaf_page", .params = "uiii", .row = &leaf_row_schema, .card = CARD_MANY, .sql =
  "SELECT tseq, leaf FROM audit_seq WHERE tenant_id = $1 AND tseq > $2 AND tseq <= $3 ORDER BY tseq LIMIT $4" };

const struct stmt *const audit_proof_stmts[] = { &export_drops_stmt, &leaf_page, NULL };

struct open_range {
    size_t want;                        /* index into the sorted list */
    struct merkle_frontier tree;
};
struct sweep {
    const struct merkle_range *ranges;
    const size_t *order;                /* of ranges, by start and end */
    size_t n, next;                     /* next: the first in order that is not open yet */
    struct merkle_hash *out;
    struct open_range *open;
    size_t open_count;
};

static int compare_ranges(const void *a, const void *b, void *ctx)
{
    const struct merkle_range *r = ctx, *x = &r[*(const size_t *)a], *y = &r[*(const size_t *)b];
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end == y->end ? 0 : x->end > y->end ? -1 : 1;
}

static bool is_same(struct merkle_range a, struct merkle_range b)
{
    return a.start == b.start && a.end == b.end;
}

/* Close the range: its root goes to every equal entry of the order. */
static void close_range(struct sweep *s, struct open_range *o)
{
    struct merkle_range r = s->ranges[s->order[o->want]];
    struct merkle_hash root;
    merkle_frontier_root(&o->tree, &root);
    for (size_t i = o->want; i < s->n && is_same(s->ranges[s->order[i]], r); i++)
        s->out[s->order[i]] = root;
    *o = s->open[--s->open_count];
}

static enum errc add_leaf(struct sweep *s, uint64_t index, const struct merkle_hash *leaf, struct err *e)
{
    while (s->next < s->n && s->ranges[s->order[s->next]].start == index) {
        size_t first = s->next;
        if (s->open_count == OPEN_MAX)
            return FAIL(e, LIMIT, "too many proofs at once");
        s->open[s->open_count++] = (struct open_range){ .want = first };
        while (s->next < s->n && is_same(s->ranges[s->order[s->next]], s->ranges[s->order[first]]))
            s->next++;
    }
    for (size_t i = s->open_count; i-- > 0;) {
        struct open_range *o = &s->open[i];
        merkle_add(&o->tree, leaf);
        if (s->ranges[s->order[o->want]].end == index + 1)
            close_range(s, o);
    }
    return ERR_OK;
}

/* Each leaf of (*at, end] of one page, counted from *at. */
static enum errc read_page(struct export *x, uint64_t at, uint64_t end, struct leaf_row **ret, size_t *ret_n, struct err *e)
{
    struct { struct leaf_row *items; size_t n; } rows = { 0 };
    struct db_tx *tx;
    TRY(export_begin_page(x, &tx, e));
    if (db_many(tx, &leaf_page, ARGS(A_UUID(x->tenant_id), A_I64((int64_t)at), A_I64((int64_t)end), A_I64(LEAF_PAGE)), &rows, LEAF_PAGE,
                e) != ERR_OK) {
        db_rollback(tx);
        return e->code;
    }
    TRY(db_commit(tx, e));
    if (rows.n == 0)
        return FAIL(e, DAMAGED, "entry %llu of the audit log is missing", (unsigned long long)at + 1);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.items[i].tseq != (int64_t)(at + i) + 1 || rows.items[i].leaf.data.len != MERKLE_HASH)
            return FAIL(e, DAMAGED, "entry %llu of the audit log is missing or damaged", (unsigned long long)(at + i) + 1);
    *ret = rows.items;
    *ret_n = rows.n;
    return ERR_OK;
}

static enum errc sweep_page(struct export *x, struct sweep *s, uint64_t *at, uint64_t end, struct err *e)
{
    struct leaf_row *rows;
    size_t n;
    TRY(read_page(x, *at, end, &rows, &n, e));
    for (size_t i = 0; i < n; i++, ++*at) {
        struct merkle_hash leaf;
        memcpy(leaf.b, rows[i].leaf.data.ptr, MERKLE_HASH);
        TRY(add_leaf(s, *at, &leaf, e));
    }
    return ERR_OK;
}

enum errc export_roots(struct export *x, const struct merkle_range *ranges, size_t n, struct merkle_hash *out, struct err *e)
{
    size_t *order = ARENA_ARRAY(x->w->arena, size_t, n ? n : 1);
    struct sweep s = { .ranges = ranges, .order = order, .n = n, .out = out,
                       .open = ARENA_ARRAY(x->w->arena, struct open_range, OPEN_MAX) };
    uint64_t last = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        ASSERT(ranges[i].start < ranges[i].end);
        order[i] = i;
        if (ranges[i].end > last)
            last = ranges[i].end;
    }
    qsort_r(order, n, sizeof *order, compare_ranges, (void *)(uintptr_t)ranges);
    while (s.next < n || s.open_count > 0) {
        if (s.open_count == 0)
            at = ranges[order[s.next]].start;       /* nothing before it is wanted */
        TRY(sweep_page(x, &s, &at, last, e));
    }
    return ERR_OK;
}

enum errc export_leaves(struct export *x, uint64_t start, uint64_t end, struct merkle_hash *out, struct err *e)
{
    struct leaf_row *rows;
    size_t n;
    for (uint64_t at = start; at < end; at += n) {
        TRY(read_page(x, at, end, &rows, &n, e));
        for (size_t i = 0; i < n; i++)
            memcpy(out[at - start + i].b, rows[i].leaf.data.ptr, MERKLE_HASH);
    }
    return ERR_OK;
}
