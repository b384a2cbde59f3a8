/* SPDX-License-Identifier: Apache-2.0 */
/* environments.c - routes of environments, of the keys that sign them and of the rule that they be signed. The content comes as
 * a data set does (uploads in parts); what is checked here is a job of ours. */
#include "api/jobs_int.h"
#include "api/pipeline.h"
#include "audit/event.h"
#include "core/wire/image_ref.h"
#include "core/wire/type_run.h"
#include "scheduler/jobs/environment.h"
#include "scheduler/jobs/job_prepare.h"
#include "scheduler/plan/resource.h"
#include "tenants/home/residency.h"

enum { PEM_MAX = 1024 };
struct environment_from { struct str registry, credentials, zone; int data_class; struct uuid project_id; };
SCHEMA_OF(environment_from, "An image in a registry",
    FIELD(environment_from, registry, F_REQ, .min = 1, .max = IMAGE_REF_MAX,
        .example = "registry.example/library/debian@sha256:…",
        .doc = "HOST[:PORT]/NAME@sha256:…; the zone must allow the host, and a tag is refused"),
    FIELD(environment_from, credentials, 0, .max = 63, .check = check_slug,
        .doc = "Name of a secret in that zone: USER:PASSWORD, or a token; absent: none"),
    FIELD(environment_from, zone, 0, .min = 1, .max = 63, .doc = "Where it is pulled and kept; absent: the home zone"),
    FIELD_ENUM(environment_from, data_class, 0, data_class_names, .dflt = "internal", .doc = "Class of its data set"),
    FIELD_ID(environment_from, project_id, "prj", 0, .doc = "Its project; absent: the tenant as a whole, or your only project"));
struct environment_import {
    struct str name, description, digest, signature, pool;
    struct uuid dataset_id;
    struct environment_from from;
    int64_t dataset_version, memory_bytes;
    bool allow_setuid, owns_archive;
};
SCHEMA_OF(environment_import, "An image to take in",
    FIELD(environment_import, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .example = "pytorch",
        .doc = "What jobs call it"),
    FIELD(environment_import, description, 0, .max = 256, .doc = "What it is for"),
    FIELD_ID(environment_import, dataset_id, "dst", 0,
        .doc = "The data set that holds the archive (format oci); absent: it comes from a registry"),
    FIELD_SUB(environment_import, from, &environment_from_schema, 0,
        .doc = "The registry that a machine of the zone pulls it from; absent: the archive was sent"),
    FIELD(environment_import, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest"),
    FIELD(environment_import, digest, 0, .max = 71, .check = run_check_digest, .dflt = "",
          .doc = "The manifest that it must have, sha256:…; empty: the archive's only image for the machines"),
    FIELD(environment_import, signature, 0, .max = ENVIRONMENT_SIG_HEX, .dflt = "",
          .doc = "Over the digest's text, by a key of the tenant (Ed25519, hex); with digest only"),
    FIELD(environment_import, allow_setuid, 0, .dflt = "false",
          .doc = "Take files with setuid and setgid bits, without these bits; else such an image is refused"),
    FIELD(environment_import, owns_archive, 0, .dflt = "false",
          .doc = "The data set was made for it and has this one version: it goes when the image is refused, and with the "
                 "environment"),
    FIELD(environment_import, pool, 0, .max = 63, .check = check_slug, .dflt = "default", .doc = "Pool whose machines check it"),
    FIELD(environment_import, memory_bytes, 0, .min = 0, .max = MEMORY_BYTES_MAX, .dflt = "0",
          .doc = "Memory to check it in: half holds the archive and its files; 0: eight times the archive"));
struct environment_ref { struct uuid environment_id; };
SCHEMA_OF(environment_ref, "Which environment", FIELD_ID(environment_ref, environment_id, "env", F_PATH,
    .doc = "The environment"));
static const char *const state_names[] = { "IMPORTING", "READY", "REFUSED", NULL };
struct environment_page { PAGE_IN; struct str name; bool has_state; int state; };
SCHEMA_OF(environment_page, "Which environments", PAGE_IN_FIELDS(environment_page),
    FIELD(environment_page, name, F_QUERY, .min = 1, .max = 63, .check = check_slug, .doc = "Only of this name"),
    FIELD_ENUM_OPT(environment_page, state, F_QUERY, state_names, .doc = "Only those that stand so"));
struct environment_parts { PAGE_IN; struct uuid environment_id; };
SCHEMA_OF(environment_parts, "Of which environment", PAGE_IN_FIELDS(environment_parts),
    FIELD_ID(environment_parts, environment_id, "env", F_PATH, .doc = "The environment"));
struct environment_list_in { PAGE_IN; struct uuid environment_id; struct str q; };
SCHEMA_OF(environment_list_in, "Of which environment", PAGE_IN_FIELDS(environment_list_in),
    FIELD_ID(environment_list_in, environment_id, "env", F_PATH, .doc = "The environment"),
    FIELD(environment_list_in, q, F_QUERY, .min = 1, .max = 63, .doc = "Only packages whose name contains this, in any case"));
struct environment_signature { struct uuid environment_id; struct str signature; };
SCHEMA_OF(environment_signature, "A signature", FIELD_ID(environment_signature, environment_id, "env", F_PATH,
    .doc = "The environment"),
    FIELD(environment_signature, signature, F_REQ, .min = ENVIRONMENT_SIG_HEX, .max = ENVIRONMENT_SIG_HEX,
          .doc = "Over the digest's text, by a key of the tenant: 64 bytes of Ed25519, hex"));
struct environment_key_new { struct str name, public_key_pem; };
SCHEMA_OF(environment_key_new, "A key that signs images",
    FIELD(environment_key_new, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .example = "builds", .doc = "Its name"),
    FIELD(environment_key_new, public_key_pem, F_REQ, .min = 1, .max = PEM_MAX, .doc = "An Ed25519 public key, PEM"));
struct environment_key_ref { struct uuid key_id; };
SCHEMA_OF(environment_key_ref, "Which key", FIELD_ID(environment_key_ref, key_id, "sgk", F_PATH, .doc = "The key"));
struct environment_key_page { PAGE_IN; };
SCHEMA_OF(environment_key_page, "A page", PAGE_IN_FIELDS(environment_key_page));

static void note(struct work *w, const struct environment *v)
{
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("environment", v->name));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("digest", v->digest));
}

