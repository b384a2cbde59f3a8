/* SPDX-License-Identifier: Apache-2.0 */
/* export_select_int.h - the entries that fit a filter, page by page, and their inclusion proofs.
 *
 * Calling order: export_select_count; export_select_open, export_select_prove with ascending numbers (others work, and read more).
 * Memory: proofs take 1 MiB and 64 bytes per entry of a block (64 KiB up to 16 million entries, and twice that for each doubling),
 * in x->w->arena. export_select_page gives rows in x->page, until its next page. */
#pragma once
#include "audit/export_int.h"
#include "audit/search.h"
#include "core/base/cleanup.h"

enum { SELECT_LEVELS = 40, SELECT_PAGE_BYTES = 64 << 20 };

struct select_tree {
    size_t n;
    struct merkle_hash *level[SELECT_LEVELS];
};
struct select_proofs {
    struct export x;                        /* pages of its own, so that those of the records stay */
    uint64_t size;
    int block_level;
    uint64_t at;                            /* the block whose tree is in `below` */
    struct select_tree above, below;
};

/* Entries in (*after, to] that fit; moves *after to where the next call goes on. No rows and *after < to: none in this stretch. */
MUST_CHECK enum errc export_select_page(struct export *x, const struct audit_filter *f, uint64_t to, uint64_t *after, struct audit_row **ret,
                                        size_t *ret_n, struct err *e);
MUST_CHECK enum errc export_select_count(struct export *x, const struct audit_filter *f, uint64_t from, uint64_t to, uint64_t *ret, struct err *e);
MUST_CHECK enum errc export_select_open(struct export *x, uint64_t size, struct select_proofs *ret, struct err *e);
MUST_CHECK enum errc export_select_prove(struct select_proofs *p, uint64_t tseq, struct merkle_hash out[MERKLE_PROOF_MAX], size_t *ret_n,
                                         struct err *e);
