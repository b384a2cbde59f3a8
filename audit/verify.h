/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - checks a bundle offline, in one pass and constant memory, and names the first damaged entry and the kind of damage.
 *
 * What "ok" means: the head is signed by a pinned key (or, without one, by a key the bundle itself brings: `pinned` is then
 * false and the caller must warn), and every event in the bundle is, byte for byte, at its place in the tree of that head.
 * Pure: no network, no database, no clock. Memory: one line (AUDIT_LINE_MAX) and two frontiers. */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "audit/head.h"

enum { AUDIT_LINE_MAX = 65536 };

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
    const struct audit_head *previous;     /* a head kept from an earlier bundle; NULL: none */
    bool allow_dropped;                    /* accept entries whose body retention dropped ("event":null) */
};
struct verify_result {
    enum verify_damage damage;
    uint64_t tseq;              /* first damaged entry; 0: not an entry */
    uint64_t line;              /* where it was seen, from 1; 0: nowhere */
    char text[320];             /* one sentence for people */
    bool pinned;
    uint64_t count, dropped;    /* entries seen, of these without body */
    uint64_t from, to;
    struct audit_head head;     /* valid once the manifest was read */
};

/* Returns 0 when ret->damage is VERIFY_OK, else 1. */
int audit_verify(verify_read_fn read, void *ctx, const struct verify_opts *opts, struct verify_result *ret);
/* "edited", "deleted", … */
const char *verify_damage_text(enum verify_damage d);
