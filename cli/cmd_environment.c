/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_environment.c - an image from a file to an environment that is READY, or the words of its refusal; signatures and keys from
 * files. */
#include <string.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/output.h"
#include "cli/sending.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { BODY_MAX = 8192, SIGNATURE_BYTES = 64, PEM_MAX = 1024, WAIT_S = 2, NAME_PART = 40 };

static void add_text(struct buf *b, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(b, "%s\"%s\":", b->len > 1 ? "," : "", name);
    buf_add_json(b, str_c(value));
}

static int post(struct cli *c, const char *method, const char *path, const struct buf *body, struct api_reply *ret)
{
    const struct api_req q = { .method = method, .path = path, .body = buf_str(body) };
    return api_do(c, &q, ret);
}

/* The data set that is to be the image's own: one that a cut import left, else a new one; its name has the time in it. */
static int make_dataset(struct cli *c, const char **ret)
{
    const char *begins = arena_printf(c->arena, "image-%.*s-", NAME_PART, c->args[0]);
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    struct api_reply r;
    int rc = api_get(c, arena_printf(c->arena, "/v1/datasets?page_size=200&q=%s", api_escape(c->arena, begins)), &r);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++) {
        const struct jval *d = jval_at(data, i);
        if (str_starts(jval_str(jval_get(d, "name")), begins) && !jval_i64(jval_get(d, "latest_version"), 0)) {
            *ret = jval_str(jval_get(d, "dataset_id")).ptr;
            return CLI_OK;
        }
    }
    if (rc != CLI_OK)
        return rc;
    buf_add_char(&b, '{');
    add_text(&b, "name", arena_printf(c->arena, "%s%lld", begins, (long long)(clock_wall_us(&clock_system) / 1000)));
    add_text(&b, "target", "none");
    add_text(&b, "data_class", cli_flag(c, "class"));
    add_text(&b, "project_id", cli_flag(c, "project"));
    add_text(&b, "description", "archive of an environment");
    buf_add_char(&b, '}');
    rc = post(c, "POST", "/v1/datasets", &b, &r);
    if (rc == CLI_OK)
        *ret = jval_str(jval_get(r.json, "dataset_id")).ptr;
    return rc;
}

static int begin(struct cli *c, const char *dataset, struct api_reply *ret)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    buf_add_char(&b, '{');
    add_text(&b, "name", c->args[0]);
    add_text(&b, "dataset_id", dataset);
    add_text(&b, "digest", cli_flag(c, "digest"));
    add_text(&b, "description", cli_flag(c, "description"));
    add_text(&b, "pool", cli_flag(c, "pool"));
    if (cli_flag(c, "memory-bytes"))
        buf_printf(&b, ",\"memory_bytes\":%s", cli_flag(c, "memory-bytes"));
    buf_printf(&b, ",\"owns_archive\":true,\"allow_setuid\":%s}", cli_has(c, "allow-setuid") ? "true" : "false");
    return post(c, "POST", "/v1/environments", &b, ret);
}

static int wait_for(struct cli *c, const char *id, struct api_reply *r)
{
    const char *said = "";
    int rc = CLI_OK;
    while (rc == CLI_OK && str_eq_c(jval_str(jval_get(r->json, "state")), "IMPORTING")) {
        const char *why = arena_printf(c->arena, "%.*s", STR_ARG(jval_str(jval_get(r->json, "reason"))));
        if (*why && strcmp(why, said) != 0)
            cli_note(c, "its import waits: %s", why);
        said = why;
        sleep(WAIT_S);
        rc = api_get(c, arena_printf(c->arena, "/v1/environments/%s", id), r);
    }
    return rc;
}

/* A machine of the zone brings it: nothing is sent from here. */
static int begin_pull(struct cli *c, struct api_reply *ret)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX), from = BUF(BODY_MAX);
    if (cli_flag(c, "digest"))
        return cli_fail(c, CLI_USAGE, NULL, "--digest says what a file must have; a reference names its digest itself");
    buf_add_char(&from, '{');
    add_text(&from, "registry", c->args[1]);
    add_text(&from, "credentials", cli_flag(c, "credentials"));
    add_text(&from, "zone", cli_flag(c, "zone"));
    add_text(&from, "data_class", cli_flag(c, "class"));
    add_text(&from, "project_id", cli_flag(c, "project"));
    buf_add_char(&b, '{');
    add_text(&b, "name", c->args[0]);
    add_text(&b, "description", cli_flag(c, "description"));
    add_text(&b, "pool", cli_flag(c, "pool"));
    if (cli_flag(c, "memory-bytes"))
        buf_printf(&b, ",\"memory_bytes\":%s", cli_flag(c, "memory-bytes"));
    buf_printf(&b, ",\"allow_setuid\":%s,\"from\":%.*s}}", cli_has(c, "allow-setuid") ? "true" : "false",
               STR_ARG(buf_str(&from)));
    return post(c, "POST", "/v1/environments", &b, ret);
}

