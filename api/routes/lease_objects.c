/* SPDX-License-Identifier: Apache-2.0 */
/* lease_objects.c - what a leased worker reads and writes: keys, inputs, outputs; and the certificate of what serves. For workers
 * only.
 *
 * Every call names its lease; lease_check proves that it is live, of this fence and held by the machine of this certificate before anything
 * else happens, and sets the tenant that all further statements name. A key leaves only after its audit event has committed: the event and
 * the answer belong to one transaction, and the pipeline commits before it sends. */
#include "api/pipeline.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "core/wire/job_type.h"
#include "keys/client.h"
#include "registry/catalog/secret.h"
#include "scheduler/jobs/environment.h"
#include "registry/vault/worker_checkpoint.h"
#include "scheduler/engine/enrol.h"
#include "scheduler/engine/lease_member.h"
#include "tenants/access/actor.h"

/* Proves the lease and turns the call to its tenant. */
static enum errc hold(struct work *w, struct uuid tenant_id, struct uuid attempt_id, int64_t fence, struct worker_lease *ret, struct err *e)
{
    struct lease l;
    TRY(lease_check(w, tenant_id, attempt_id, fence, w->principal->name, &l, e));
    w->tenant_id = tenant_id;
    *ret = (struct worker_lease){ l.job_id, l.node_id, l.fence, l.lease_until.us, l.zone, l.data_class, l.kind,
                                  l.rank, l.nodes };
    return ERR_OK;
}

/* What a job on several machines gives, its first one gives. */
static enum errc hold_first(struct work *w, struct uuid tenant_id, struct uuid attempt_id, int64_t fence,
                            struct worker_lease *ret, struct err *e)
{
    TRY(hold(w, tenant_id, attempt_id, fence, ret, e));
    return ret->rank ? FAIL(e, FORBIDDEN, "Rank 0 alone gives outputs and checkpoints; this is rank %ld of %ld", (long)ret->rank,
                            (long)ret->nodes) : ERR_OK;
}

/* What a lease was given, to the tenant's log. */
static struct audit_event event_of(struct work *w, enum audit_code code, struct uuid attempt_id, const struct worker_lease *l)
{
    struct audit_event ev = audit_event_of(w, code);
    audit_event_by_node(&ev, l->node_id, l->zone);
    ev.tenant_id = w->tenant_id;
    ev.resource_kind = STR("attempt");
    ev.resource_prefix = "att";
    ev.resource_id = attempt_id;
    ev.rule = STR("lease");
    ev.http_status = 200;
    char job[UUID_HEX];
    hex_encode(l->job_id.b, 16, job);
    audit_event_detail(&ev, AUDIT_D_STR("job", str_dup(w->arena, str_c(job))));
    audit_event_detail(&ev, AUDIT_D_INT("fence", l->fence));
    return ev;
}

static enum errc note_release(struct work *w, struct uuid attempt_id, const struct worker_lease *l, int64_t keys,
                              const char *what, struct err *e)
{
    struct audit_event ev = event_of(w, AUDIT_KEY_RELEASE, attempt_id, l);
    audit_event_detail(&ev, AUDIT_D_INT("keys", keys));
    audit_event_detail(&ev, AUDIT_D_STR("for", str_c(what)));
    return audit_append(w, &ev, e);
}

/* One event for each, with the secret as what it is about: who looks for its uses finds them by its id. */
static enum errc note_secrets(struct work *w, struct uuid attempt_id, const struct worker_lease *l, const struct slice *used,
    struct err *e)
{
    const struct secret_used *s = used->items;
    for (size_t i = 0; i < used->n; i++) {
        struct audit_event ev = event_of(w, AUDIT_SECRET_USE, attempt_id, l);
        ev.resource_kind = STR("secret");
        ev.resource_prefix = "sec";
        ev.resource_id = s[i].secret_id;
        audit_event_detail(&ev, AUDIT_D_STR("secret", s[i].name));
        audit_event_detail(&ev, AUDIT_D_INT("value_version", s[i].value_version));
        TRY(audit_append(w, &ev, e));
    }
    return ERR_OK;
}

