/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_inside.c - into a running program: a command, a shell, its output, a port. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/inside.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/http/ws_link.h"
#include "core/wire/inside_wire.h"

enum { CONNECTIONS_MAX = 6, LOOK_MS = 500 };

int inside_dial(struct cli *c, const char *job, struct str body, struct ws_link **ret)
{
    struct api_reply r;
    const char *path = arena_printf(c->arena, "/v1/jobs/%s/inside", api_escape(c->arena, job));
    const struct api_req q = { .method = "POST", .path = path, .body = body };
    int rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    const struct str id = jval_str(jval_get(r.json, "session_id"));
    const char *token = c->profile.token ? c->profile.token : "";
    const char *headers[] = { arena_printf(c->arena, "Authorization: Bearer %s", token), NULL };
    const struct http_client_options o = { .base_url = c->profile.url, .user_agent = "falaj-cli/" FALAJ_VERSION,
                                           .ca_file = c->profile.ca_cert, .use_proxy_env = true };
    struct err e = { 0 }, ignored;
    struct api_reply no = { 0 };
    const enum errc got = ws_dial(&o, arena_printf(c->arena, "%s/%.*s", path, STR_ARG(id)), headers, c->arena, ret, &no.status,
                                  &no.body, &e);
    if (got == ERR_OK)
        return CLI_OK;
    if (no.status < 400)
        return cli_fail_err(c, &e, NULL);
    if (jval_parse(c->arena, no.body, 0, &no.json, &ignored) == ERR_OK)
        no.code = jval_str(jval_get(no.json, "code"));
    return api_tell(c, &no);
}

static void add_words(struct buf *b, char *const *words, int n)
{
    buf_add_c(b, ",\"command\":[");
    for (int i = 0; i < n; i++) {
        if (i)
            buf_add_char(b, ',');
        buf_add_json(b, str_c(words[i]));
    }
    buf_add_char(b, ']');
}

static void add_terminal(struct buf *b, int fd)
{
    struct winsize s = { 0 };
    const char *term = getenv("TERM"), *why;
    if (ioctl(fd, TIOCGWINSZ, &s) == 0 && s.ws_col && s.ws_row)
        buf_printf(b, ",\"cols\":%d,\"rows\":%d", s.ws_col < INSIDE_SIDE_MAX ? s.ws_col : INSIDE_SIDE_MAX,
                   s.ws_row < INSIDE_SIDE_MAX ? s.ws_row : INSIDE_SIDE_MAX);
    if (term && strlen(term) <= INSIDE_TERM_MAX && inside_check_term(str_c(term), &why))
        buf_printf(b, ",\"term\":\"%s\"", term);
}

/* From here to its end what is typed goes as it is. false: it is no terminal. */
static bool raw_begin(int fd, struct termios *before)
{
    struct termios raw;
    if (tcgetattr(fd, before) != 0)
        return false;
    raw = *before;
    cfmakeraw(&raw);
    return tcsetattr(fd, TCSADRAIN, &raw) == 0;
}

