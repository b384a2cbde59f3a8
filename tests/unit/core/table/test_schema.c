/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema.c - flags, limits, absence and the boot check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/table/schema.h"

struct inner { int64_t a; };
struct thing {
    struct uuid id, owner;
    struct str name, cls, token;
    int state;
    int32_t small;
    int64_t n, any;
    bool has_any;
    double ratio;
    struct timestamp at;
    struct inner inner;
    struct slice list;
};
static const char *const states[] = { "on", "off", NULL };

SCHEMA_OF(inner, "Inner", FIELD(inner, a, 0, .doc = "A"));
SCHEMA_OF(thing, "A thing", FIELD_ID(thing, id, "thg", 0, .doc = "Id"), FIELD(thing, owner, F_PATH, .doc = "Owner"),
          FIELD(thing, name, F_REQ, .min = 2, .max = 3, .doc = "Name"), FIELD_AS(thing, cls, "class", F_NOCOL, .doc = "Class"),
          FIELD(thing, token, F_SECRET, .doc = "Token"), FIELD_ENUM(thing, state, F_NOOUT, states, .doc = "State"),
          FIELD(thing, small, 0, .doc = "Small"), FIELD(thing, n, 0, .min = 1, .doc = "N"),
          FIELD_OPT(thing, any, 0, .doc = "Any"), FIELD(thing, ratio, 0, .min = 0, .max = 1, .doc = "Ratio"),
          FIELD(thing, at, 0, .doc = "At"), FIELD_SUB(thing, inner, &inner_schema, 0, .doc = "Inner"),
          FIELD_LIST(thing, list, &inner_schema, 0, .doc = "List"));

static const struct field *f(const char *name)
{
    const struct field *ret = schema_find(&thing_schema, str_c(name));
    assert_non_null(ret);
    return ret;
}

static void finding_and_flags(void **state)
{
    (void)state;
    assert_null(schema_find(&thing_schema, STR("cls")));
    assert_null(schema_find(&thing_schema, STR("nam")));
    assert_null(schema_find(&thing_schema, STR("n\0me")));
    assert_null(schema_find(&thing_schema, STR("")));
    assert_string_equal(f("class")->name, "class");
    assert_true((f("name")->flags & (F_COL | F_OUT | F_REQ)) == (F_COL | F_OUT | F_REQ));
    assert_false(f("owner")->flags & (F_COL | F_OUT));
    assert_false(f("class")->flags & F_COL);
    assert_true(f("class")->flags & F_OUT);
    assert_false(f("token")->flags & F_OUT);
    assert_true(f("token")->flags & F_COL);
    assert_false(f("state")->flags & F_OUT);
    assert_int_equal(f("small")->type, FT_I32);
    assert_int_equal(f("at")->type, FT_TIME);
    assert_int_equal(f("id")->type, FT_UUID);
    assert_int_equal(ftype_size(f("list")), sizeof(struct inner));
    assert_int_equal(name_index(states, STR("off")), 1);
    assert_int_equal(name_index(states, STR("of")), -1);
}

static void absence(void **state)
{
    (void)state;
    struct thing t = { 0 };
    assert_true(field_is_absent(f("id"), &t) && field_is_absent(f("name"), &t) && field_is_absent(f("any"), &t));
    assert_true(field_is_absent(f("at"), &t) && field_is_absent(f("inner"), &t));
    assert_false(field_is_absent(f("n"), &t) || field_is_absent(f("state"), &t) || field_is_absent(f("list"), &t));
    t.name = STR("");
    t.inner.a = 1ll << 40;
    field_set_has(f("any"), &t, true);
    field_set_has(f("n"), &t, true);
    assert_true(t.has_any);
    assert_false(field_is_absent(f("name"), &t) || field_is_absent(f("inner"), &t) || field_is_absent(f("any"), &t));
}

static void check_i64(const char *name, int64_t v, const char *msg)
{
    struct err e = { 0 };
    assert_int_equal(field_check_i64(f(name), v, &e), *msg ? ERR_INVALID : ERR_OK);
    assert_string_equal(e.msg, msg);
}

