/* SPDX-License-Identifier: Apache-2.0 */
/* test_words.c - words get numbers in the order in which they come, whatever their bytes; what is no word is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "core/data/words.h"

static void test_numbers(void **st)
{
    (void)st;
    enum { WORDS = 1000, PRIME = 7919 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    struct words w = { 0 };
    struct err why = { 0 };
    char text[16];
    int32_t n;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < WORDS; i++) {
            snprintf(text, sizeof text, "w%d", i * PRIME % WORDS);
            assert_int_equal(words_add(a, &w, str_c(text), WORDS, &n, &why), ERR_OK);
            assert_int_equal(n, i);
            assert_int_equal(words_find(&w, str_c(text)), i);
        }
    assert_int_equal(w.n, WORDS);
    assert_int_equal(words_find(&w, STR("w")), WORD_NONE);
    assert_int_equal(words_find(&w, STR("w10000")), WORD_NONE);
    assert_int_equal(words_add(a, &w, STR("one more"), WORDS, &n, &why), ERR_LIMIT);
    assert_non_null(strstr(why.msg, "more than the 1000 different words"));
}

static void test_no_words(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
    char longest[WORD_BYTES_MAX + 1];
    struct words w = { 0 };
    struct err why = { 0 };
    int32_t n;
    memset(longest, 'a', sizeof longest);
    assert_int_equal(words_find(&w, STR("")), WORD_NONE);
    assert_int_equal(words_add(a, &w, str_n(longest, WORD_BYTES_MAX), 9, &n, &why), ERR_OK);
    const struct str none[] = { STR(""), str_n(longest, sizeof longest), STR("\xC3"), STR("a\nb"), str_n("a\0b", 3) };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(words_add(a, &w, none[i], 9, &n, &why), ERR_BAD_DATA);
    assert_int_equal(w.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_no_words) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
