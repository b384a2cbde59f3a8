/* SPDX-License-Identifier: Apache-2.0 */
/* test_output.c - the same answer in every form, byte for byte. */
#include "with_cli.h"
#include "cli/output.h"
#include "core/base/cleanup.h"

#define PAGE "[{\"id\":\"a\",\"name\":\"one\",\"n\":1,\"tags\":[\"x\",\"y\"]},{\"id\":\"bbb\",\"name\":\"=2+2,\\\"q\\\"\",\"n\":null,\"tags\":[]}]"
#define COLUMNS "id:ID name:NAME +n:N tags:TAGS"

static void list_gives(enum out_format format, const char *expected)
{
    struct with_cli w;
    struct output o;
    struct err e;
    const struct jval *v;
    with_cli_init(&w);
    w.c.format = format;
    w.c.jsonpath = "{range .items[*]}{.name}{\"\\n\"}{end}";
    assert_int_equal(jval_parse(w.c.arena, STR(PAGE), 0, &v, &e), ERR_OK);
    output_begin(&o, &w.c, COLUMNS);
    output_page(&o, v);
    output_end(&o);
    assert_string_equal(with_cli_out(&w), expected);
    with_cli_release(&w);
}

static void lists_in_every_form(void **state)
{
    (void)state;
    list_gives(OUT_TABLE, "ID   NAME      TAGS\na    one       x,y\nbbb  =2+2,\"q\"  -\n");
    list_gives(OUT_WIDE, "ID   NAME      N  TAGS\na    one       1  x,y\nbbb  =2+2,\"q\"  -  -\n");
    list_gives(OUT_JSON, "{\"data\":" PAGE "}\n");
    list_gives(OUT_CSV, "id,name,n,tags\r\na,one,1,\"x,y\"\r\nbbb,\"'=2+2,\"\"q\"\"\",,\r\n");
    list_gives(OUT_NAME, "a\nbbb\n");
    list_gives(OUT_JSONPATH, "one\n=2+2,\"q\"\n");
    list_gives(OUT_YAML, "- id: a\n  name: one\n  \"n\": 1\n  tags:\n    - x\n    - \"y\"\n- id: bbb\n  name: \"=2+2,\\\"q\\\"\"\n  \"n\": null\n  tags: []\n");
}

static void one_object_for_people(void **state)
{
    (void)state;
    struct with_cli w;
    struct err e;
    const struct jval *v;
    char raw[1024], spec[500];
    memset(spec, 'x', sizeof(spec) - 1);
    spec[sizeof(spec) - 1] = 0;
    snprintf(raw, sizeof(raw), "{\"share\":0.17946345975948197,\"amount\":12345678.25,\"bytes\":123456789012,"
             "\"spec\":\"%s\"}", spec);
    with_cli_init(&w);
    assert_int_equal(jval_parse(w.c.arena, str_c(raw), 0, &v, &e), ERR_OK);
    output_row(&w.c, v, str_c(raw), "share:SHARE amount:AMOUNT bytes:BYTES");
    assert_string_equal(with_cli_out(&w), "SHARE     AMOUNT    BYTES\n0.179463  12345678  123456789012\n");
    output_object(&w.c, v, str_c(raw), NULL);           /* what is left out is said */
    assert_non_null(strstr(with_cli_out(&w), "xxx… (-o wide shows all)\n"));
    w.c.format = OUT_JSON;
    output_row(&w.c, v, str_c(raw), "share:SHARE");
    assert_non_null(strstr(with_cli_out(&w), "{\"share\":0.17946345975948197,"));
    with_cli_release(&w);
}

static void control_bytes_stay_out_of_the_terminal(void **state)
{
    (void)state;
    struct with_cli w;
    struct output o;
    struct err e;
    const struct jval *v;
    with_cli_init(&w);
    assert_int_equal(jval_parse(w.c.arena, STR("[{\"id\":\"a\\u001b[31mb\"}]"), 0, &v, &e), ERR_OK);
    output_begin(&o, &w.c, "id:ID");
    output_page(&o, v);
    output_end(&o);
    assert_string_equal(with_cli_out(&w), "ID\na?[31mb\n");
    with_cli_release(&w);
}

static void widths_count_cells(void **state)
{
    (void)state;
    assert_int_equal(output_cells(STR("abc")), 3);
    assert_int_equal(output_cells(STR("\xd8\xaf\xd8\xa8\xd9\x8a")), 3);            /* Arabic, three letters */
    assert_int_equal(output_cells(STR("\xd8\xaf\xd9\x8f")), 1);                    /* a letter and its vowel sign */
    assert_int_equal(output_cells(STR("\xe6\xbc\xa2")), 2);
}

static void numbers_are_short(void **state)
{
    (void)state;
    struct with_cli w;
    struct err e;
    const struct jval *v;
    with_cli_init(&w);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    assert_int_equal(jval_parse(w.c.arena, STR("{\"r\":[0.2,0.003,1e300,7],\"n\":null,\"s\":\"a\\\"b\",\"o\":{}}"), 0, &v, &e), ERR_OK);
    output_json(v, &b);
    assert_string_equal(b.ptr, "{\"r\":[0.2,0.003,1e+300,7],\"n\":null,\"s\":\"a\\\"b\",\"o\":{}}");
    with_cli_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_in_every_form), cmocka_unit_test(control_bytes_stay_out_of_the_terminal), cmocka_unit_test(one_object_for_people),
                                        cmocka_unit_test(numbers_are_short), cmocka_unit_test(widths_count_cells) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
