/* SPDX-License-Identifier: Apache-2.0 */
/* test_mask.c - values are kept out of a stream however it is cut; compared with a reading of the whole text that looks at
 * every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/base/str.h"
#include "workers/lease/mask.h"

enum { VALUES = 6, TEXT_MAX = 4000, VALUE_MAX = 60, ROUNDS = 3000 };

static void into(void *ctx, char c)
{
    assert_true(buf_add_char(ctx, c));
}

/* Pieces of at most `most` bytes. */
static void stream(const struct str *values, size_t n, struct str text, unsigned most, struct buf *ret)
{
    struct mask *m;
    struct mask_stream s;
    struct err e = { 0 };
    assert_int_equal(mask_new(&m, &e), ERR_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(mask_add(m, values[i], &e), ERR_OK);
    mask_ready(m);
    assert_int_equal(mask_begin(&s, m, into, ret, &e), ERR_OK);
    for (size_t at = 0; at < text.len;) {
        size_t piece = 1 + (size_t)rand() % most;
        if (piece > text.len - at)
            piece = text.len - at;
        mask_feed(&s, text.ptr + at, piece);
        at += piece;
    }
    mask_flush(&s);
    mask_end(&s);
    mask_free(m);
}

static void mark(struct str text, struct str value, bool *is_secret)
{
    for (size_t at = 0; value.len && at + value.len <= text.len; at++)
        if (memcmp(text.ptr + at, value.ptr, value.len) == 0)
            memset(is_secret + at, true, value.len);
}

/* The same by brute force. */
static void whole(const struct str *values, size_t n, struct str text, struct buf *ret)
{
    static bool is_secret[TEXT_MAX];
    memset(is_secret, 0, sizeof is_secret);
    for (size_t i = 0; i < n; i++) {
        struct str value = values[i], line, rest;
        while (value.len && strchr("\r\n", value.ptr[value.len - 1]))
            value.len--;
        mark(text, value, is_secret);
        for (bool more = true; more; value = rest) {
            more = str_cut(value, '\n', &line, &rest);
            while (line.len && strchr("\r\n", line.ptr[line.len - 1]))
                line.len--;
            if (line.len >= MASK_LEAST)
                mark(text, line, is_secret);
        }
    }
    for (size_t i = 0; i < text.len; i++)
        if (!is_secret[i])
            buf_add_char(ret, text.ptr[i]);
        else if (!i || !is_secret[i - 1])
            buf_add_c(ret, MASK_STARS);
}

/* Few letters, so that values overlap, begin alike and stand in each other. */
static struct str some(char *room, size_t least, size_t most, unsigned letters)
{
    const size_t n = least + (size_t)rand() % (most - least + 1);
    for (size_t i = 0; i < n; i++)
        room[i] = rand() % 40 == 0 ? '\n' : (char)('a' + (unsigned)rand() % letters);
    return str_n(room, n);
}

static void no_cut_lets_a_value_through(void **state)
{
    (void)state;
    static char room[VALUES][VALUE_MAX], text_room[TEXT_MAX];
    struct buf got = BUF(TEXT_MAX * 3), want = BUF(TEXT_MAX * 3);
    size_t masked = 0;
    srand(16);
    for (int round = 0; round < ROUNDS; round++) {
        struct str values[VALUES];
        const unsigned letters = 1 + (unsigned)rand() % 3;
        const size_t n = 1 + (size_t)rand() % VALUES;
        for (size_t i = 0; i < n; i++) {
            values[i] = some(room[i], 8, VALUE_MAX - 1, letters);
            memcpy(room[i], "abababab", 8);             /* long enough without the ends of lines behind it */
        }
        struct str text = some(text_room, 1, 400, letters);
        for (size_t put = 0; put < 6; put++) {          /* whole values in it, and pieces of them */
            const struct str v = values[(size_t)rand() % n];
            const size_t piece = rand() % 2 ? v.len : 1 + (size_t)rand() % v.len;
            memcpy(text_room + text.len, v.ptr, piece);
            text.len += piece;
            text.len += some(text_room + text.len, 1, 20, letters).len;
        }
        buf_clear(&got);
        buf_clear(&want);
        stream(values, n, text, 1 + (unsigned)rand() % 50, &got);
        whole(values, n, text, &want);
        if (!str_eq(buf_str(&got), buf_str(&want)))
            fail_msg("round %d: %.*s\nis not %.*s", round, STR_ARG(buf_str(&got)), STR_ARG(buf_str(&want)));
        masked += want.len >= 3 && memmem(want.ptr, want.len, MASK_STARS, 3) != NULL;
    }
    assert_in_range(masked, ROUNDS / 2, ROUNDS);
    buf_release(&got);
    buf_release(&want);
}

static void expect(const char *value, const char *text, const char *want)
{
    struct buf got = BUF(4096);
    const struct str v = str_c(value);
    for (unsigned most = 1; most < 9; most++) {
        buf_clear(&got);
        stream(&v, 1, str_c(text), most, &got);
        buf_add_char(&got, '\0');
        assert_string_equal(got.ptr, want);
    }
    buf_release(&got);
}

static void lines_ends_and_prefixes(void **state)
{
    (void)state;
    expect("hunter2hunter2\n", "say hunter2hunter2, or hunter2hunter", "say ***, or hunter2hunter");
    expect("hunter2hunter2\n", "hunter2hunter2\nhunter2hunter2\n", "***\n***\n");
    expect("hunter2hunter2", "hunter2hunter2hunter2hunter2", "***");
    expect("-----BEGIN KEY-----\r\nMIIEvQIBADANBg\r\nabc\r\n-----END KEY-----\r\n", "> MIIEvQIBADANBg\n> abc\n",
        "> ***\n> abc\n");
    expect("-----BEGIN KEY-----\nMIIEvQIBADANBg\nabc\n", "-----BEGIN KEY-----\nMIIEvQIBADANBg\nabc", "***");
}

static void what_cannot_be_kept_out_is_refused(void **state)
{
    (void)state;
    struct mask *m;
    struct err e = { 0 };
    char *large = malloc(MASK_BYTES_MAX + 10);
    assert_int_equal(mask_new(&m, &e), ERR_OK);
    assert_int_equal(mask_add(m, STR("short12\r\n"), &e), ERR_INVALID);
    assert_int_equal(mask_add(m, STR("notshort"), &e), ERR_OK);
    memset(large, 'x', MASK_BYTES_MAX + 10);
    assert_int_equal(mask_add(m, str_n(large, MASK_BYTES_MAX + 10), &e), ERR_LIMIT);
    free(large);
    mask_free(m);
    mask_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_cut_lets_a_value_through), cmocka_unit_test(lines_ends_and_prefixes),
                                        cmocka_unit_test(what_cannot_be_kept_out_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