static void value_checks(void **state)
{
    (void)state;
    struct err e;
    check_i64("small", INT32_MAX, "");
    check_i64("small", INT32_MAX + 1ll, "must be from -2147483648 to 2147483647, is 2147483648");
    check_i64("n", INT64_MAX, "");
    check_i64("n", 0, "must be at least 1, is 0");
    check_i64("any", INT64_MIN, "");
    assert_int_equal(field_check_f64(f("ratio"), 1, &e), ERR_OK);
    assert_int_equal(field_check_f64(f("ratio"), 1.01, &e), ERR_INVALID);
    assert_string_equal(e.msg, "must be from 0 to 1, is 1.01");
    assert_int_equal(field_check_str(f("name"), STR("\xc3\xa9\xc3\xa9\xc3\xa9"), &e), ERR_OK);    /* characters, not bytes */
    assert_int_equal(field_check_str(f("name"), STR("\xc3\xa9"), &e), ERR_INVALID);
    assert_string_equal(e.msg, "must have at least 2 characters, has 1");
    assert_int_equal(field_check_str(f("name"), STR("abcd"), &e), ERR_INVALID);
    assert_int_equal(field_max(f("class")), 1024);
    assert_int_equal(field_max(f("list")), 1000);
}

static void syntax_checks(void **state)
{
    (void)state;
    const char *why;
    char long_slug[65];
    memset(long_slug, 'a', 64);
    assert_true(check_slug(str_n(long_slug, 63), &why));
    assert_false(check_slug(str_n(long_slug, 64), &why));
    assert_true(check_slug(STR("0-a"), &why) && check_slug(STR("a"), &why));
    assert_false(check_slug(STR(""), &why) || check_slug(STR("-a"), &why) || check_slug(STR("A"), &why) ||
                 check_slug(STR("a_b"), &why) || check_slug(STR("\xc3\xa9"), &why));
    assert_true(check_name(STR("B\xc3\xbcro \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x9a\x80"), &why) && check_name(STR(""), &why));
    static const char *const bad[] = { "a\nb", "\x7f", "\xc2\x85", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f",
                                       "\xd8\x9c", "\xe2\x80\xa8", "\xff", "\xed\xa0\x80", "a\t" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(check_name(str_c(bad[i]), &why));
}

/* One field at a time is spoiled; the boot check must notice each. */
static void boot_check(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(schema_check_table(&thing_schema, &e), ERR_OK);
    struct field fields[sizeof thing_schema_fields / sizeof(struct field)];
    struct schema s = thing_schema;
    s.fields = fields;
    for (int i = 0; i < 11; i++) {
        memcpy(fields, thing_schema_fields, sizeof fields);
        struct field *name = &fields[2], *st = &fields[5], *n = &fields[7], *sub = &fields[11], *list = &fields[12];
        switch (i) {
        case 0: name->doc = NULL; break;
        case 1: name->name = "id"; break;
        case 2: st->names = NULL; break;
        case 3: sub->sub = NULL; break;
        case 4: sub->sub = &thing_schema; break;
        case 5: n->dflt = "0"; break;           /* below its minimum */
        case 6: name->dflt = "abc"; break;      /* required and defaulted */
        case 7: sub->flags |= F_QUERY; break;
        case 8: list->item = FT_BOOL; break;
        case 9: n->check = check_slug; break;
        case 10: name->name = "a b"; break;
        }
        e.msg[0] = '\0';
        if (schema_check_table(&s, &e) != ERR_INTERNAL)
            fail_msg("case %d was not noticed", i);
        assert_non_null(strstr(e.msg, "schema thing"));
    }
    struct schema nodoc = inner_schema, loop = inner_schema;
    nodoc.doc = "";
    assert_int_equal(schema_check_table(&nodoc, &e), ERR_INTERNAL);
    struct field self = thing_schema_fields[12];
    self.sub = &loop;
    self.offset = 0;
    loop.fields = &self;
    loop.size = sizeof(struct slice);
    assert_int_equal(schema_check_table(&loop, &e), ERR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(finding_and_flags), cmocka_unit_test(absence), cmocka_unit_test(value_checks),
                                        cmocka_unit_test(syntax_checks), cmocka_unit_test(boot_check) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
