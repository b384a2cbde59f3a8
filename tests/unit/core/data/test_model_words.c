/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_words.c - a model's dictionary: read by column and code; what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/cleanup.h"
#include "core/data/model_words.h"

static enum errc words_of(struct arena *a, const char *text, struct model_words *ret, struct err *e)
{
    struct st_pair meta[] = { { STR(MODEL_WORDS), str_c(text) }, { STR(MODEL_MISSING), STR("true") } };
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    struct st_file f;
    assert_int_equal(st_write(&b, NULL, 0, meta, 2, e), ERR_OK);
    char *kept = arena_strndup(a, b.ptr, b.len);
    assert_int_equal(st_parse(a, kept, b.len, &f, e), ERR_OK);
    return model_words_read(a, &f, ret, e);
}

static void test_reads(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    struct model_words m;
    struct err e = { 0 };
    assert_int_equal(words_of(a, "[[\"red\",\"blue\"],[],[\"\\u0646\\u0639\\u0645\"]]", &m, &e), ERR_OK);
    assert_true(m.columns == 3 && m.takes_missing);
    assert_int_equal(words_find(&m.words[0], STR("blue")), 1);
    assert_int_equal(words_find(&m.words[1], STR("blue")), WORD_NONE);
    assert_int_equal(words_find(&m.words[2], STR("نعم")), 0);
}

static void test_refuses(void **st)
{
    (void)st;
    static const struct { const char *text, *why; } all[] = {
        { "", "no list of lists" }, { "{}", "no list of lists" }, { "[]", "or are none" },
        { "[\"red\"]", "no list of at most 256 lists" },
        { "[[1]]", "no list of texts" }, { "[[\"a\",\"a\"]]", "one twice" }, { "[[\"\"]]", "1 to 128 bytes" },
        { "[[\"a\"]] ", "go on behind" }, { "[[\"a\"]", "go on behind" }, { "[[\"a\" \"b\"]]", "cannot be read" },
        { "[[\"a\"],[\"b\"", "cannot be read" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
        struct model_words m;
        struct err e = { 0 };
        if (words_of(a, all[i].text, &m, &e) == ERR_OK || !strstr(e.msg, all[i].why))
            fail_msg("%s: \"%s\" does not say \"%s\"", all[i].text, e.msg, all[i].why);
    }
}

static void test_limits(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    for (int over = 0; over < 2; over++) {
        CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
        struct model_words m;
        struct err e = { 0 };
        buf_add_c(&b, "[[");
        for (int i = 0; i < COLUMN_CODES_MAX + over; i++)
            buf_printf(&b, "%s\"w%d\"", i ? "," : "", i);
        buf_add_c(&b, "]]");
        assert_int_equal(words_of(a, b.ptr, &m, &e), over ? ERR_LIMIT : ERR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_reads), cmocka_unit_test(test_refuses),
                                        cmocka_unit_test(test_limits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
