/* SPDX-License-Identifier: Apache-2.0 */
/* demo_setup.c - steps 1 and 2: zones, tenants, a user with a role, a token, quotas; then the data set.
 *
 * A tenant's first token is shown once, so it is kept in DATA/secrets/demo-*. A tenant whose token was lost or has ended cannot be
 * entered again, not even by the platform's administrator: the demo then makes the next one, oasis-2, oasis-3 … */
#include <unistd.h>
#include "cli/demo.h"
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

enum { TENANTS_MAX = 50 };

static const char *secret_path(struct demo *m, const char *name)
{
    return arena_printf(m->c->arena, "%s/secrets/demo-%s", m->data, name);
}

static enum errc secret_save(struct demo *m, const char *name, const char *text, struct err *e)
{
    struct dev d = { .c = m->c, .arena = m->c->arena };
    return files_write(&d, secret_path(m, name), str_c(text), geteuid(), getegid(), e);
}

/* A kept token that is still good; NULL: none. */
static const char *secret_load(struct demo *m, const char *name, struct api_reply *me)
{
    struct err e = { 0 };
    struct str text;
    if (access(secret_path(m, name), R_OK) < 0 || files_read(m->c->arena, secret_path(m, name), &text, &e) != ERR_OK || !text.len)
        return NULL;
    if (demo_try(m, text.ptr, "GET", "/v1/me", NULL, me) != CLI_OK || me->status != 200)
        return NULL;
    return text.ptr;
}

static int make_zone(struct demo *m, const char *code, const char *name)
{
    struct api_reply r;
    const char *body = arena_printf(m->c->arena, "{\"code\":\"%s\",\"name\":\"%s\",\"country\":\"AE\",\"legal_regimes\":[\"uae-pdpl\"]}", code, name);
    int rc = demo_try(m, m->admin, "POST", "/v1/zones", body, &r);
    if (rc != CLI_OK)
        return rc;
    if (r.status == 201)
        demo_line(m, "zone     %s (%s, AE) created", code, name);
    else if (r.status == 409)
        demo_line(m, "zone     %s is there already", code);
    else
        return api_tell(m->c, &r);
    return CLI_OK;
}

/* A tenant of that name, or of the next free one, whose administrator we are. */
static int make_tenant(struct demo *m, const char *base, const char *zones, const char *secret, const char **ret_token, const char **ret_name, const char **ret_id)
{
    struct err e = { 0 };
    struct api_reply r;
    *ret_token = secret_load(m, secret, &r);
    if (*ret_token) {
        *ret_name = demo_text(m, &r, "tenant");
        *ret_id = demo_text(m, &r, "tenant_id");
        demo_line(m, "tenant   %s is there already (%s)", *ret_name, *ret_id);
        return CLI_OK;
    }
    for (int i = 1; i <= TENANTS_MAX; i++) {
        const char *name = i == 1 ? base : arena_printf(m->c->arena, "%s-%d", base, i);
        const char *body = arena_printf(m->c->arena, "{\"name\":\"%s\",\"home_zone\":\"%s\",\"allowed_zones\":[%s],\"admin_name\":\"owner\"}", name, m->zone, zones);
        int rc = demo_try(m, m->admin, "POST", "/v1/tenants", body, &r);
        if (rc != CLI_OK)
            return rc;
        if (r.status == 409)
            continue;
        if (r.status != 201)
            return api_tell(m->c, &r);
        *ret_token = demo_text(m, &r, "admin_token");
        *ret_name = name;
        *ret_id = demo_text(m, &r, "tenant_id");
        if (secret_save(m, secret, *ret_token, &e) != ERR_OK)
            return cli_fail_err(m->c, &e, NULL);
        demo_line(m, "tenant   %s created (%s)", name, *ret_id);
        return CLI_OK;
    }
    return cli_fail(m->c, CLI_CONFLICT, "falaj dev remove, and start anew", "no name for a tenant is free");
}

static int make_user(struct demo *m)
{
    struct err e = { 0 };
    struct api_reply r;
    m->engineer = secret_load(m, "engineer", &r);
    if (m->engineer && strcmp(demo_text(m, &r, "tenant_id"), m->tenant_id) == 0) {
        demo_line(m, "user     %s is there already, her token is still good", demo_text(m, &r, "name"));
        return CLI_OK;
    }
    const char *name = "layla";
    int rc = CLI_OK;
    for (int i = 2; i < TENANTS_MAX; i++) {
        rc = demo_try(m, m->owner, "POST", "/v1/users", arena_printf(m->c->arena, "{\"name\":\"%s\",\"kind\":\"person\",\"roles\":[\"ml-engineer\"]}", name), &r);
        if (rc != CLI_OK || r.status != 409)
            break;
        name = arena_printf(m->c->arena, "layla-%d", i);
    }
    if (rc != CLI_OK)
        return rc;
    if (r.status != 201)
        return api_tell(m->c, &r);
    demo_line(m, "user     %s created with the role ml-engineer", name);
    const char *body = arena_printf(m->c->arena, "{\"name\":\"demo\",\"user_id\":\"%s\",\"expires_in_days\":30}", demo_text(m, &r, "user_id"));
    rc = demo_call(m, m->owner, "POST", "/v1/api-tokens", body, 201, &r);
    if (rc != CLI_OK)
        return rc;
    m->engineer = demo_text(m, &r, "token");
    demo_line(m, "token    %s, good until %s", demo_text(m, &r, "token_id"), demo_text(m, &r, "expires_at"));
    return secret_save(m, "engineer", m->engineer, &e) == ERR_OK ? CLI_OK : cli_fail_err(m->c, &e, NULL);
}

