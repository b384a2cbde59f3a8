/* SPDX-License-Identifier: Apache-2.0 */
/* test_scim_patch.c - PATCH by table: the examples of RFC 7644 (3.5.2), what providers send beside them, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/identity/scim_patch.h"

static struct arena *arena;
static struct err e;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(64 << 20);
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

static enum errc patched(const struct scim_resource *r, struct sval *t, const char *ops)
{
    const struct jval *body;
    struct str text = str_fmt(arena, "{\"schemas\":[\"%s\"],\"Operations\":%s}", SCIM_PATCH_URN, ops);
    assert_int_equal(jval_parse(arena, text, 0, &body, &e), ERR_OK);
    return scim_patch(arena, r, body, t, &e);
}

struct row { const char *was, *ops, *now; };

static void all(const struct scim_resource *r, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sval *t = tree(r, rows[i].was), *want = tree(r, rows[i].now);
        if (patched(r, t, rows[i].ops) != ERR_OK)
            fail_msg("%s: %s", rows[i].ops, e.msg);
        if (!sval_eq(t, want)) {
            struct buf b = BUF(4096);
            sval_print_value(t, &b);
            fail_msg("%s\n on %s\n gave %s", rows[i].ops, rows[i].was, b.ptr);
        }
    }
}

static void users(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{}", "[{\"op\":\"add\",\"value\":{\"emails\":[{\"value\":\"babs@jensen.org\",\"type\":\"home\"}],\"nickname\":\"Babs\"}}]",
          "{\"emails\":[{\"value\":\"babs@jensen.org\",\"type\":\"home\"}]}" },
        /* What a provider keeps and Falaj does not, by path: as Entra ID and Okta send it. */
        { "{\"displayName\":\"x\"}",
            "[{\"op\":\"Add\","
          "\"path\":\"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department\",\"value\":\"R\"}]",
          "{\"displayName\":\"x\"}" },
        { "{\"displayName\":\"x\"}",
            "[{\"op\":\"Replace\","
          "\"path\":\"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager\",\"value\":\"7\"}]",
          "{\"displayName\":\"x\"}" },
        { "{\"displayName\":\"x\"}",
            "[{\"op\":\"remove\",\"path\":\"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:costCenter\"}]",
                "{\"displayName\":\"x\"}" },
        { "{\"displayName\":\"x\"}", "[{\"op\":\"add\",\"path\":\"title\",\"value\":\"Dr\"}]", "{\"displayName\":\"x\"}" },
        { "{\"displayName\":\"x\"}",
            "[{\"op\":\"add\",\"path\":\"phoneNumbers[type eq \\\"work\\\"].value\",\"value\":\"+971\"}]",
                "{\"displayName\":\"x\"}" },
        { "{\"displayName\":\"x\"}",
            "[{\"op\":\"replace\",\"path\":\"urn:ietf:params:scim:schemas:core:2.0:User:addresses\",\"value\":[]}]",
                "{\"displayName\":\"x\"}" },
        { "{\"userName\":\"a\"}", "[{\"op\":\"replace\",\"path\":\"userName\",\"value\":\"b\"}]", "{\"userName\":\"b\"}" },
        { "{\"active\":true}", "[{\"op\":\"Replace\",\"path\":\"active\",\"value\":\"False\"}]", "{\"active\":false}" },
        { "{\"active\":true}", "[{\"op\":\"replace\",\"value\":{\"active\":false}}]", "{\"active\":false}" },
        { "{}", "[{\"op\":\"add\",\"path\":\"name.givenName\",\"value\":\"Sara\"}]", "{\"name\":{\"givenName\":\"Sara\"}}" },
        { "{\"name\":{\"givenName\":\"S\",\"familyName\":\"F\"}}", "[{\"op\":\"replace\",\"path\":\"name\",\"value\":{\"givenName\":\"T\"}}]",
          "{\"name\":{\"givenName\":\"T\",\"familyName\":\"F\"}}" },
        { "{\"name\":{\"givenName\":\"S\"}}", "[{\"op\":\"remove\",\"path\":\"name.givenName\"}]", "{}" },
        { "{}", "[{\"op\":\"replace\",\"value\":{\"name.givenName\":\"S\",\"displayName\":\"D\"}}]", "{\"name\":{\"givenName\":\"S\"},\"displayName\":\"D\"}" },
        { "{\"displayName\":\"x\"}", "[{\"op\":\"remove\",\"path\":\"displayName\"}]", "{}" },
        { "{\"displayName\":\"x\"}", "[{\"op\":\"replace\",\"path\":\"displayName\",\"value\":null}]", "{}" },
        { "{\"emails\":[{\"value\":\"a\",\"type\":\"work\"},{\"value\":\"b\",\"type\":\"home\"}]}",
          "[{\"op\":\"replace\",\"path\":\"emails[type eq \\\"work\\\"].value\",\"value\":\"c\"}]",
          "{\"emails\":[{\"value\":\"c\",\"type\":\"work\"},{\"value\":\"b\",\"type\":\"home\"}]}" },
        { "{\"emails\":[{\"value\":\"a\",\"type\":\"work\"},{\"value\":\"b\",\"type\":\"home\"}]}",
          "[{\"op\":\"remove\",\"path\":\"emails[type eq \\\"work\\\" and value co \\\"a\\\"]\"}]", "{\"emails\":[{\"value\":\"b\",\"type\":\"home\"}]}" },
        { "{}", "[{\"op\":\"add\",\"path\":\"emails[type eq \\\"work\\\"].value\",\"value\":\"c\"}]", "{\"emails\":[{\"type\":\"work\",\"value\":\"c\"}]}" },
        { "{\"emails\":[{\"value\":\"a\",\"primary\":true}]}", "[{\"op\":\"add\",\"path\":\"emails\",\"value\":[{\"value\":\"b\",\"primary\":true}]}]",
          "{\"emails\":[{\"value\":\"a\",\"primary\":false},{\"value\":\"b\",\"primary\":true}]}" },
        { "{\"emails\":[{\"value\":\"a\"}]}", "[{\"op\":\"add\",\"path\":\"emails\",\"value\":{\"value\":\"a\"}}]", "{\"emails\":[{\"value\":\"a\"}]}" },
        { "{\"emails\":[{\"value\":\"a\"}]}", "[{\"op\":\"replace\",\"path\":\"emails\",\"value\":[]}]", "{}" },
        { "{\"userName\":\"a\"}", "[{\"op\":\"replace\",\"value\":{\"id\":\"other\",\"urn:x:enterprise\":{\"manager\":1}}}]", "{\"userName\":\"a\"}" },
    };
    all(&scim_user_resource, rows, sizeof rows / sizeof *rows);
}

