/* SPDX-License-Identifier: Apache-2.0 */
/* test_router.c - which row answers, what it captures, and the tables that must not start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/api_int.h"

struct thing_ref { struct uuid thing_id; int64_t version; };
SCHEMA_OF(thing_ref, "Which thing", FIELD_ID(thing_ref, thing_id, "thg", F_PATH, .doc = "The thing"),
          FIELD(thing_ref, version, F_PATH, .doc = "Its version"));
struct thing_new { struct str name; };
SCHEMA_OF(thing_new, "A thing to make", FIELD(thing_new, name, F_REQ, .doc = "Name"));
struct thing { struct uuid thing_id; struct str name; int64_t version; };
SCHEMA_OF(thing, "A thing", FIELD_ID(thing, thing_id, "thg", 0, .doc = "The thing"), FIELD(thing, name, 0, .doc = "Name"),
          FIELD(thing, version, 0, .doc = "Grows"));
struct undocumented { struct str name; };
SCHEMA_OF(undocumented, "Without a word", FIELD(undocumented, name, 0));

static enum errc handler(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)out, (void)e;
    return ERR_OK;
}

static enum errc streams(struct call *c, struct err *err)
{
    (void)c, (void)err;
    return ERR_OK;
}

#define ROW(m, p, o, ...) { .method = HTTP_##m, .path = p, .op = o, .perm = PERM_JOB_READ, .lane = LANE_CALLS, .handler = handler, .status = 200, .doc = "d", ##__VA_ARGS__ }
static const struct route good[] = {
    ROW(GET, "/v1/things", "list"), ROW(POST, "/v1/things", "make", .in = &thing_new_schema, .out = &thing_schema, .resource = "thing"),
    ROW(POST, "/v1/things:batch", "batch"),
    ROW(GET, "/v1/things/{thing_id}", "get", .in = &thing_ref_schema, .out = &thing_schema, .resource = "thing"),
    ROW(GET, "/v1/things/mine", "mine"),
    ROW(DELETE, "/v1/things/{thing_id}", "drop", .in = &thing_ref_schema, .resource = "thing"),
    ROW(GET, "/v1/things/{thing_id}/versions/{version}", "version", .in = &thing_ref_schema),
    ROW(POST, "/v1/node", "node", .flags = R_NODE, .perm = PERM_NODE_SELF),
    ROW(GET, "/v2", "root", .perm = PERM_PUBLIC),
};
static struct route_table first;
const struct route_table *const all_routes[] = { &first, NULL };
#define BOOT(rows) boot(rows, sizeof(rows) / sizeof *(rows))

static struct arena *arena;
static struct router router;
static struct err e;
static struct str captures[CAPTURES_MAX], allow;

static enum errc boot(const struct route *rows, size_t n)
{
    first = (struct route_table){ rows, n };
    arena_reset(arena);
    e = (struct err){ 0 };
    return router_init(&router, arena, &e);
}

static const struct route_match *find(enum http_method m, const char *path, bool is_node)
{
    memset(captures, 0, sizeof captures);
    return router_find(&router, m, str_c(path), is_node, captures, arena, &allow);
}

static const char *op(enum http_method m, const char *path)
{
    const struct route_match *r = find(m, path, false);
    return r ? r->row->op : "";
}

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void paths_lead_to_rows(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    assert_string_equal(op(HTTP_GET, "/v1/things"), "list");
    assert_string_equal(op(HTTP_POST, "/v1/things"), "make");
    assert_string_equal(op(HTTP_POST, "/v1/things:batch"), "batch");
    assert_string_equal(op(HTTP_GET, "/v2"), "root");
    assert_string_equal(op(HTTP_HEAD, "/v1/things"), "list");           /* HEAD is a GET without its body */
    assert_string_equal(op(HTTP_GET, "/v1/things/mine/versions/3"), "version");
}

static void captures_in_path_order(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    assert_string_equal(op(HTTP_GET, "/v1/things/thg_0123/versions/7"), "version");
    assert_true(str_eq_c(captures[0], "thg_0123") && str_eq_c(captures[1], "7"));
    assert_string_equal(op(HTTP_DELETE, "/v1/things/a%2Fb"), "drop");   /* still escaped: one segment */
    assert_true(str_eq_c(captures[0], "a%2Fb"));
}

