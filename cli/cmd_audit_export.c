/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit_export.c - `falaj audit export`: asks for an export, downloads it, goes on where the connection broke, compares the digest.
 *
 * The content of an export is the same at each download, so a cut one is asked for again from the byte that is missing. A file is written
 * as FILE.<export id>.part and renamed when it is whole and has the digest that the API names; what is cut for good stays, and
 * --resume goes on with it. Output to a pipe is resumed too, within one run. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/rest.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

enum { TRIES = 6, TELL_NS = 200000000, READ_BYTES = 1 << 16 };

struct taken {
    struct cli *c;
    int fd;
    int64_t bytes;
    int error;
    struct sha256 sum;
    struct timespec told;
};

static void tell(struct taken *t, bool is_last)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t passed = (now.tv_sec - t->told.tv_sec) * INT64_C(1000000000) + now.tv_nsec - t->told.tv_nsec;
    if (t->c->is_quiet || !isatty(fileno(t->c->err)) || (!is_last && passed < TELL_NS))
        return;
    t->told = now;
    fprintf(t->c->err, "\r%10.1f MB%s", (double)t->bytes / 1e6, is_last ? "\n" : "");
    fflush(t->c->err);
}

static bool take(void *ctx, const char *p, size_t n)
{
    struct taken *t = ctx;
    sha256_add(&t->sum, p, n);
    while (n > 0) {
        ssize_t done = write(t->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            t->error = errno;
            return false;
        }
        p += done;
        n -= (size_t)done;
        t->bytes += done;
    }
    tell(t, false);
    return true;
}

/* What a part file holds already. */
static bool take_part(struct taken *t)
{
    char p[READ_BYTES];
    ssize_t n;
    while ((n = read(t->fd, p, sizeof p)) > 0) {
        sha256_add(&t->sum, p, (size_t)n);
        t->bytes += n;
    }
    t->error = n < 0 ? errno : 0;
    return n == 0;
}

/* RANGE says that nothing is missing: the cut came after the last byte. */
static int fetch(struct cli *c, const char *path, struct taken *t)
{
    struct err e = { 0 };
    for (int tries = 0; tries < TRIES; tries++) {
        struct api_reply r = { 0 };
        int64_t before = t->bytes;
        struct api_req q = { .method = "GET", .path = path, .accept = "*/*", .on_data = take, .ctx = t, .timeout_ms = -1, .idle_timeout_ms = 60000,
                             .range = t->bytes ? arena_printf(c->arena, "bytes=%lld-", (long long)t->bytes) : NULL };
        enum errc rc = api_send(c, &q, &r, &e);
        if (t->error)
            return cli_fail(c, CLI_FAILED, NULL, "the export cannot be written: %s", strerror(t->error));
        if (rc == ERR_OK && (r.status == 416 || (r.status >= 200 && r.status < 300)))
            return before && r.status == 200 ? cli_fail(c, CLI_FAILED, "start again", "the API does not resume this export") : CLI_OK;
        if (rc == ERR_OK && r.status < 500 && r.status != 429)
            return api_tell(c, &r);
        if (t->bytes > before)
            tries = 0;
        nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
    }
    return cli_fail(c, CLI_NETWORK, NULL, "the download broke off after %lld bytes: %s", (long long)t->bytes, e.msg[0] ? e.msg : "the API does not answer");
}

/* Said where the export is made, since the file may go to somebody who takes it for all there is. */
static void tell_what_it_proves(struct cli *c, const struct jval *job)
{
    struct str proves = jval_str(jval_get(job, "proves"));
    if (str_eq_c(proves, "completeness"))
        cli_note(c, "It proves that no entry from %lld to %lld that fits was left out.",
                 (long long)jval_i64(jval_get(job, "from_tseq"), 0), (long long)jval_i64(jval_get(job, "to_tseq"), 0));
    else if (str_eq_c(proves, "inclusion"))
        cli_note(c, "It proves that its entries are in the log, not that no other would have fitted%s.",
                 cli_has(c, "proves") ? "" : "; --proves completeness does, from the first entry on that can show it");
}

