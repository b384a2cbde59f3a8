/* SPDX-License-Identifier: Apache-2.0 */
/* test_openapi.c - the printed contract is JSON, every reference in it resolves, every path names its parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/openapi.h"
#include "api/route.h"
#include "core/json/jsonvalue.h"

struct part { struct str text; };
SCHEMA_OF(part, "A part", FIELD(part, text, 0, .doc = "Text with \"quotes\""));
struct thing_ref { struct uuid thing_id; };
SCHEMA_OF(thing_ref, "Which thing", FIELD_ID(thing_ref, thing_id, "thg", F_PATH, .doc = "The thing"));
struct thing_new { struct str name; struct slice parts; };
SCHEMA_OF(thing_new, "A thing to make", FIELD(thing_new, name, F_REQ, .min = 1, .max = 9, .doc = "Name"),
          FIELD_LIST(thing_new, parts, &part_schema, 0, .doc = "Parts"));
struct thing_page { PAGE_IN; };
SCHEMA_OF(thing_page, "Which things", PAGE_IN_FIELDS(thing_page));
struct thing { struct uuid thing_id; struct str name, secret; int64_t version; };
SCHEMA_OF(thing, "A thing", FIELD_ID(thing, thing_id, "thg", 0, .doc = "The thing"), FIELD(thing, name, 0, .doc = "Name"),
          FIELD(thing, secret, F_SECRET, .doc = "Never shown"), FIELD(thing, version, 0, .doc = "Grows"));

/* That a problem may hold one is said whatever the routes are (api/openapi.c). */
struct residency_remedy { struct str missing; };
SCHEMA_OF(residency_remedy, "What is missing", FIELD(residency_remedy, missing, 0, .doc = "A rule"));

static enum errc handler(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)out, (void)e;
    return ERR_OK;
}

#define ROW(m, p, o, ...) { .method = HTTP_##m, .path = p, .op = o, .perm = PERM_JOB_READ, .handler = handler, .status = 200, .doc = "Say \"it\"", ##__VA_ARGS__ }
static const struct route rows[] = {
    ROW(GET, "/v1/things", "thing_list", .in = &thing_page_schema, .out = &thing_schema, .flags = R_LIST),
    ROW(POST, "/v1/things", "thing_create", .in = &thing_new_schema, .out = &thing_schema, .flags = R_IDEMPOTENT, .resource = "thing"),
    ROW(PUT, "/v1/things/{thing_id}", "thing_put", .in = &thing_ref_schema, .out = &thing_schema, .flags = R_IF_MATCH),
    ROW(GET, "/v1/remedies", "remedy_read", .out = &residency_remedy_schema),
    ROW(GET, "/healthz", "healthz", .perm = PERM_PUBLIC, .flags = R_TEXT),
    ROW(POST, "/v1/things/{thing_id}/content", "thing_upload", .in = &thing_ref_schema, .flags = R_UPLOAD, .content_type = "text/csv"),
    ROW(POST, "/v2/models/infer", "infer", .flags = R_OIP, .in = &part_schema, .out = &part_schema),
    ROW(POST, "/v1/nodes/register", "node_register", .flags = R_NODE, .perm = PERM_NODE_SELF),
};
static ROUTE_TABLE(table, rows);
const struct route_table *const all_routes[] = { &table, NULL };

static struct arena *arena;
static const struct jval *doc;

static int setup(void **state)
{
    (void)state;
    struct buf b = BUF(4 << 20);
    struct err e;
    arena = arena_new(64 << 20);
    openapi_print(&b);
    assert_false(b.overflow);
    if (jval_parse(arena, str_dup(arena, buf_str(&b)), 0, &doc, &e) != ERR_OK)
        fail_msg("%s\n%s", e.msg, b.ptr);
    buf_release(&b);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static int refs;

static void check_refs(const struct jval *v)
{
    struct str ref = jval_str(jval_get(v, "$ref"));
    if (ref.ptr) {
        const struct jval *at = doc;
        struct str rest = str_n(ref.ptr + 2, ref.len - 2), head;
        assert_true(str_starts(ref, "#/"));
        bool more;
        do {
            more = str_cut(rest, '/', &head, &rest);
            at = jval_get(at, str_z(arena, head));
        } while (more);
        if (!at)
            fail_msg("%s leads nowhere", ref.ptr);
        refs++;
    }
    for (struct jval_iter it = jval_iter(v); jval_next(&it);)
        check_refs(it.value);
}

static void every_reference_resolves(void **state)
{
    (void)state;
    check_refs(doc);
    assert_true(refs > 5);
}

static const struct jval *operation(const char *path, const char *method)
{
    return jval_get(jval_get(jval_get(doc, "paths"), path), method);
}

static void what_people_may_call_is_there_and_no_more(void **state)
{
    (void)state;
    assert_true(str_eq_c(jval_str(jval_get(doc, "openapi")), "3.1.0"));
    assert_int_equal(jval_len(jval_get(doc, "paths")), 6);
    assert_null(operation("/v1/nodes/register", "post"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows - 1; i++) {
        const char *m = rows[i].method == HTTP_GET ? "get" : rows[i].method == HTTP_PUT ? "put" : "post";
        const struct jval *o = operation(rows[i].path, m);
        assert_true(str_eq_c(jval_str(jval_get(o, "operationId")), rows[i].op));
        assert_true(jval_len(jval_get(o, "responses")) >= 1);
        assert_true(jval_len(jval_get(o, "tags")) == 1);
    }
}

static bool has_parameter(const struct jval *o, const char *name, const char *where)
{
    const struct jval *list = jval_get(o, "parameters");
    for (size_t i = 0; i < jval_len(list); i++)
        if (str_eq_c(jval_str(jval_get(jval_at(list, i), "name")), name) && str_eq_c(jval_str(jval_get(jval_at(list, i), "in")), where))
            return true;
    return false;
}

static void parameters_are_named(void **state)
{
    (void)state;
    assert_true(has_parameter(operation("/v1/things/{thing_id}", "put"), "thing_id", "path"));
    assert_true(has_parameter(operation("/v1/things/{thing_id}", "put"), "If-Match", "header"));
    assert_true(has_parameter(operation("/v1/things", "post"), "Idempotency-Key", "header"));
    assert_true(has_parameter(operation("/v1/things", "get"), "page_token", "query"));
    assert_false(has_parameter(operation("/v1/things", "get"), "Idempotency-Key", "header"));
    assert_non_null(jval_get(jval_get(jval_get(operation("/v1/things/{thing_id}/content", "post"), "requestBody"), "content"), "text/csv"));
    assert_non_null(jval_get(jval_get(jval_get(operation("/v1/things", "post"), "requestBody"), "content"), "application/json"));
}

static void secrets_are_not_in_it(void **state)
{
    (void)state;
    const struct jval *thing = jval_get(jval_get(jval_get(doc, "components"), "schemas"), "thing");
    assert_non_null(jval_get(jval_get(thing, "properties"), "name"));
    assert_null(jval_get(jval_get(thing, "properties"), "secret"));
}

static void errors_are_listed(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    errors_print_markdown(&b);
    for (int i = 1; i < ERR_COUNT; i++)
        assert_non_null(strstr(b.ptr, err_row((enum errc)i)->wire));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_reference_resolves), cmocka_unit_test(what_people_may_call_is_there_and_no_more),
                                        cmocka_unit_test(parameters_are_named), cmocka_unit_test(secrets_are_not_in_it),
                                        cmocka_unit_test(errors_are_listed) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
