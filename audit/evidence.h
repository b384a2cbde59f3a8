/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - what shows a split view: two heads that cannot both be true, a head's place under the zone's head, a witness's
 * signature (docs/audit-format.md §7).
 *
 * Each is a file of one line with one spelling. Nothing in a file is believed: heads count when one of the given keys signed
 * them.
 * Pure: no I/O, no clock. */
#pragma once
#include "audit/bundle.h"

enum { EVIDENCE_BYTES_MAX = 24576 };

struct head_keys {
    const uint8_t (*key)[AUDIT_PUB];
    size_t n;
};
/* `b` is a head of the log of `a`, no smaller. At a's size the log of b had `root`, as the proof shows; a says something else. */
struct fork_file {
    struct bundle_head a, b;
    struct merkle_hash root;
    struct merkle_hash proof[MERKLE_PROOF_MAX];
    size_t proof_len;
};
/* `head` is entry `tseq` of the zone's log, whose head is `zone_head`; that extends `previous`, where there is one. */
struct head_proof {
    struct bundle_head head, zone_head, previous;
    uint64_t tseq;
    struct merkle_hash proof[MERKLE_PROOF_MAX], previous_proof[MERKLE_PROOF_MAX];
    size_t proof_len, previous_proof_len;
    bool has_previous;
};
/* The signature is over "falaj-witness-v1 " and the head's body. */
struct cosignature {
    struct bundle_head head;
    uint8_t witness[AUDIT_PUB], sig[AUDIT_SIG];
};

bool fork_file_encode(const struct fork_file *f, struct buf *b);
bool fork_file_decode(struct str text, struct fork_file *ret);
bool head_proof_encode(const struct head_proof *p, struct buf *b);
bool head_proof_decode(struct str text, struct head_proof *ret);
bool cosignature_encode(const struct cosignature *c, struct buf *b);
bool cosignature_decode(struct str text, struct cosignature *ret);

/* A head that one of the keys signed. */
bool head_is_signed(const struct bundle_head *h, struct head_keys keys, struct audit_head *ret);
/* NULL: it convicts whoever holds the key. Else why it does not. */
const char *fork_file_fault(const struct fork_file *f, struct head_keys keys);
/* NULL: it holds. */
const char *head_proof_fault(const struct head_proof *p, struct head_keys keys, struct audit_head *ret_head,
    struct audit_head *ret_zone);
/* NULL: both signatures are good. */
const char *cosignature_fault(const struct cosignature *c, struct head_keys keys, struct head_keys witnesses);
/* What a witness signs, in b. */
bool cosignature_text(const struct bundle_head *h, struct buf *b);