/* Is it what the API made? It knows size and digest when it has made the whole once. */
static int compare(struct cli *c, const char *object, struct taken *t)
{
    struct api_reply r;
    uint8_t sum[SHA256_BYTES];
    char text[BASE64_MAX(SHA256_BYTES)];
    sha256_final(&t->sum, sum);
    int rc = api_get(c, object, &r);
    if (rc != CLI_OK)
        return rc;
    struct str want = jval_str(jval_get(r.json, "sha256")), have = str_n(text, base64_encode(sum, sizeof sum, text, false));
    if (want.len && !str_eq(want, have))
        return cli_fail(c, CLI_VERIFY, "retention may have dropped events in between; make a new export",
                        "the %lld bytes that came are not the export's", (long long)t->bytes);
    tell_what_it_proves(c, r.json);
    return CLI_OK;
}

static int create(struct cli *c, const char **ret_id)
{
    struct api_reply r;
    struct api_req q = { .method = "POST", .path = c->cmd->path };
    int rc = rest_body(c, c->cmd->body, &q.body);
    if (rc == CLI_OK && !cli_has(c, "format"))
        q.body = str_fmt(c->arena, "{\"format\":\"jsonl\"%s%.*s", q.body.len > 2 ? "," : "", (int)q.body.len - 1, q.body.ptr + 1);
    if (rc == CLI_OK)
        rc = api_do(c, &q, &r);
    if (rc == CLI_OK)
        *ret_id = str_z(c->arena, jval_str(jval_get(r.json, "export_id")));
    return rc;
}

static int save(struct cli *c, const char *object, const char *id, const char *path, struct taken *t)
{
    const char *part = path ? arena_printf(c->arena, "%s.%s.part", path, id) : NULL;
    CLEANUP(fd_closep) int fd = part ? open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (part && fd < 0)
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", part, strerror(errno));
    t->fd = part ? fd : STDOUT_FILENO;
    if (part && !take_part(t))
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be read: %s", part, strerror(t->error));
    int rc = fetch(c, arena_printf(c->arena, "%s/content", object), t);
    tell(t, true);
    if (rc != CLI_OK) {
        if (part && t->bytes)
            cli_note(c, "Go on with: falaj audit export %s --resume %s", path, id);
        return rc;
    }
    rc = compare(c, object, t);
    if (rc != CLI_OK || !part)
        return rc;
    if (fsync(fd) < 0 || rename(part, path) < 0)
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
    cli_note(c, "%lld bytes written to %s (export %s)", (long long)t->bytes, path, id);
    return CLI_OK;
}

int cmd_audit_export(struct cli *c)
{
    const char *path = c->nargs && strcmp(c->args[0], "-") ? c->args[0] : NULL, *id = cli_flag(c, "resume");
    struct taken t = { .c = c };
    if (id && !path)
        return cli_fail(c, CLI_USAGE, "falaj audit export FILE --resume exp_…", "only a file can be resumed");
    int rc = id ? CLI_OK : create(c, &id);
    if (rc != CLI_OK)
        return rc;
    sha256_init(&t.sum);
    rc = save(c, arena_printf(c->arena, "/v1/audit/exports/%s", api_escape(c->arena, id)), id, path, &t);
    sha256_release(&t.sum);
    return rc;
}

static bool pass_on(void *ctx, const char *p, size_t n)
{
    return fwrite(p, 1, n, ctx) == n;
}

/* Streamed, and not tried again: half of it may be written already. */
int cmd_audit_csv(struct cli *c)
{
    struct api_req q = { .method = "GET", .accept = "*/*", .on_data = pass_on, .ctx = c->out, .timeout_ms = -1, .idle_timeout_ms = 60000, .is_once = true };
    struct api_reply r;
    int rc = rest_path(c, &q.path);
    if (rc != CLI_OK)
        return rc;
    rc = api_do(c, &q, &r);
    if (rc == CLI_OK && fflush(c->out) != 0)
        return cli_fail(c, CLI_FAILED, NULL, "the CSV cannot be written: %s", strerror(errno));
    return rc;
}
