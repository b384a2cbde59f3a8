/* SPDX-License-Identifier: Apache-2.0 */
/* sending.c - a file in parts that survive a cut connection, and the completion of what they make.
 *
 * A part that fails is tried again from the offset that the platform names, with growing pauses and smaller parts, until nothing
 * has come through for PATIENCE_S. */
#include "cli/sending.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/client.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/data/data_format.h"

enum { PART_MIN = 256 << 10, PATIENCE_S = 120, PAUSE_MAX_S = 20, LIST_MAX = 200, HEAD_BYTES = 512 };
static const int64_t SIZE_MAX_BYTES = INT64_C(1) << 30;

struct sending {
    struct cli *c;
    const char *dataset, *path, *upload, *expires;
    int fd, format;             /* format: enum data_format */
    int64_t size, offset, part_max, part;
    char sha[2 * SHA256_BYTES + 1];
    char *bytes;
    bool is_terminal;
    time_t told;
    int64_t version;                    /* that it became */
};

static int read_at(struct sending *s, int64_t offset, int64_t n)
{
    for (int64_t have = 0; have < n;) {
        ssize_t k = pread(s->fd, s->bytes + have, (size_t)(n - have), offset + have);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return cli_fail(s->c, CLI_FAILED, NULL, "%s cannot be read at byte %lld: %s", s->path, (long long)(offset + have),
                            k < 0 ? strerror(errno) : "it has become shorter");
        have += k;
    }
    return CLI_OK;
}

static int hash_file(struct sending *s)
{
    CLEANUP(sha256_release) struct sha256 h;
    uint8_t sha[SHA256_BYTES];
    sha256_init(&h);
    for (int64_t at = 0; at < s->size; at += SENDING_PART_MAX) {
        int64_t n = s->size - at < SENDING_PART_MAX ? s->size - at : SENDING_PART_MAX;
        int rc = read_at(s, at, n);
        if (rc != CLI_OK)
            return rc;
        sha256_add(&h, s->bytes, (size_t)n);
    }
    sha256_final(&h, sha);
    hex_encode(sha, sizeof sha, s->sha);
    return CLI_OK;
}

static const char *text_of(struct sending *s, const struct jval *v, const char *name)
{
    struct str t = jval_str(jval_get(v, name));
    return t.ptr ? arena_strndup(s->c->arena, t.ptr, t.len) : "";
}

/* Take over what the platform says of the upload. */
static void read_upload(struct sending *s, const struct jval *v)
{
    s->upload = text_of(s, v, "upload_id");
    s->expires = text_of(s, v, "expires_at");
    s->offset = jval_i64(jval_get(v, "offset"), 0);
    s->part_max = jval_i64(jval_get(v, "part_bytes_max"), PART_MIN);
    s->part_max = s->part_max < SENDING_PART_MAX ? s->part_max : SENDING_PART_MAX;
    if (!s->part || s->part > s->part_max)
        s->part = s->part_max;
}

static bool is_ours(const struct sending *s, const struct jval *v)
{
    return str_eq_c(jval_str(jval_get(v, "format")), data_format_names[s->format]) &&
           jval_i64(jval_get(v, "size_bytes"), -1) == s->size && str_eq_c(jval_str(jval_get(v, "sha256")), s->sha) &&
           str_eq_c(jval_str(jval_get(v, "dataset_id")), s->dataset) && str_eq_c(jval_str(jval_get(v, "state")), "OPEN");
}

static int find_given(struct sending *s, const char *id)
{
    struct api_reply r;
    int rc = api_get(s->c, arena_printf(s->c->arena, "/v1/uploads/%s", api_escape(s->c->arena, id)), &r);
    if (rc != CLI_OK)
        return rc;
    if (!is_ours(s, r.json))
        return cli_fail(s->c, CLI_CONFLICT, "leave out --resume to begin anew, or to find this file's own upload",
                        "upload %s is of another file or data set, or has ended", id);
    read_upload(s, r.json);
    return CLI_OK;
}

static int find_or_begin(struct sending *s)
{
    struct cli *c = s->c;
    struct api_reply r;
    int rc = api_get(c, arena_printf(c->arena, "/v1/uploads?page_size=%d&dataset_id=%s", LIST_MAX, api_escape(c->arena,
                                                                                                              s->dataset)), &r);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++)
        if (is_ours(s, jval_at(data, i))) {
            read_upload(s, jval_at(data, i));
            return CLI_OK;
        }
    if (rc != CLI_OK)
        return rc;
    const char *body = arena_printf(c->arena, "{\"dataset_id\":\"%s\",\"size_bytes\":%lld,\"sha256\":\"%s\",\"format\":\"%s\"}",
                                    s->dataset, (long long)s->size, s->sha, data_format_names[s->format]);
    rc = api_do(c, &(struct api_req){ .method = "POST", .path = "/v1/uploads", .body = str_c(body) }, &r);
    if (rc == CLI_OK)
        read_upload(s, r.json);
    return rc;
}

