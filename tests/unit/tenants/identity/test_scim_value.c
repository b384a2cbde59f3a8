/* SPDX-License-Identifier: Apache-2.0 */
/* test_scim_value.c - bodies read by the table, required values, what is shown, and the documents of discovery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/identity/scim_value.h"

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

static enum errc read_user(const char *json, enum sval_read how, struct sval **ret)
{
    const struct jval *v;
    assert_int_equal(jval_parse(arena, str_c(json), 0, &v, &e), ERR_OK);
    return sval_resource(arena, &scim_user_resource, v, how, ret, &e);
}

static void what_is_kept(void **state)
{
    (void)state;
    struct sval *t, *want;
    assert_int_equal(read_user("{\"schemas\":[\"x\"],\"USERNAME\":\"a\",\"id\":\"usr_9\",\"title\":\"Dr\",\"password\":\"secret\",\"groups\":[{\"value\":\"g\"}],"
                               "\"meta\":{\"version\":\"1\"},\"emails\":{\"value\":\"e\",\"Type\":\"work\",\"x\":1},\"displayName\":null,\"name\":{},\"active\":\"TRUE\"}",
                               SVAL_INPUT, &t), ERR_OK);
    assert_int_equal(read_user("{\"userName\":\"a\",\"emails\":[{\"value\":\"e\",\"type\":\"work\"}],\"active\":true}", SVAL_STORED, &want), ERR_OK);
    assert_true(sval_eq(t, want));
    static const char *const bad[] = { "[]", "{\"userName\":1}", "{\"userName\":\"a\",\"username\":\"b\"}", "{\"active\":1}", "{\"name\":[]}",
                                       "{\"userName\":\"a\\u0007b\"}", "{\"emails\":[[]]}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_user(bad[i], SVAL_INPUT, &t) == ERR_OK)
            fail_msg("%s was taken", bad[i]);
}

static void what_must_be_there(void **state)
{
    (void)state;
    static const struct { const char *json; bool ok; } rows[] = {
        { "{\"userName\":\"a\"}", true }, { "{}", false }, { "{\"userName\":\"\"}", false }, { "{\"userName\":\"a\",\"emails\":[{\"type\":\"work\"}]}", false },
        { "{\"userName\":\"a\",\"emails\":[{\"value\":\"x\",\"primary\":true},{\"value\":\"y\",\"primary\":true}]}", false },
        { "{\"userName\":\"a\",\"emails\":[{\"value\":\"x\",\"primary\":true},{\"value\":\"y\",\"primary\":false}]}", true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sval *t;
        assert_int_equal(read_user(rows[i].json, SVAL_INPUT, &t), ERR_OK);
        if ((sval_check(&scim_user_resource, t, &e) == ERR_OK) != rows[i].ok)
            fail_msg("%s", rows[i].json);
    }
}

static void what_is_shown(void **state)
{
    (void)state;
#define HEAD "{\"schemas\":[\"urn:ietf:params:scim:schemas:core:2.0:User\"],\"id\":\"usr_1\""
    static const struct { const char *attributes, *excluded, *text; } rows[] = {
        { NULL, NULL, HEAD ",\"userName\":\"a\",\"name\":{\"familyName\":\"F\",\"givenName\":\"G\"},\"emails\":[{\"value\":\"e\",\"type\":\"work\"}]}" },
        { "userName", NULL, HEAD ",\"userName\":\"a\"}" }, { "username, nosuch", NULL, HEAD ",\"userName\":\"a\"}" },
        { "name.givenName,emails.value", NULL, HEAD ",\"name\":{\"givenName\":\"G\"},\"emails\":[{\"value\":\"e\"}]}" },
        { "urn:ietf:params:scim:schemas:core:2.0:User:userName", NULL, HEAD ",\"userName\":\"a\"}" },
        { NULL, "emails,id,name.familyName", HEAD ",\"userName\":\"a\",\"name\":{\"givenName\":\"G\"}}" } };
    struct sval *t;
    assert_int_equal(read_user("{\"id\":\"usr_1\",\"userName\":\"a\",\"name\":{\"familyName\":\"F\",\"givenName\":\"G\"},\"emails\":[{\"value\":\"e\",\"type\":\"work\"}]}",
                               SVAL_STORED, &t), ERR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b = BUF(4096);
        sval_print(&scim_user_resource, t, &(struct scim_select){ str_c(rows[i].attributes), str_c(rows[i].excluded) }, &b);
        assert_string_equal(b.ptr, rows[i].text);
        buf_release(&b);
    }
}

static void discovery(void **state)
{
    (void)state;
    struct buf b = BUF(64 << 10);
    const struct jval *v;
    assert_true(scim_print_schemas(STR_NULL, &b));
    assert_int_equal(jval_parse(arena, buf_str(&b), 0, &v, &e), ERR_OK);
    assert_int_equal(jval_i64(jval_get(v, "totalResults"), 0), 2);
    buf_clear(&b);
    assert_true(scim_print_schemas(STR("urn:ietf:params:scim:schemas:core:2.0:Group"), &b));
    assert_int_equal(jval_parse(arena, buf_str(&b), 0, &v, &e), ERR_OK);
    assert_int_equal(jval_len(jval_get(v, "attributes")), 2);
    buf_clear(&b);
    assert_true(scim_print_types(STR("User"), &b));
    assert_int_equal(jval_parse(arena, buf_str(&b), 0, &v, &e), ERR_OK);
    assert_false(scim_print_types(STR("Device"), &b) || scim_print_schemas(STR("urn:x"), &b));
    buf_clear(&b);
    scim_print_config(&b);
    assert_int_equal(jval_parse(arena, buf_str(&b), 0, &v, &e), ERR_OK);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_kept), cmocka_unit_test(what_must_be_there), cmocka_unit_test(what_is_shown),
                                        cmocka_unit_test(discovery) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
