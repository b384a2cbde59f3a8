/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h - the lines of a bundle, "falaj-audit-bundle-v1" and "-v2" (docs/audit-format.md §3): encode and decode, nothing else.
 *
 * A bundle is JSON Lines: a manifest; then the retention's own entries, where bodies were dropped; then records, with
 * checkpoints (earlier signed heads) between them; then an end line. The event is the last member of its line, so its canonical
 * bytes are exactly those between `"event":` and the final `}`. Encoders append one line with its newline; decoders take a line
 * without it. Decoded views borrow the line. Pure. */
#pragma once
#include "audit/fields.h"
#include "audit/filter.h"
#include "audit/head.h"
#include "core/base/str.h"

enum { AUDIT_KEYS_MAX = 16, BUNDLE_AFTER_MAX = 2 * MERKLE_PROOF_MAX };

struct bundle_head {
    char body[HEAD_BODY_MAX];
    size_t len;
    uint8_t sig[AUDIT_SIG];
};
struct bundle_manifest {
    /* 2: entries may have leaves whose fields can be shown one by one (fields.h); else 1, where every leaf is the plain one */
    int version;
    struct uuid tenant_id;
    char zone[AUDIT_ZONE_MAX + 1];
    uint64_t from, to, count;
    int64_t created_us;
    bool is_selection;                          /* records carry inclusion proofs and no chain */
    bool is_filtered;                           /* a range in which entries that do not fit show one field instead of a body */
    struct audit_filter filter;                 /* what was asked for; of a selection may be empty: the entries were named */
    /* of a selection: "proves":"inclusion" stands there; bundles of version 1 may not say it */
    bool says_inclusion;
    struct bundle_head head;
    bool has_previous;
    struct bundle_head previous;
    struct merkle_hash previous_proof[MERKLE_PROOF_MAX];
    size_t previous_proof_len;
    struct merkle_hash before_chain;            /* h of entry from - 1 */
    struct merkle_hash before[MERKLE_PROOF_MAX];/* frontier of from - 1 leaves */
    size_t before_len;
    struct merkle_hash after[BUNDLE_AFTER_MAX]; /* subtrees that cover to + 1 … head size */
    size_t after_len;
    struct audit_key keys[AUDIT_KEYS_MAX];
    size_t key_count;
};
struct bundle_record {
    uint64_t tseq;
    struct merkle_hash leaf, chain;
    bool has_proof;
    struct merkle_hash proof[MERKLE_PROOF_MAX];
    size_t proof_len;
    struct str event;                           /* ptr NULL: dropped by retention, "event":null, or withheld */
    bool is_withheld;                           /* `opened` shows that it does not fit; leaf is what that makes */
    struct audit_opened opened;
};
struct bundle_end {
    uint64_t count;
    struct merkle_hash sha256;                  /* of all lines before, with their newlines */
    uint8_t sig[AUDIT_SIG];                     /* of the head, again */
};

bool bundle_manifest_encode(const struct bundle_manifest *m, struct buf *b);
bool bundle_manifest_decode(struct str line, struct bundle_manifest *ret);
/* False too when the event has a byte that would break the line. */
bool bundle_record_encode(const struct bundle_record *r, struct buf *b);
bool bundle_record_decode(struct str line, struct bundle_record *ret);
/* An audit.retention entry out of its place, with its inclusion proof: r->has_proof, and an event. */
bool bundle_retention_encode(const struct bundle_record *r, struct buf *b);
bool bundle_retention_decode(struct str line, struct bundle_record *ret);
bool bundle_checkpoint_encode(const struct bundle_head *h, struct buf *b);
bool bundle_checkpoint_decode(struct str line, struct bundle_head *ret);
/* {"body":…,"sig":… without the brace that ends it; scan takes the same off the front of s. */
void bundle_head_put(struct buf *b, const struct bundle_head *h);
bool bundle_head_scan(struct str *s, struct bundle_head *ret);
/* A head that somebody keeps: {"body":…,"sig":…} and a newline. Without its signature it convicts nobody, so it is never written
 * without. */
bool bundle_kept_encode(const struct bundle_head *h, struct buf *b);
/* With or without the newline. */
bool bundle_kept_decode(struct str text, struct bundle_head *ret);
bool bundle_end_encode(const struct bundle_end *f, struct buf *b);
bool bundle_end_decode(struct str line, struct bundle_end *ret);