/* Its archive comes with its job: the data set is made when both are there (environment_pull.h). */
static enum errc pull(struct work *w, const struct environment_import *in, struct environment *ret, struct err *e)
{
    struct job_submission s = { .verdict = JOB_STORED };
    struct pull_order o = { .name = in->name, .pool = in->pool, .registry = in->from.registry,
        .credentials = in->from.credentials, .zone = in->from.zone, .data_class = in->from.data_class,
        .project_id = in->from.project_id, .allow_setuid = in->allow_setuid, .memory_bytes = in->memory_bytes };
    if (!uuid_is_nil(in->dataset_id))
        return FAIL_AT(e, INVALID, "/dataset_id", "must be absent where the image comes from a registry");
    if (in->digest.len)
        return FAIL_AT(e, INVALID, "/digest", "must be absent where the image comes from a registry: its reference names one");
    if (in->signature.len)
        return FAIL_AT(e, INVALID, "/signature", "must be absent where the image comes from a registry, whose list of images may "
                       "be what the reference names: sign the digest that the READY environment shows");
    TRY(pull_job_make(w, &o, &s, e));
    TRY(job_made_store(w, &s, e));
    const struct environment_new row = { .environment_id = uuid_v7(w->now_us), .project_id = o.project_id,
        .job_id = s.job.job_id, .name = in->name, .description = in->description, .digest = o.digest, .dataset_version = 1,
        .allow_setuid = in->allow_setuid, .owns_archive = true, .pulled_from = o.from };
    TRY(environment_insert(w, &row, ret, e));
    note(w, ret);
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("registry", o.from));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("zone", s.job.zone));
    return ERR_OK;
}

