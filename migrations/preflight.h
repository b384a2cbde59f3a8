/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.h - what a migration will do to tables that hold rows, read from its text: which locks, on what, how large.
 *
 * It is a reading, not a rehearsal: nothing is run and nothing is locked. What an SQL function does that a migration calls is not
 * seen by it, and it says so. How long an upgrade takes is measured on a restored backup (howto/upgrade.md). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/str.h"

/* Strongest last. */
enum table_lock {
    LOCK_ROWS,              /* ROW EXCLUSIVE: rows are written; nobody waits but for the same rows */
    LOCK_WRITERS,           /* SHARE, SHARE ROW EXCLUSIVE: writers wait */
    LOCK_ALL,               /* ACCESS EXCLUSIVE: readers and writers wait */
};
struct table_touch {
    char table[64];
    enum table_lock lock;
    bool reads_all;         /* every row is read or written: its time grows with the table */
};
enum { TOUCHES_MAX = 128 };

/* The tables that the text touches, each once with its strongest lock; those it makes itself are left out. Returns how many. */
size_t preflight_touches(const char *sql, struct table_touch *out, size_t cap);
