/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_kit.h - a contract printed from a few routes of every kind. A program includes it once. */
#pragma once
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

#define ROW(m, p, o, ...) { .method = HTTP_##m, .path = p, .op = o, .perm = PERM_JOB_READ, .handler = handler, .status = 200, \
                           .doc = "Say \"it\"", ##__VA_ARGS__ }
static const struct route_end remedies_end = { "2026-12-01", "2027-09-01", NULL };
static const struct route rows[] = {
    ROW(GET, "/v1/things", "thing_list", .in = &thing_page_schema, .out = &thing_schema, .flags = R_LIST),
    ROW(POST, "/v1/things", "thing_create", .in = &thing_new_schema, .out = &thing_schema, .flags = R_IDEMPOTENT,
        .resource = "thing"),
    ROW(PUT, "/v1/things/{thing_id}", "thing_put", .in = &thing_ref_schema, .out = &thing_schema, .flags = R_IF_MATCH),
    ROW(GET, "/v1/remedies", "remedy_read", .out = &residency_remedy_schema, .ends = &remedies_end),
    ROW(GET, "/healthz", "healthz", .perm = PERM_PUBLIC, .flags = R_TEXT),
    ROW(POST, "/v1/things/{thing_id}/content", "thing_upload", .in = &thing_ref_schema, .flags = R_UPLOAD,
        .content_type = "text/csv"),
    ROW(POST, "/v2/models/infer", "infer", .flags = R_OIP, .in = &part_schema, .out = &part_schema),
    ROW(POST, "/v1/nodes/register", "node_register", .flags = R_NODE, .perm = PERM_NODE_SELF),
};
static ROUTE_TABLE(table, rows);
const struct route_table *const all_routes[] = { &table, NULL };

static struct arena *arena;
static const struct jval *doc;

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static inline const struct jval *operation(const char *path, const char *method)
{
    return jval_get(jval_get(jval_get(doc, "paths"), path), method);
}
