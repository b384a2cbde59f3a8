/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c - routes of priority classes. */
#include "api/route.h"
#include "scheduler/jobs/priority_class.h"

struct class_ref { struct str cls; };
SCHEMA_OF(class_ref, "Which priority class",
    FIELD_AS(class_ref, cls, "class", F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "The class"));
struct class_put { struct str cls; int64_t value; bool preemptible; int64_t grace_s, min_runtime_s; struct str description; };
SCHEMA_OF(class_put, "A priority class as it shall be",
    FIELD_AS(class_put, cls, "class", F_PATH, .min = 1, .max = 63, .check = check_slug, .doc = "The class"),
    FIELD(class_put, value, F_REQ, .min = -1000000, .max = 1000000, .doc = "Within a tenant, jobs of a higher value go first"),
    FIELD(class_put, preemptible, 0, .dflt = "true", .doc = "Its jobs may be preempted"),
    FIELD(class_put, grace_s, 0, .min = 0, .max = 86400, .dflt = "60",
          .doc = "Seconds that a preempted job is given to write a checkpoint"),
    FIELD(class_put, min_runtime_s, 0, .min = 0, .max = 2592000, .dflt = "0",
          .doc = "Seconds that an attempt runs before it may be preempted"),
    FIELD(class_put, description, 0, .max = 512, .dflt = "", .doc = "What it is for"));
struct class_page { PAGE_IN; };
SCHEMA_OF(class_page, "All priority classes", PAGE_IN_FIELDS(class_page));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct class_page *page = in;
    struct page_out *ret = out;
    TRY(priority_class_list(w, page->page_token, page->page_size + 1, &ret->items, e));
    if (ret->items.n > (size_t)page->page_size) {
        ret->items.n--;
        ret->next = ((struct priority_class *)ret->items.items)[ret->items.n - 1].cls;
    }
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return priority_class_get(w, ((const struct class_ref *)in)->cls, out, e);
}

static enum errc put(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct class_put *in = in_;
    const struct priority_class c = { .cls = in->cls, .value = in->value, .preemptible = in->preemptible, .grace_s = in->grace_s,
                                      .min_runtime_s = in->min_runtime_s, .description = in->description };
    return priority_class_set(w, &c, out, e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return priority_class_delete(w, ((const struct class_ref *)in)->cls, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/classes", .lane = LANE_CALLS,
      .op = "class_list", .perm = PERM_SIGNED_IN, .handler = list, .in = &class_page_schema, .status = 200,
      .out = &priority_class_schema, .flags = R_LIST, .doc = "Priority classes by name" },
    { .method = HTTP_GET, .path = "/v1/classes/{class}", .lane = LANE_CALLS,
      .op = "class_get", .perm = PERM_SIGNED_IN, .handler = read, .in = &class_ref_schema, .status = 200,
      .out = &priority_class_schema, .doc = "Read one priority class" },
    { .method = HTTP_PUT, .path = "/v1/classes/{class}", .lane = LANE_CALLS,
      .op = "class_set", .perm = PERM_CLASS_MANAGE, .handler = put, .in = &class_put_schema, .status = 200,
      .out = &priority_class_schema, .rate = RL_WRITE, .resource = "class", .audited = true, .audit = AUDIT_CLASS_SET,
      .doc = "Make a priority class, or change it" },
    { .method = HTTP_DELETE, .path = "/v1/classes/{class}", .lane = LANE_CALLS,
      .op = "class_delete", .perm = PERM_CLASS_MANAGE, .handler = delete, .in = &class_ref_schema, .status = 204,
      .rate = RL_WRITE, .resource = "class", .audited = true, .audit = AUDIT_CLASS_SET,
      .doc = "Remove a priority class; its jobs count as of the value 0" },
};
extern const struct route_table class_routes;
ROUTE_TABLE(class_routes, rows);
