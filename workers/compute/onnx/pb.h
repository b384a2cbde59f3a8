/* SPDX-License-Identifier: Apache-2.0 */
/* pb.h - a strict cursor over one protobuf message in memory: no allocation, no recursion, never past its end.
 *
 * Calling order: pb_of -> while (pb_next(&p, &f)) by f.number -> p.why (NULL: the message was read to its end). What may be
 * read of a field follows from its wire type: pb_next refuses groups, numbers above 2^29 and lengths beyond the end; a caller
 * that expects another wire type calls pb_want. Packed lists of numbers are messages without fields: pb_varint over f.bytes.
 * Source: protobuf.dev, "Encoding". */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb {
    const unsigned char *at, *end;
    const char *why;            /* what is wrong with the bytes at `at` */
};

struct pb_field {
    uint32_t number;
    enum pb_wire wire;
    uint64_t value;             /* VARINT, FIXED64, FIXED32 */
    struct str bytes;           /* BYTES */
};

static inline struct pb pb_of(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    return (struct pb){ p, s.len ? p + s.len : p, NULL };
}

static inline bool pb_fail(struct pb *p, const char *why)
{
    p->why = why;
    return false;
}

/* At most ten bytes, the tenth at most 1. */
static inline bool pb_varint(struct pb *p, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; p->at < p->end; shift += 7) {
        unsigned char b = *p->at++;
        if (shift == 63 && b > 1)
            return pb_fail(p, "a number is longer than 64 bits");
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return pb_fail(p, "a number is cut off");
}

static inline bool pb_fixed(struct pb *p, size_t width, uint64_t *ret)
{
    if ((size_t)(p->end - p->at) < width)
        return pb_fail(p, "a number is cut off");
    *ret = 0;
    for (size_t i = width; i-- > 0;)
        *ret = *ret << 8 | p->at[i];
    p->at += width;
    return true;
}

static inline bool pb_next(struct pb *p, struct pb_field *f)
{
    uint64_t key, size;
    if (p->why || p->at == p->end || !pb_varint(p, &key))
        return false;
    if (key >> 32 || key >> 3 == 0)
        return pb_fail(p, "a field has no number that is allowed");
    *f = (struct pb_field){ .number = (uint32_t)(key >> 3), .wire = (enum pb_wire)(key & 7) };
    switch (f->wire) {
    case PB_VARINT: return pb_varint(p, &f->value);
    case PB_FIXED64: return pb_fixed(p, 8, &f->value);
    case PB_FIXED32: return pb_fixed(p, 4, &f->value);
    case PB_BYTES:
        if (!pb_varint(p, &size))
            return false;
        if (size > (size_t)(p->end - p->at))
            return pb_fail(p, "a field is longer than what holds it");
        f->bytes = str_n((const char *)p->at, (size_t)size);
        p->at += size;
        return true;
    default: return pb_fail(p, "a field has an unknown wire type");
    }
}

static inline bool pb_want(struct pb *p, const struct pb_field *f, enum pb_wire wire)
{
    return f->wire == wire || pb_fail(p, "a field has another wire type than its number says");
}
