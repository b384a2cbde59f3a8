/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema_copy.c - a copy holds all that its schema names, and nothing of the original. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/table/schema.h"

struct part { struct str name; int64_t n; struct slice tags; };
struct whole { int64_t n; struct str text, empty, absent; struct json json; struct bytes bytes; struct part part; struct slice parts, numbers, none; int extra; };

SCHEMA_OF(part, "Part", FIELD(part, name, 0, .doc = "Name"), FIELD(part, n, 0, .doc = "N"), FIELD_STRS(part, tags, 0, .doc = "Tags"));
SCHEMA_OF(whole, "Whole", FIELD(whole, n, 0, .doc = "N"), FIELD(whole, text, 0, .doc = "Text"), FIELD(whole, empty, 0, .doc = "Empty"),
          FIELD(whole, absent, 0, .doc = "Absent"), FIELD(whole, json, 0, .doc = "JSON"), FIELD(whole, bytes, 0, .doc = "Bytes"),
          FIELD_SUB(whole, part, &part_schema, 0, .doc = "Part"), FIELD_LIST(whole, parts, &part_schema, 0, .doc = "Parts"),
          FIELD_I64S(whole, numbers, 0, .doc = "Numbers"), FIELD_STRS(whole, none, 0, .doc = "None"));

/* A text that dies with its owner. */
static struct str heap(const char *s)
{
    return str_c(str_dup_heap(str_c(s)));
}

static void drop(struct str s)
{
    char *p = (char *)(uintptr_t)s.ptr;
    memset(p, '#', s.len);
    free(p);
}

static void a_copy_outlives_its_original(void **state)
{
    (void)state;
    struct str *tags = calloc(2, sizeof *tags);
    struct part *parts = calloc(2, sizeof *parts);
    int64_t *numbers = calloc(3, sizeof *numbers);
    tags[0] = heap("red");
    tags[1] = heap("blue");
    parts[0] = (struct part){ heap("first"), 1, { 0 } };
    parts[1] = (struct part){ heap("second"), 2, { tags, 2 } };
    numbers[2] = 9;
    struct whole w = { 7, heap("text"), STR(""), STR_NULL, { heap("{\"a\":1}") }, { heap("\x01\x02") }, { heap("one"), 3, { 0 } }, { parts, 2 },
                       { numbers, 3 }, { 0 }, 42 };
    struct whole *c = schema_copy_new(&whole_schema, &w);
    const struct str mine[] = { w.text, w.json.text, w.bytes.data, w.part.name, parts[0].name, parts[1].name, tags[0], tags[1] };
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        drop(mine[i]);
    free(tags);
    free(parts);
    free(numbers);

    const struct part *p = c->parts.items;
    const struct str *t = p[1].tags.items;
    assert_int_equal(c->n, 7);
    assert_int_equal(c->extra, 42);
    assert_string_equal(c->text.ptr, "text");
    assert_true(c->empty.ptr && !c->empty.len && !c->absent.ptr);
    assert_string_equal(c->json.text.ptr, "{\"a\":1}");
    assert_memory_equal(c->bytes.data.ptr, "\x01\x02", 2);
    assert_string_equal(c->part.name.ptr, "one");
    assert_string_equal(p[0].name.ptr, "first");
    assert_int_equal(p[1].n, 2);
    assert_string_equal(t[0].ptr, "red");
    assert_string_equal(t[1].ptr, "blue");
    assert_int_equal(((const int64_t *)c->numbers.items)[2], 9);
    assert_true(!c->none.n && !c->none.items);
    assert_int_equal((uintptr_t)c->parts.items % 16, 0);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_copy_outlives_its_original) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
