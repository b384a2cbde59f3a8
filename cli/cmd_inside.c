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

enum { CONNECTIONS_MAX = 6, LOOK_MS = 500, LOOK_MAX = 64 << 20, BEGUN = 64 };

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

/* The program of which rank. */
static int add_rank(struct cli *c, struct buf *b)
{
    int64_t rank = 0;
    const int rc = cli_flag_i64(c, "rank", 0, INT32_MAX, &rank);
    if (rc == CLI_OK && rank)
        buf_printf(b, ",\"rank\":%d", (int)rank);
    return rc;
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
    rc = add_rank(c, &b);
    if (rc != CLI_OK)
        return rc;
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
    rc = add_rank(c, &b);
    if (rc != CLI_OK)
        return rc;
    buf_add_char(&b, '}');
    return run(c, job, buf_str(&b), true, true);
}

/* --- to the program itself --- */

static int read_job(struct cli *c, const char *job, struct api_reply *ret)
{
    return api_get(c, arena_printf(c->arena, "/v1/jobs/%s", api_escape(c->arena, job)), ret);
}

/* Before anything is begun with it. */
static int check_rank(struct cli *c, const struct jval *job)
{
    const int64_t nodes = jval_i64(jval_get(job, "nodes"), 1);
    int64_t rank = 0;
    const int rc = cli_flag_i64(c, "rank", 0, INT32_MAX, &rank);
    if (rc != CLI_OK || rank < nodes)
        return rc;
    return cli_fail(c, CLI_USAGE, NULL, "there is no rank %d: this job's program runs on %d machine%s, ranks 0 to %d", (int)rank,
                    (int)nodes, nodes == 1 ? "" : "s", (int)nodes - 1);
}

/* Types to the program once it runs, in a process of its own: what it writes comes by the job's log. */
static _Noreturn void typist(struct cli *c, const char *job, struct str body)
{
    struct ws_link *l = NULL;
    struct api_reply r;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    c->http = NULL;                     /* the parent's connection is the parent's */
    struct arena *const all = c->arena;
    c->arena = arena_new(LOOK_MAX);     /* a look's own: a job may wait for days */
    for (bool runs = false; !runs; arena_reset(c->arena)) {
        int rc = read_job(c, job, &r);
        const char *state = rc == CLI_OK ? str_z(c->arena, jval_str(jval_get(r.json, "state"))) : "";
        if (rc != CLI_OK || follow_is_end(state))
            _exit(rc);
        runs = strcmp(state, "RUNNING") == 0;
        if (!runs)
            poll(NULL, 0, LOOK_MS);
    }
    arena_free(c->arena);
    c->arena = all;
    int rc = inside_dial(c, job, body, &l);
    if (rc != CLI_OK)
        _exit(rc);
    rc = inside_talk(c, l, STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, -1);
    _exit(rc == CLI_OK ? CLI_OK : rc | BEGUN);
}

static int begin_typing(struct cli *c, const char *job, pid_t *ret)
{
    char text[128];
    struct buf b = BUF(sizeof text);
    buf_add_c(&b, "{\"kind\":\"attach\"");
    const int rc = add_rank(c, &b);
    buf_add_char(&b, '}');
    snprintf(text, sizeof text, "%.*s", (int)b.len, b.ptr);
    buf_release(&b);
    if (rc != CLI_OK)
        return rc;
    *ret = fork();
    if (*ret == 0)
        typist(c, job, str_c(text));
    return *ret > 0 ? CLI_OK : cli_fail(c, CLI_FAILED, NULL, "no process to type with");
}

/* Its exit code: CLI_OK where all was typed, or the job ended before; BEGUN: it had begun. Still typing: CLI_OK. */
static int typed(pid_t pid)
{
    siginfo_t i = { 0 };
    if (waitid(P_PID, (id_t)pid, &i, WEXITED | WNOHANG | WNOWAIT) != 0 || i.si_pid != pid)
        return CLI_OK;
    return i.si_code == CLD_EXITED ? i.si_status : CLI_FAILED;
}

/* Who could not begin to type wanted more than to look; a terminal that typed for a while goes on looking. */
static bool is_in_vain(void *ctx)
{
    const int status = typed(*(const pid_t *)ctx);
    return status != CLI_OK && (!(status & BEGUN) || !isatty(STDIN_FILENO));
}

static int end_typing(pid_t pid)
{
    const int status = typed(pid);
    kill(pid, SIGTERM);                 /* its number is ours until it is waited for */
    waitpid(pid, NULL, 0);
    return status & ~BEGUN;
}

int cmd_job_attach(struct cli *c)
{
    const char *job;
    struct api_reply r;
    pid_t typing = -1;
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
    if (rc == CLI_OK)
        rc = read_job(c, job, &r);
    if (rc == CLI_OK)
        rc = check_rank(c, r.json);
    if (rc == CLI_OK && !cli_has(c, "no-stdin") && jval_bool(jval_get(jval_get(r.json, "spec"), "takes_stdin"), false))
        rc = begin_typing(c, job, &typing);
    if (rc != CLI_OK)
        return rc;
    if (typing < 0)
        cli_note(c, "this shows what it writes until it ends, types nothing to it, and Ctrl-C leaves it running");
    struct follow f = { .c = c, .job = job, .show = FOLLOW_LOGS, .is_unwanted = typing > 0 ? is_in_vain : NULL, .ctx = &typing };
    rc = follow_run(&f);
    const int status = typing > 0 ? end_typing(typing) : CLI_OK;
    if (rc == CLI_OK || (status != CLI_OK && rc != CLI_JOB_FAILED))
        return status;
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
static _Noreturn void serve(struct cli *c, const char *job, struct str body, int fd)
{
    struct ws_link *l = NULL;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    c->http = NULL;                     /* the parent's connection is the parent's */
    int rc = inside_dial(c, job, body, &l);
    if (rc == CLI_OK)
        rc = inside_talk(c, l, fd, fd, fd, -1);
    _exit(rc);
}

static int forward(struct cli *c, const char *job, struct str body, int listener)
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
            serve(c, job, body, fd);
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
    CLEANUP(buf_releasep) struct buf body = BUF(128);
    buf_printf(&body, "{\"kind\":\"forward\",\"port\":%d", (int)there);
    int rc = add_rank(c, &body);
    buf_add_char(&body, '}');
    if (rc == CLI_OK)
        rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
    struct api_reply r;
    if (rc == CLI_OK)
        rc = read_job(c, job, &r);
    if (rc == CLI_OK)
        rc = check_rank(c, r.json);
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
    return forward(c, job, buf_str(&body), listener);
}