/* One line that is written over on a terminal, else a line now and then. */
static void progress(struct sending *s, const char *what)
{
    time_t now = time(NULL);
    double share = 100.0 * (double)s->offset / (double)s->size;
    if (s->c->is_quiet || (!s->is_terminal && now - s->told < 10))
        return;
    s->told = now;
    fprintf(s->c->err, s->is_terminal ? "\r\033[K%5.1f %% of %lld bytes%s" : "%5.1f %% of %lld bytes%s\n", share,
            (long long)s->size, what);
    fflush(s->c->err);
}

static void end_line(struct sending *s)
{
    if (s->is_terminal && !s->c->is_quiet)
        fputc('\n', s->c->err);
}

static bool may_pass(enum errc rc, const struct api_reply *r)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_DEADLINE || rc == ERR_UPSTREAM || rc == ERR_IO ||
           (rc == ERR_OK && (r->status >= 500 || r->status == 408 || r->status == 429));
}

static int cut(struct sending *s, enum errc rc, const struct err *e, const struct api_reply *r)
{
    const char *todo = arena_printf(s->c->arena,
                                    "the same command goes on from there until %s; "
                                     "or give it up: falaj api DELETE /v1/uploads/%s",
                                    s->expires, s->upload);
    end_line(s);
    return cli_fail(s->c, rc == ERR_DEADLINE ? CLI_TIMEOUT : CLI_NETWORK, todo, "cut at byte %lld of %lld: %s",
                    (long long)s->offset,
                    (long long)s->size, rc != ERR_OK ? e->msg : arena_printf(s->c->arena, "the API answered %d", r->status));
}

/* One try. *ret_again: it may pass; else the exit code counts. */
static int send_part(struct sending *s, enum errc *ret_rc, struct api_reply *r, struct err *e, bool *ret_again)
{
    struct cli *c = s->c;
    int64_t n = s->size - s->offset < s->part ? s->size - s->offset : s->part;
    int rc = read_at(s, s->offset, n);
    *ret_again = false;
    if (rc != CLI_OK)
        return rc;
    struct api_req q = { .method = "PUT", .path = arena_printf(c->arena, "/v1/uploads/%s/parts?offset=%lld", s->upload,
                                                               (long long)s->offset),
                         .body = str_n(s->bytes,
                                       (size_t)n),
                         .content_type = "application/octet-stream", .timeout_ms = 60000, .is_once = true };
    *ret_rc = api_send(c, &q, r, e);
    if (*ret_rc == ERR_OK && r->status == 200) {
        read_upload(s, r->json);
        return CLI_OK;
    }
    /* A conflict is an offset that has moved: an answer was lost, or another of us is at work. The platform is asked either way.
     * */
    *ret_again = may_pass(*ret_rc, r) || (*ret_rc == ERR_OK && r->status == 409 && str_eq_c(r->code, "conflict"));
    if (*ret_again)
        return CLI_NETWORK;
    return *ret_rc == ERR_OK ? api_tell(c, r) : cli_fail_err(c, e, NULL);
}

/* Where the platform is; whether it could be asked. */
static bool ask_offset(struct sending *s)
{
    struct api_reply r;
    struct err ignored;
    struct api_req q = { .method = "GET", .path = arena_printf(s->c->arena, "/v1/uploads/%s", s->upload), .timeout_ms = 20000,
                         .is_once = true };
    bool ok = api_send(s->c, &q, &r, &ignored) == ERR_OK && r.status == 200;
    if (ok)
        read_upload(s, r.json);
    return ok;
}

static int send_parts(struct sending *s)
{
    time_t since = time(NULL);
    int64_t reached = s->offset;
    unsigned pause_s = 1;
    while (s->offset < s->size) {
        struct api_reply r = { 0 };
        struct err e = { 0 };
        enum errc why;
        bool again;
        progress(s, "");
        int rc = send_part(s, &why, &r, &e, &again);
        if (rc != CLI_OK && !again) {
            end_line(s);
            return rc;
        }
        if (s->offset > reached || (again && ask_offset(s) && s->offset > reached)) {
            reached = s->offset;
            since = time(NULL);
            pause_s = 1;
            continue;
        }
        if (time(NULL) - since >= PATIENCE_S)
            return cut(s, why, &e, &r);
        progress(s, ", trying again");
        sleep(pause_s);
        pause_s = 2 * pause_s < PAUSE_MAX_S ? 2 * pause_s : PAUSE_MAX_S;
        s->part = s->part / 2 > PART_MIN ? s->part / 2 : PART_MIN;
    }
    progress(s, "; it is being checked");
    return CLI_OK;
}

