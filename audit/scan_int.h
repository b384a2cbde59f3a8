/* SPDX-License-Identifier: Apache-2.0 */
/* scan_int.h - strict reading of our own canonical JSON: every function takes what it names off the front of s, or fails.
 *
 * There is one spelling of everything (fixed order, no white space, lower-case hex, no leading zeros), so a reader of literals is
 * both the smallest and the strictest parser. Pure; allocates nothing. */
#pragma once
#include "audit/merkle.h"
#include "core/base/id.h"
#include "core/base/str.h"

/* Inline, so that the length of a literal is known where it is compared: a bundle of a million lines has ten million of them. */
static inline bool scan_lit(struct str *s, const char *lit)
{
    size_t n = strlen(lit);
    if (s->len < n || memcmp(s->ptr, lit, n) != 0)
        return false;
    s->ptr += n;
    s->len -= n;
    return true;
}
/* The numbers of a bundle and a head end at 2^53 - 1, which every reader of JSON can hold; those in an event's details are 64
 * bits. */
enum { SCAN_NUMBER_BITS = 53 };
bool scan_u64(struct str *s, uint64_t *ret);                       /* 0 to 2^53 - 1 */
bool scan_i53(struct str *s, int64_t *ret);                        /* -(2^53 - 1) to 2^53 - 1, no "-0" */
bool scan_i64(struct str *s, int64_t *ret);                        /* no "-0" */
bool scan_hex(struct str *s, uint8_t *out, size_t n);              /* 2n lower-case digits */
bool scan_hash(struct str *s, struct merkle_hash *ret);            /* "…64 digits…" */
bool scan_hashes(struct str *s, struct merkle_hash *out, size_t cap, size_t *ret_n);    /* ["…","…"] */
bool scan_uuid(struct str *s, struct uuid *ret);                   /* 8-4-4-4-12, lower case, no quotes */
bool scan_word(struct str *s, char *out, size_t cap);              /* "[A-Za-z0-9._:-]*" with quotes; NUL-terminated */
bool scan_base64(struct str *s, void *out, size_t cap, size_t *ret_n);    /* quoted, padded */
bool scan_is_word(struct str s);

void scan_put_hash(struct buf *b, const struct merkle_hash *h);    /* quoted */
void scan_put_hashes(struct buf *b, const struct merkle_hash *h, size_t n);
void scan_put_base64(struct buf *b, const void *p, size_t n);      /* quoted; n <= HEAD_BODY_MAX */
void scan_put_uuid(struct buf *b, struct uuid u);                  /* quoted */
