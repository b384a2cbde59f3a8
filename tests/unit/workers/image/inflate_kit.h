/* SPDX-License-Identifier: Apache-2.0 */
/* inflate_kit.h - what the tests of compressed streams share: a source read to its end, and a stream of two parts. */
#pragma once
#include "image_kit.h"

static enum errc read_all(struct source s, struct buf *ret, struct err *e)
{
    char room[100];
    size_t n;
    do {
        TRY(s.read(s.ctx, room, sizeof room, &n, e));
        buf_add(ret, room, n);
    } while (n);
    return ERR_OK;
}

enum { PLAIN_BYTES = 200000 };
static char plain[PLAIN_BYTES];

typedef enum errc (*unpack_fn)(struct str packed, uint64_t most, struct buf *ret, struct err *e);

/* Two streams behind each other are one; packed has them afterwards, and got what they hold. */
static void check_two_parts(void (*pack)(struct str what, struct buf *out), unpack_fn unpack, struct buf *packed,
                            struct buf *got)
{
    struct err e;
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (char)(i * i % 251);
    pack(str_n(plain, PLAIN_BYTES / 2), packed);
    pack(str_n(plain + PLAIN_BYTES / 2, PLAIN_BYTES / 2), packed);
    assert_int_equal(unpack(buf_str(packed), sizeof plain, got, &e), ERR_OK);
    assert_true(got->len == sizeof plain && !memcmp(got->ptr, plain, sizeof plain));
    assert_int_equal(unpack(buf_str(packed), sizeof plain - 1, got, &e), ERR_LIMIT);
    assert_int_equal(unpack(str_n(packed->ptr, packed->len - 1), sizeof plain, got, &e), ERR_BAD_DATA);
    assert_int_equal(unpack(STR("nothing packed at all"), 100, got, &e), ERR_BAD_DATA);
    assert_int_equal(unpack(STR(""), 100, got, &e), ERR_OK);
}
