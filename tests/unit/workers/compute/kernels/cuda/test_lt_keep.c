/* SPDX-License-Identifier: Apache-2.0 */
/* test_lt_keep.c - chosen ways as a text and back: they are used again without a choice; another card, library or a text that is
 * none binds nothing; a way that the library does not know for its kind is chosen anew. */
#include "lt_kit.h"

enum { M = 8, N = 12, K = 20 };

static void multiply(struct backend_ctx *c, unsigned flags)
{
    const struct tensor a = kit_matrix(c, ELEM_F32, M, K, 0, 0, 1), b = kit_matrix(c, ELEM_F32, N, K, 0, 0, 2);
    const struct tensor out = kit_matrix(c, ELEM_F32, M, N, 0, 0, 3);
    const struct op_call o = { .attr.flags = MM_TRANS_B | flags, .in = { &a, &b }, .out = { &out } };
    struct err e;
    cuda_matmul(c, &o);
    if (backend_cuda_emu.sync(c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    kit_drop(c, &a), kit_drop(c, &b), kit_drop(c, &out);
}

/* Two kinds, of whose ways the last is the fastest. */
static void text_of(struct buf *ret)
{
    emu_lt_reset();
    emu_lt.answers = 3;
    emu_lt.fastest = 2;
    struct backend_ctx *c = kit_lt(true);
    multiply(c, 0);
    multiply(c, OP_ACCUMULATE);
    emu_library.keep(c, ret);
    kit_close(c);
    emu_lt.fastest = 0;
    emu_lt.asks = 0;
}

static void test_bound(void **st)
{
    (void)st;
    struct buf text = BUF(65536), again = BUF(65536);
    text_of(&text);
    assert_true(str_starts(buf_str(&text), "13.0.0 processor-0;8 c 14 "));
    struct backend_ctx *c = kit_lt(true);
    assert_true(emu_library.bind(c, buf_str(&text)));
    multiply(c, 0);
    assert_int_equal(emu_lt.asks, 0);
    assert_int_equal(emu_lt.checks, 1);
    assert_int_equal(c->lt->of[0].way.of[1], 2);
    emu_library.keep(c, &again);                        /* what was not used yet is kept, too */
    assert_true(str_eq(buf_str(&text), buf_str(&again)));
    kit_close(c);
    buf_release(&text);
    buf_release(&again);
}

static void test_another_library(void **st)
{
    (void)st;
    struct buf text = BUF(65536);
    text_of(&text);
    emu_lt.version = 12;
    struct backend_ctx *c = kit_lt(true);
    assert_false(emu_library.bind(c, buf_str(&text)));
    multiply(c, 0);
    assert_int_equal(emu_lt.asks, 1);
    kit_close(c);
    buf_release(&text);
}

static void test_no_such_way(void **st)
{
    (void)st;
    struct buf text = BUF(65536);
    text_of(&text);
    char *at = strstr(text.ptr, " 6c74 ");
    assert_non_null(at);
    at[1] = '7';
    struct backend_ctx *c = kit_lt(true);
    assert_true(emu_library.bind(c, buf_str(&text)));
    multiply(c, 0);
    assert_int_equal(emu_lt.asks, 1);
    assert_int_equal(c->lt->of[0].way.of[1], 0);
    kit_close(c);
    buf_release(&text);
}

static void test_no_text(void **st)
{
    (void)st;
    static const char *const bad[] = { "", ";", "13.0.0 processor-0", "13.0.0 processor-0;", "13.0.0 processor-0;1 2 3",
                                       "13.0.0 processor-0;g", "13.0.0 processor-0;11111111111111111" };
    emu_lt_reset();
    struct backend_ctx *c = kit_lt(true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(emu_library.bind(c, str_c(bad[i])));
    assert_int_equal(c->lt->count, 0);
    kit_close(c);
    struct buf none = BUF(64);
    c = kit_emu();                                      /* no library, no ways */
    emu_library.keep(c, &none);
    assert_int_equal(none.len, 0);
    assert_false(emu_library.bind(c, STR("13.0.0 processor-0;1")));
    assert_null(emu_library.news(c));
    kit_close(c);
    buf_release(&none);
}

/* As many kinds as there is room for: the next one is an own kernel's, and the log learns that once. */
static void test_full(void **st)
{
    (void)st;
    emu_lt_reset();
    struct backend_ctx *c = kit_lt(true);
    multiply(c, 0);
    while (c->lt->count < LT_ENTRIES_MAX) {
        struct lt_entry *n = &c->lt->of[c->lt->count];
        *n = (struct lt_entry){ .state = LT_REFUSED };
        n->kind.of[KIND_M] = 1000 + c->lt->count++;
    }
    multiply(c, 0);
    assert_null(emu_library.news(c));
    emu_lt.asks = 0;
    multiply(c, OP_ACCUMULATE);
    const char *said = emu_library.news(c);
    assert_non_null(said);
    assert_string_equal(said, "cuBLASLt has ways for 512 kinds of products, which is all that are kept: own kernels make those "
                        "of any other kind");
    multiply(c, OP_ACCUMULATE);
    assert_null(emu_library.news(c));
    assert_int_equal(emu_lt.asks, 0);
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_bound), cmocka_unit_test(test_another_library),
                                        cmocka_unit_test(test_no_such_way), cmocka_unit_test(test_no_text),
                                        cmocka_unit_test(test_full) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
