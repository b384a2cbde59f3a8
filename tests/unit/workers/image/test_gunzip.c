/* SPDX-License-Identifier: Apache-2.0 */
/* test_gunzip.c - gzip streams whole, in members, cut off, damaged, and larger inside than is allowed. */
#include "image_kit.h"
#include "workers/image/gunzip.h"

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

static enum errc unzip(struct str packed, uint64_t most, struct buf *ret, struct err *e)
{
    CLEANUP(gunzip_freep) struct gunzip *g = NULL;
    struct bytes_at b = { packed, 0 };
    char room[100];
    size_t n;
    *e = (struct err){ 0 };
    buf_clear(ret);
    TRY(gunzip_new((struct source){ read_bytes, &b }, most, &g, e));
    const struct source s = gunzip_source(g);
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
    gzip(str_n(plain, 100000), &packed);
    gzip(str_n(plain + 100000, 100000), &packed);
    assert_int_equal(unzip(buf_str(&packed), sizeof plain, &got, &e), ERR_OK);
    assert_true(got.len == sizeof plain && !memcmp(got.ptr, plain, sizeof plain));
    assert_int_equal(unzip(buf_str(&packed), sizeof plain - 1, &got, &e), ERR_LIMIT);
    assert_int_equal(unzip(str_n(packed.ptr, packed.len - 1), sizeof plain, &got, &e), ERR_BAD_DATA);
    packed.ptr[packed.len - 6] ^= 1;                    /* the check sum */
    assert_int_equal(unzip(buf_str(&packed), sizeof plain, &got, &e), ERR_BAD_DATA);
    assert_int_equal(unzip(STR("no gzip at all"), 100, &got, &e), ERR_BAD_DATA);
    assert_int_equal(unzip(STR(""), 100, &got, &e), ERR_OK);
    buf_release(&packed);
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(streams_are_read_to_their_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
