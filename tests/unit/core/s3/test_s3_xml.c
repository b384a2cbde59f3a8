/* SPDX-License-Identifier: Apache-2.0 */
/* test_s3_xml.c - elements in their order, text with its entities, and answers that are cut or not what they should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/s3/s3_xml.h"

static void elements_follow_each_other(void **state)
{
    (void)state;
    struct str rest = STR("<?xml version=\"1.0\"?><L xmlns=\"x\"><Contents><Key>a</Key><Size>1</Size></Contents>"
                          "<Contents><Key>b&amp;&#x2f;&#47;&lt;&gt;&quot;&apos;</Key><Size>2</Size></Contents></L>");
    char text[S3_TEXT];
    struct str one;
    assert_true(s3_xml_next(&rest, "Contents", &one));
    assert_true(s3_xml_first(one, "Key", text));
    assert_string_equal(text, "a");
    assert_true(s3_xml_next(&rest, "Contents", &one));
    assert_true(s3_xml_first(one, "Size", text));
    assert_string_equal(text, "2");
    assert_true(s3_xml_first(one, "Key", text));
    assert_string_equal(text, "b&//<>\"'");
    assert_false(s3_xml_next(&rest, "Contents", &one));
    assert_false(s3_xml_first(STR(""), "Key", text));
}

static void what_is_not_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "<a/>", "&amp", "&;", "&nbsp;", "&#;", "&#x;", "&#0;", "&#10;", "&#127;", "&#x80;",
                                       "&#99999;",
                                       "&#1a;", "&#-1;", "&#+47;", "&# 47;" };
    char text[S3_TEXT];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (s3_xml_text(str_c(bad[i]), text))
            fail_msg("%s was taken for %s", bad[i], text);
    assert_false(s3_xml_text(str_n("a\0b", 3), text));
    char *large = malloc(S3_TEXT);
    memset(large, 'k', S3_TEXT);
    assert_true(s3_xml_text(str_n(large, S3_TEXT - 1), text));
    assert_false(s3_xml_text(str_n(large, S3_TEXT), text));
    free(large);
}

static void a_cut_answer_ends(void **state)
{
    (void)state;
    static const char whole[] = "<L><Contents><Key>abc</Key></Contents></L>";
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char *cut = malloc(n + 1), text[S3_TEXT];       /* on the heap, so that a byte too far is seen */
        struct str rest = str_n(cut, n), one;
        memcpy(cut, whole, n);
        bool has = s3_xml_next(&rest, "Contents", &one);
        assert_int_equal(has, n >= strlen("<L><Contents><Key>abc</Key></Contents>"));
        assert_true(!has || s3_xml_first(one, "Key", text));
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(elements_follow_each_other),
                                        cmocka_unit_test(what_is_not_text_is_refused),
                                        cmocka_unit_test(a_cut_answer_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