static void the_spelled_out_row_wins(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    assert_string_equal(op(HTTP_GET, "/v1/things/mine"), "mine");
    assert_string_equal(op(HTTP_GET, "/v1/things/mind"), "get");
    assert_string_equal(op(HTTP_DELETE, "/v1/things/mine"), "drop");    /* the literal row has no DELETE */
}

static void what_leads_nowhere(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    static const char *const paths[] = { "", "/", "/v1", "/v1/thing", "/v1/things/", "/v1//things", "/V1/things", "/v1/things/x/versions",
        "/v1/things/x/versions/", "/v1/things//versions/1", "/v1/things/x/y", "v1/things", "/v1/things/x/versions/1/", "/v1/things:batch/x",
        "/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", "//", "/v1/%74hings" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (find(HTTP_GET, paths[i], false))
            fail_msg("%s leads to %s", paths[i], find(HTTP_GET, paths[i], false)->row->op);
        assert_null(allow.ptr);
    }
}

/* Who only asks which row it is. */
static void without_an_arena_no_methods_are_told(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    allow = STR("?");
    assert_string_equal(router_find(&router, HTTP_POST, STR("/v1/things"), false, captures, NULL, &allow)->row->op, "make");
    assert_null(router_find(&router, HTTP_PUT, STR("/v1/things"), false, captures, NULL, &allow));
    assert_null(allow.ptr);
}

static void other_methods_are_listed(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    assert_null(find(HTTP_PUT, "/v1/things", false));
    assert_true(str_eq_c(allow, "GET, HEAD, POST, OPTIONS"));
    assert_null(find(HTTP_OTHER, "/v1/things/x", false));
    assert_true(str_eq_c(allow, "GET, HEAD, DELETE, OPTIONS"));
    assert_null(find(HTTP_PUT, "/v1/things/mine", false));
    assert_true(str_eq_c(allow, "GET, HEAD, DELETE, OPTIONS"));      /* two rows say GET; the header says it once */
    assert_null(find(HTTP_OPTIONS, "/v2", false));
    assert_true(str_eq_c(allow, "GET, HEAD, OPTIONS"));
}

static void people_and_machines_are_kept_apart(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    assert_null(find(HTTP_POST, "/v1/node", false));
    assert_null(find(HTTP_GET, "/v1/node", false));
    assert_null(allow.ptr);                                             /* not even its methods are told */
    assert_non_null(find(HTTP_POST, "/v1/node", true));
    assert_null(find(HTTP_GET, "/v1/things", true));
    assert_null(find(HTTP_GET, "/v2", true));
}

static void what_the_pipeline_reads_of_a_row(void **state)
{
    (void)state;
    assert_int_equal(BOOT(good), ERR_OK);
    const struct route_match *m = find(HTTP_POST, "/v1/things", false);
    assert_true(m->has_body && m->id && !m->id_is_in && m->version);
    m = find(HTTP_GET, "/v1/things/x", false);
    assert_true(!m->has_body && m->id && !m->id_is_in);
    m = find(HTTP_DELETE, "/v1/things/x", false);
    assert_true(m->id && m->id_is_in && !m->version);
    assert_string_equal(m->captures[0]->name, "thing_id");
}

