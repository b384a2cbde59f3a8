/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - the root that a bundle's log had at the size of a kept head, and the proof that its own head extends it. */
#include "audit/fork.h"
#include "audit/lines_int.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"

struct fork_maker {
    struct line_feed lines;
    struct bundle_manifest m;
    struct bundle_record record;
    struct audit_head kept, head;
    struct merkle_frontier old, part[MERKLE_PROOF_MAX];
    struct merkle_range range[MERKLE_PROOF_MAX];
    int ranges;
};

static const char *take_manifest(struct fork_maker *f, struct str line, struct head_keys keys)
{
    if (!bundle_manifest_decode(line, &f->m) || !head_is_signed(&f->m.head, keys, &f->head))
        return "the bundle's head is not signed by a key that was given";
    if (f->head.size == f->kept.size)
        return NULL;
    if (f->head.size < f->kept.size)
        return "the log is shorter than the kept head says: two heads of one log, but no proof between them";
    if (f->m.is_selection || f->m.from != 1 || f->m.to != f->head.size)
        return "it takes a range from entry 1 to the last; export the whole log";
    f->ranges = merkle_consistency_ranges(f->kept.size, f->head.size, f->range);
    return NULL;
}

/* Record index + 1 of the log. */
static void add_leaf(struct fork_maker *f, uint64_t index)
{
    if (index < f->kept.size)
        merkle_add(&f->old, &f->record.leaf);
    for (int i = 0; i < f->ranges; i++)
        if (index >= f->range[i].start && index < f->range[i].end)
            merkle_add(&f->part[i], &f->record.leaf);
}

static const char *make(struct fork_maker *f, struct head_keys keys, struct fork_file *ret)
{
    struct str line;
    uint64_t n = 0;
    const char *fault = lines_next(&f->lines, &line) == LINE_HERE ? take_manifest(f, line, keys) : "there is no manifest";
    if (fault)
        return fault;
    while (f->head.size > f->kept.size && lines_next(&f->lines, &line) == LINE_HERE)
        if (str_starts(line, "{\"tseq\":") && bundle_record_decode(line, &f->record))
            add_leaf(f, n++);
    ret->b = f->m.head;
    ret->root = f->head.root;
    ret->proof_len = (size_t)f->ranges;
    if (f->head.size > f->kept.size)
        merkle_frontier_root(&f->old, &ret->root);
    for (int i = 0; i < f->ranges; i++)
        merkle_frontier_root(&f->part[i], &ret->proof[i]);
    return fork_file_fault(ret, keys);
}

const char *fork_of_bundle(verify_read_fn read, void *ctx, const struct bundle_head *kept, struct head_keys keys,
    struct fork_file *ret)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(sizeof(struct fork_maker) + 4096);
    struct fork_maker *f = ARENA_NEW(a, struct fork_maker);
    if (!head_is_signed(kept, keys, &f->kept))
        return "the kept head is not signed by a key that was given";
    ret->a = *kept;
    lines_open(&f->lines, read, ctx);
    const char *fault = make(f, keys, ret);
    lines_close(&f->lines);
    return fault;
}
