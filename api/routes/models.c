/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - routes of models and their versions. */
#include "api/content_int.h"
#include "api/route.h"
#include "core/db/tx.h"
#include "registry/catalog/model.h"
#include "core/db/list_find.h"

struct model_ref { struct uuid model_id; };
SCHEMA_OF(model_ref, "Which model", FIELD_ID(model_ref, model_id, "mdl", F_PATH, .doc = "The model"));
struct model_page { PAGE_IN; struct uuid project_id, created_by; struct str q, zone; int sort; };
SCHEMA_OF(model_page, "Which models", PAGE_IN_FIELDS(model_page),
    FIELD_ID(model_page, project_id, "prj", F_QUERY, .doc = "Only models of this project"),
    FIELD_ID(model_page, created_by, "usr", F_QUERY, .doc = "Only models that this user made"),
    FIELD(model_page, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, .doc = "Only models whose name contains this, in any case"),
    FIELD(model_page, zone, F_QUERY, .max = 31, .check = check_slug, .doc = "Only models of which a version lies in this zone"),
    FIELD_ENUM(model_page, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending"));
struct model_versions { struct uuid model_id; PAGE_IN; };
SCHEMA_OF(model_versions, "Which versions", FIELD_ID(model_versions, model_id, "mdl", F_PATH, .doc = "The model"), PAGE_IN_FIELDS(model_versions));
struct model_content_ref { struct uuid model_id; int64_t version; };
SCHEMA_OF(model_content_ref, "Which version", FIELD_ID(model_content_ref, model_id, "mdl", F_PATH, .doc = "The model"),
    FIELD(model_content_ref, version, F_PATH, .min = 1, .max = INT64_MAX, .doc = "Its number"));

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    struct model_version *v = out;
    TRY(model_register(w, in, v, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("version", v->version));
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    return model_get(w, ((const struct model_ref *)in)->model_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct model_page *page = in;
    struct page_out *ret = out;
    struct uuid after;
    TRY(page_position_id(page->page_token, &after, e));
    const struct model_filter f = { page->project_id, page->created_by, page->zone, page->q, str_c(list_sort_names[page->sort]) };
    TRY(model_list(w, &f, after, page->page_size + 1, &ret->items, e));
    page_cut_by_id(ret, w->arena, page->page_size, sizeof(struct model), offsetof(struct model, model_id));
    return ERR_OK;
}

static enum errc versions(struct work *w, const void *in, void *out, struct err *e)
{
    const struct model_versions *page = in;
    struct page_out *ret = out;
    int64_t before = 0;
    if (page->page_token.ptr && !str_to_i64(page->page_token, 1, INT64_MAX, &before))
        return FAIL(e, PAGE_TOKEN, "The page token does not belong to this list");
    TRY(model_version_list(w, page->model_id, before, page->page_size + 1, &ret->items, e));
    if ((int64_t)ret->items.n > page->page_size) {
        ret->items.n = (size_t)page->page_size;
        ret->next = str_fmt(w->arena, "%ld", (long)((struct model_version *)ret->items.items)[ret->items.n - 1].version);
    }
    return ERR_OK;
}

static enum errc find_and_send(struct call *c, struct err *e)
{
    const struct model_content_ref *ref = c->in;
    struct work *w = &c->work;
    struct model_version v;
    TRY(db_begin(w->app->pool, scope_of(w), 0, w->arena, &w->tx, e));
    TRY(model_version_get(w, ref->model_id, ref->version, &v, e));
    struct content t = { AUDIT_MODEL_READ, "model", "mdl", v.model_id, v.version, v.object_id, "model", STR("application/octet-stream"), "safetensors" };
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
    { .method = HTTP_POST, .path = "/v1/models", .op = "model_register", .perm = PERM_MODEL_WRITE, .handler = create, .in = &model_new_schema,
      .status = 201, .out = &model_version_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "model", .audited = true,
      .audit = AUDIT_MODEL_REGISTER, .doc = "Register a completed job's output \"model\" as the next version of a model" },
    { .method = HTTP_GET, .path = "/v1/models", .op = "model_list", .perm = PERM_MODEL_READ, .handler = list, .in = &model_page_schema,
      .status = 200, .out = &model_schema, .flags = R_LIST, .doc = "List models" },
    { .method = HTTP_GET, .path = "/v1/models/{model_id}", .op = "model_get", .perm = PERM_MODEL_READ, .handler = read_one, .in = &model_ref_schema,
      .status = 200, .out = &model_schema, .resource = "model", .doc = "Read one model" },
    { .method = HTTP_GET, .path = "/v1/models/{model_id}/versions", .op = "model_version_list", .perm = PERM_MODEL_READ, .handler = versions,
      .in = &model_versions_schema, .status = 200, .out = &model_version_schema, .flags = R_LIST,
      .doc = "Versions of a model, newest first" },
    { .method = HTTP_GET, .path = "/v1/models/{model_id}/versions/{version}/content", .op = "model_content", .perm = PERM_MODEL_CONTENT,
      .raw = content, .in = &model_content_ref_schema, .status = 200, .content_type = "application/octet-stream", .resource = "model",
      .audit = AUDIT_MODEL_READ, .doc = "The weights of a version (safetensors), verified to their end; reading them is audited" },
};
extern const struct route_table model_routes;
ROUTE_TABLE(model_routes, rows);
