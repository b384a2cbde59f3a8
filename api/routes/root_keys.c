/* SPDX-License-Identifier: Apache-2.0 */
/* root_keys.c - routes of a zone's root key for its custodians: versions, provider, rotation and destruction by two persons. */
#include "api/keys_int.h"
#include "keys/client.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/root_key.h"

#define CODE_FIELD(T) FIELD(T, code, F_PATH, .min = 2, .max = 31, .check = check_slug, .doc = "The zone")

struct root_ref { struct str code; };
SCHEMA_OF(root_ref, "Which zone", CODE_FIELD(root_ref));
struct root_page { struct str code; PAGE_IN; };
SCHEMA_OF(root_page, "Which zone", CODE_FIELD(root_page), PAGE_IN_FIELDS(root_page));
struct root_rotate_in { struct str code, reason; };
SCHEMA_OF(root_rotate_in, "A rotation to ask for", CODE_FIELD(root_rotate_in),
    FIELD(root_rotate_in, reason, F_REQ, .min = 1, .max = 1024, .doc = "Why; the second custodian reads it"));
struct root_destroy_in { struct str code; int64_t version; struct str reason; };
SCHEMA_OF(root_destroy_in, "A destruction to ask for", CODE_FIELD(root_destroy_in),
    FIELD(root_destroy_in, version, F_PATH, .min = 1, .max = UINT32_MAX, .doc = "The version"),
    FIELD(root_destroy_in, reason, F_REQ, .min = 1, .max = 1024, .doc = "Why; approvers read it"));

struct attest_root_out { int64_t version; struct str label; bool sensitive, always_sensitive, extractable, never_extractable, local; };
SCHEMA_OF(attest_root_out, "A root key as its token describes it", FIELD(attest_root_out, version, 0, .doc = "Version"),
    FIELD(attest_root_out, label, F_ALWAYS, .doc = "Label in the token"),
    FIELD(attest_root_out, sensitive, 0, .doc = "CKA_SENSITIVE"),
    FIELD(attest_root_out, always_sensitive, 0, .doc = "CKA_ALWAYS_SENSITIVE"), FIELD(attest_root_out, extractable, 0, .doc = "CKA_EXTRACTABLE"),
    FIELD(attest_root_out, never_extractable, 0, .doc = "CKA_NEVER_EXTRACTABLE"), FIELD(attest_root_out, local, 0, .doc = "CKA_LOCAL: made in the token"));
struct attest_out {
    struct str zone, provider, mechanism;
    bool sealed, hardware, holds_keys;
    struct str reason, module, library, token_label, token_manufacturer, token_model, token_serial, firmware, hardware_version, signing_key_id;
    struct slice roots;
};
SCHEMA_OF(attest_out, "What a zone's key store is and holds; nothing in it is secret",
    FIELD(attest_out, zone, F_ALWAYS, .doc = "Zone"), FIELD(attest_out, provider, F_ALWAYS, .doc = "pkcs11 or softfile"),
    FIELD(attest_out, mechanism, 0, .doc = "Mechanism of new wraps"), FIELD(attest_out, sealed, 0, .doc = "The keys cannot be used"),
    FIELD(attest_out, hardware, 0, .doc = "The root cannot leave a token"),
    FIELD(attest_out, holds_keys, 0, .doc = "Tenant keys can be objects of their own"), FIELD(attest_out, reason, 0, .doc = "Why it is sealed"),
    FIELD(attest_out, module, 0, .doc = "Module's file name"), FIELD(attest_out, library, 0, .doc = "Library"),
    FIELD(attest_out, token_label, 0, .doc = "Token's label"), FIELD(attest_out, token_manufacturer, 0, .doc = "Token's maker"),
    FIELD(attest_out, token_model, 0, .doc = "Token's model"), FIELD(attest_out, token_serial, 0, .doc = "Token's serial number"),
    FIELD(attest_out, firmware, 0, .doc = "Token's firmware"), FIELD(attest_out, hardware_version, 0, .doc = "Token's hardware"),
    FIELD(attest_out, signing_key_id, 0, .doc = "Key that signs heads and certificates"),
    FIELD_LIST(attest_out, roots, &attest_root_out_schema, 0, .doc = "Root keys, newest first"));

static void about(struct work *w, struct str zone, const char *act)
{
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("zone", zone));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("act", str_c(act)));
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    return root_key_list(w, ((const struct root_ref *)in)->code, &((struct page_out *)out)->items, e);
}

static enum errc rewraps(struct work *w, const void *in, void *out, struct err *e)
{
    const struct root_page *page = in;
    return PAGE_BY_ID(w, page, out, rewrap, rewrap_id, rewrap_list(w, page->code, after, limit, rows, e), e);
}

