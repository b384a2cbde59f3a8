/* SPDX-License-Identifier: Apache-2.0 */
/* test_gunzip.c - gzip streams whole, in members, cut off, damaged, and larger inside than is allowed. */
#include "inflate_kit.h"
#include "workers/image/gunzip.h"

static enum errc unzip(struct str packed, uint64_t most, struct buf *ret, struct err *e)
{
    CLEANUP(gunzip_freep) struct gunzip *g = NULL;
    struct bytes_at b = { packed, 0, 7 };
    *e = (struct err){ 0 };
    buf_clear(ret);
    TRY(gunzip_new((struct source){ read_bytes, &b }, most, &g, e));
    return read_all(gunzip_source(g), ret, e);
}

static void streams_are_read_to_their_end(void **state)
{
    (void)state;
    struct buf packed = BUF(1 << 20), got = BUF(1 << 20);
    struct err e;
    check_two_parts(gzip, unzip, &packed, &got);
    packed.ptr[packed.len - 6] ^= 1;                    /* the check sum */
    assert_int_equal(unzip(buf_str(&packed), sizeof plain, &got, &e), ERR_BAD_DATA);
    buf_release(&packed);
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(streams_are_read_to_their_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