static int set_quotas(struct demo *m)
{
    static const struct {
        const char *resource;
        int limit;
    } quotas[] = { { "jobs", 1000 }, { "slots", 16 } };
    for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
        struct api_reply r;
        const char *path = arena_printf(m->c->arena, "/v1/tenants/%s/quotas/%s", m->tenant_id, quotas[i].resource);
        int rc = demo_call(m, m->admin, "PUT", path, arena_printf(m->c->arena, "{\"hard_limit\":%d}", quotas[i].limit), 200, &r);
        if (rc != CLI_OK)
            return rc;
    }
    demo_line(m, "quota    %s may have %d jobs and use %d slots at once", m->tenant, quotas[0].limit, quotas[1].limit);
    return CLI_OK;
}

int demo_setup(struct demo *m)
{
    demo_title(m, 1, "Two zones, two tenants, a person with a role and a token, a quota");
    const char *both = arena_printf(m->c->arena, "\"%s\",\"%s\"", m->zone, m->far_zone), *home = arena_printf(m->c->arena, "\"%s\"", m->zone), *ignored_id;
    int rc = make_zone(m, m->zone, strcmp(m->zone, "ae-dxb-1") == 0 ? "Dubai 1" : m->zone);
    if (rc == CLI_OK)
        rc = make_zone(m, m->far_zone, strcmp(m->far_zone, "ae-auh-1") == 0 ? "Abu Dhabi 1" : m->far_zone);
    if (rc == CLI_OK)
        rc = make_tenant(m, "oasis", both, "owner", &m->owner, &m->tenant, &m->tenant_id);
    if (rc == CLI_OK)
        rc = make_user(m);
    if (rc == CLI_OK)
        rc = make_tenant(m, "mirage", home, "stranger", &m->stranger, &m->stranger_tenant, &ignored_id);
    return rc == CLI_OK ? set_quotas(m) : rc;
}

static int find_or_make_dataset(struct demo *m)
{
    struct api_reply r;
    int rc = demo_try(m, m->engineer, "POST", "/v1/datasets",
                      "{\"name\":\"digits\",\"description\":\"Handwritten digits, 8 x 8 pixels\",\"label_column\":\"label\",\"classes\":10}", &r);
    if (rc != CLI_OK)
        return rc;
    if (r.status == 201) {
        m->dataset_id = demo_text(m, &r, "dataset_id");
        return CLI_OK;
    }
    if (r.status != 409)
        return api_tell(m->c, &r);
    static const struct noun noun = { "data set", "dst_", "/v1/datasets", "dataset_id" };
    m->c->profile.token = m->engineer;
    rc = api_resolve(m->c, &noun, "digits", &m->dataset_id);
    m->c->profile.token = NULL;
    return rc;
}

int demo_upload(struct demo *m)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    struct err e = { 0 };
    struct api_reply r;
    demo_title(m, 2, "The data set: versioned, content-hashed, encrypted at rest");
    int rc = find_or_make_dataset(m);
    if (rc != CLI_OK)
        return rc;
    double start_s = demo_now_s();
    struct api_req q = { .method = "POST", .path = arena_printf(m->c->arena, "/v1/datasets/%s/versions", m->dataset_id), .token = m->engineer,
                         .body = m->csv, .content_type = "text/csv" };
    if (api_send(m->c, &q, &r, &e) != ERR_OK)
        return cli_fail_err(m->c, &e, NULL);
    if (r.status != 201)
        return api_tell(m->c, &r);
    m->upload_s = demo_now_s() - start_s;
    m->dataset_version = jval_i64(jval_get(r.json, "version"), 0);
    sha256(m->csv.ptr, m->csv.len, digest);
    hex_encode(digest, sizeof(digest), hex);
    demo_line(m, "uploaded digits version %lld: %lld rows of %lld pixels in %.2f s, zone %s", (long long)m->dataset_version,
              (long long)jval_i64(jval_get(r.json, "row_count"), 0), (long long)jval_i64(jval_get(r.json, "column_count"), 0), m->upload_s, demo_text(m, &r, "zone"));
    if (strcmp(hex, demo_text(m, &r, "sha256")) != 0)
        return cli_fail(m->c, CLI_FAILED, NULL, "the API reports the hash %s, the file's is %s", demo_text(m, &r, "sha256"), hex);
    demo_line(m, "sha256   %s, the same here and there", hex);
    return CLI_OK;
}
