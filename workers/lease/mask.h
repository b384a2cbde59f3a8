/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h - keeps values out of a stream of bytes, however it is cut: each run of bytes that belongs to a value becomes "***".
 *
 * What is looked for is a value without the ends of lines behind it, and, of a value of several lines, each line of at least
 * MASK_LEAST bytes, so that a key which is printed line by line is found too. Two values that overlap are both kept out. What a
 * program spells in another way (base64, a letter a line) is not found.
 *
 * Calling order: mask_new -> mask_add* -> mask_ready, then for each stream mask_begin -> mask_feed* -> mask_end. One thread.
 * Memory: some 28 bytes for each byte that is looked for; a stream holds back at most the longest value, as long as what came
 * last may be the beginning of one. Time: linear in what comes (Aho and Corasick, CACM 18(6), 1975). Errors: LIMIT
 * (MASK_BYTES_MAX). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/str.h"

enum { MASK_LEAST = 8, MASK_BYTES_MAX = 1 << 20 };
#define MASK_STARS "***"

struct mask;
MUST_CHECK enum errc mask_new(struct mask **ret, struct err *e);
void mask_free(struct mask *m);                     /* wipes; NULL is fine */
MUST_CHECK enum errc mask_add(struct mask *m, struct str value, struct err *e);
void mask_ready(struct mask *m);                    /* no more values */

/* One stream. What may be told goes to `tell` byte by byte. */
struct mask_stream {
    const struct mask *mask;        /* NULL: nothing is looked for */
    void (*tell)(void *ctx, char c);
    void *ctx;
    uint32_t node;
    uint64_t came, told;            /* bytes of the stream so far; those between are held back */
    char *held;                     /* a ring of `room` bytes */
    size_t room;
    /* what of the stream belongs to values: a ring, in order, apart from each other */
    struct mask_part { uint64_t from, to; } *parts;
    size_t parts_room, first, n;
    bool in_secret;                 /* the last byte told was of a value: stars stand for it already */
};
MUST_CHECK enum errc mask_begin(struct mask_stream *s, const struct mask *m, void (*tell)(void *ctx, char c), void *ctx,
    struct err *e);
void mask_feed(struct mask_stream *s, const char *p, size_t n);
void mask_flush(struct mask_stream *s);             /* what is held back is told: nothing more comes */
void mask_end(struct mask_stream *s);               /* gives memory back, wiped */
