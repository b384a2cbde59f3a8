/* SPDX-License-Identifier: Apache-2.0 */
/* job_outputs.c - what completed jobs left: their names, and the content of one, verified to its end as other contents are. */
#include "api/content_int.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/wire/lease_wire.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job_output.h"
#include "tenants/access/actor.h"
#include "tenants/home/residency_facts.h"

struct job_outputs_in { struct uuid job_id; };
SCHEMA_OF(job_outputs_in, "Which job", FIELD_ID(job_outputs_in, job_id, "job", F_PATH, .doc = "The job"));
struct job_outputs { struct slice data; };
SCHEMA_OF(job_outputs, "What a job left", FIELD_LIST(job_outputs, data, &job_output_schema, F_ALWAYS, .max = LEASE_OUTPUTS_MAX,
    .doc = "By name; none before it is COMPLETED"));
struct job_output_in { struct uuid job_id; struct str name; };
SCHEMA_OF(job_output_in, "Which output", FIELD_ID(job_output_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD(job_output_in, name, F_PATH, .max = LEASE_OUTPUT_NAME_MAX, .check = check_slug, .doc = "Name of the output"));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    return job_output_list(w, ((const struct job_outputs_in *)in)->job_id, &((struct job_outputs *)out)->data, e);
}

static enum errc open_output(struct call *c, struct object_reader **r, struct buf *whole, struct err *e)
{
    const struct job_output_in *in = c->in;
    struct work *w = &c->work;
    struct job_output o;
    TRY(job_output_get(w, in->job_id, in->name, &o, e));
    TRY(object_open(w, o.object_id, NULL, r, e));
    struct residency_question q = { .data_class = data_class_of(o.data_class), .zone = o.zone };
    TRY(residency_check(w, RACT_DOWNLOAD, &q, false, NULL, e));
    if (o.size_bytes <= OBJECT_WHOLE_MAX)
        TRY(object_read_all(*r, whole, e));
    struct audit_event ev = audit_event_by(w, c->principal, AUDIT_ARTIFACT_READ);
    ev.zone = o.zone;
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = in->job_id;
    ev.http_status = 200;
    audit_event_detail(&ev, AUDIT_D_STR("name", o.name));
    audit_event_detail(&ev, AUDIT_D_INT("size_bytes", o.size_bytes));
    return audit_append(w, &ev, e);
}

static enum errc content(struct call *c, struct err *e)
{
    struct work *w = &c->work;
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    CLEANUP(buf_releasep) struct buf whole = BUF(OBJECT_WHOLE_MAX + 1);
    TRY(RUN_WRITE(w, open_output(c, &r, &whole, e), e));
    content_reply(c, &r, &whole, STR("application/octet-stream"), ((const struct job_output_in *)c->in)->name);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/outputs", .lane = LANE_CALLS,
      .op = "job_outputs", .perm = PERM_JOB_READ, .handler = list, .in = &job_outputs_in_schema, .status = 200,
      .out = &job_outputs_schema, .resource = "job", .doc = "What a completed job left, by name" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/outputs/{name}", .lane = LANE_CONTENT,
      .op = "job_output_content", .perm = PERM_JOB_CONTENT, .raw = content, .in = &job_output_in_schema, .status = 200,
      .content_type = "application/octet-stream", .resource = "job", .audit = AUDIT_ARTIFACT_READ,
      .doc = "The content of an output, verified to its end; reading it is audited" },
};
extern const struct route_table job_output_routes;
ROUTE_TABLE(job_output_routes, rows);
