/* SPDX-License-Identifier: Apache-2.0 */
/* datasets.c - routes of data sets and their versions. An upload is one body; its content leaves only through a route of its own. */
#include "api/content_int.h"
#include "api/pipeline.h"
#include "registry/catalog/dataset.h"
#include "registry/evidence/passport.h"
#include "tenants/home/residency.h"

CONTENT_INPUTS(dataset, "dst", "data set");
struct dataset_page { CONTENT_PAGE_IN; int data_class; bool has_data_class; };
SCHEMA_OF(dataset_page, "Which data sets", CONTENT_PAGE_FIELDS(dataset_page, "data set"),
    FIELD_ENUM_OPT(dataset_page, data_class, F_QUERY, data_class_names, .doc = "Only data of this class"));
struct dataset_upload { struct uuid dataset_id; struct str zone; int format; };
SCHEMA_OF(dataset_upload, "A version to upload", FIELD_ID(dataset_upload, dataset_id, "dst", F_PATH, .doc = "The data set"),
    FIELD(dataset_upload, zone, F_QUERY, .min = 1, .max = 31, .check = check_slug,
          .doc = "Where to keep it; absent: the home zone"),
    FIELD_ENUM(dataset_upload, format, F_QUERY, data_format_names, .dflt = "csv", .doc = "Format of the content"));

/* Type and extension of what a version holds. */
static void form_of(const void *version, const char **ret_type, const char **ret_extension)
{
    const struct data_format_row *row = &data_formats[((const struct dataset_version *)version)->format];
    *ret_type = row->media_type;
    *ret_extension = row->extension;
}

static const struct content datasets = { &versioned_dataset, AUDIT_DATASET_READ, form_of };

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    return dataset_create(w, in, out, e);
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return content_read_one(w, &datasets, in, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct dataset_page *page = in;
    return content_list(w, &datasets, in, page->has_data_class ? str_c(data_class_names[page->data_class]) : STR_NULL, out, e);
}

static void drop_content(struct work *w, void *content)
{
    dataset_content_drop(w, content);
}

/* Checks, seals and stores the body: no transaction is held meanwhile. */
static enum errc seal_content(struct work *w, const void *in, struct err *e)
{
    const struct dataset_upload *u = in;
    struct call *c = call_of(w);
    const struct dataset_content *content;
    TRY(dataset_content_seal(w, u->dataset_id, u->zone, u->format, c->body, &content, e));
    c->own = (void *)content;
    c->drop_own = drop_content;
    return ERR_OK;
}

static enum errc upload(struct work *w, const void *in, void *out, struct err *e)
{
    const struct dataset_upload *u = in;
    struct call *c = call_of(w);
    struct dataset_version *v = out;
    const char *type = data_formats[u->format].media_type;
    if (!str_starts(http_header_get(c->request, "Content-Type"), type))
        return FAIL_AT(e, MEDIA_TYPE, "/format", "Content of the format %s is sent as %s", data_format_names[u->format], type);
    if (!c->own)
        return call_outside(w, seal_content, e);
    TRY(dataset_version_add(w, c->own, v, e));
    audit_event_detail(&c->audit, AUDIT_D_INT("version", v->version));
    audit_event_detail(&c->audit, AUDIT_D_INT("size_bytes", v->size_bytes));
    return ERR_OK;
}

static enum errc versions(struct work *w, const void *in, void *out, struct err *e)
{
    return content_list_versions(w, &datasets, in, out, e);
}

