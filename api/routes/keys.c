/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - routes of a tenant's keys: what there is, rotation, import, disabling, and destruction by four eyes. */
#include "api/keys_int.h"
#include "core/crypto/key_import.h"
#include "keys/client.h"
#include "registry/vault/key_impact.h"
#include "registry/vault/key_life.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/key_shred.h"

static const char *const tiers[] = { "wrapped", "sovereign", NULL };

#define ZONE_FIELD(T) FIELD(T, zone, F_PATH, .min = 2, .max = 31, .check = check_slug, .doc = "Residency zone")
#define VERSION_FIELD(T) FIELD(T, version, F_PATH, .min = 1, .max = UINT32_MAX, .doc = "The version")

struct key_zone_ref { struct str zone; };
SCHEMA_OF(key_zone_ref, "Keys of which zone", ZONE_FIELD(key_zone_ref));
struct key_version_ref { struct str zone; int64_t version; };
SCHEMA_OF(key_version_ref, "Which version", ZONE_FIELD(key_version_ref), VERSION_FIELD(key_version_ref));
struct key_zone_page { struct str zone; PAGE_IN; };
SCHEMA_OF(key_zone_page, "Keys of which zone", ZONE_FIELD(key_zone_page), PAGE_IN_FIELDS(key_zone_page));
struct key_rotate_in { struct str zone; int tier; };
SCHEMA_OF(key_rotate_in, "A rotation", ZONE_FIELD(key_rotate_in),
    FIELD_ENUM(key_rotate_in, tier, 0, tiers, .dflt = "wrapped", .doc = "wrapped by the zone's root, or sovereign: an object of its own in the token"));
struct key_import_in { struct str zone; struct bytes ephemeral_public, sealed_key; };
SCHEMA_OF(key_import_in, "The tenant's own key, sealed to the zone's import key", ZONE_FIELD(key_import_in),
    FIELD(key_import_in, ephemeral_public, F_REQ, .min = P256_POINT, .max = P256_POINT, .doc = "Ephemeral P-256 point, uncompressed"),
    FIELD(key_import_in, sealed_key, F_REQ, .min = IMPORT_SEALED, .max = IMPORT_SEALED, .doc = "IV, sealed key and tag (docs/byok.md)"));
struct key_min_in { struct str zone; int64_t min_version; };
SCHEMA_OF(key_min_in, "The oldest version that may open", ZONE_FIELD(key_min_in),
    FIELD(key_min_in, min_version, F_REQ, .min = 1, .max = UINT32_MAX, .doc = "Versions below it are disabled"));
struct key_destroy_in { struct str zone; int64_t version; struct str reason; };
SCHEMA_OF(key_destroy_in, "A destruction to ask for", ZONE_FIELD(key_destroy_in), VERSION_FIELD(key_destroy_in),
    FIELD(key_destroy_in, reason, F_REQ, .min = 1, .max = 1024, .doc = "Why; approvers read it"));
struct key_shred_in { struct str zone, reason; };
SCHEMA_OF(key_shred_in, "All versions of a zone, to be destroyed", ZONE_FIELD(key_shred_in),
    FIELD(key_shred_in, reason, F_REQ, .min = 1, .max = 1024, .doc = "Why; approvers read it"));
struct key_import_point { struct str zone; struct bytes import_point; };
SCHEMA_OF(key_import_point, "A zone's import key", FIELD(key_import_point, zone, F_ALWAYS, .doc = "Residency zone"),
    FIELD(key_import_point, import_point, F_ALWAYS, .doc = "P-256 point, uncompressed: seal your key to it (docs/byok.md)"));
struct certificate_ref { struct uuid certificate_id; };
SCHEMA_OF(certificate_ref, "Which certificate", FIELD_ID(certificate_ref, certificate_id, "cer", F_PATH, .doc = "The certificate"));
struct certificate_page { PAGE_IN; };
SCHEMA_OF(certificate_page, "Which certificates", PAGE_IN_FIELDS(certificate_page));

static void about(struct work *w, struct str zone, int64_t version, const char *act)
{
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("zone", zone));
    audit_event_detail(ev, AUDIT_D_INT("key_version", version));
    if (act)
        audit_event_detail(ev, AUDIT_D_STR("act", str_c(act)));
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return key_summaries(w, STR_NULL, &((struct page_out *)out)->items, e);
}

static enum errc read_zone(struct work *w, const void *in, void *out, struct err *e)
{
    struct slice all;
    TRY(key_summaries(w, ((const struct key_zone_ref *)in)->zone, &all, e));
    if (!all.n)
        return FAIL(e, NOT_FOUND, "There is no such object");
    *(struct key_summary *)out = *(struct key_summary *)all.items;
    return ERR_OK;
}