static struct slice roots_of(struct arena *a, const struct attest *t)
{
    size_t n = t->n_roots < ATTEST_ROOTS_MAX ? t->n_roots : ATTEST_ROOTS_MAX;
    struct attest_root_out *out = ARENA_ARRAY(a, struct attest_root_out, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct attest_root *r = &t->roots[i];
        out[i] = (struct attest_root_out){ r->version, str_c(r->label), r->is_sensitive, r->is_always_sensitive, r->is_extractable,
                                           r->is_never_extractable, r->is_local };
    }
    return (struct slice){ out, n };
}

static enum errc attest(struct work *w, const void *in, void *out, struct err *e)
{
    struct str zone = ((const struct root_ref *)in)->code;
    struct attest *t = ARENA_NEW(w->arena, struct attest);
    char *key_id = arena_alloc(w->arena, 2 * KEY_ID_BYTES + 1);
    if (!keyd_client_has_zone(w->app->keyd, zone))
        return FAIL(e, NOT_FOUND, "The zone does not exist");
    TRY(keyd_attest(w->app->keyd, zone, t, e));
    hex_encode(t->signing_key_id, KEY_ID_BYTES, key_id);
    *(struct attest_out *)out = (struct attest_out){
        zone, str_c(t->provider), str_c(t->mechanism), t->is_sealed, t->is_hardware, t->has_objects, str_c(t->reason), str_c(t->module),
        str_c(t->library), str_c(t->token_label), str_c(t->token_manufacturer), str_c(t->token_model), str_c(t->token_serial), str_c(t->firmware),
        str_c(t->hardware), t->has_signing_key ? str_c(key_id) : STR_NULL, roots_of(w->arena, t) };
    about(w, zone, "attest");
    return ERR_OK;
}

static enum errc rotate(struct work *w, const void *in, void *out, struct err *e)
{
    const struct root_rotate_in *r = in;
    about(w, r->code, "request-rotation");
    return root_rotate_request(w, r->code, r->reason, out, e);
}

static enum errc destroy(struct work *w, const void *in, void *out, struct err *e)
{
    const struct root_destroy_in *r = in;
    about(w, r->code, "request-destruction");
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("root_version", r->version));
    return root_destroy_request(w, r->code, r->version, r->reason, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/zones/{code}/keys", .lane = LANE_CALLS,
      .op = "root_key_list", .perm = PERM_KEY_ROOT, .handler = list, .in = &root_ref_schema,
      .status = 200, .out = &root_key_schema, .flags = R_LIST, .audited = true, .audit = AUDIT_KEY_ATTEST, .resource = "zone",
      .doc = "Versions of a zone's root key" },
    { .method = HTTP_GET, .path = "/v1/zones/{code}/keys/attestation", .lane = LANE_CALLS,
      .op = "root_key_attest", .perm = PERM_KEY_ROOT, .handler = attest,
      .in = &root_ref_schema, .status = 200, .out = &attest_out_schema, .audited = true, .audit = AUDIT_KEY_ATTEST, .resource = "zone",
      .doc = "What the zone's key store says of itself" },
    { .method = HTTP_GET, .path = "/v1/zones/{code}/keys/rewraps", .lane = LANE_CALLS,
      .op = "root_key_rewraps", .perm = PERM_KEY_ROOT, .handler = rewraps,
      .in = &root_page_schema, .status = 200, .out = &rewrap_schema, .flags = R_LIST,
      .doc = "Progress of moving tenant keys to a newer root version" },
    { .method = HTTP_POST, .path = "/v1/zones/{code}/keys/rotate", .lane = LANE_CALLS,
      .op = "root_key_rotate", .perm = PERM_KEY_ROOT, .handler = rotate,
      .in = &root_rotate_in_schema, .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "approval", .audited = true, .audit = AUDIT_KEY_ROOT, .doc = "Ask for a new root version; a second custodian must approve" },
    { .method = HTTP_POST, .path = "/v1/zones/{code}/keys/versions/{version}/destroy", .lane = LANE_CALLS,
      .op = "root_key_destroy", .perm = PERM_KEY_ROOT, .handler = destroy,
      .in = &root_destroy_in_schema, .status = 202, .out = &approval_schema, .flags = R_IDEMPOTENT | R_STEP_UP, .rate = RL_WRITE,
      .resource = "approval", .audited = true, .audit = AUDIT_KEY_ROOT, .doc = "Ask for the destruction of a retired root version" },
};
extern const struct route_table root_key_routes;
ROUTE_TABLE(root_key_routes, rows);
