/* SPDX-License-Identifier: Apache-2.0 */
/* test_unzstd.c - zstd streams whole, in frames, cut off, damaged, and larger inside than is allowed. */
#include "image_kit.h"
#include "workers/image/unzstd.h"

struct bytes_at { struct str s; size_t at; };

static enum errc read_bytes(void *ctx, void *p, size_t n, size_t *ret, struct err *e)
{
    struct bytes_at *b = ctx;
    (void)e;
    *ret = n < b->s.len - b->at ? n : b->s.len - b->at;
    *ret = *ret > 7 ? 7 : *ret;
    memcpy(p, b->s.ptr + b->at, *ret);
    b->at += *ret;
    return ERR_OK;
}

static enum errc unpack_to(struct str packed, uint64_t most, struct buf *ret, struct err *e)
{
    CLEANUP(unzstd_freep) struct unzstd *g = NULL;
    struct bytes_at b = { packed, 0 };
    char room[100];
    size_t n;
    *e = (struct err){ 0 };
    buf_clear(ret);
    TRY(unzstd_new((struct source){ read_bytes, &b }, most, &g, e));
    const struct source s = unzstd_source(g);
    do {
        TRY(s.read(s.ctx, room, sizeof room, &n, e));
        buf_add(ret, room, n);
    } while (n);
    return ERR_OK;
}

static void streams_are_read_to_their_end(void **state)
{
    (void)state;
    struct buf packed = BUF(1 << 20), got = BUF(1 << 20);
    struct err e;
    static char plain[200000];
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (char)(i * i % 251);
    zstd(str_n(plain, 100000), &packed);
    zstd(str_n(plain + 100000, 100000), &packed);
    assert_int_equal(unpack_to(buf_str(&packed), sizeof plain, &got, &e), ERR_OK);
    assert_true(got.len == sizeof plain && !memcmp(got.ptr, plain, sizeof plain));
    assert_int_equal(unpack_to(buf_str(&packed), sizeof plain - 1, &got, &e), ERR_LIMIT);
    assert_int_equal(unpack_to(str_n(packed.ptr, packed.len - 1), sizeof plain, &got, &e), ERR_BAD_DATA);
    packed.ptr[2] ^= 1;                                 /* its magic number */
    assert_int_equal(unpack_to(buf_str(&packed), sizeof plain, &got, &e), ERR_BAD_DATA);
    packed.ptr[2] ^= 1;
    packed.ptr[40] ^= 1;
    assert_true(unpack_to(buf_str(&packed), sizeof plain, &got, &e) == ERR_BAD_DATA || memcmp(got.ptr, plain, sizeof plain) != 0);
    assert_int_equal(unpack_to(STR("no zstd at all"), 100, &got, &e), ERR_BAD_DATA);
    assert_int_equal(unpack_to(STR(""), 100, &got, &e), ERR_OK);
    buf_release(&packed);
    buf_release(&got);
}

/* RFC 8878, 3.1.1.1: a frame that says it wants a window of 2 GiB; nothing of it is made. */
static void a_window_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    static const char frame[] = { '\x28', '\xb5', '\x2f', '\xfd', 0, (char)((31 - 10) << 3), 1, 0, 0 };
    struct buf got = BUF(1 << 20);
    struct err e;
    assert_int_equal(unpack_to(str_n(frame, sizeof frame), 100, &got, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "too much memory"));
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(streams_are_read_to_their_end),
                                        cmocka_unit_test(a_window_beyond_the_limit_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
