/* SPDX-License-Identifier: Apache-2.0 */
/* datasets.c - routes of data sets and their versions. An upload is one body; its content leaves only through a route of its own. */
#include "api/content_int.h"
#include "api/route.h"
#include "core/db/tx.h"
#include "registry/catalog/dataset.h"
#include "core/db/list_find.h"
#include "tenants/home/residency.h"

struct dataset_ref { struct uuid dataset_id; };
SCHEMA_OF(dataset_ref, "Which data set", FIELD_ID(dataset_ref, dataset_id, "dst", F_PATH, .doc = "The data set"));
struct dataset_page { PAGE_IN; struct uuid project_id, created_by; struct str q, zone; int data_class, sort; bool has_data_class; };
SCHEMA_OF(dataset_page, "Which data sets", PAGE_IN_FIELDS(dataset_page),
    FIELD_ID(dataset_page, project_id, "prj", F_QUERY, .doc = "Only data sets of this project"),
    FIELD_ID(dataset_page, created_by, "usr", F_QUERY, .doc = "Only data sets that this user made"),
    FIELD(dataset_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only data sets whose name contains this, in any case"),
    FIELD_ENUM_OPT(dataset_page, data_class, F_QUERY, data_class_names, .doc = "Only data of this class"),
    FIELD(dataset_page, zone, F_QUERY, .max = 31, .check = check_slug, .doc = "Only data sets of which a version lies in this zone"),
    FIELD_ENUM(dataset_page, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending"));
struct dataset_upload { struct uuid dataset_id; struct str zone; };
SCHEMA_OF(dataset_upload, "A version to upload", FIELD_ID(dataset_upload, dataset_id, "dst", F_PATH, .doc = "The data set"),
    FIELD(dataset_upload, zone, F_QUERY, .min = 1, .max = 31, .check = check_slug, .doc = "Where to keep it; absent: the home zone"));
struct dataset_versions { struct uuid dataset_id; PAGE_IN; };
SCHEMA_OF(dataset_versions, "Which versions", FIELD_ID(dataset_versions, dataset_id, "dst", F_PATH, .doc = "The data set"),
    PAGE_IN_FIELDS(dataset_versions));
struct dataset_content_ref { struct uuid dataset_id; int64_t version; };
SCHEMA_OF(dataset_content_ref, "Which version", FIELD_ID(dataset_content_ref, dataset_id, "dst", F_PATH, .doc = "The data set"),
    FIELD(dataset_content_ref, version, F_PATH, .min = 1, .max = INT64_MAX, .doc = "Its number"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    return dataset_create(w, in, out, e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return dataset_get(w, ((const struct dataset_ref *)in)->dataset_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct dataset_page *page = in;
    struct page_out *ret = out;
    struct uuid after;
    TRY(page_position_id(page->page_token, &after, e));
    const struct dataset_filter f = { page->project_id, page->created_by, page->has_data_class ? str_c(data_class_names[page->data_class]) : STR_NULL,
                                      page->zone, page->q, str_c(list_sort_names[page->sort]) };
    TRY(dataset_list(w, &f, after, page->page_size + 1, &ret->items, e));
    page_cut_by_id(ret, w->arena, page->page_size, sizeof(struct dataset), offsetof(struct dataset, dataset_id));
    return ERR_OK;
}

static enum errc upload(struct work *w, const void *in, void *out, struct err *e)
{
    const struct dataset_upload *u = in;
    struct call *c = call_of(w);
    struct dataset_version *v = out;
    TRY(dataset_version_add(w, u->dataset_id, u->zone, c->body, v, e));
    audit_event_detail(&c->audit, AUDIT_D_INT("version", v->version));
    audit_event_detail(&c->audit, AUDIT_D_INT("size_bytes", v->size_bytes));
    return ERR_OK;
}

static enum errc versions(struct work *w, const void *in, void *out, struct err *e)
{
    const struct dataset_versions *page = in;
    struct page_out *ret = out;
    int64_t before = 0;
    if (page->page_token.ptr && !str_to_i64(page->page_token, 1, INT64_MAX, &before))
        return FAIL(e, PAGE_TOKEN, "The page token does not belong to this list");
    TRY(dataset_version_list(w, page->dataset_id, before, page->page_size + 1, &ret->items, e));
    if ((int64_t)ret->items.n > page->page_size) {
        ret->items.n = (size_t)page->page_size;
        ret->next = str_fmt(w->arena, "%ld", (long)((struct dataset_version *)ret->items.items)[ret->items.n - 1].version);
    }
    return ERR_OK;
}

static enum errc find_and_send(struct call *c, struct err *e)
{
    const struct dataset_content_ref *ref = c->in;
    struct work *w = &c->work;
    struct dataset_version v;
    TRY(db_begin(w->app->pool, scope_of(w), 0, w->arena, &w->tx, e));
    TRY(dataset_version_get(w, ref->dataset_id, ref->version, &v, e));
    struct content t = { AUDIT_DATASET_READ, "dataset", "dst", v.dataset_id, v.version, v.object_id, "dataset", STR("text/csv"), "csv" };
    return content_send(c, &t, e);
}

static enum errc content(struct call *c, struct err *e)
{
    enum errc rc = find_and_send(c, e);
    if (rc != ERR_OK) {
        db_rollback(c->work.tx);
        c->work.tx = NULL;
    }
    return rc;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/datasets", .op = "dataset_create", .perm = PERM_DATASET_WRITE, .handler = create, .in = &dataset_new_schema,
      .status = 201, .out = &dataset_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "dataset", .audited = true,
      .audit = AUDIT_DATASET_CREATE, .doc = "Create a data set" },
    { .method = HTTP_GET, .path = "/v1/datasets", .op = "dataset_list", .perm = PERM_DATASET_READ, .handler = list, .in = &dataset_page_schema,
      .status = 200, .out = &dataset_schema, .flags = R_LIST, .doc = "List data sets" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}", .op = "dataset_get", .perm = PERM_DATASET_READ, .handler = read_one,
      .in = &dataset_ref_schema, .status = 200, .out = &dataset_schema, .resource = "dataset", .doc = "Read one data set" },
    { .method = HTTP_POST, .path = "/v1/datasets/{dataset_id}/versions", .op = "dataset_version_upload", .perm = PERM_DATASET_WRITE,
      .handler = upload, .in = &dataset_upload_schema, .status = 201, .out = &dataset_version_schema, .flags = R_UPLOAD | R_IDEMPOTENT,
      .rate = RL_WRITE, .resource = "dataset", .audited = true, .audit = AUDIT_DATASET_VERSION, .content_type = "text/csv",
      .doc = "Upload a version: CSV with a header row; the first fault is told by row and column" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}/versions", .op = "dataset_version_list", .perm = PERM_DATASET_READ,
      .handler = versions, .in = &dataset_versions_schema, .status = 200, .out = &dataset_version_schema, .flags = R_LIST,
      .doc = "Versions of a data set, newest first" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}/versions/{version}/content", .op = "dataset_content", .perm = PERM_DATASET_CONTENT,
      .raw = content, .in = &dataset_content_ref_schema, .status = 200, .content_type = "text/csv", .resource = "dataset",
      .audit = AUDIT_DATASET_READ, .doc = "The content of a version, verified to its end; reading it is audited" },
};
extern const struct route_table dataset_routes;
ROUTE_TABLE(dataset_routes, rows);
