/* SPDX-License-Identifier: Apache-2.0 */
/* test_jsonpath_walk.c - single paths: slices and their ends, comparisons of numbers and of texts, and where text is cut. */
#include "with_cli.h"
#include "cli/jsonpath_int.h"
#include "cli/output.h"

static void walks(const char *path, const char *want)
{
    static const char document[] = "{\"data\":[{\"n\":9,\"s\":\"9\",\"t\":\"b\"},{\"n\":10,\"s\":\"10\",\"t\":\"ab\"},"
                                   "{\"n\":-1,\"s\":\"\",\"t\":\"abc\"},{\"n\":1e2,\"t\":true}]}";
    struct with_cli w;
    struct err e;
    const struct jval *v;
    char got[256] = "";
    with_cli_init(&w);
    assert_int_equal(jval_parse(w.c.arena, str_c(document), 0, &v, &e), ERR_OK);
    assert_true(jsonpath_path_is_good(str_c(path)));
    const struct values found = jsonpath_walk(w.c.arena, v, v, str_c(path));
    for (size_t i = 0; i < found.n; i++) {
        struct str text = output_text(w.c.arena, found.list[i]);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%.*s", i ? " " : "", STR_ARG(text));
    }
    if (strcmp(got, want) != 0)
        fail_msg("%s gives \"%s\", not \"%s\"", path, got, want);
    with_cli_release(&w);
}

static void numbers_compare_as_numbers_and_texts_as_texts(void **state)
{
    (void)state;
    walks("$.data[?(@.s > 9)].n", "10");
    walks("$.data[?(@.n >= 10)].n", "10 100");
    walks("$.data[?(@.n <= 9)].n", "9 -1");
    walks("$.data[?(@.n < 9)].n", "-1");
    walks("$.data[?(@.t < \"abc\")].t", "ab");
    walks("$.data[?(@.t <= 'abc')].t", "ab abc");
    walks("$.data[?(@.t > \"ab\")].t", "b abc true");
    walks("$.data[?(@.t == true)].n", "100");
    walks("$.data[?(@.none == 1)].n", "");
    walks("$.data[?(@.t != $.data[0].t)].n", "10 -1 100");
}

static void slices_end_where_the_list_does(void **state)
{
    (void)state;
    walks("$.data[1:3].n", "10 -1");
    walks("$.data[-2:].n", "-1 100");
    walks("$.data[:-3].n", "9");
    walks("$.data[-9:2].n", "9 10");
    walks("$.data[0:99:3].n", "9 100");
    walks("$.data[3,0].n", "100 9");
    walks("$.data[0:1].t[0]", "");
}

static void lengths_end_with_what_closes(void **state)
{
    (void)state;
    assert_int_equal(jsonpath_quoted_len(STR("'a\\'b' c")), 6);
    assert_int_equal(jsonpath_quoted_len(STR("'a")), 0);
    assert_int_equal(jsonpath_bracket_len(STR("[a[1]] "), '[', ']'), 6);
    assert_int_equal(jsonpath_bracket_len(STR("[']'] "), '[', ']'), 5);
    assert_int_equal(jsonpath_bracket_len(STR("[[a]"), '[', ']'), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_compare_as_numbers_and_texts_as_texts),
                                        cmocka_unit_test(slices_end_where_the_list_does),
                                        cmocka_unit_test(lengths_end_with_what_closes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