/* What the platform says of an upload that is being completed, a few times a second at first and then every two. */
static int watch_completing(struct sending *s, struct api_reply *r)
{
    struct cli *c = s->c;
    struct timespec pause = { 0, 200000000 };
    for (;;) {
        struct str state = jval_str(jval_get(r->json, "state")), failure = jval_str(jval_get(r->json, "failure"));
        if (!str_eq_c(state, "COMPLETING"))
            end_line(s);
        if (str_eq_c(state, "COMPLETED")) {
            s->version = jval_i64(jval_get(r->json, "version"), 0);
            return CLI_OK;
        }
        if (str_eq_c(state, "REFUSED"))
            return cli_fail(c, CLI_USAGE, "correct the file and send it again", "%.*s", STR_ARG(failure));
        if (!str_eq_c(state, "COMPLETING"))
            return cli_fail(c, CLI_NETWORK, "the same command tries again", "the upload could not be completed: %.*s",
                            STR_ARG(failure.len ? failure : STR("whoever did it stopped")));
        int64_t done = jval_i64(jval_get(r->json, "completed_bytes"), 0);
        progress(s, arena_printf(c->arena, "; it is being checked: %.0f %%", 100.0 * (double)done / (double)s->size));
        nanosleep(&pause, NULL);
        bool is_slow = pause.tv_sec || pause.tv_nsec >= 800000000;
        pause = (struct timespec){ is_slow ? 2 : 0, is_slow ? 0 : 2 * pause.tv_nsec };
        int rc = api_get(c, arena_printf(c->arena, "/v1/uploads/%s", s->upload), r);
        if (rc != CLI_OK)
            return rc;
    }
}

static int complete(struct sending *s)
{
    struct cli *c = s->c;
    const char *at = arena_printf(c->arena, "/v1/uploads/%s", s->upload);
    struct api_reply r = { 0 }, now;
    struct err e = { 0 };
    struct api_req q = { .method = "POST", .path = arena_printf(c->arena, "%s/completion", at), .timeout_ms = 60000 };
    enum errc rc = api_send(c, &q, &r, &e);
    if (rc == ERR_OK && r.status == 202)
        return watch_completing(s, &r);
    /* The answer may be lost: then the upload tells. */
    if ((may_pass(rc, &r) || r.status == 409) && api_get(c, at, &now) == CLI_OK && !str_eq_c(jval_str(jval_get(now.json,
        "state")), "OPEN"))
        return watch_completing(s, &now);
    if (may_pass(rc, &r))
        return cut(s, rc, &e, &r);
    return rc == ERR_OK ? api_tell(c, &r) : cli_fail_err(c, &e, NULL);
}

static int in_parts(struct sending *s, const char *format, const char *given)
{
    int64_t head = s->size < HEAD_BYTES ? s->size : HEAD_BYTES;
    int rc = read_at(s, 0, head);
    if (rc == CLI_OK) {
        s->format = format ? data_format_of(str_c(format)) : data_format_guess(str_n(s->bytes, (size_t)head));
        rc = hash_file(s);
    }
    if (rc == CLI_OK)
        rc = given ? find_given(s, given) : find_or_begin(s);
    if (rc != CLI_OK)
        return rc;
    cli_note(s->c, s->offset ? "upload %s goes on at byte %lld" : "upload %s; if it is cut, the same command goes on", s->upload,
             (long long)s->offset);
    rc = send_parts(s);
    return rc == CLI_OK ? complete(s) : rc;
}

int send_in_parts(struct cli *c, const char *dataset, const char *path, const char *format, const char *resume,
                  int64_t *ret_version)
{
    struct stat st;
    struct sending s = { .c = c, .dataset = dataset, .path = path, .is_terminal = isatty(fileno(c->err)) };
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return cli_fail(c, CLI_USAGE, NULL, "%s cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size < 1)
        return cli_fail(c, CLI_USAGE, NULL, "%s is empty, or no file", path);
    if (st.st_size > SIZE_MAX_BYTES)
        return cli_fail(c, CLI_USAGE, "divide it into several versions or data sets",
                        "%s has %lld bytes; a version has at most %lld",
                        path, (long long)st.st_size, (long long)SIZE_MAX_BYTES);
    s.fd = fd;
    s.size = st.st_size;
    s.bytes = arena_alloc(c->arena, SENDING_PART_MAX);
    int rc = in_parts(&s, format, resume);
    *ret_version = s.version;
    return rc;
}