static void groups(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{\"displayName\":\"g\"}", "[{\"op\":\"add\",\"path\":\"members\",\"value\":[{\"display\":\"Babs\",\"$ref\":\"/x\",\"value\":\"u1\"}]}]",
          "{\"displayName\":\"g\",\"members\":[{\"$ref\":\"/x\",\"value\":\"u1\"}]}" },
        { "{\"members\":[{\"value\":\"u1\",\"type\":\"User\",\"display\":\"One\"}]}", "[{\"op\":\"add\",\"path\":\"members\",\"value\":[{\"value\":\"u1\"},{\"value\":\"u2\"},{\"value\":\"u2\"}]}]",
          "{\"members\":[{\"value\":\"u1\",\"type\":\"User\",\"display\":\"One\"},{\"value\":\"u2\"}]}" },
        { "{\"members\":[{\"value\":\"u1\"},{\"value\":\"u2\"}]}", "[{\"op\":\"remove\",\"path\":\"members[value eq \\\"u1\\\"]\"}]", "{\"members\":[{\"value\":\"u2\"}]}" },
        { "{\"members\":[{\"value\":\"u1\"},{\"value\":\"u2\"}]}", "[{\"op\":\"remove\",\"path\":\"members\"}]", "{}" },
        { "{\"members\":[{\"value\":\"u1\"},{\"value\":\"u2\"}]}", "[{\"op\":\"Remove\",\"path\":\"members\",\"value\":[{\"value\":\"u2\"}]}]", "{\"members\":[{\"value\":\"u1\"}]}" },
        { "{\"members\":[{\"value\":\"u1\"}]}", "[{\"op\":\"remove\",\"path\":\"members\",\"value\":[]}]", "{\"members\":[{\"value\":\"u1\"}]}" },
        { "{\"members\":[{\"value\":\"u1\"}]}", "[{\"op\":\"remove\",\"path\":\"members[value eq \\\"u9\\\"]\"}]", "{\"members\":[{\"value\":\"u1\"}]}" },
        { "{\"members\":[{\"value\":\"u1\"}]}",
          "[{\"op\":\"remove\",\"path\":\"members\"},{\"op\":\"add\",\"path\":\"members\",\"value\":[{\"value\":\"u2\"},{\"value\":\"u3\"}]}]",
          "{\"members\":[{\"value\":\"u2\"},{\"value\":\"u3\"}]}" },
        { "{\"displayName\":\"g\"}", "[{\"op\":\"replace\",\"value\":{\"id\":\"x\",\"displayName\":\"h\"}}]", "{\"displayName\":\"h\"}" },
    };
    all(&scim_group_resource, rows, sizeof rows / sizeof *rows);
}

