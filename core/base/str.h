/* SPDX-License-Identifier: Apache-2.0 */
/* str.h - borrowed views of text, growing buffers with a maximum at birth, and checked numbers.
 *
 * struct str does not own its bytes and is not NUL-terminated; ptr NULL is "absent", which differs from empty.
 * struct buf owns its bytes; the maximum is fixed by BUF(max) and passing it sets `overflow` instead of growing, so that a
 * sequence of appends needs one check at its end. buf_release is safe on a BUF that was never used. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "core/base/arena.h"
#include "core/base/err.h"

struct str {
    const char *ptr;
    size_t len;
};
/* A list of n items of a type that whoever declares it names. */
struct slice {
    void *items;
    size_t n;
};
/* Types of their own, so that a schema can tell them from text. */
struct json { struct str text; };           /* JSON text, checked, passed on unchanged */
struct bytes { struct str data; };          /* base64 in JSON, bytea in SQL */

#define STR(lit) ((struct str){ "" lit, sizeof(lit) - 1 })
#define STR_NULL ((struct str){ NULL, 0 })
/* For printf: "%.*s", STR_ARG(s) */
#define STR_ARG(s) (int)(s).len, (s).ptr ? (s).ptr : ""

static inline struct str str_c(const char *c)
{
    return (struct str){ c, c ? strlen(c) : 0 };
}
static inline struct str str_n(const char *p, size_t n)
{
    return (struct str){ p, n };
}
bool str_eq(struct str a, struct str b);
bool str_eq_c(struct str a, const char *b);
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
int str_cmp(struct str a, struct str b);                       /* bytes, then length */
ptrdiff_t str_find(struct str s, char c);                      /* -1: absent */
struct str str_trim(struct str s);                             /* spaces and tabs at both ends */
/* Cut at the first sep: *head before it, rest after it; without sep head is all and false is returned. */
bool str_cut(struct str s, char sep, struct str *head, struct str *rest);
struct str str_dup(struct arena *a, struct str s);             /* NUL-terminated copy in the arena */
const char *str_z(struct arena *a, struct str s);              /* as C string */
struct str str_fmt(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *str_dup_heap(struct str s);                              /* outlives the arena on purpose; free() it */
bool str_is_utf8(struct str s);
uint64_t str_hash(struct str s);                               /* FNV-1a, for tables in memory only */

/* Whole-string number parsing; false on junk, overflow or range. */
bool str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret);
bool str_to_f64(struct str s, double *ret);                    /* finite only */
bool str_to_bool(struct str s, bool *ret);                     /* true|false|1|0|yes|no|on|off */

struct buf {
    char *ptr;      /* NUL-terminated whenever non-NULL */
    size_t len, cap, max;
    bool overflow;
};

#define BUF(max_bytes) ((struct buf){ .max = (max_bytes) })
void buf_release(struct buf *b);
void buf_releasep(struct buf *b);                              /* for CLEANUP */
void buf_clear(struct buf *b);                                 /* empty it, keep the memory */
bool buf_reserve(struct buf *b, size_t more);                  /* false: would pass max; sets overflow */
bool buf_add(struct buf *b, const void *p, size_t n);
bool buf_add_c(struct buf *b, const char *s);
bool buf_add_str(struct buf *b, struct str s);
bool buf_add_char(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool buf_add_i64(struct buf *b, int64_t v);
/* A JSON string with quotes; control bytes as \u00XX. The input must be UTF-8. */
bool buf_add_json(struct buf *b, struct str s);
bool buf_add_hex(struct buf *b, const void *p, size_t n);
static inline struct str buf_str(const struct buf *b)
{
    return (struct str){ b->ptr ? b->ptr : "", b->len };
}

/* --- bytes as text: encoding.c --- */
size_t hex_encode(const void *p, size_t n, char *out);         /* out: 2n+1 bytes; returns 2n */
bool hex_decode(struct str s, void *out, size_t n);            /* exactly 2n digits, either case */
/* RFC 4648 base64, padded; url: base64url without padding. Sizes: BASE64_MAX(n) bytes incl. NUL. */
#define BASE64_MAX(n) (((n) + 2) / 3 * 4 + 1)
size_t base64_encode(const void *p, size_t n, char *out, bool url);
bool base64_decode(struct str s, void *out, size_t cap, size_t *ret_len, bool url);
