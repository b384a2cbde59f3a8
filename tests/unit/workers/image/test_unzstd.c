/* SPDX-License-Identifier: Apache-2.0 */
/* test_unzstd.c - zstd streams whole, in frames, cut off, damaged, and larger inside than is allowed. */
#include "inflate_kit.h"
#include "workers/image/unzstd.h"

static enum errc unpack_to(struct str packed, uint64_t most, struct buf *ret, struct err *e)
{
    CLEANUP(unzstd_freep) struct unzstd *g = NULL;
    struct bytes_at b = { packed, 0, 7 };
    *e = (struct err){ 0 };
    buf_clear(ret);
    TRY(unzstd_new((struct source){ read_bytes, &b }, most, &g, e));
    return read_all(unzstd_source(g), ret, e);
}

static void streams_are_read_to_their_end(void **state)
{
    (void)state;
    struct buf packed = BUF(1 << 20), got = BUF(1 << 20);
    struct err e;
    check_two_parts(zstd, unpack_to, &packed, &got);
    packed.ptr[2] ^= 1;                                 /* its magic number */
    assert_int_equal(unpack_to(buf_str(&packed), sizeof plain, &got, &e), ERR_BAD_DATA);
    packed.ptr[2] ^= 1;
    packed.ptr[40] ^= 1;
    assert_true(unpack_to(buf_str(&packed), sizeof plain, &got, &e) == ERR_BAD_DATA || memcmp(got.ptr, plain, sizeof plain) != 0);
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