static enum errc change(struct work *w, const void *in, void *out, struct err *e)
{
    return content_change(w, &datasets, in, out, e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    return content_remove(w, &datasets, in, out, e);
}

static enum errc passport(struct work *w, const void *in, void *out, struct err *e)
{
    return passport_read(w, ((const struct dataset_ref *)in)->dataset_id, out, e);
}

static enum errc content(struct call *c, struct err *e)
{
    return content_send(c, &datasets, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/datasets", .lane = LANE_CALLS,
      .op = "dataset_create", .perm = PERM_DATASET_WRITE, .handler = create, .in = &dataset_new_schema,
      .status = 201, .out = &dataset_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "dataset", .audited = true,
      .audit = AUDIT_DATASET_CREATE, .doc = "Create a data set" },
    { .method = HTTP_GET, .path = "/v1/datasets", .lane = LANE_CALLS,
      .op = "dataset_list", .perm = PERM_DATASET_READ, .handler = list, .in = &dataset_page_schema,
      .status = 200, .out = &dataset_schema, .flags = R_LIST, .doc = "List data sets" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}", .lane = LANE_CALLS,
      .op = "dataset_get", .perm = PERM_DATASET_READ, .handler = read_one,
      .in = &dataset_ref_schema, .status = 200, .out = &dataset_schema, .resource = "dataset", .doc = "Read one data set" },
    { .method = HTTP_POST, .path = "/v1/datasets/{dataset_id}/versions", .lane = LANE_CONTENT,
      .op = "dataset_version_upload", .perm = PERM_DATASET_WRITE,
      .handler = upload, .in = &dataset_upload_schema, .status = 201, .out = &dataset_version_schema, .flags = R_UPLOAD | R_IDEMPOTENT,
      .rate = RL_WRITE, .resource = "dataset", .audited = true, .audit = AUDIT_DATASET_VERSION, .content_type = "text/csv",
      .content_also = "application/octet-stream",
      .doc = "Upload a version: a table as CSV with a header row (text/csv) or as a .npy array, or a shard of tokens (both "
             "application/octet-stream); the first fault is told by row and column, or byte" },
    { .method = HTTP_PATCH, .path = "/v1/datasets/{dataset_id}", .lane = LANE_CALLS,
      .op = "dataset_update", .perm = PERM_DATASET_WRITE, .handler = change, .in = &dataset_edit_schema, .status = 200,
      .out = &dataset_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "dataset", .audited = true,
      .audit = AUDIT_DATASET_UPDATE,
      .doc = "Set what a data set is called for people, and what it is" },
    { .method = HTTP_DELETE, .path = "/v1/datasets/{dataset_id}", .lane = LANE_CALLS,
      .op = "dataset_delete", .perm = PERM_DATASET_WRITE,
        .handler = delete,
      .in = &dataset_ref_schema, .status = 200, .out = &content_deleted_schema, .flags = R_STEP_UP, .rate = RL_WRITE,
          .resource = "dataset",
      .audited = true, .audit = AUDIT_DATASET_DELETE,
      .doc = "Delete a data set with all versions for good; refused under a legal hold, and while something named uses it" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}/versions", .lane = LANE_CALLS,
      .op = "dataset_version_list", .perm = PERM_DATASET_READ,
      .handler = versions, .in = &dataset_versions_schema, .status = 200, .out = &dataset_version_schema, .flags = R_LIST,
      .doc = "Versions of a data set, newest first" },
    { .method = HTTP_GET, .path = "/v1/passports", .lane = LANE_CALLS,
      .op = "passport_list", .perm = PERM_AUDIT_READ, .handler = list, .in = &dataset_page_schema, .status = 200,
      .out = &dataset_schema, .flags = R_LIST, .doc = "The data sets that have a passport, for who answers for them" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}/passport", .lane = LANE_HEAVY,
      .op = "dataset_passport", .perm = PERM_AUDIT_READ, .handler = passport, .in = &dataset_ref_schema, .status = 200,
      .out = &passport_schema, .resource = "dataset", .audited = true, .audit = AUDIT_AUDIT_READ,
      .doc = "All that is known of a data set: where it lies, its law and key, who read it, what crossed a border and became of it" },
    { .method = HTTP_GET, .path = "/v1/datasets/{dataset_id}/versions/{version}/content", .lane = LANE_CONTENT,
      .op = "dataset_content", .perm = PERM_DATASET_CONTENT,
      .raw = content, .in = &dataset_content_ref_schema, .status = 200, .content_type = "text/csv",
      .content_also = "application/octet-stream",
      .resource = "dataset",
      .audit = AUDIT_DATASET_READ, .doc = "The content of a version, verified to its end; reading it is audited" },
};
extern const struct route_table dataset_routes;
ROUTE_TABLE(dataset_routes, rows);
