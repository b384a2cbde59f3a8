/* SPDX-License-Identifier: Apache-2.0 */
/* model_show.c - `falaj model show`: a version with its figures, and what it takes and gives. */
#include "cli/client.h"
#include "cli/output.h"
#include "core/base/cleanup.h"

enum { LIST_MAX = 200, VERSION_MAX = 1 << 20 };

static void show_tensors(struct cli *c, const struct jval *list, const char *columns)
{
    struct output o;
    if (!jval_len(list))
        return;
    fputc('\n', c->out);
    output_begin(&o, c, columns);
    output_page(&o, list);
    output_end(&o);
}

int cmd_model_show(struct cli *c)
{
    const char *model;
    struct api_reply r;
    int64_t version = 0;
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &model);
    if (rc == CLI_OK)
        rc = cli_flag_i64(c, "version", 1, INT64_MAX, &version);
    if (rc == CLI_OK)
        rc = api_get(c, arena_printf(c->arena, "/v1/models/%s/versions?page_size=%d", api_escape(c->arena, model), LIST_MAX), &r);
    if (rc != CLI_OK)
        return rc;
    const struct jval *data = jval_get(r.json, "data"), *v = NULL;
    for (size_t i = 0; i < jval_len(data) && !v; i++)
        if (!version || jval_i64(jval_get(jval_at(data, i), "version"), 0) == version)
            v = jval_at(data, i);
    if (!v)
        return cli_fail(c, CLI_NOT_FOUND, "falaj model versions MODEL", "there is no such version of %s", c->args[0]);
    CLEANUP(buf_releasep) struct buf b = BUF(VERSION_MAX);
    output_json(v, &b);
    output_object(c, v, buf_str(&b), c->cmd->columns);
    const struct jval *sig = jval_get(v, "signature");
    if (c->format == OUT_TABLE || c->format == OUT_WIDE) {
        show_tensors(c, jval_get(sig, "inputs"), "name:INPUT datatype:DATATYPE shape:SHAPE");
        show_tensors(c, jval_get(sig, "outputs"), "name:OUTPUT datatype:DATATYPE shape:SHAPE");
    }
    return CLI_OK;
}
