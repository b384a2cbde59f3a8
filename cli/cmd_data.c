/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_data.c - files to and from the platform: downloads of data sets and models, exports of the audit log and of usage.
 *
 * A download is written to a temporary neighbour and renamed when it is whole, so a broken connection leaves no half file. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/output.h"
#include "cli/rest.h"
#include "core/base/cleanup.h"

struct sink {
    int fd;
    int64_t bytes;
    int error;
};

static bool sink_write(void *ctx, const char *p, size_t n)
{
    struct sink *s = ctx;
    while (n > 0) {
        ssize_t done = write(s->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            s->error = errno;
            return false;
        }
        p += done;
        n -= (size_t)done;
        s->bytes += done;
    }
    return true;
}

static int finish(struct cli *c, int rc, const struct sink *s, const char *fresh, const char *path)
{
    if (rc == CLI_OK && s->error)
        rc = cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path ? path : "standard output", strerror(s->error));
    if (!path)
        return rc;
    if (rc == CLI_OK && (fsync(s->fd) < 0 || rename(fresh, path) < 0))
        rc = cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
    if (rc != CLI_OK)
        unlink(fresh);
    else
        cli_note(c, "%lld bytes written to %s", (long long)s->bytes, path);
    return rc;
}

/* path NULL or "-": standard output. */
static int download(struct cli *c, const char *from, const char *accept, const char *path)
{
    const char *fresh = NULL;
    struct sink s = { .fd = STDOUT_FILENO };
    if (path && strcmp(path, "-") == 0)
        path = NULL;
    CLEANUP(fd_closep) int fd = -1;
    if (path) {
        fresh = arena_printf(c->arena, "%s.%ld.part", path, (long)getpid());
        fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
            return cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
        s.fd = fd;
    } else if (isatty(STDOUT_FILENO) && strcmp(accept, "application/octet-stream") == 0) {
        return cli_fail(c, CLI_USAGE, "name a FILE, or send standard output somewhere", "this is binary and would spoil the terminal");
    }
    struct api_reply r;
    struct api_req q = { .method = "GET", .path = from, .accept = accept, .on_data = sink_write, .ctx = &s, .timeout_ms = -1, .idle_timeout_ms = 60000 };
    return finish(c, api_do(c, &q, &r), &s, fresh, path);
}

static int newest_of(struct cli *c, const char *versions_path, const char **ret)
{
    struct api_reply r;
    int rc = api_get(c, arena_printf(c->arena, "%s?page_size=200", versions_path), &r);
    int64_t newest = 0;
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++) {
        int64_t v = jval_i64(jval_get(jval_at(data, i), "version"), 0);
        newest = v > newest ? v : newest;
    }
    if (rc == CLI_OK && !newest)
        return cli_fail(c, CLI_NOT_FOUND, NULL, "it has no version yet");
    *ret = arena_printf(c->arena, "%lld", (long long)newest);
    return rc;
}

static int version_download(struct cli *c, const char *kind, const char *accept)
{
    const char *id, *version = cli_flag(c, "version");
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &id);
    if (rc != CLI_OK)
        return rc;
    const char *versions = arena_printf(c->arena, "/v1/%s/%s/versions", kind, api_escape(c->arena, id));
    if (!version && (rc = newest_of(c, versions, &version)) != CLI_OK)
        return rc;
    return download(c, arena_printf(c->arena, "%s/%s/content", versions, api_escape(c->arena, version)), accept, c->nargs > 1 ? c->args[1] : NULL);
}

int cmd_job_download(struct cli *c)
{
    const char *id;
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &id);
    if (rc != CLI_OK)
        return rc;
    const char *name = api_escape(c->arena, c->args[1]);
    return download(c, arena_printf(c->arena, "/v1/jobs/%s/outputs/%s", api_escape(c->arena, id), name),
                    "application/octet-stream", c->nargs > 2 ? c->args[2] : NULL);
}

int cmd_dataset_download(struct cli *c)
{
    return version_download(c, "datasets", "text/csv, application/octet-stream");
}

int cmd_model_download(struct cli *c)
{
    return version_download(c, "models", "application/octet-stream");
}

int cmd_content_delete(struct cli *c)
{
    const char *question = arena_printf(c->arena, "Delete the %s %s with all its versions for good?", c->cmd->noun->what,
        c->args[0]);
    return cli_confirm(c, question) ? run_rest(c) : CLI_USAGE;
}

/* Sums are a call like any other; the attempts themselves come as a file. */
int cmd_usage(struct cli *c)
{
    if (!cli_has(c, "csv"))
        return c->nargs ? cli_fail(c, CLI_USAGE, "falaj usage --csv FILE", "only --csv is written to a file") : run_rest(c);
    if (cli_has(c, "days") || cli_has(c, "by"))
        return cli_fail(c, CLI_USAGE, "use --from and --to", "--days and --by are of sums, and --csv sums nothing up");
    const char *from = cli_flag(c, "from"), *to = cli_flag(c, "to");
    const char *path = arena_printf(c->arena, "/v1/usage.csv%s%s%s%s", from ? "?from=" : "", from ? api_escape(c->arena, from) : "",
                                    !to ? "" : from ? "&to=" : "?to=", to ? api_escape(c->arena, to) : "");
    return download(c, path, "text/csv", c->nargs ? c->args[0] : NULL);
}
