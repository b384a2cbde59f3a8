/* SPDX-License-Identifier: Apache-2.0 */
/* test_scim_filter.c - filters and paths of RFC 7644, their case rules, and everything that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/identity/scim_filter.h"

static struct arena *arena;
static struct err e;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(16 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct sval *tree(const struct scim_resource *r, const char *json)
{
    const struct jval *v;
    struct sval *t;
    assert_int_equal(jval_parse(arena, str_c(json), 0, &v, &e), ERR_OK);
    assert_int_equal(sval_resource(arena, r, v, SVAL_STORED, &t, &e), ERR_OK);
    return t;
}

static const char barbara[] =
    "{\"id\":\"usr_1\",\"externalId\":\"E-7\",\"userName\":\"bjensen@example.com\",\"name\":{\"familyName\":\"O'Malley\",\"givenName\":\"Barbara\"},"
    "\"displayName\":\"Babs \\\"B\\\" Jensen\",\"active\":true,"
    "\"emails\":[{\"type\":\"work\",\"value\":\"bjensen@example.com\",\"primary\":true},{\"type\":\"home\",\"value\":\"babs@jensen.org\"}],"
    "\"meta\":{\"lastModified\":\"2026-05-13T04:42:34.000Z\"}}";

static void judged(void **state)
{
    (void)state;
    static const struct { const char *filter; bool holds; } rows[] = {
        { "userName eq \"bjensen@example.com\"", true }, { "userName eq \"BJENSEN@example.com\"", true }, { "userName eq \"bjensen\"", false },
        { "USERNAME EQ \"bjensen@example.com\"", true }, { "name.familyName co \"o'malley\"", true }, { "userName sw \"BJ\"", true },
        { "userName ew \".com\"", true }, { "userName ew \"x.com\"", false },
        { "urn:ietf:params:scim:schemas:core:2.0:User:userName sw \"b\"", true },
        { "externalId eq \"E-7\"", true }, { "externalId eq \"e-7\"", false }, { "id eq \"usr_1\"", true }, { "id eq \"USR_1\"", false },
        { "displayName pr", true }, { "externalId pr", true }, { "groups pr", false }, { "name pr", true }, { "name.formatted pr", false },
        { "active eq true", true }, { "active eq false", false }, { "active ne false", true }, { "active eq \"True\"", true },
        { "emails[type eq \"work\" and value co \"@example.com\"]", true }, { "emails[type eq \"home\" and value co \"@example.com\"]", false },
        { "emails.type eq \"home\"", true }, { "emails eq \"babs@jensen.org\"", true }, { "emails co \"jensen.org\"", true },
        { "emails.type eq \"other\"", false }, { "emails[primary eq true and type eq \"home\"]", false },
        { "meta.lastModified gt \"2011-05-13T04:42:34Z\"", true }, { "meta.lastModified ge \"2026-05-13T08:42:34+04:00\"", true },
        { "meta.lastModified lt \"2026-05-13T04:42:34Z\"", false }, { "meta.lastModified le \"2026-05-13T04:42:34Z\"", true },
        { "userName pr and emails pr", true }, { "userName eq \"x\" or active eq true", true }, { "not (userName eq \"x\")", true },
        { "not(active eq true)", false }, { "userName eq \"x\" and active eq true or displayName pr", true },
        { "userName eq \"x\" and (active eq true or displayName pr)", false }, { "name.formatted eq null", true }, { "name.formatted ne null", false },
        { "name.formatted ne \"x\"", true }, { "displayName eq \"Babs \\\"B\\\" Jensen\"", true }, { "displayName co \"\\u0042\\u0061\"", true },
        { "((((userName pr))))", true }, { "userName gt \"a\" and userName lt \"c\"", true }, { "groups.value ne \"x\"", true },
    };
    struct sval *t = tree(&scim_user_resource, barbara);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sfilter *f;
        if (sfilter_parse(arena, scim_user_resource.attrs, str_c(scim_user_resource.urn), str_c(rows[i].filter), &f, &e) != ERR_OK)
            fail_msg("%s: %s", rows[i].filter, e.msg);
        if (sfilter_match(f, t) != rows[i].holds)
            fail_msg("%s is %d", rows[i].filter, !rows[i].holds);
    }
}

static void what_is_no_filter(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", " ", "userName", "userName eq", "userName eq bjensen", "userName eq \"x", "userName is \"x\"", "nosuch eq \"x\"", "name eq \"x\"",
        "name.nosuch eq \"x\"", "emails[type eq \"work\"", "emails[]", "emails[nosuch pr]", "userName[value pr]", "(userName pr", "userName pr)",
        "userName pr and", "and userName pr", "not userName pr", "active gt true", "active eq \"yes\"", "userName eq true", "userName gt null",
        "userName eq \"a\" \"b\"", "userName eq \"\\x\"", "userName eq \"a\nb\"", "userName eq 7", "userName eq \"x\"]", "eq \"x\"", "\"x\" eq userName" };
    const struct sfilter *f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sfilter_parse(arena, scim_user_resource.attrs, str_c(scim_user_resource.urn), str_c(bad[i]), &f, &e) != ERR_SCIM_FILTER)
            fail_msg("%s was taken", bad[i]);
}

static enum errc nested(int n)
{
    struct buf b = BUF(4096);
    const struct sfilter *f;
    for (int i = 0; i < n; i++)
        buf_add_char(&b, '(');
    buf_add_c(&b, "userName pr");
    for (int i = 0; i < n; i++)
        buf_add_char(&b, ')');
    enum errc rc = sfilter_parse(arena, scim_user_resource.attrs, STR(""), buf_str(&b), &f, &e);
    buf_release(&b);
    return rc;
}

static void bounded(void **state)
{
    (void)state;
    const struct sfilter *f;
    char text[SCIM_FILTER_MAX + 2] = "userName eq \"";
    assert_int_equal(nested(SCIM_FILTER_DEPTH / 2 - 1), ERR_OK);
    assert_int_equal(nested(SCIM_FILTER_DEPTH / 2), ERR_SCIM_FILTER);
    assert_int_equal(nested(400), ERR_SCIM_FILTER);
    memset(text + 13, 'a', SCIM_FILTER_MAX - 13);
    text[SCIM_FILTER_MAX - 1] = '"';
    assert_int_equal(sfilter_parse(arena, scim_user_resource.attrs, STR(""), str_n(text, SCIM_FILTER_MAX), &f, &e), ERR_OK);
    text[SCIM_FILTER_MAX - 1] = 'a';
    text[SCIM_FILTER_MAX] = '"';
    assert_int_equal(sfilter_parse(arena, scim_user_resource.attrs, STR(""), str_n(text, SCIM_FILTER_MAX + 1), &f, &e), ERR_SCIM_FILTER);
}

static void keys_for_an_index(void **state)
{
    (void)state;
    static const struct { const char *filter, *attr, *sub, *key; } rows[] = {
        { "userName eq \"a\"", "userName", NULL, "a" }, { "active eq true and userName eq \"a\"", "userName", NULL, "a" },
        { "userName eq \"a\" or active eq true", "userName", NULL, NULL }, { "not (userName eq \"a\")", "userName", NULL, NULL },
        { "userName ne \"a\"", "userName", NULL, NULL }, { "userName co \"a\"", "userName", NULL, NULL },
        { "emails.value eq \"a\"", "emails", "value", "a" }, { "emails[type eq \"w\" and value eq \"a\"]", "emails", "value", "a" },
        { "emails[type eq \"w\" or value eq \"a\"]", "emails", "value", NULL }, { "userName eq null", "userName", NULL, NULL } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sfilter *f;
        assert_int_equal(sfilter_parse(arena, scim_user_resource.attrs, STR(""), str_c(rows[i].filter), &f, &e), ERR_OK);
        struct str key = sfilter_key(f, rows[i].attr, rows[i].sub);
        if (rows[i].key ? !str_eq_c(key, rows[i].key) : key.ptr != NULL)
            fail_msg("%s: %.*s", rows[i].filter, STR_ARG(key));
    }
}

static void paths(void **state)
{
    (void)state;
    struct scim_path p;
    assert_int_equal(scim_path_parse(arena, &scim_group_resource, STR("members[value eq \"2819c223\"].display"), &p, &e), ERR_OK);
    assert_string_equal(p.attr->name, "members");
    assert_string_equal(p.sub->name, "display");
    assert_non_null(p.items);
    assert_int_equal(scim_path_parse(arena, &scim_user_resource, STR("emails[value eq \"a]b\"]"), &p, &e), ERR_OK);
    assert_true(str_eq_c(p.items->text, "a]b"));
    assert_int_equal(scim_path_parse(arena, &scim_user_resource, STR("urn:ietf:params:scim:schemas:core:2.0:User:name.familyName"), &p, &e), ERR_OK);
    assert_string_equal(p.sub->name, "familyName");
    static const char *const bad[] = { "", "nosuch", "name.nosuch", "name.", ".name", "emails[", "emails]", "userName[value pr]", "emails[type pr]x",
                                       "emails[type pr].nosuch", "emails.type[value pr]", "urn:other:User:userName" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (scim_path_parse(arena, &scim_user_resource, str_c(bad[i]), &p, &e) != ERR_SCIM_PATH)
            fail_msg("%s was taken", bad[i]);
    assert_int_equal(scim_path_parse(arena, &scim_user_resource, STR("emails[type]"), &p, &e), ERR_SCIM_FILTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(judged), cmocka_unit_test(what_is_no_filter), cmocka_unit_test(bounded),
                                        cmocka_unit_test(keys_for_an_index), cmocka_unit_test(paths) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
