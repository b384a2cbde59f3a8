/* SPDX-License-Identifier: Apache-2.0 */
/* uploads.c - routes of uploads in parts: begun, continued from where they were cut, and made a version of their data set. */
#include "api/route.h"
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "registry/catalog/upload.h"
#include "tenants/access/authz.h"

struct upload_ref { struct uuid upload_id; };
SCHEMA_OF(upload_ref, "Which upload", FIELD_ID(upload_ref, upload_id, "upl", F_PATH, .doc = "The upload"));
struct upload_page { PAGE_IN; struct uuid dataset_id; };
SCHEMA_OF(upload_page, "Which uploads", PAGE_IN_FIELDS(upload_page),
    FIELD_ID(upload_page, dataset_id, "dst", F_QUERY, .doc = "Only to this data set"));
struct upload_part_in { struct uuid upload_id; int64_t offset; };
SCHEMA_OF(upload_part_in, "A part", FIELD_ID(upload_part_in, upload_id, "upl", F_PATH, .doc = "The upload"),
    FIELD(upload_part_in, offset, F_QUERY | F_REQ, .min = 0, .max = UPLOAD_SIZE_MAX, .doc = "Where the part's first byte stands in the content"));

static enum errc begin(struct work *w, const void *in, void *out, struct err *e)
{
    struct call *c = call_of(w);
    struct upload *u = out;
    TRY(upload_begin(w, in, u, e));
    audit_event_detail(&c->audit, AUDIT_D_STR("dataset", id_text(w->arena, "dst", u->dataset_id)));
    audit_event_detail(&c->audit, AUDIT_D_INT("size_bytes", u->size_bytes));
    return ERR_OK;
}

static enum errc read_one(struct work *w, const void *in, void *out, struct err *e)
{
    struct upload *u = out;
    TRY(upload_get(w, ((const struct upload_ref *)in)->upload_id, u, e));
    return authz_require_zone(w, PERM_DATASET_WRITE, u->zone, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct upload_page *page = in;
    return PAGE_BY_ID(w, page, out, upload, upload_id, upload_list(w, page->dataset_id, after, limit, rows, e), e);
}

static enum errc add_part(struct work *w, const void *in, void *out, struct err *e)
{
    const struct upload_part_in *p = in;
    struct upload u;
    TRY(upload_get(w, p->upload_id, &u, e));
    TRY(authz_require_zone(w, PERM_DATASET_WRITE, u.zone, e));
    return upload_part(w, p->upload_id, p->offset, call_of(w)->body, out, e);
}

/* A content that is refused will be refused again: what was sent of it goes. The call's own transaction is lost by then. */
static void end_refused(struct work *w, struct uuid upload_id)
{
    struct err why;
    db_rollback(TAKE(w->tx));
    if (RUN_WRITE(w, upload_cancel(w, upload_id, NULL, &why), &why) != ERR_OK)
        log_err(LOG_WARN, "upload.end_refused", &why);
}

static enum errc complete(struct work *w, const void *in, void *out, struct err *e)
{
    const struct upload_ref *ref = in;
    struct call *c = call_of(w);
    struct dataset_version *v = out;
    struct upload u;
    TRY(upload_get(w, ref->upload_id, &u, e));
    TRY(authz_require_zone(w, PERM_DATASET_WRITE, u.zone, e));
    enum errc rc = upload_complete(w, ref->upload_id, v, e);
    if (rc == ERR_BAD_DATA)
        end_refused(w, ref->upload_id);
    if (rc != ERR_OK)
        return rc;
    audit_event_detail(&c->audit, AUDIT_D_INT("version", v->version));
    audit_event_detail(&c->audit, AUDIT_D_INT("size_bytes", v->size_bytes));
    audit_event_detail(&c->audit, AUDIT_D_STR("upload", id_text(w->arena, "upl", ref->upload_id)));
    return ERR_OK;
}

static enum errc cancel(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct upload u;
    TRY(upload_get(w, ((const struct upload_ref *)in)->upload_id, &u, e));
    TRY(authz_require_zone(w, PERM_DATASET_WRITE, u.zone, e));
    TRY(upload_cancel(w, u.upload_id, &u, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("dataset", id_text(w->arena, "dst", u.dataset_id)));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/uploads", .lane = LANE_CALLS,
      .op = "upload_begin", .perm = PERM_DATASET_WRITE, .handler = begin, .in = &upload_new_schema,
      .status = 201, .out = &upload_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "upload", .audited = true,
      .audit = AUDIT_UPLOAD_BEGIN, .doc = "Begin an upload in parts, of up to 1 GiB; it lives 24 h" },
    { .method = HTTP_GET, .path = "/v1/uploads", .lane = LANE_CALLS,
      .op = "upload_list", .perm = PERM_DATASET_WRITE, .handler = list, .in = &upload_page_schema,
      .status = 200, .out = &upload_schema, .flags = R_LIST | R_ZONE_LATE, .doc = "The own uploads that are open, newest first" },
    { .method = HTTP_GET, .path = "/v1/uploads/{upload_id}", .lane = LANE_CALLS,
      .op = "upload_get", .perm = PERM_DATASET_WRITE, .handler = read_one,
      .in = &upload_ref_schema, .status = 200, .out = &upload_schema, .flags = R_ZONE_LATE, .resource = "upload",
      .doc = "How far an upload is: where its next part begins, or the version that it became" },
    { .method = HTTP_PUT, .path = "/v1/uploads/{upload_id}/parts", .lane = LANE_CONTENT,
      .op = "upload_part", .perm = PERM_DATASET_WRITE, .handler = add_part,
      .in = &upload_part_in_schema, .status = 200, .out = &upload_schema, .flags = R_UPLOAD | R_ZONE_LATE, .rate = RL_WRITE, .resource = "upload",
      .content_type = "application/octet-stream",
      .doc = "The next part of the content; the same part again is harmless, another offset than the next is a conflict" },
    { .method = HTTP_POST, .path = "/v1/uploads/{upload_id}/complete", .lane = LANE_CONTENT,
      .op = "upload_complete", .perm = PERM_DATASET_WRITE, .handler = complete,
      .in = &upload_ref_schema, .status = 200, .out = &dataset_version_schema, .flags = R_IDEMPOTENT | R_ZONE_LATE, .rate = RL_WRITE,
      .resource = "dataset", .audited = true, .audit = AUDIT_DATASET_VERSION,
      .doc = "Make the content a version of the data set; a content that is refused ends the upload" },
    { .method = HTTP_DELETE, .path = "/v1/uploads/{upload_id}", .lane = LANE_CALLS,
      .op = "upload_cancel", .perm = PERM_DATASET_WRITE, .handler = cancel,
      .in = &upload_ref_schema, .status = 204, .flags = R_ZONE_LATE, .rate = RL_WRITE, .resource = "upload", .audited = true,
      .audit = AUDIT_UPLOAD_CANCEL, .doc = "Give an open upload up, with all that was sent" },
};
extern const struct route_table upload_routes;
ROUTE_TABLE(upload_routes, rows);
