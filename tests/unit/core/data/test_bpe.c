/* SPDX-License-Identifier: Apache-2.0 */
/* test_bpe.c - whatever bytes go in come out; the same text gives the same vocabulary, whose file reads back; a file that lies is
 * refused with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpe_kit.h"

static struct str decoded(const struct bpe *v, const struct buf *tokens)
{
    struct buf out = BUF(TEXT * 2);
    struct err e;
    for (size_t i = 0; i + 1 < tokens->len; i += 2) {
        const unsigned char *p = (const unsigned char *)tokens->ptr + i;
        assert_int_equal(bpe_decode(v, (uint32_t)p[0] | (uint32_t)p[1] << 8, &out, &e), ERR_OK);
    }
    struct str copy = str_dup(arena, buf_str(&out));
    buf_release(&out);
    return copy;
}

static void comes_back(const struct bpe *v, struct str s)
{
    struct buf tokens = BUF(4 * TEXT);
    assert_true(bpe_encode(v, s, &tokens));
    assert_true(str_eq(decoded(v, &tokens), s));
    buf_release(&tokens);
}

static void test_round_trip(void **st)
{
    (void)st;
    struct bpe v;
    struct err e = { 0 };
    uint32_t state = 7;
    assert_int_equal(bpe_train(arena, make_text(1), 400, &v, &e), ERR_OK);
    assert_true(v.tokens > 270 && v.tokens <= 400);
    comes_back(&v, make_text(1));
    comes_back(&v, make_text(2));
    char noise[600];
    for (int i = 0; i < 300; i++) {
        size_t n = next(&state) % sizeof noise;
        for (size_t k = 0; k < n; k++)
            noise[k] = (char)(i % 3 ? next(&state) : ' ' + next(&state) % 3 * 40);
        comes_back(&v, str_n(noise, n));
    }
    struct buf tokens = BUF(4 * TEXT);
    struct str s = make_text(1);
    assert_true(bpe_encode(&v, s, &tokens) && tokens.len / 2 < s.len / 3);
    buf_release(&tokens);
    assert_int_equal(bpe_decode(&v, v.tokens, &tokens, &e), ERR_BAD_DATA);
}

static void test_file(void **st)
{
    (void)st;
    struct bpe v, again;
    struct err e = { 0 };
    struct buf file = BUF(65536), second = BUF(65536);
    assert_int_equal(bpe_train(arena, make_text(3), 300, &v, &e), ERR_OK);
    assert_true(bpe_write(&file, &v));
    assert_int_equal(bpe_read(arena, buf_str(&file), &again, &e), ERR_OK);
    assert_true(bpe_write(&second, &again) && str_eq(buf_str(&file), buf_str(&second)));
    comes_back(&again, make_text(4));
    for (size_t n = 0; n < file.len; n++)
        assert_int_equal(bpe_read(arena, str_n(file.ptr, n), &again, &e), ERR_BAD_DATA);
    static const struct { const char *file, *why; } rows[] = {
        { "falaj-bpe 2\n257\n", "line 1" },          { "falaj-bpe 1\n256\n", "line 2" },
        { "falaj-bpe 1\n65537\n", "line 2" },        { "falaj-bpe 1\n258\n97 256\n", "line 3: its parts" },
        { "falaj-bpe 1\n258\n97 098\n", "line 3" },  { "falaj-bpe 1\n259\n97 98\n97 98\n", "line 4: this merge stands twice" },
        { "falaj-bpe 1\n257\n97 98\n", "line 3: nothing is due" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (bpe_read(arena, str_c(rows[i].file), &again, &e) == ERR_OK || !strstr(e.msg, rows[i].why))
            fail_msg("\"%s\" does not say \"%s\"", e.msg, rows[i].why);
    }
    buf_release(&file);
    buf_release(&second);
    assert_int_equal(bpe_train(arena, STR("x"), 256, &v, &e), ERR_INVALID);
    assert_int_equal(bpe_train(arena, STR("abc"), 300, &v, &e), ERR_OK);
    assert_int_equal(v.tokens, BPE_TOKENS_MIN);
}

/* A file of few bytes must not cost the square of its merges: neither one merge over and over, nor many on one place. */
static void test_a_file_cannot_make_its_table_slow(void **st)
{
    (void)st;
    enum { SAME = 160, SLOTS = 512, NEAR = 4 };      /* 160 merges have 512 slots */
    struct bpe v;
    struct err e = { 0 };
    struct buf file = BUF(65536);
    int n = 0;
    buf_printf(&file, "falaj-bpe 1\n%d\n", BPE_TOKENS_MIN + SAME);
    for (uint32_t pair = 0; pair < 256 * 256 && n < SAME; pair++)
        if (bpe_hash(pair >> 8, pair & 255) % SLOTS < NEAR) {
            buf_printf(&file, "%u %u\n", pair >> 8, pair & 255);
            n++;
        }
    assert_int_equal(n, SAME);
    assert_int_equal(bpe_read(arena, buf_str(&file), &v, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "merges were chosen to fall on one place of their table"));
    buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_file),
                                        cmocka_unit_test(test_a_file_cannot_make_its_table_slow) };
    return cmocka_run_group_tests(tests, make, drop);
}