static int send_and_begin(struct cli *c, struct api_reply *ret)
{
    const char *dataset;
    int64_t version;
    if (cli_flag(c, "credentials") || cli_flag(c, "zone"))
        return cli_fail(c, CLI_USAGE, "name the image as docker://HOST/NAME@sha256:…",
                        "--credentials and --zone are of images that come from a registry, and %.60s is a file", c->args[1]);
    int rc = make_dataset(c, &dataset);
    if (rc == CLI_OK)
        rc = send_in_parts(c, dataset, c->args[1], "oci", NULL, &version);
    return rc == CLI_OK ? begin(c, dataset, ret) : rc;
}

int cmd_environment_import(struct cli *c)
{
    struct api_reply r;
    int rc = strncmp(c->args[1], "docker://", sizeof "docker://" - 1) == 0 ? begin_pull(c, &r) : send_and_begin(c, &r);
    if (rc == CLI_OK && !cli_has(c, "no-wait"))
        rc = wait_for(c, arena_printf(c->arena, "%.*s", STR_ARG(jval_str(jval_get(r.json, "environment_id")))), &r);
    if (rc != CLI_OK)
        return rc;
    output_object(c, r.json, r.body, c->cmd->columns);
    return str_eq_c(jval_str(jval_get(r.json, "state")), "REFUSED")
         ? cli_fail(c, CLI_FAILED, "what was sent of it is gone", "the image is refused: %.*s",
                    STR_ARG(jval_str(jval_get(r.json, "reason"))))
         : CLI_OK;
}

/* The row's path, with the id in the place of {0}. */
static const char *path_of(struct cli *c, const char *id)
{
    const char *at = strstr(c->cmd->path, "{0}");
    return arena_printf(c->arena, "%.*s%s%s", (int)(at - c->cmd->path), c->cmd->path, api_escape(c->arena, id), at + 3);
}

int cmd_environment_sign(struct cli *c)
{
    struct err e = { 0 };
    struct str file;
    struct api_reply r;
    const char *id;
    char hex[2 * SIGNATURE_BYTES + 1];
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &id);
    if (rc != CLI_OK)
        return rc;
    if (cli_read_file(c->arena, c->args[1], PEM_MAX, &file, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (file.len != SIGNATURE_BYTES)
        return cli_fail(c, CLI_USAGE, "openssl pkeyutl -sign -rawin writes one", "%s has %zu bytes; a signature has %d",
            c->args[1],
                        file.len, SIGNATURE_BYTES);
    hex_encode(file.ptr, SIGNATURE_BYTES, hex);
    buf_printf(&b, "{\"signature\":\"%s\"}", hex);
    rc = post(c, "PUT", path_of(c, id), &b, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

int cmd_environment_trust(struct cli *c)
{
    struct err e = { 0 };
    struct str file;
    struct api_reply r;
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    if (cli_read_file(c->arena, c->args[1], PEM_MAX, &file, &e) != ERR_OK)
        return cli_fail_err(c, &e, "a public key in PEM is wanted");
    buf_add_char(&b, '{');
    add_text(&b, "name", c->args[0]);
    add_text(&b, "public_key_pem", arena_printf(c->arena, "%.*s", STR_ARG(file)));
    buf_add_char(&b, '}');
    int rc = post(c, "POST", "/v1/environment-keys", &b, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

int cmd_environment_require(struct cli *c)
{
    struct api_reply r;
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    const bool is_signed = strcmp(c->args[0], "signed") == 0;
    if (!is_signed && strcmp(c->args[0], "any") != 0)
        return cli_fail(c, CLI_USAGE, NULL, "%s is neither signed nor any", c->args[0]);
    buf_printf(&b, "{\"require_signed\":%s}", is_signed ? "true" : "false");
    int rc = post(c, "PUT", "/v1/environment-policy", &b, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

/* Which of both stands and which is changed: the rule is one object. */
int cmd_environment_allow(struct cli *c)
{
    struct api_reply r;
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    const bool is_shared = strcmp(c->args[0], "shared") == 0;
    if (!is_shared && strcmp(c->args[0], "own") != 0)
        return cli_fail(c, CLI_USAGE, NULL, "%s is neither shared nor own", c->args[0]);
    int rc = api_get(c, c->cmd->path, &r);
    if (rc != CLI_OK)
        return rc;
    buf_printf(&b, "{\"require_signed\":%s,\"allow_shared\":%s}",
               jval_bool(jval_get(r.json, "require_signed"), false) ? "true" : "false", is_shared ? "true" : "false");
    rc = post(c, "PUT", c->cmd->path, &b, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

int cmd_environment_offer(struct cli *c)
{
    struct api_reply r;
    const char *id;
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &id);
    if (rc != CLI_OK)
        return rc;
    buf_printf(&b, "{\"offered\":%s}", strcmp(c->cmd->name, "offer") == 0 ? "true" : "false");
    rc = post(c, "PUT", path_of(c, id), &b, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}
