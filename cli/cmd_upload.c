/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_upload.c - a file as the next version of a data set: a small one as one body, a larger one in parts (sending.h). */
#include <errno.h>
#include <sys/stat.h>
#include "cli/client.h"
#include "cli/output.h"
#include "cli/sending.h"
#include "core/base/cleanup.h"
#include "core/data/data_format.h"

enum { BODY_MAX = 64 << 20, LIST_MAX = 200 };

/* As --format says, else by how the file begins. */
static int format_of(const struct cli *c, struct str start)
{
    const char *given = cli_flag(c, "format");
    return given ? data_format_of(str_c(given)) : data_format_guess(start);
}

static int one_body(struct cli *c, const char *dataset, const char *path)
{
    struct err e = { 0 };
    struct str content;
    struct api_reply r;
    if (cli_read_file(c->arena, path, BODY_MAX, &content, &e) != ERR_OK)
        return cli_fail_err(c, &e, strcmp(path, "-") ? NULL : "name a FILE: a larger content is sent in parts, which standard input cannot be");
    int format = format_of(c, content);
    const char *at = arena_printf(c->arena, "/v1/datasets/%s/versions?format=%s", api_escape(c->arena, dataset),
                                  data_format_names[format]);
    struct api_req q = { .method = "POST", .path = at, .body = content, .content_type = data_formats[format].media_type,
                         .timeout_ms = 600000 };
    int rc = api_do(c, &q, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

static const char *text_of(struct cli *c, const struct jval *v, const char *name)
{
    struct str t = jval_str(jval_get(v, name));
    return t.ptr ? arena_strndup(c->arena, t.ptr, t.len) : "";
}

static struct str version_json(struct cli *c, const struct jval *v)
{
    static const char *const texts[] = { "dataset_id", "object_id", "sha256", "zone", "created_by", "created_at", NULL };
    static const char *const numbers[] = { "version", "row_count", "column_count", "size_bytes", NULL };
    const char *all = "";
    for (const char *const *n = texts; *n; n++)
        all = arena_printf(c->arena, "%s%s\"%s\":\"%s\"", all, *all ? "," : "", *n, text_of(c, v, *n));
    for (const char *const *n = numbers; *n; n++)
        all = arena_printf(c->arena, "%s,\"%s\":%lld", all, *n, (long long)jval_i64(jval_get(v, *n), 0));
    return str_c(arena_printf(c->arena, "{%s}", all));
}

static int show_version(struct cli *c, const char *dataset, int64_t version)
{
    struct api_reply r;
    int rc = api_get(c, arena_printf(c->arena, "/v1/datasets/%s/versions?page_size=%d", api_escape(c->arena, dataset), LIST_MAX),
                     &r);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++)
        if (jval_i64(jval_get(jval_at(data, i), "version"), 0) == version) {
            output_object(c, jval_at(data, i), version_json(c, jval_at(data, i)), c->cmd->columns);
            return CLI_OK;
        }
    if (rc == CLI_OK)
        cli_note(c, "it has become version %lld", (long long)version);
    return rc;
}

int cmd_dataset_upload(struct cli *c)
{
    struct stat st;
    const char *dataset, *path = c->args[1];
    bool is_stdin = strcmp(path, "-") == 0;
    int64_t version;
    if (is_stdin && cli_has(c, "resume"))
        return cli_fail(c, CLI_USAGE, "name the FILE", "standard input cannot be gone on with");
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &dataset);
    if (rc != CLI_OK)
        return rc;
    if (is_stdin)
        return one_body(c, dataset, path);
    if (stat(path, &st) < 0)
        return cli_fail(c, CLI_USAGE, NULL, "%s cannot be opened: %s", path, strerror(errno));
    if (!cli_has(c, "resume") && (!S_ISREG(st.st_mode) || st.st_size <= SENDING_PART_MAX))
        return one_body(c, dataset, path);
    rc = send_in_parts(c, dataset, path, cli_flag(c, "format"), cli_flag(c, "resume"), &version);
    return rc == CLI_OK ? show_version(c, dataset, version) : rc;
}