static enum errc import(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct environment_import *in = in_;
    struct job_submission s = { .verdict = JOB_STORED };
    struct inspect_order o = { in->name, in->pool, in->digest, in->dataset_id, in->dataset_version, in->allow_setuid,
                               in->owns_archive, in->memory_bytes, UUID_NIL, UUID_NIL };
    struct environment *ret = out;
    if (in->from.registry.len)
        return pull(w, in, ret, e);
    if (uuid_is_nil(in->dataset_id))
        return FAIL_AT(e, MISSING_FIELD, "/dataset_id",
                       "Name the data set that holds the archive, or where it comes from (from)");
    if (in->signature.len && !in->digest.len)
        return FAIL_AT(e, INVALID, "/digest", "A signature is over a digest: name it, too, or sign the environment when it is "
            "READY");
    TRY(inspect_job_make(w, &o, &s, e));
    TRY(job_made_store(w, &s, e));
    const struct environment_new row = { uuid_v7(w->now_us), o.project_id, o.dataset_id, o.object_id, s.job.job_id, in->name,
        in->description, in->digest, o.dataset_version, in->allow_setuid, in->owns_archive, STR("") };
    TRY(environment_insert(w, &row, ret, e));
    if (in->signature.len)
        TRY(environment_sign(w, row.environment_id, in->signature, ret, e));
    note(w, ret);
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return environment_get(w, ((const struct environment_ref *)in)->environment_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct environment_page *page = in;
    const struct str state = page->has_state ? str_c(state_names[page->state]) : STR_NULL;
    return PAGE_BY_ID(w, page, out, environment, environment_id, environment_list(w, page->name, state, after, limit, rows, e),
        e);
}

static enum errc packages(struct work *w, const void *in, void *out, struct err *e)
{
    const struct environment_list_in *page = in;
    return PAGE_BY_NUMBER(w, page, out, environment_package, number,
                          environment_packages(w, page->environment_id, page->q, after, limit, rows, e), e);
}

static enum errc uses(struct work *w, const void *in, void *out, struct err *e)
{
    const struct environment_parts *page = in;
    return PAGE_BY_ID(w, page, out, environment_use, job_id, environment_uses(w, page->environment_id, after, limit, rows, e), e);
}

static enum errc sign(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct environment_signature *in = in_;
    struct environment *ret = out;
    TRY(environment_sign(w, in->environment_id, in->signature, ret, e));
    note(w, ret);
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("signed_by", ret->signed_by));
    return ERR_OK;
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    const struct environment_ref *ref = in;
    struct environment v;
    (void)out;
    TRY(environment_get(w, ref->environment_id, &v, e));
    note(w, &v);
    return environment_delete(w, ref->environment_id, e);
}

static enum errc key_add(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct environment_key_new *in = in_;
    struct environment_key *k = out;
    TRY(environment_key_add(w, in->name, in->public_key_pem, k, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("key", k->name));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("public_key", k->public_key));
    return ERR_OK;
}

static enum errc key_list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct environment_key_page *page = in;
    return PAGE_BY_ID(w, page, out, environment_key, key_id, environment_key_list(w, after, limit, rows, e), e);
}

static enum errc key_remove(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    return environment_key_remove(w, ((const struct environment_key_ref *)in)->key_id, e);
}

static enum errc policy_get(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return environment_policy_get(w, out, e);
}

