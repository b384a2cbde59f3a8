/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj: the person's tool. Parses the words, finds out where and as whom to talk, runs the command.
 *
 * Standard output carries data only. The exit status is one of exit_code.def. What could not be written to the last byte is a
 * failure: a full disk is told, a reader that has gone away is not, since it chose so. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include "cli/command.h"
#include "core/http/client.h"

enum { ARENA_MAX = 1 << 30 };

/* A local command without a usable profile still works. */
static int resolve_profile(struct cli *c)
{
    struct err e = { 0 };
    if (profile_resolve(c->arena, cli_flag(c, "profile"), cli_flag(c, "url"), cli_flag(c, "ca-cert"), &c->profile, &e) == ERR_OK)
        return CLI_OK;
    if (c->cmd->how & CMD_LOCAL) {
        c->profile = (struct profile){ .name = "", .url = PROFILE_URL_DEFAULT, .url_from = "default", .token_from = "nowhere" };
        return CLI_OK;
    }
    return cli_fail_err(c, &e, "'falaj config view' shows the profiles");
}

static int run(struct cli *c, int argc, char **argv)
{
    int rc = cli_parse(c, argc, argv);
    if (rc != CLI_OK || !c->cmd)
        return rc;
    rc = resolve_profile(c);
    return rc == CLI_OK ? c->cmd->run(c) : rc;
}

/* A standard stream that came closed would otherwise be the number of the next socket or file, and data would be written into
 * it. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(CLI_FAILED);
    }
}

/* Everything printed has left the process, or the reason is told. */
static int written(struct cli *c, int rc)
{
    bool was_bad = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !was_bad)
        return rc;
    /* Of what failed before, the reason is gone; a line's end behind what was cut off asks for it again. */
    if (!errno && write(STDOUT_FILENO, "\n", 1) == 1)
        errno = EIO;
    if (!cli_reader_is_gone(c))
        cli_fail(c, CLI_FAILED, "make room or choose another place", "standard output cannot be written: %s",
                 strerror(errno ? errno : EIO));
    return rc == CLI_OK ? CLI_FAILED : rc;
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    struct cli *c = &(struct cli){ .arena = arena_new(ARENA_MAX), .out = stdout, .err = stderr };
    int rc = run(c, argc - 1, argv + 1);
    rc = written(c, rc == CLI_OK ? c->late : rc);
    http_client_free(c->http);
    arena_free(c->arena);
    return rc;
}