static enum errc versions(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_zone_page *page = in;
    return PAGE_BY_NUMBER(w, page, out, key_version, key_version, key_versions(w, page->zone, after, limit, rows, e), e);
}

static enum errc read_version(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_version_ref *r = in;
    return key_version_get(w, r->zone, r->version, out, e);
}

static enum errc impact(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_version_ref *r = in;
    return key_impact_read(w, r->zone, r->version, out, e);
}

static enum errc rotate(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_rotate_in *r = in;
    struct key_version *v = out;
    TRY(key_rotate(w, r->zone, r->tier == 1, v, e));
    about(w, r->zone, v->key_version, tiers[r->tier]);
    return ERR_OK;
}

static enum errc import_key(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_import_in *i = in;
    struct key_version *v = out;
    TRY(key_import(w, i->zone, i->ephemeral_public.data, i->sealed_key.data, v, e));
    about(w, i->zone, v->key_version, NULL);
    return ERR_OK;
}

static enum errc import_point(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_zone_ref *r = in;
    uint8_t *point = arena_alloc(w->arena, P256_POINT);
    if (!keyd_client_has_zone(w->app->keyd, r->zone))
        return FAIL(e, NOT_FOUND, "The zone does not exist");
    TRY(keyd_import_public(w->app->keyd, r->zone, point, e));
    *(struct key_import_point *)out = (struct key_import_point){ r->zone, { str_n((const char *)point, P256_POINT) } };
    return ERR_OK;
}

static enum errc rewraps(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_zone_page *page = in;
    return PAGE_BY_ID(w, page, out, rewrap, rewrap_id, rewrap_list(w, page->zone, after, limit, rows, e), e);
}

static enum errc set_min(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_min_in *m = in;
    TRY(key_min_version(w, m->zone, m->min_version, out, e));
    about(w, m->zone, m->min_version, "min_version");
    return ERR_OK;
}

static enum errc disable(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_version_ref *r = in;
    about(w, r->zone, r->version, "disable");
    return key_disable(w, r->zone, r->version, out, e);
}

static enum errc enable(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_version_ref *r = in;
    about(w, r->zone, r->version, "enable");
    return key_enable(w, r->zone, r->version, out, e);
}

static enum errc destroy(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_destroy_in *d = in;
    about(w, d->zone, d->version, "request");
    return key_destroy_request(w, d->zone, d->version, d->reason, out, e);
}

static enum errc shred(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_shred_in *d = in;
    about(w, d->zone, 0, "request");
    return key_destroy_request(w, d->zone, 0, d->reason, out, e);
}

static enum errc cancel(struct work *w, const void *in, void *out, struct err *e)
{
    const struct key_version_ref *r = in;
    about(w, r->zone, r->version, NULL);
    return key_cancel_destroy(w, r->zone, r->version, out, e);
}

static enum errc certificate(struct work *w, const void *in, void *out, struct err *e)
{
    return erasure_certificate_get(w, ((const struct certificate_ref *)in)->certificate_id, out, e);
}