static enum errc keys(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct lease_keys_in *in = in_;
    struct worker_lease l;
    struct worker_release r;
    TRY(hold(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    struct slice used;
    TRY(environment_permits_lease(w, l.job_id, in->objects.items, in->objects.n, e));
    TRY(secret_use(w, in->objects.items, in->objects.n, &used, e));
    TRY(worker_keys(w, &l, in->objects.items, in->objects.n, in->public_key.data, &r, e));
    TRY(note_secrets(w, in->attempt_id, &l, &used, e));
    TRY(note_release(w, in->attempt_id, &l, (int64_t)in->objects.n, "input", e));
    *(struct lease_keys_out *)out = (struct lease_keys_out){ r.message, r.not_after_us, r.zone, r.key_ids };
    return ERR_OK;
}

/* Judged as the release of its key to a lease of that job would be, here and now. */
static enum errc may_keep(struct work *w, const struct lease_kept *k, bool *ret, struct err *e)
{
    struct lease l;
    struct err why = { 0 };
    enum errc rc = lease_had(w, k->tenant_id, k->job_id, w->principal->name, &l, &why);
    w->tenant_id = k->tenant_id;
    if (rc == ERR_OK)
        rc = environment_permits_lease(w, k->job_id, &k->object_id, 1, &why);
    if (rc == ERR_OK) {
        const struct worker_lease as = { l.job_id, l.node_id, l.fence, w->now_us, l.zone, l.data_class, l.kind, l.rank, l.nodes };
        rc = worker_keys_may(w, &as, &k->object_id, 1, &why);
    }
    *ret = rc == ERR_OK;
    if (rc == ERR_OK || rc == ERR_NOT_FOUND || rc == ERR_RESIDENCY || rc == ERR_FORBIDDEN || rc == ERR_KEY_DESTROYED ||
        rc == ERR_SEALED)
        return ERR_OK;
    *e = why;
    return rc;
}

static enum errc kept(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct lease_kept_in *in = in_;
    const struct lease_kept *asked = in->images.items;
    struct lease_kept *may = ARENA_ARRAY(w->arena, struct lease_kept, in->images.n + 1);
    const struct uuid own = w->tenant_id;
    enum errc rc = ERR_OK;
    size_t n = 0;
    for (size_t i = 0; i < in->images.n && rc == ERR_OK; i++) {
        bool may_be = false;
        rc = may_keep(w, &asked[i], &may_be, e);
        if (may_be)
            may[n++] = asked[i];
    }
    w->tenant_id = own;
    ((struct lease_kept_out *)out)->images = (struct slice){ may, n };
    return rc;
}

/* The lease is proved again at each renewal: with the lease the certificate ends, at the latest with its own life. */
static enum errc certificate(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct lease_cert_in *in = in_;
    struct worker_lease l;
    struct node_credential c;
    TRY(hold(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    if (!job_listens(l.kind) && l.nodes < 2)
        return FAIL(e, UNPROCESSABLE, "Only a lease that answers calls, or meets others, gets a certificate; it is of kind %.*s",
                    STR_ARG(l.kind));
    TRY(node_lease_sign(w, w->principal->name, l.zone, in->attempt_id, in->csr_pem, &c, e));
    struct audit_event ev = event_of(w, AUDIT_LEASE_CERTIFICATE, in->attempt_id, &l);
    audit_event_detail(&ev, AUDIT_D_STR("identity", c.identity));
    audit_event_detail(&ev, AUDIT_D_STR("fingerprint", c.fingerprint));
    TRY(audit_append(w, &ev, e));
    *(struct lease_cert_out *)out = (struct lease_cert_out){ c.certificate_pem, c.identity, c.not_after };
    return ERR_OK;
}

static int64_t part_max(const struct work *w)
{
    int64_t body = w->app->config->api_upload_max;
    return body < LEASE_PART_MAX ? body : LEASE_PART_MAX;
}

/* What a worker needs to write the object beside its id and version. */
static void tell_release(struct work *w, const struct worker_release *r, struct lease_output_out *ret)
{
    ret->part_bytes_max = part_max(w);
    ret->message = r->message;
    ret->not_after_us = r->not_after_us;
    ret->zone = r->zone;
    ret->key_ids = r->key_ids;
}

static enum errc output_new(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct lease_output_in *in = in_;
    struct lease_output_out *ret = out;
    struct worker_lease l;
    struct worker_release r;
    TRY(hold_first(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    TRY(worker_output_new(w, &l, in->name, lease_output_kinds[in->kind], in->public_key.data, &ret->object_id, &ret->version, &r, e));
    TRY(note_release(w, in->attempt_id, &l, 1, "output", e));
    tell_release(w, &r, ret);
    return ERR_OK;
}

static enum errc checkpoint_new(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct lease_checkpoint_in *in = in_;
    struct lease_output_out *ret = out;
    struct worker_lease l;
    struct worker_release r;
    bool is_first;
    TRY(hold_first(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    TRY(worker_checkpoint_new(w, &l, in->public_key.data, &ret->object_id, &ret->version, &is_first, &r, e));
    if (is_first)               /* a job of days writes thousands: that this lease writes them is noted once */
        TRY(note_release(w, in->attempt_id, &l, 1, "checkpoints", e));
    tell_release(w, &r, ret);
    return ERR_OK;
}

static enum errc checkpoint_keep(struct work *w, const void *in_, void *out, struct err *e)
{
    (void)out;
    const struct lease_checkpoint_keep *in = in_;
    struct worker_lease l;
    TRY(hold_first(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    return worker_checkpoint_keep(w, &l, in->object_id, in->step, e);
}

static enum errc part_of(struct work *w, const struct lease_upload_in *in, struct output_part *ret, struct err *e)
{
    *ret = (struct output_part){ .object_id = in->object_id, .size_bytes = in->size, .offset = in->offset,
                                 .sealed = call_of(w)->body };
    if (!hex_decode(in->sha256, ret->sha256, sizeof ret->sha256))
        return FAIL_AT(e, INVALID, "/sha256", "must be 64 hex digits");
    return ERR_OK;
}

static enum errc stage(struct work *w, const void *in, struct err *e)
{
    struct output_part p;
    uint8_t *sha = arena_alloc(w->arena, 32);
    TRY(part_of(w, in, &p, e));
    TRY(worker_output_stage(w, &p, sha, e));
    call_of(w)->own = sha;
    return ERR_OK;
}

static enum errc output_store(struct work *w, const void *in_, void *out, struct err *e)
{
    (void)out;
    const struct lease_upload_in *in = in_;
    struct worker_lease l;
    struct output_part p;
    bool is_stored = false;
    TRY(part_of(w, in, &p, e));
    TRY(hold(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    if (!call_of(w)->own) {
        TRY(worker_output_expects(w, &l, &p, &is_stored, e));
        return is_stored ? ERR_OK : call_outside(w, stage, e);
    }
    return worker_output_ends(&p) ? worker_output_store(w, &l, &p, call_of(w)->own, e) : ERR_OK;
}

static ssize_t produce(void *p, void *buf, size_t n)
{
    return blob_read(p, buf, n);
}

static void produced(void *p)
{
    blob_reader_close(p);
}

static enum errc find_input(struct call *c, struct blob_reader **ret, int64_t *ret_size, struct err *e)
{
    const struct lease_object_ref *in = c->in;
    struct work *w = &c->work;
    struct worker_lease l;
    TRY(hold(w, in->tenant_id, in->attempt_id, in->fence, &l, e));
    return worker_input_open(w, &l, in->object_id, ret, ret_size, e);
}

static enum errc input(struct call *c, struct err *e)
{
    struct blob_reader *r = NULL;
    int64_t size;
    struct work *w = &c->work;
    enum errc rc = RUN_SYSTEM(w, w->app->node_pool, TX_READ_ONLY, find_input(c, &r, &size, e), e);
    if (rc != ERR_OK) {
        if (r)
            blob_reader_close(r);
        return rc;
    }
    struct http_header h[] = { { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") } };
    principal_unref(TAKE(c->principal));
    http_reply_producer(c->exchange, 200, STR("application/octet-stream"), h, 2, size, produce, produced, r);
    return ERR_OK;
}

/* The machines of a gang, and nobody else: the lease is of this machine, and only members of its attempt are told. */
static enum errc gang(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct lease_gang_in *in = in_;
    struct lease l;
    TRY(lease_check(w, in->tenant_id, in->attempt_id, in->fence, w->principal->name, &l, e));
    w->tenant_id = in->tenant_id;
    struct lease_gang_out *ret = out;
    TRY(lease_meet(w, &l, in->endpoint, ret, e));
    return ret->members.n ? keyd_ca_certificate(w->app->keyd, w->arena, l.zone, &ret->authority_pem, e) : ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/leases/{attempt_id}/gang", .lane = LANE_WORKERS,
      .op = "lease_gang", .perm = PERM_NODE_SELF, .handler = gang, .in = &lease_gang_in_schema,
      .status = 200, .out = &lease_gang_out_schema, .flags = R_NODE, .rate = RL_NONE,
      .doc = "Where this machine of a job on several listens, and where the others do, once all have said it" },
    { .method = HTTP_POST, .path = "/v1/leases/{attempt_id}/keys", .lane = LANE_WORKERS,
      .op = "lease_keys", .perm = PERM_NODE_SELF, .handler = keys, .in = &lease_keys_in_schema,
      .status = 200, .out = &lease_keys_out_schema, .flags = R_NODE | R_SECRET, .rate = RL_NONE, .audit = AUDIT_KEY_RELEASE,
      .doc = "Keys of the job's inputs, sealed to the worker" },
    { .method = HTTP_POST, .path = "/v1/leases/kept", .lane = LANE_WORKERS,
      .op = "lease_kept", .perm = PERM_NODE_SELF, .handler = kept, .in = &lease_kept_in_schema,
      .status = 200, .out = &lease_kept_out_schema, .flags = R_NODE, .rate = RL_NONE,
      .doc = "Which of the images that the machine keeps unpacked it may keep: whose key a lease would get now" },
    { .method = HTTP_POST, .path = "/v1/leases/{attempt_id}/certificate", .lane = LANE_WORKERS,
      .op = "lease_certificate", .perm = PERM_NODE_SELF, .handler = certificate, .in = &lease_cert_in_schema,
      .status = 200, .out = &lease_cert_out_schema, .flags = R_NODE | R_SECRET, .rate = RL_NONE, .audit = AUDIT_LEASE_CERTIFICATE,
      .doc = "A certificate for the process that serves this lease, for its own key; asked again to renew it" },
    { .method = HTTP_GET, .path = "/v1/leases/{attempt_id}/objects/{object_id}", .lane = LANE_WORKER_CONTENT,
      .op = "lease_object", .perm = PERM_NODE_SELF, .raw = input,
      .in = &lease_object_ref_schema, .status = 200, .content_type = "application/octet-stream", .flags = R_NODE, .rate = RL_NONE,
      .doc = "An input of the job, as it is stored: sealed" },
    { .method = HTTP_POST, .path = "/v1/leases/{attempt_id}/outputs", .lane = LANE_WORKERS,
      .op = "lease_output_new", .perm = PERM_NODE_SELF, .handler = output_new,
      .in = &lease_output_in_schema, .status = 200, .out = &lease_output_out_schema, .flags = R_NODE | R_SECRET, .rate = RL_NONE,
      .audit = AUDIT_KEY_RELEASE, .doc = "A new object for an output of the job, and its key" },
    { .method = HTTP_POST, .path = "/v1/leases/{attempt_id}/checkpoints", .lane = LANE_WORKERS,
      .op = "lease_checkpoint_new", .perm = PERM_NODE_SELF, .handler = checkpoint_new,
      .in = &lease_checkpoint_in_schema, .status = 200, .out = &lease_output_out_schema, .flags = R_NODE | R_SECRET,
          .rate = RL_NONE,
      .audit = AUDIT_KEY_RELEASE, .doc = "A new object for a checkpoint of the job, and its key; the first of a lease is noted" },
    { .method = HTTP_POST, .path = "/v1/leases/{attempt_id}/checkpoints/{object_id}", .lane = LANE_WORKERS,
      .op = "lease_checkpoint_keep", .perm = PERM_NODE_SELF, .handler = checkpoint_keep,
      .in = &lease_checkpoint_keep_schema, .status = 204, .flags = R_NODE, .rate = RL_NONE,
      .doc = "The checkpoint was sent whole: the next attempt may go on from it, and the older ones go" },
    { .method = HTTP_PUT, .path = "/v1/leases/{attempt_id}/outputs/{object_id}", .lane = LANE_WORKER_CONTENT,
      .op = "lease_output_store", .perm = PERM_NODE_SELF,
      .handler = output_store, .in = &lease_upload_in_schema, .status = 204, .content_type = "application/octet-stream", .flags = R_NODE | R_UPLOAD,
      .rate = RL_NONE,
          .doc = "Sealed bytes of an output or a checkpoint, in parts; it counts once the lease's succeed report lists it" },
};
extern const struct route_table lease_object_routes;
ROUTE_TABLE(lease_object_routes, rows);
