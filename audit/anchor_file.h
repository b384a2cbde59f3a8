/* SPDX-License-Identifier: Apache-2.0 */
/* anchor_file.h - reads the file that the zone's heads are anchored in (docs/audit-format.md §7): lines that chain, each with a
 * head of
 * the zone and its signature. What it answers: is this head of the zone in it?
 *
 * Nothing in the file is believed: a head counts when one of the given keys signed it. A line that a crash tore is followed by
 * one that
 * chains to what is left of it; it is counted, since nothing chains to the line before it. A last line without its end is passed
 * over.
 * One pass, constant memory. Pure: no I/O, no clock. */
#pragma once
#include "audit/evidence.h"
#include "audit/verify.h"

enum { ANCHOR_LINE_MAX = 4096 };

struct anchor_seen {
    uint64_t lines, torn;          /* of the lines: those that a crash left without their end */
    uint64_t newest;               /* size of the last head in it; 0: none */
    int64_t ts_us;                 /* of the line with the head that was looked for */
    bool is_there, is_torn;        /* is_torn: the line before this one */
};

/* The whole line without its newline, as audit_anchor_file writes it. */
bool anchor_line_decode(struct str line, struct bundle_head *ret, struct merkle_hash *ret_prev);
/* NULL: every line is right, chains to the one before, and is signed by one of the keys. Else what is wrong with line ret->lines.
 * want: a head of the zone; ret->is_there says whether that very head is anchored. Another head of its size is a fault. */
const char *anchor_file_fault(verify_read_fn read, void *ctx, const struct bundle_head *want, struct head_keys keys,
                              struct anchor_seen *ret);
/* The same in a sentence for people; true: the head is in the file and no line is wrong. */
bool anchor_verdict(const char *fault, const struct anchor_seen *seen, char *text, size_t cap);
