/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_secret.c - a value for a secret, from a file or standard input: never from the command line, which other users of a
 * machine see. */
#include <string.h>
#include "cli/client.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/crypto/secmem.h"

enum { VALUE_MAX = 32768 };

/* The id of the secret of this name, which is made where there is none: id NULL then. */
static int find(struct cli *c, const char *name, const char **ret)
{
    struct api_reply r;
    *ret = NULL;
    if (str_starts(str_c(name), c->cmd->noun->prefix)) {
        *ret = name;
        return CLI_OK;
    }
    const char *project = cli_flag(c, "project");
    int rc = api_get(c, arena_printf(c->arena, "/v1/secrets?page_size=200&name=%s", api_escape(c->arena, name)), &r);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++) {
        const struct str of = jval_str(jval_get(jval_at(data, i), "project_id"));
        if (project ? str_eq_c(of, project) : !of.len)
            *ret = jval_str(jval_get(jval_at(data, i), "secret_id")).ptr;
    }
    return rc;
}

static void add_member(struct buf *b, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(b, ",\"%s\":", name);
    buf_add_json(b, str_c(value));
}

static int make(struct cli *c, const char *name, const char **ret)
{
    CLEANUP(buf_releasep) struct buf b = BUF(8192);
    struct api_reply r;
    buf_add_c(&b, "{\"name\":");
    buf_add_json(&b, str_c(name));
    add_member(&b, "project_id", cli_flag(c, "project"));
    add_member(&b, "zone", cli_flag(c, "zone"));
    add_member(&b, "description", cli_flag(c, "description"));
    buf_add_char(&b, '}');
    const struct api_req q = { .method = "POST", .path = "/v1/secrets", .body = buf_str(&b) };
    int rc = api_do(c, &q, &r);
    if (rc == CLI_OK) {
        *ret = jval_str(jval_get(r.json, "secret_id")).ptr;
        cli_note(c, "the secret %s is new", name);
    }
    return rc;
}

int cmd_secret_set(struct cli *c)
{
    const char *path = cli_flag(c, "from-file"), *id;
    struct err e = { 0 };
    struct str value;
    struct api_reply r;
    if (cli_read_file(c->arena, path ? path : "-", VALUE_MAX, &value, &e) != ERR_OK)
        return cli_fail_err(c, &e, "a secret has 8 to 32,768 bytes");
    int rc = find(c, c->args[0], &id);
    if (rc == CLI_OK && !id)
        rc = make(c, c->args[0], &id);
    if (rc == CLI_OK) {
        const struct api_req q = { .method = "PUT", .path = arena_printf(c->arena, "/v1/secrets/%s/value",
            api_escape(c->arena, id)),
                                   .body = value, .content_type = "application/octet-stream", .is_secret = true,
                                       .is_once = true };
        rc = api_do(c, &q, &r);
    }
    secret_wipe((char *)(uintptr_t)value.ptr, value.len);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}
