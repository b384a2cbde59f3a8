/* SPDX-License-Identifier: Apache-2.0 */
/* uploads.c - routes of uploads in parts: begun, continued from where they were cut, and made a version of their data set. */
#include "api/pipeline.h"
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "registry/catalog/upload.h"
#include "tenants/access/actor.h"
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

static void drop_part(struct work *w, void *part)
{
    upload_part_drop(w, part);
}

static enum errc seal_part(struct work *w, const void *in, struct err *e)
{
    const struct upload_part_in *p = in;
    struct call *c = call_of(w);
    const struct upload_piece *part;
    TRY(upload_part_seal(w, p->upload_id, p->offset, c->body, &part, e));
    c->own = (void *)part;
    c->drop_own = drop_part;
    return ERR_OK;
}

static enum errc add_part(struct work *w, const void *in, void *out, struct err *e)
{
    const struct upload_part_in *p = in;
    struct upload u;
    TRY(upload_get(w, p->upload_id, &u, e));
    TRY(authz_require_zone(w, PERM_DATASET_WRITE, u.zone, e));
    if (!call_of(w)->own)
        return call_outside(w, seal_part, e);
    return upload_part_take(w, call_of(w)->own, out, e);
}

/* Reads the parts and writes the version's object: no transaction is held meanwhile. */
static enum errc assemble(struct work *w, const void *in, struct err *e)
{
    struct upload_run *run;
    TRY(RUN_WRITE(w, upload_claim(w, ((const struct upload_ref *)in)->upload_id, &run, NULL, e), e));
    enum errc rc = upload_assemble(w, run, e);
    if (rc != ERR_OK)
        upload_give_up(w, run, e, false);
    else
        call_of(w)->own = run;
    return rc;
}

static void note_version(struct audit_event *ev, struct arena *a, const struct dataset_version *v, struct uuid upload_id)
{
    audit_event_detail(ev, AUDIT_D_INT("version", v->version));
    audit_event_detail(ev, AUDIT_D_INT("size_bytes", v->size_bytes));
    audit_event_detail(ev, AUDIT_D_STR("upload", id_text(a, "upl", upload_id)));
}

static enum errc may_complete(struct work *w, struct uuid upload_id, struct upload *ret, struct err *e)
{
    TRY(upload_get(w, upload_id, ret, e));
    return authz_require_zone(w, PERM_DATASET_WRITE, ret->zone, e);
}

static enum errc complete(struct work *w, const void *in, void *out, struct err *e)
{
    const struct upload_ref *ref = in;
    struct call *c = call_of(w);
    struct upload u;
    TRY(may_complete(w, ref->upload_id, &u, e));
    if (!c->own)
        return call_outside(w, assemble, e);
    enum errc rc = upload_finish(w, c->own, out, e);
    if (rc != ERR_OK && rc != ERR_RETRY) {
        db_rollback(TAKE(w->tx));
        upload_give_up(w, TAKE(c->own), e, false);
    }
    if (rc != ERR_OK)
        return rc;
    note_version(&c->audit, w->arena, out, ref->upload_id);
    return ERR_OK;
}

static enum errc finish_audited(struct work *w, struct upload_run *run, struct uuid upload_id, struct err *e)
{
    struct dataset_version v;
    struct audit_event ev = audit_event_by(w, w->principal, AUDIT_DATASET_VERSION);
    TRY(upload_finish(w, run, &v, e));
    ev.http_status = 200;
    ev.resource_kind = STR("dataset");
    ev.resource_prefix = "dst";
    ev.resource_id = v.dataset_id;
    note_version(&ev, w->arena, &v, upload_id);
    return audit_append(w, &ev, e);
}

struct claimed { struct uuid upload_id, claim; };

/* As `complete` does, with nobody waiting for it: how it ends stands in the upload. */
static void complete_later(struct work *w, const void *in)
{
    const struct claimed *c = in;
    struct upload_run *run;
    struct err e;
    if (RUN_WRITE(w, upload_resume(w, c->upload_id, c->claim, &run, &e), &e) != ERR_OK) {
        log_err(LOG_WARN, "upload.resume", &e);     /* it waited for longer than its claim lived: the upload is open again */
        return;
    }
    enum errc rc = upload_assemble(w, run, &e);
    if (rc == ERR_OK)
        rc = RUN_WRITE(w, finish_audited(w, run, c->upload_id, &e), &e);
    if (rc != ERR_OK)
        upload_give_up(w, run, &e, true);
}

static enum errc start_completing(struct work *w, const void *in, void *out, struct err *e)
{
    const struct upload_ref *ref = in;
    struct upload_run *run;
    TRY(may_complete(w, ref->upload_id, out, e));
    TRY(upload_claim(w, ref->upload_id, &run, out, e));
    const struct claimed c = { ref->upload_id, upload_run_claim(run) };
    call_background(w, LANE_CONTENT, complete_later, &c, sizeof c);
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
    { .method = HTTP_POST, .path = "/v1/uploads/{upload_id}/completion", .lane = LANE_CALLS,
      .op = "upload_complete_later", .perm = PERM_DATASET_WRITE, .handler = start_completing, .in = &upload_ref_schema, .status = 202,
      .out = &upload_schema, .flags = R_ZONE_LATE, .rate = RL_WRITE, .resource = "upload",
      .doc = "The same without waiting for it: the upload says how far it is (completed_bytes), which version it became or why it did not" },
    { .method = HTTP_DELETE, .path = "/v1/uploads/{upload_id}", .lane = LANE_CALLS,
      .op = "upload_cancel", .perm = PERM_DATASET_WRITE, .handler = cancel,
      .in = &upload_ref_schema, .status = 204, .flags = R_ZONE_LATE, .rate = RL_WRITE, .resource = "upload", .audited = true,
      .audit = AUDIT_UPLOAD_CANCEL, .doc = "Give an open upload up, with all that was sent" },
};
extern const struct route_table upload_routes;
ROUTE_TABLE(upload_routes, rows);
