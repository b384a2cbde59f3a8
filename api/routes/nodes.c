/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - machines and the queue's promises, for people. */
#include "api/pipeline.h"
#include "scheduler/invariants.h"
#include "scheduler/node.h"

struct node_ref { struct uuid node_id; };
SCHEMA_OF(node_ref, "Which machine", FIELD_ID(node_ref, node_id, "nod", F_PATH, .doc = "The machine"));
struct node_page { PAGE_IN; };
SCHEMA_OF(node_page, "Which machines", PAGE_IN_FIELDS(node_page));
struct invariants_out { struct slice data; };
SCHEMA_OF(invariants_out, "The promises of the job queue", FIELD_LIST(invariants_out, data, &invariant_schema, 0, .max = 64, .doc = "One each"));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct node_page *page = in;
    struct page_out *ret = out;
    struct uuid after;
    TRY(page_position_id(page->page_token, &after, e));
    TRY(node_list(w, after, page->page_size + 1, &ret->items, e));
    page_cut_by_id(ret, w->arena, page->page_size, sizeof(struct node), offsetof(struct node, node_id));
    return ERR_OK;
}

static enum errc get(struct work *w, const void *in, void *out, struct err *e)
{
    return node_get(w, ((const struct node_ref *)in)->node_id, out, e);
}

static enum errc invariants(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return invariants_check(w, &((struct invariants_out *)out)->data, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/nodes", .op = "node_list", .perm = PERM_NODE_READ, .handler = list, .in = &node_page_schema,
      .status = 200, .out = &node_schema, .flags = R_LIST, .sql_max = 1, .doc = "List machines, newest first" },
    { .method = HTTP_GET, .path = "/v1/nodes/{node_id}", .op = "node_get", .perm = PERM_NODE_READ, .handler = get, .in = &node_ref_schema,
      .status = 200, .out = &node_schema, .resource = "node", .sql_max = 1, .doc = "Read one machine" },
    { .method = HTTP_GET, .path = "/v1/system/invariants", .op = "invariants_check", .perm = PERM_SYSTEM_INSPECT, .handler = invariants,
      .status = 200, .out = &invariants_out_schema, .sql_max = 1, .doc = "Count what breaks the promises of the job queue; zeros are right" },
};
extern const struct route_table node_routes;
ROUTE_TABLE(node_routes, rows);
