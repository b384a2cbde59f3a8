/* SPDX-License-Identifier: Apache-2.0 */
/* test_jsonpath.c - templates of `-o jsonpath=` give what kubectl gives, and what is no template is refused before a call is
 * made. */
#include "with_cli.h"
#include "cli/output.h"

static void path_gives(const char *document, const char *template, const char *expected)
{
    struct with_cli w;
    struct err e;
    const struct jval *v;
    with_cli_init(&w);
    assert_int_equal(jval_parse(w.c.arena, str_c(document), 0, &v, &e), ERR_OK);
    if (!output_jsonpath_is_good(template))
        fail_msg("%s is refused", template);
    output_jsonpath(w.c.arena, w.c.out, v, template);
    if (strcmp(with_cli_out(&w), expected) != 0)
        fail_msg("%s gives \"%s\", not \"%s\"", template, w.out, expected);
    with_cli_release(&w);
}

#define PODS "{\"data\":[{\"name\":\"a\",\"n\":1,\"t\":{\"x.y\":\"p\"}}," \
    "{\"name\":\"b\",\"n\":20,\"t\":{\"name\":\"deep\"}},{\"name\":\"c d\",\"n\":3}],\"k\":true}"

/* The examples of kubectl's own page, said of a list of ours. */
static void templates_mean_what_kubectl_means(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "{.items[*].name}", "a b c d" }, { "{.data[*].name}", "a b c d" }, { "{$.items[1].name}", "b" },
            { "{.items[-1].name}", "c d" },
        { "{.items[0:2].n}", "1 20" }, { "{.items[::2].n}", "1 3" }, { "{.items[0,2].name}", "a c d" },
            { "{.items[*]['name','n']}", "a 1 b 20 c d 3" },
        { "{.items[?(@.n > 2)].name}", "b c d" }, { "{.items[?(@.name==\"b\")].n}", "20" }, { "{.items[?(@.t)].name}", "a b" },
        { "{.items[?(@.name!='a')].name}", "b c d" }, { "{..name}", "a b deep c d" }, { "{.items[0].t.x\\.y}", "p" },
            { "{.items[0].t['x.y']}", "p" },
        { "{range .items[*]}{.name}{\"\\t\"}{.n}{\"\\n\"}{end}", "a\t1\nb\t20\nc d\t3\n" }, { "{range .none[*]}{.name}{end}",
            "" },
        { "{range .items[*]}{range .t.*}[{@}]{end};{end}", "[p];[deep];;" }, { "n={.items[0].n}, {.none}k={.k}",
            "n=1, k=true" }, { "{.items[0].t}", "{\"x.y\":\"p\"}" },
        { ".items[*].n", "1\n20\n3\n" }, { "$.k", "true\n" }, { ".none.deeper", "" }, { "{ .k }{\"!\"}", "true!" },
            { "{.items[7].name}", "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        path_gives(PODS, rows[i][0], rows[i][1]);
}

static void templates_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = { "data", ".", ".data[x]", ".data[0", "a.b", "{.a", "{a}", "{range .a}{.b}", "{end}",
        "{.a[?(@.b ==)]}", "{.a[?(b)]}", "{\"x}", "{.a[1:2:3:4]}",
                                       "{.a[::0]}", "{..*}", "{range .a}{range .b}{end}" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (output_jsonpath_is_good(bad[i]))
            fail_msg("%s is taken", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(templates_mean_what_kubectl_means),
        cmocka_unit_test(templates_are_checked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
