/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory by lifetime: everything a unit of work allocates dies together.
 *
 * Every unit of work (request, scheduler tick, lease) has one arena with a limit fixed at birth. Memory from an arena is zeroed,
 * aligned to 16 bytes and never freed alone. arena_alloc aborts only when the limit is passed by a bug: sizes that a user can
 * drive go through arena_try, which fails as LIMIT, or have a smaller limit of their own that fails first.
 * Foreign resources (PGresult, json_t, descriptors) hang on the arena by arena_defer and are undone in reverse order.
 * Not thread-safe: one arena, one thread at a time. */
#pragma once
#include <stddef.h>
#include "core/base/err.h"

struct arena;

/* limit_bytes: the most that may be in use at once, block overhead not counted. */
struct arena *arena_new(size_t limit_bytes);
void arena_free(struct arena *a);            /* runs the defers, frees all; NULL is fine */
void arena_freep(struct arena **a);          /* for CLEANUP */
void arena_reset(struct arena *a);           /* as free and new, but keeps the first block */
void *arena_alloc(struct arena *a, size_t n);                 /* zeroed; aborts past the limit */
void *arena_try(struct arena *a, size_t n);                   /* zeroed; NULL past the limit */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);
char *arena_strndup(struct arena *a, const char *s, size_t n); /* adds a final NUL */
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
size_t arena_used(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