static enum errc policy_set(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(environment_policy_set(w, in, e));
    TRY(environment_policy_get(w, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("require_signed", ((struct environment_policy *)out)->require_signed));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("allow_shared", ((struct environment_policy *)out)->allow_shared));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/environments", .lane = LANE_CALLS,
      .op = "environment_import", .perm = PERM_ENVIRONMENT_MANAGE, .handler = import, .in = &environment_import_schema,
      .status = 201, .out = &environment_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "environment",
      .audited = true, .audit = AUDIT_ENVIRONMENT_SET,
      .doc = "Take an image in by a name, from an archive that was sent or from a registry that the zone allows: a job checks "
             "every layer and entry in a box of its own and lists its packages; READY or REFUSED tells" },
    { .method = HTTP_GET, .path = "/v1/environments", .lane = LANE_CALLS,
      .op = "environment_list", .perm = PERM_ENVIRONMENT_READ, .handler = list, .in = &environment_page_schema, .status = 200,
      .out = &environment_schema, .flags = R_LIST, .doc = "The environments that the caller may see, newest first" },
    { .method = HTTP_GET, .path = "/v1/environments/{environment_id}", .lane = LANE_CALLS,
      .op = "environment_get", .perm = PERM_ENVIRONMENT_READ, .handler = read, .in = &environment_ref_schema, .status = 200,
      .out = &environment_schema, .resource = "environment", .doc = "How one environment stands, with its layers" },
    { .method = HTTP_GET, .path = "/v1/environments/{environment_id}/packages", .lane = LANE_CALLS,
      .op = "environment_packages", .perm = PERM_ENVIRONMENT_READ, .handler = packages, .in = &environment_list_in_schema,
      .status = 200, .out = &environment_package_schema, .flags = R_LIST, .resource = "environment",
      .doc = "What is installed in it, by its package manager's word, sorted" },
    { .method = HTTP_GET, .path = "/v1/environments/{environment_id}/uses", .lane = LANE_CALLS,
      .op = "environment_uses", .perm = PERM_ENVIRONMENT_READ, .handler = uses, .in = &environment_parts_schema, .status = 200,
      .out = &environment_use_schema, .flags = R_LIST, .resource = "environment",
          .doc = "The jobs that run, or ran, in it, newest first" },
    { .method = HTTP_PUT, .path = "/v1/environments/{environment_id}/signature", .lane = LANE_CALLS,
      .op = "environment_sign", .perm = PERM_ENVIRONMENT_MANAGE, .handler = sign, .in = &environment_signature_schema,
      .status = 200, .out = &environment_schema, .rate = RL_WRITE, .resource = "environment", .audited = true,
      .audit = AUDIT_ENVIRONMENT_SET, .doc = "Give a signature over its digest; one that is of no key of the tenant is refused" },
    { .method = HTTP_DELETE, .path = "/v1/environments/{environment_id}", .lane = LANE_CALLS,
      .op = "environment_delete", .perm = PERM_ENVIRONMENT_MANAGE, .handler = delete, .in = &environment_ref_schema,
      .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "environment", .audited = true,
      .audit = AUDIT_ENVIRONMENT_SET,
      .doc = "Forget an environment, and its archive where that is its own; refused while a job that has not ended uses it" },
    { .method = HTTP_POST, .path = "/v1/environment-keys", .lane = LANE_CALLS,
      .op = "environment_key_add", .perm = PERM_ENVIRONMENT_TRUST, .handler = key_add, .in = &environment_key_new_schema,
      .status = 201, .out = &environment_key_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "environment", .audited = true, .audit = AUDIT_ENVIRONMENT_TRUST, .doc = "Believe a key that signs images" },
    { .method = HTTP_GET, .path = "/v1/environment-keys", .lane = LANE_CALLS,
      .op = "environment_key_list", .perm = PERM_ENVIRONMENT_READ, .handler = key_list, .in = &environment_key_page_schema,
      .status = 200, .out = &environment_key_schema, .flags = R_LIST, .doc = "The keys that sign the tenant's images" },
    { .method = HTTP_DELETE, .path = "/v1/environment-keys/{key_id}", .lane = LANE_CALLS,
      .op = "environment_key_remove", .perm = PERM_ENVIRONMENT_TRUST, .handler = key_remove, .in = &environment_key_ref_schema,
      .status = 204, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "environment", .audited = true,
      .audit = AUDIT_ENVIRONMENT_TRUST, .doc = "Believe a key no longer: what it signed counts as not signed from now on" },
    { .method = HTTP_GET, .path = "/v1/environment-policy", .lane = LANE_CALLS,
      .op = "environment_policy_get", .perm = PERM_ENVIRONMENT_READ, .handler = policy_get, .status = 200,
      .out = &environment_policy_schema, .doc = "Whether programs may run in images that nobody signed, and in shared ones" },
    { .method = HTTP_PUT, .path = "/v1/environment-policy", .lane = LANE_CALLS,
      .op = "environment_policy_set", .perm = PERM_ENVIRONMENT_TRUST, .handler = policy_set, .in = &environment_policy_schema,
      .status = 200, .out = &environment_policy_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "environment",
      .audited = true, .audit = AUDIT_ENVIRONMENT_TRUST,
      .doc = "Let programs run in signed images alone, or in any, and in images that are shared, or not; asked at submit, and "
             "again when a lease wants the image" },
};
extern const struct route_table environment_routes;
ROUTE_TABLE(environment_routes, rows);