#define REFUSE(...)                                                         \
    do {                                                                    \
        static const struct route rows_[] = { __VA_ARGS__ };                \
        if (BOOT(rows_) != ERR_INTERNAL)                                    \
            fail_msg("started with %s", #__VA_ARGS__);                      \
    } while (0)

static void tables_that_must_not_start(void **state)
{
    (void)state;
    REFUSE(ROW(GET, "/v1/x", "x", .perm = PERM_NONE));
    assert_non_null(strstr(e.msg, "no permission"));
    REFUSE(ROW(GET, "/v1/x", "x", .lane = LANE_NONE));
    assert_non_null(strstr(e.msg, "names no lane"));
    REFUSE(ROW(GET, "/v1/x", "x", .lane = LANE_COUNT));
    REFUSE(ROW(GET, "/v1/x", "x", .doc = NULL));
    REFUSE(ROW(GET, "/v1/x", NULL));
    REFUSE(ROW(GET, "/v1/x", "x", .status = 0));
    REFUSE(ROW(GET, "/v1/x", "x", .handler = NULL));
    REFUSE(ROW(GET, "/v1/{thing_id}", "x"));                                            /* no input at all */
    REFUSE(ROW(GET, "/v1/{other_id}", "x", .in = &thing_ref_schema));                   /* no such field */
    REFUSE(ROW(POST, "/v1/{name}", "x", .in = &thing_new_schema));                      /* a field of the body */
    REFUSE(ROW(GET, "/v1/x", "x"), ROW(GET, "/v1/x", "y"));
    REFUSE(ROW(GET, "/v1/{thing_id}", "x", .in = &thing_ref_schema), ROW(GET, "/v1/{version}", "y", .in = &thing_ref_schema));
    REFUSE(ROW(GET, "/v1/x", "x"), ROW(GET, "/v1/y", "x"));                             /* one name twice */
    REFUSE(ROW(GET, "/a/b/c/d/e/f/g/h/i/j/k/l/m", "x"));
    REFUSE(ROW(POST, "/v1/x", "x", .in = &undocumented_schema));
    REFUSE(ROW(GET, "/v1/x", "x", .out = &undocumented_schema));
    static const struct route_end soon = { "2026-12-01", "2027-01-01", NULL }, never = { "2026-12-01", "never", NULL },
                                  fair = { "2026-12-01", "2027-06-01", "/v1/y" };
    REFUSE(ROW(GET, "/v1/x", "x", .ends = &soon));
    assert_non_null(strstr(e.msg, "31 days"));
    REFUSE(ROW(GET, "/v1/x", "x", .ends = &never));
    REFUSE({ .method = HTTP_GET, .path = "/v1/x", .op = "x", .perm = PERM_JOB_READ, .lane = LANE_CALLS, .status = 200, .doc = "d",
             .raw = streams, .ends = &fair });
    assert_non_null(strstr(e.msg, "answers by itself"));
    static const struct route fine[] = { ROW(GET, "/v1/x", "x"), ROW(POST, "/v1/x", "y") };
    assert_int_equal(BOOT(fine), ERR_OK);
}

/* By the event that its act writes; what only reads, ends something or is for strangers asks nobody. */
static void what_makes_a_power_asks_for_a_fresh_proof(void **state)
{
    (void)state;
    static const enum audit_code powers[] = { AUDIT_TOKEN_CREATE, AUDIT_ROLE_GRANT, AUDIT_USER_CREATE, AUDIT_INVITE_CREATE,
        AUDIT_IDENTITY_SET, AUDIT_GROUP_SET, AUDIT_DEVICE_GRANT, AUDIT_MFA_SET, AUDIT_NODE_JOIN, AUDIT_BREAK_GLASS,
        AUDIT_APPROVAL_GRANT, AUDIT_APPROVAL_REQUEST, AUDIT_TENANT_CREATE };
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        struct route row[] = { ROW(POST, "/v1/x", "x", .audited = true, .audit = powers[i]) };
        assert_int_equal(BOOT(row), ERR_INTERNAL);
        assert_non_null(strstr(e.msg, "without R_STEP_UP"));
        row->flags = R_STEP_UP;
        assert_int_equal(BOOT(row), ERR_OK);
    }
    static const struct route others[] = { ROW(DELETE, "/v1/x", "x", .audited = true, .audit = AUDIT_TOKEN_CREATE),
        ROW(POST, "/v1/y", "y", .audited = true, .audit = AUDIT_USER_CREATE, .perm = PERM_SCIM_PROVISION),
        ROW(POST, "/v1/z", "z", .audited = true, .audit = AUDIT_TOKEN_REVOKE) };
    assert_int_equal(BOOT(others), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_rows), cmocka_unit_test(captures_in_path_order), cmocka_unit_test(the_spelled_out_row_wins),
        cmocka_unit_test(what_leads_nowhere), cmocka_unit_test(without_an_arena_no_methods_are_told),
        cmocka_unit_test(other_methods_are_listed), cmocka_unit_test(people_and_machines_are_kept_apart),
        cmocka_unit_test(what_the_pipeline_reads_of_a_row), cmocka_unit_test(tables_that_must_not_start),
        cmocka_unit_test(what_makes_a_power_asks_for_a_fresh_proof),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
