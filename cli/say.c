/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - what a person reads on standard error, questions on the terminal, and files read whole. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <unistd.h>
#include "cli/command.h"
#include "core/base/cleanup.h"

int cli_fail(struct cli *c, int code, const char *todo, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fflush(c->out);
    fprintf(c->err, "%sfalaj: %s%s\n", c->is_color ? "\033[31m" : "", text, c->is_color ? "\033[0m" : "");
    if (todo)
        fprintf(c->err, "  %s\n", todo);
    return code;
}

int cli_exit_of(enum errc code)
{
    switch (code) {
    case ERR_OK:
        return CLI_OK;
    case ERR_MALFORMED: case ERR_INVALID: case ERR_UNKNOWN_FIELD: case ERR_MISSING_FIELD: case ERR_PAGE_TOKEN:
    case ERR_UNPROCESSABLE: case ERR_BAD_DATA: case ERR_TOO_LARGE: case ERR_MEDIA_TYPE: case ERR_IDEMPOTENCY_REUSE:
        return CLI_USAGE;
    case ERR_UNAUTHENTICATED:
        return CLI_LOGIN;
    case ERR_FORBIDDEN: case ERR_TENANT_SUSPENDED: case ERR_RESIDENCY:
        return CLI_FORBIDDEN;
    case ERR_NOT_FOUND:
        return CLI_NOT_FOUND;
    case ERR_CONFLICT: case ERR_EXISTS: case ERR_STALE: case ERR_IN_PROGRESS: case ERR_PRECONDITION:
    case ERR_PRECONDITION_MISSING: case ERR_UNPLACEABLE:
        return CLI_CONFLICT;
    case ERR_RATE:
        return CLI_RATE;
    case ERR_QUOTA:
        return CLI_QUOTA;
    case ERR_DEADLINE:
        return CLI_TIMEOUT;
    case ERR_UNAVAILABLE: case ERR_UPSTREAM: case ERR_SEALED: case ERR_RETRY:
        return CLI_NETWORK;
    default:
        return CLI_FAILED;
    }
}

int cli_fail_err(struct cli *c, const struct err *e, const char *todo)
{
    const char *detail = e->detail[0] ? arena_printf(c->arena, " (%s)", e->detail) : "";
    return cli_fail(c, cli_exit_of(e->code), todo, "%s%s", e->msg[0] ? e->msg : err_row(e->code)->title, detail);
}

void cli_note(struct cli *c, const char *fmt, ...)
{
    if (c->is_quiet)
        return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(c->err, fmt, ap);
    va_end(ap);
    fputc('\n', c->err);
}

bool cli_confirm(struct cli *c, const char *question)
{
    if (c->is_yes)
        return true;
    if (!isatty(STDIN_FILENO) || !isatty(fileno(c->err))) {
        cli_fail(c, CLI_USAGE, "say --yes to go on without a question", "%s", question);
        return false;
    }
    fprintf(c->err, "%s [y/N] ", question);
    fflush(c->err);
    char answer[16] = "";
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool cli_reader_is_gone(const struct cli *c)
{
    struct pollfd p = { .fd = fileno(c->out) };
    return p.fd >= 0 && poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP)) != 0;
}

enum errc cli_read_file(struct arena *a, const char *path, size_t max, struct str *ret, struct err *e)
{
    bool is_stdin = strcmp(path, "-") == 0;     /* opening /dev/stdin anew would fail for sockets and for files of another account */
    CLEANUP(fd_closep) int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(e, INVALID, "%s cannot be opened: %s", path, strerror(errno));
    CLEANUP(buf_releasep) struct buf b = BUF(max);
    char chunk[16384];
    for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) != 0;) {
        if (n < 0)
            return FAIL(e, INVALID, "%s cannot be read: %s", path, strerror(errno));
        if (!buf_add(&b, chunk, (size_t)n))
            return FAIL(e, INVALID, "%s is larger than %zu bytes", path, max);
    }
    *ret = str_dup(a, buf_str(&b));
    return ERR_OK;
}