static int run(struct cli *c, const char *job, struct str body, bool has_tty, bool has_input)
{
    struct ws_link *l = NULL;
    struct termios before;
    int rc = inside_dial(c, job, body, &l);
    if (rc != CLI_OK)
        return rc;
    fflush(c->out);
    const bool is_raw = has_tty && raw_begin(STDIN_FILENO, &before);
    rc = inside_talk(c, l, has_input ? STDIN_FILENO : -1, fileno(c->out), fileno(c->err), is_raw ? STDIN_FILENO : -1);
    if (is_raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    ws_link_free(l);
    return rc;
}

int cmd_job_exec(struct cli *c)
{
    const char *job;
    const bool has_tty = cli_has(c, "tty");
    CLEANUP(buf_releasep) struct buf b = BUF(2 * INSIDE_ASK_MAX);
    if (!c->nwords)
        return cli_fail(c, CLI_USAGE, "usage: falaj job exec JOB [--tty] -- COMMAND…",
                        "the command is missing; it stands behind '--'");
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
    if (rc != CLI_OK)
        return rc;
    buf_printf(&b, "{\"kind\":\"exec\",\"tty\":%s", has_tty ? "true" : "false");
    add_words(&b, c->words, c->nwords);
    if (has_tty)
        add_terminal(&b, STDIN_FILENO);
    buf_add_char(&b, '}');
    if (b.overflow)
        return cli_fail(c, CLI_USAGE, NULL, "the command has more than %d bytes", INSIDE_ASK_MAX / 2);
    return run(c, job, buf_str(&b), has_tty, has_tty || cli_has(c, "stdin"));
}

int cmd_job_shell(struct cli *c)
{
    const char *job;
    CLEANUP(buf_releasep) struct buf b = BUF(1024);
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
    if (rc != CLI_OK)
        return rc;
    buf_add_c(&b, "{\"kind\":\"shell\"");
    add_terminal(&b, STDIN_FILENO);
    buf_add_char(&b, '}');
    return run(c, job, buf_str(&b), true, true);
}

int cmd_job_attach(struct cli *c)
{
    const char *job;
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
    if (rc != CLI_OK)
        return rc;
    cli_note(c, "programs have no standard input: this shows what it writes until it ends, and Ctrl-C leaves it running");
    struct follow f = { .c = c, .job = job, .show = FOLLOW_LOGS };
    rc = follow_run(&f);
    return rc == CLI_JOB_FAILED ? cli_fail(c, rc, NULL, "the job ended as %s", f.state) : rc;
}

/* --- ports --- */

static bool read_ports(const char *text, int64_t *ret_here, int64_t *ret_there)
{
    struct str here, there;
    if (!str_cut(str_c(text), ':', &here, &there))
        here = there = str_c(text);
    return str_to_i64(here, 0, INSIDE_PORT_MAX, ret_here) && str_to_i64(there, 1, INSIDE_PORT_MAX, ret_there);
}

static int listen_here(int64_t port, int *ret_port)
{
    CLEANUP(fd_closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    const int yes = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 || bind(fd, (struct sockaddr *)&a, n) != 0
        || listen(fd, CONNECTIONS_MAX) != 0 || getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        return -1;
    *ret_port = ntohs(a.sin_port);
    return TAKE_FD(fd);
}

/* One connection, in a process of its own. */
static _Noreturn void serve(struct cli *c, const char *job, int64_t port, int fd)
{
    struct ws_link *l = NULL;
    char body[64];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    c->http = NULL;                     /* the parent's connection is the parent's */
    snprintf(body, sizeof body, "{\"kind\":\"forward\",\"port\":%d}", (int)port);
    int rc = inside_dial(c, job, str_c(body), &l);
    if (rc == CLI_OK)
        rc = inside_talk(c, l, fd, fd, fd, -1);
    _exit(rc);
}

static int forward(struct cli *c, const char *job, int64_t port, int listener)
{
    for (int open = 0;;) {
        struct pollfd p = { open < CONNECTIONS_MAX ? listener : -1, POLLIN, 0 };
        poll(&p, 1, LOOK_MS);
        while (open && waitpid(-1, NULL, WNOHANG) > 0)
            open--;
        if (p.fd < 0 || !p.revents)
            continue;
        CLEANUP(fd_closep) int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        const pid_t pid = fd >= 0 ? fork() : -1;
        if (pid == 0) {
            close(listener);
            serve(c, job, port, fd);
        }
        open += pid > 0;
    }
}

int cmd_job_forward(struct cli *c)
{
    const char *job;
    int64_t here, there;
    int port;
    if (!read_ports(c->args[1], &here, &there))
        return cli_fail(c, CLI_USAGE, "PORT, or PORT-HERE:PORT-IN-THE-JOB; 0 here takes a free one", "'%.40s' is no port",
                        c->args[1]);
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
    struct api_reply r;
    if (rc == CLI_OK)
        rc = api_get(c, arena_printf(c->arena, "/v1/jobs/%s", api_escape(c->arena, job)), &r);
    if (rc != CLI_OK)
        return rc;
    CLEANUP(fd_closep) int listener = listen_here(here, &port);
    if (listener < 0)
        return cli_fail(c, CLI_FAILED, "name another one: PORT-HERE:PORT-IN-THE-JOB; 0 here takes a free one",
                        "port %d of this machine's loopback cannot be listened on: %m", (int)here);
    if (c->format == OUT_JSON)
        fprintf(c->out, "{\"address\":\"127.0.0.1:%d\",\"job_id\":\"%s\",\"port\":%d}\n", port, job, (int)there);
    else
        fprintf(c->out, "http://127.0.0.1:%d goes to port %d of %s; Ctrl-C ends it\n", port, (int)there, job);
    fflush(c->out);
    return forward(c, job, there, listener);
}
