/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_people.c - `falaj invitation accept`: how a person who was invited becomes a user without a browser. */
#include <termios.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/output.h"
#include "core/base/cleanup.h"

enum { LINE_BYTES = 4096 };

/* One line of standard input, on a terminal asked for and not shown. "" at the end of the input. */
static const char *ask(struct cli *c, const char *question)
{
    char line[LINE_BYTES] = "";
    struct termios before, quiet;
    bool is_terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    if (is_terminal) {
        fprintf(c->err, "%s: ", question);
        fflush(c->err);
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
    }
    bool is_read = fgets(line, sizeof(line), stdin) != NULL;
    if (is_terminal) {
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
        fputc('\n', c->err);
    }
    return is_read ? arena_strndup(c->arena, line, strcspn(line, "\r\n")) : "";
}

int cmd_invitation_accept(struct cli *c)
{
    const char *token = ask(c, "Token of the invitation");
    const char *password = ask(c, "Password to sign in with (empty: at the tenant's provider)");
    if (!*token)
        return cli_fail(c, CLI_USAGE, "falaj invitation accept < FILE", "standard input holds no token of an invitation");
    if (!str_is_utf8(str_c(token)) || !str_is_utf8(str_c(password)))
        return cli_fail(c, CLI_USAGE, NULL, "token and password are UTF-8 text");
    CLEANUP(buf_releasep) struct buf b = BUF(4 * LINE_BYTES);
    buf_add_c(&b, "{\"token\":");
    buf_add_json(&b, str_c(token));
    if (*password) {
        buf_add_c(&b, ",\"password\":");
        buf_add_json(&b, str_c(password));
    }
    buf_add_char(&b, '}');
    struct api_req q = { .method = c->cmd->method, .path = c->cmd->path, .body = buf_str(&b), .token = "", .is_secret = true };
    struct api_reply r;
    int rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    output_object(c, r.json, r.body, c->cmd->columns);
    cli_note(c, "Sign in with: falaj login --url %s", c->profile.url);
    return CLI_OK;
}