static enum errc certificates(struct work *w, const void *in, void *out, struct err *e)
{
    const struct certificate_page *page = in;
    return PAGE_BY_ID(w, page, out, erasure_certificate, certificate_id, erasure_certificate_list(w, after, limit, rows, e), e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/keys", .lane = LANE_CALLS,
      .op = "key_list", .perm = PERM_KEY_READ, .handler = list, .status = 200, .out = &key_summary_schema,
      .flags = R_LIST, .doc = "The tenant's keys, zone by zone" },
    { .method = HTTP_GET, .path = "/v1/keys/{zone}", .lane = LANE_CALLS,
      .op = "key_get", .perm = PERM_KEY_READ, .handler = read_zone, .in = &key_zone_ref_schema,
      .status = 200, .out = &key_summary_schema, .doc = "The tenant's keys of one zone" },
    { .method = HTTP_GET, .path = "/v1/keys/{zone}/versions", .lane = LANE_CALLS,
      .op = "key_version_list", .perm = PERM_KEY_READ, .handler = versions,
      .in = &key_zone_page_schema, .status = 200, .out = &key_version_schema, .flags = R_LIST, .doc = "Versions of a key, newest first" },
    { .method = HTTP_GET, .path = "/v1/keys/{zone}/versions/{version}", .lane = LANE_CALLS,
      .op = "key_version_get", .perm = PERM_KEY_READ, .handler = read_version,
      .in = &key_version_ref_schema, .status = 200, .out = &key_version_schema, .doc = "One version of a key" },
    { .method = HTTP_GET, .path = "/v1/keys/{zone}/versions/{version}/impact", .lane = LANE_HEAVY,
      .op = "key_version_impact", .perm = PERM_KEY_READ, .handler = impact, .in = &key_version_ref_schema, .status = 200,
      .out = &key_impact_schema,
      .doc = "What hangs on a version, and what rotating, disabling or destroying it would do now; changes nothing" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/rotate", .lane = LANE_CALLS,
      .op = "key_rotate", .perm = PERM_KEY_ROTATE, .handler = rotate, .in = &key_rotate_in_schema,
      .status = 201, .out = &key_version_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "tenant_key", .audited = true,
      .audit = AUDIT_KEY_ROTATE, .doc = "Make a new version; data keys move to it in the background" },
    { .method = HTTP_GET, .path = "/v1/keys/{zone}/import-key", .lane = LANE_CALLS,
      .op = "key_import_point", .perm = PERM_KEY_READ, .handler = import_point,
      .in = &key_zone_ref_schema, .status = 200, .out = &key_import_point_schema, .doc = "The public key to seal an own key to" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/import", .lane = LANE_CALLS,
      .op = "key_import", .perm = PERM_KEY_ROTATE, .handler = import_key,
      .in = &key_import_in_schema, .status = 201, .out = &key_version_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "tenant_key", .audited = true, .audit = AUDIT_KEY_IMPORT, .doc = "Bring an own key as the new primary version" },
    { .method = HTTP_GET, .path = "/v1/keys/{zone}/rewraps", .lane = LANE_CALLS,
      .op = "key_rewrap_list", .perm = PERM_KEY_READ, .handler = rewraps,
      .in = &key_zone_page_schema, .status = 200, .out = &rewrap_schema, .flags = R_LIST, .doc = "Progress of moving data keys, newest first" },
    { .method = HTTP_PUT, .path = "/v1/keys/{zone}/min-version", .lane = LANE_CALLS,
      .op = "key_min_version", .perm = PERM_KEY_ROTATE, .handler = set_min,
      .in = &key_min_in_schema, .status = 200, .out = &key_summary_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "tenant_key",
      .audited = true, .audit = AUDIT_KEY_DISABLE, .doc = "Set the oldest version that still opens" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/versions/{version}/disable", .lane = LANE_CALLS,
      .op = "key_disable", .perm = PERM_KEY_ROTATE, .handler = disable,
      .in = &key_version_ref_schema, .status = 200, .out = &key_version_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "tenant_key",
      .audited = true, .audit = AUDIT_KEY_DISABLE, .doc = "Disable a version: nothing under it opens until it is enabled" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/versions/{version}/enable", .lane = LANE_CALLS,
      .op = "key_enable", .perm = PERM_KEY_ROTATE, .handler = enable,
      .in = &key_version_ref_schema, .status = 200, .out = &key_version_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "tenant_key",
      .audited = true, .audit = AUDIT_KEY_DISABLE, .doc = "Let a disabled version open again" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/versions/{version}/destroy", .lane = LANE_CALLS,
      .op = "key_destroy", .perm = PERM_KEY_DESTROY, .handler = destroy,
      .in = &key_destroy_in_schema, .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "approval", .audited = true, .audit = AUDIT_KEY_DESTROY, .doc = "Ask for the destruction of a version; another must approve" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/destroy", .lane = LANE_CALLS,
      .op = "key_shred", .perm = PERM_KEY_DESTROY, .handler = shred, .in = &key_shred_in_schema,
      .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE, .resource = "approval", .audited = true,
      .audit = AUDIT_KEY_DESTROY, .doc = "Ask for the destruction of all versions of a zone; another must approve" },
    { .method = HTTP_POST, .path = "/v1/keys/{zone}/versions/{version}/cancel", .lane = LANE_CALLS,
      .op = "key_cancel", .perm = PERM_KEY_CANCEL, .handler = cancel,
      .in = &key_version_ref_schema, .status = 200, .out = &key_version_schema, .rate = RL_WRITE, .resource = "tenant_key", .audited = true,
      .audit = AUDIT_KEY_CANCEL, .doc = "Call off a scheduled destruction; the version stays disabled" },
    { .method = HTTP_GET, .path = "/v1/erasure-certificates", .lane = LANE_CALLS,
      .op = "erasure_certificate_list", .perm = PERM_KEY_READ, .handler = certificates,
      .in = &certificate_page_schema, .status = 200, .out = &erasure_certificate_schema, .flags = R_LIST,
      .doc = "Certificates of erasure, newest first" },
    { .method = HTTP_GET, .path = "/v1/erasure-certificates/{certificate_id}", .lane = LANE_CALLS,
      .op = "erasure_certificate_get", .perm = PERM_KEY_READ,
      .handler = certificate, .in = &certificate_ref_schema, .status = 200, .out = &erasure_certificate_schema, .resource = "certificate",
      .doc = "One certificate of erasure" },
};
extern const struct route_table key_routes;
ROUTE_TABLE(key_routes, rows);