static void refused(void **state)
{
    (void)state;
    static const struct { const char *ops; enum errc code; } rows[] = {
        { "[]", ERR_MALFORMED }, { "{}", ERR_MALFORMED }, { "[1]", ERR_MALFORMED }, { "[{}]", ERR_MALFORMED }, { "[{\"op\":\"move\"}]", ERR_MALFORMED },
        { "[{\"op\":\"add\"}]", ERR_INVALID }, { "[{\"op\":\"add\",\"value\":\"x\"}]", ERR_INVALID }, { "[{\"op\":\"remove\"}]", ERR_SCIM_NO_TARGET },
        { "[{\"op\":\"add\",\"path\":7,\"value\":1}]", ERR_SCIM_PATH },
            { "[{\"op\":\"add\",\"path\":\"titel\",\"value\":\"x\"}]", ERR_SCIM_PATH },
        { "[{\"op\":\"replace\",\"path\":\"emails[type eq]\",\"value\":\"x\"}]", ERR_SCIM_FILTER },
        { "[{\"op\":\"replace\",\"path\":\"emails[type eq \\\"fax\\\"].value\",\"value\":\"x\"}]", ERR_SCIM_NO_TARGET },
        { "[{\"op\":\"add\",\"path\":\"emails[type ne \\\"work\\\"].value\",\"value\":\"x\"}]", ERR_SCIM_NO_TARGET },
        { "[{\"op\":\"add\",\"path\":\"emails[type eq \\\"h\\u007fme\\\"].value\",\"value\":\"x\"}]", ERR_INVALID },
        { "[{\"op\":\"replace\",\"path\":\"id\",\"value\":\"x\"}]", ERR_SCIM_MUTABILITY },
        { "[{\"op\":\"replace\",\"path\":\"meta.version\",\"value\":\"x\"}]", ERR_SCIM_MUTABILITY },
        { "[{\"op\":\"add\",\"path\":\"groups\",\"value\":[{\"value\":\"g\"}]}]", ERR_SCIM_MUTABILITY },
        { "[{\"op\":\"remove\",\"path\":\"userName\"}]", ERR_SCIM_MUTABILITY }, { "[{\"op\":\"replace\",\"path\":\"userName\",\"value\":\"\"}]", ERR_SCIM_MUTABILITY },
        { "[{\"op\":\"replace\",\"path\":\"userName\",\"value\":7}]", ERR_INVALID }, { "[{\"op\":\"replace\",\"path\":\"active\",\"value\":\"maybe\"}]", ERR_INVALID },
        { "[{\"op\":\"replace\",\"path\":\"name\",\"value\":\"x\"}]", ERR_INVALID }, { "[{\"op\":\"add\",\"path\":\"emails\",\"value\":[\"x\"]}]", ERR_INVALID },
        { "[{\"op\":\"replace\",\"path\":\"displayName\",\"value\":\"a\\u202eb\"}]", ERR_INVALID },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sval *t = tree(&scim_user_resource, "{\"userName\":\"a\",\"emails\":[{\"value\":\"a\",\"type\":\"work\"}]}");
        enum errc rc = patched(&scim_user_resource, t, rows[i].ops);
        if (rc != rows[i].code)
            fail_msg("%s gave %s", rows[i].ops, err_row(rc)->name);
    }
    struct sval *g = tree(&scim_group_resource, "{\"members\":[{\"value\":\"u1\"}]}");
    assert_int_equal(patched(&scim_group_resource, g, "[{\"op\":\"replace\",\"path\":\"members[value eq \\\"u1\\\"].value\",\"value\":\"u2\"}]"), ERR_SCIM_MUTABILITY);
}

static void bounded(void **state)
{
    (void)state;
    struct buf ops = BUF(1 << 20);
    for (int i = 0; i <= SCIM_OPS_MAX; i++)
        buf_printf(&ops, "%s{\"op\":\"add\",\"path\":\"members\",\"value\":[{\"value\":\"u%d\"}]}", i ? "," : "[", i % 7);
    struct sval *t = tree(&scim_group_resource, "{}");
    struct str one_less = str_n(ops.ptr, ops.len - 49);
    assert_int_equal(patched(&scim_group_resource, t, str_z(arena, str_fmt(arena, "%.*s]", STR_ARG(buf_str(&ops))))), ERR_LIMIT);
    while (one_less.len && one_less.ptr[one_less.len - 1] != '}')
        one_less.len--;
    while (one_less.len && (one_less.ptr[one_less.len - 1] != '}' || one_less.ptr[one_less.len - 2] != ']'))
        one_less.len--;
    assert_int_equal(patched(&scim_group_resource, t, str_z(arena, str_fmt(arena, "%.*s]", STR_ARG(one_less)))), ERR_OK);
    assert_int_equal(sval_get(t, "members")->n, 7);
    buf_release(&ops);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(users), cmocka_unit_test(groups), cmocka_unit_test(refused), cmocka_unit_test(bounded) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
