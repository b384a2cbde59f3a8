/* SPDX-License-Identifier: Apache-2.0 */
/* verify_int.h - the state of one verification, shared by verify.c (entries) and verify_head.c (heads, trust, the end). */
#pragma once
#include "audit/batches_int.h"
#include "audit/drop_list.h"
#include "audit/verify.h"
#include "core/base/err.h"

/* A damage whose place is known and whose kind shows only at the end, when entries have been counted. */
enum verify_pending { PENDING_NONE, PENDING_GAP, PENDING_CHAIN };

/* A head known from elsewhere that the log must extend. */
struct verify_known {
    struct audit_head head;
    bool is_checked;
};

struct verifier {
    const struct verify_opts *opts;
    struct verify_result *ret;
    struct batches lines;
    struct bundle_manifest m;
    struct verify_known known[2];
    int known_count;
    struct merkle_frontier tree;        /* of the entries verified so far, with those before the bundle */
    struct merkle_hash chain, back;     /* h of the last verified entry, and of the one before it */
    struct merkle_hash last_leaf;
    uint64_t expected, to, want, seen;  /* next tseq; last tseq; entries that should and do come */
    uint64_t good;                      /* size of the last head that fitted */
    enum verify_pending pending;
    uint64_t pending_tseq, pending_line, pending_gap;
    bool has_returned, has_next, fits_next;
    struct drop_list drops;
    uint64_t last_retention;            /* number of the last retention entry; they ascend */
    bool has_end;
    struct bundle_end end;
    struct merkle_hash digest;
    struct look_case look;              /* the threads' until batches_close */
    struct look_room room;              /* of this thread */
};

/* Record the first damage; later ones are ignored. Always false. */
bool verify_bad(struct verifier *v, enum verify_damage d, uint64_t tseq, const char *fmt, ...) PRINTF_LIKE(4, 5);

bool verify_manifest(struct verifier *v, struct str line);
bool verify_checkpoint(struct verifier *v, struct str line);
/* A retention entry before the records; its list, once its place is proven. */
bool verify_retention(struct verifier *v, struct str line);
/* An entry without body: listed, or allowed. */
bool verify_dropped(struct verifier *v, uint64_t tseq);
/* Compare the tree with every known head of exactly its size. */
bool verify_known_here(struct verifier *v);
/* After the last entry: the end line, the tree against the head, the heads that were known. */
bool verify_close(struct verifier *v);
