/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - checks a bundle offline, in one pass and constant memory, and names the first damaged entry and the kind of damage.
 *
 * What "ok" means: the head is signed by a pinned key (or, where the caller said trust_embedded, by a key that the bundle
 * itself brings: `pinned` is then false and the bundle only fits itself), and every event in the bundle is, byte for byte, at
 * its place in the tree of that head. Everything that is signed must be signed by such a key and fit: nothing is looked away
 * from. A body that is missing is accepted where the log's own retention entries list it, and in a filtered range where one field
 * of the entry, opened, says that the filter does not let it through. Pure: no network, no database, no clock. Large bundles are
 * looked at by several threads; the verdict, its entry and its words do not depend on how many. Only the caller's thread calls
 * `read`, which may be asked for more than what the verdict needed. Memory: a few blocks of lines (batches_int.h) and two
 * frontiers, whatever the length. */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "audit/bundle.h"

enum { AUDIT_LINE_MAX = 65536, VERIFY_CLAIM_MAX = 2048 };

enum verify_damage {
    VERIFY_OK,
    VERIFY_EDITED,          /* the bytes of an event, its leaf or its chain value were changed */
    VERIFY_DELETED,         /* an entry in the middle is missing */
    VERIFY_TRUNCATED,       /* the end is missing */
    VERIFY_INSERTED,        /* an entry that the log never had */
    VERIFY_SWAPPED,         /* entries stand in another order */
    VERIFY_DUPLICATED,      /* an entry stands twice */
    VERIFY_SPLICED,         /* an entry of another tenant */
    VERIFY_FORKED,          /* consistent in itself, but not the tree that was signed, now or before */
    VERIFY_WRONG_KEY,       /* the head is not signed by the pinned key */
    VERIFY_MALFORMED,       /* not a bundle, or a line that does not parse */
    VERIFY_UNREADABLE,      /* the reader failed */
};

/* Fill p with at most n bytes; 0 at the end, -1 on error. */
typedef ssize_t (*verify_read_fn)(void *ctx, void *p, size_t n);

struct verify_opts {
    const uint8_t (*pinned)[AUDIT_PUB];    /* keys known from elsewhere */
    size_t pinned_count;
    /* without pinned keys: those of the bundle count, which shows only that it fits itself */
    bool trust_embedded;
    const struct bundle_head *previous;    /* a head kept from an earlier bundle; NULL: none */
    bool previous_is_unsigned;             /* kept by a program that threw the signature away: `sig` is nothing */
    /* accept "event":null that no retention entry lists: anybody may have taken such a body */
    bool allow_unproved_drops;
    int threads;                /* to look at lines beside the caller; 0: as the machine has processors, up to 3; below 0: none */
};
struct verify_result {
    enum verify_damage damage;
    uint64_t tseq;              /* first damaged entry; 0: not an entry */
    uint64_t line;              /* where it was seen, from 1; 0: nowhere */
    char text[320];             /* one sentence for people */
    bool pinned;
    uint64_t count, dropped;    /* entries seen, of these without body */
    uint64_t unproved;          /* of the dropped: those that no retention entry lists */
    uint64_t withheld;          /* of a filtered range: entries that show that they do not fit */
    uint64_t checkpoints;       /* earlier heads on the way that fitted */
    bool is_selection, is_filtered;    /* what follows is what the bundle claims to be; each entry of it was checked */
    struct audit_filter filter;
    uint64_t from, to;
    struct audit_head head;     /* valid once the manifest was read */
    struct bundle_head signed_head;    /* the same, as it is signed: what an auditor keeps */
};

/* Returns 0 when ret->damage is VERIFY_OK, else 1. */
int audit_verify(verify_read_fn read, void *ctx, const struct verify_opts *opts, struct verify_result *ret);
/* "edited", "deleted", … */
const char *verify_damage_text(enum verify_damage d);
/* Members for a line of JSON, each with a comma before it: mode, filter, proves, key, unproved_drops, checkpoints. */
void verify_put_members(const struct verify_result *r, struct buf *b);
/* What an "ok" means, in sentences for people: mode and filter, what is proven and what is not, and by which key. */
void verify_put_claim(const struct verify_result *r, struct buf *b);
/* A head as it is kept: with its signature, or (*ret_unsigned) the bare body that older versions wrote. False: neither. */
bool verify_read_kept(struct str file, struct bundle_head *ret, bool *ret_unsigned);
