/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj: the person's tool. Parses the words, finds out where and as whom to talk, runs the command.
 *
 * Standard output carries data only. The exit status is one of exit_code.def. */
#include <signal.h>
#include <unistd.h>
#include "cli/command.h"
#include "core/http/client.h"

enum { ARENA_MAX = 1 << 30 };

/* A local command without a usable profile still works. */
static int resolve_profile(struct cli *c)
{
    struct err e = { 0 };
    if (profile_resolve(c->arena, cli_flag(c, "profile"), cli_flag(c, "url"), &c->profile, &e) == ERR_OK)
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

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    struct cli *c = &(struct cli){ .arena = arena_new(ARENA_MAX), .out = stdout, .err = stderr };
    int rc = run(c, argc - 1, argv + 1);
    if (fflush(stdout) != 0 && rc == CLI_OK)
        rc = CLI_FAILED;
    http_client_free(c->http);
    arena_free(c->arena);
    return rc;
}
