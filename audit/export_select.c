/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.c - the entries that fit a filter, and the inclusion proof of each, for logs of any length.
 *
 * The log is walked in windows of its numbers, each a statement of bounded cost, instead of by an index whose order is another.
 * Proofs: the log is cut into at most 2^14 blocks of 2^k entries. The tree above the blocks is kept (1 MiB at most); the tree of one
 * block is made when an entry in it is asked for, and since they ascend, each block is read once. A tree splits at powers of two, so
 * the tree of the log is the tree of its blocks' roots, the last of which may be short, and a proof is the one below with the one above. */
#include "audit/export_select_int.h"
#include "core/base/assert.h"

enum { WINDOW = 50000, PAGE = 500, BLOCK_LEVEL_MIN = 10, BLOCKS_MAX_LEVEL = 14 };

enum errc export_select_page(struct export *x, const struct audit_filter *f, uint64_t to, uint64_t *after, struct audit_row **ret, size_t *ret_n,
                             struct err *e)
{
    CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
    uint64_t upto = to - *after > WINDOW ? *after + WINDOW : to;
    struct audit_search q = { .filter = *f, .after = *after, .upto = upto, .is_walk = true };
    TRY(export_begin_page(x, &tx, e));
    struct work w = { .app = x->w->app, .arena = x->page, .tx = tx, .tenant_id = x->tenant_id, .now_us = x->w->now_us };
    TRY(audit_search(&w, x->tenant_id, &q, PAGE, ret, ret_n, e));
    *after = *ret_n == PAGE ? (*ret)[*ret_n - 1].tseq : upto;
    return ERR_OK;
}

enum errc export_select_count(struct export *x, const struct audit_filter *f, uint64_t from, uint64_t to, uint64_t *ret, struct err *e)
{
    uint64_t total = 0, n;
    for (uint64_t after = from - 1; after < to; after = to - after > WINDOW ? after + WINDOW : to) {
        CLEANUP(db_rollbackp) struct db_tx *tx = NULL;
        struct audit_search q = { .filter = *f, .after = after, .upto = to - after > WINDOW ? after + WINDOW : to };
        TRY(export_begin_page(x, &tx, e));
        struct work w = { .app = x->w->app, .arena = x->page, .tx = tx, .tenant_id = x->tenant_id, .now_us = x->w->now_us };
        TRY(audit_search_count(&w, x->tenant_id, &q, &n, e));
        total += n;
    }
    *ret = total;
    return ERR_OK;
}

/* Levels of perfect nodes above n leaves; level 0 is the leaves. */
static void tree_init(struct select_tree *t, struct arena *a, size_t most)
{
    for (size_t n = most, level = 0; n > 0 && level < SELECT_LEVELS; n /= 2, level++)
        t->level[level] = ARENA_ARRAY(a, struct merkle_hash, n);
}

static void tree_fill(struct select_tree *t, size_t n)
{
    t->n = n;
    for (int level = 1; n >> level; level++)
        for (size_t i = 0; i < n >> level; i++)
            merkle_node(&t->level[level - 1][2 * i], &t->level[level - 1][2 * i + 1], &t->level[level][i]);
}

/* The root of the leaves [start, end), one of the ranges of a proof: perfect and aligned, or at the right edge. */
static struct merkle_hash tree_root(const struct select_tree *t, size_t start, size_t end)
{
    struct merkle_frontier f = { 0 };
    struct merkle_hash ret;
    while (start < end) {
        int level = 63 - __builtin_clzll(end - start);
        ASSERT(start % ((size_t)1 << level) == 0 && level < SELECT_LEVELS);
        ASSERT(merkle_add_subtree(&f, &t->level[level][start >> level], level));
        start += (size_t)1 << level;
    }
    merkle_frontier_root(&f, &ret);
    return ret;
}

static size_t tree_prove(const struct select_tree *t, size_t index, struct merkle_hash *out)
{
    struct merkle_range r[MERKLE_PROOF_MAX];
    int n = merkle_inclusion_ranges(index, t->n, r);
    for (int i = 0; i < n; i++)
        out[i] = tree_root(t, r[i].start, r[i].end);
    return (size_t)n;
}

enum errc export_select_open(struct export *x, uint64_t size, struct select_proofs *ret, struct err *e)
{
    struct arena *a = x->w->arena;
    int level = BLOCK_LEVEL_MIN;
    while (size >> level >= 1ULL << BLOCKS_MAX_LEVEL)
        level++;
    uint64_t block = 1ULL << level, blocks = (size + block - 1) / block;
    struct merkle_range *r = ARENA_ARRAY(a, struct merkle_range, blocks);
    *ret = (struct select_proofs){ .x = { x->w, x->tenant_id, arena_new(SELECT_PAGE_BYTES) }, .size = size, .block_level = level,
                                   .at = UINT64_MAX };
    arena_defer(a, (void (*)(void *))arena_free, ret->x.page);
    tree_init(&ret->above, a, blocks);
    tree_init(&ret->below, a, size < block ? size : block);
    for (uint64_t i = 0; i < blocks; i++)
        r[i] = (struct merkle_range){ i * block, (i + 1) * block < size ? (i + 1) * block : size };
    TRY(export_roots(&ret->x, r, blocks, ret->above.level[0], e));
    tree_fill(&ret->above, blocks);
    return ERR_OK;
}

enum errc export_select_prove(struct select_proofs *p, uint64_t tseq, struct merkle_hash out[MERKLE_PROOF_MAX], size_t *ret_n, struct err *e)
{
    uint64_t index = tseq - 1, block = index >> p->block_level, first = block << p->block_level;
    ASSERT(index < p->size);
    if (p->at != block) {
        uint64_t n = p->size - first < 1ULL << p->block_level ? p->size - first : 1ULL << p->block_level;
        TRY(export_leaves(&p->x, first, first + n, p->below.level[0], e));
        tree_fill(&p->below, n);
        p->at = block;
    }
    *ret_n = tree_prove(&p->below, index - first, out);
    *ret_n += tree_prove(&p->above, block, out + *ret_n);
    return ERR_OK;
}
