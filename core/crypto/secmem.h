/* SPDX-License-Identifier: Apache-2.0 */
/* secmem.h - memory for keys: locked, left out of core dumps, wiped when freed; and the hardening of a process that holds keys.
 *
 * Calling order: secmem_init once, first thing in main, then secret32_new/free from any thread, secmem_done at the end.
 * secmem_init accepts only a fully locked heap where require_locked is set: OpenSSL otherwise hands out unlocked memory when
 * RLIMIT_MEMLOCK is too small. Exhaustion gives NULL and never falls back to plain memory; before secmem_init secret32_new
 * gives NULL as well. Callers hold few keys for a short time; a copy on the stack is wiped with secret_wipe on every way out. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"

enum { KEY_BYTES = 32 };

struct secret32 {
    uint8_t b[KEY_BYTES];
};

/* bytes: a power of two of at least 64 KiB. UNAVAILABLE when the heap cannot be made or, if required, locked. */
MUST_CHECK enum errc secmem_init(size_t bytes, bool require_locked, struct err *e);
bool secmem_is_ready(void);
bool secmem_is_locked(void);
size_t secmem_used(void);
bool secmem_done(void);                          /* false: something is still allocated */

struct secret32 *secret32_new(void);             /* zeroed; NULL: exhausted or not initialised */
void secret32_free(struct secret32 *s);          /* wipes; NULL is fine */
void secret32_freep(struct secret32 **s);        /* for CLEANUP */
void *secret_alloc(size_t n);                    /* the same for other sizes; give it back with the same n */
void secret_free(void *p, size_t n);
bool secret_is_secure(const void *p);            /* does it lie in the locked heap? */
void secret_wipe(void *p, size_t n);             /* never optimised away */
void secret32_wipe(struct secret32 *s);          /* for CLEANUP of one on the stack */

/* No core dumps, no ptrace by equals: PR_SET_DUMPABLE 0, RLIMIT_CORE 0, PR_SET_NO_NEW_PRIVS. */
MUST_CHECK enum errc process_harden(struct err *e);
