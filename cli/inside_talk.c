/* SPDX-License-Identifier: Apache-2.0 */
/* inside_talk.c - one stream and three descriptors.
 *
 * Signals come by a descriptor: a terminal that changes its size, and who wants to stop (in a raw terminal Ctrl-C is a byte of
 * the command's). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/inside.h"
#include "core/base/cleanup.h"
#include "core/http/ws_link.h"
#include "core/wire/inside_wire.h"

enum { CHUNK = 16 * 1024, STATUS_MAX = 255 };

struct talk {
    struct cli *c;
    struct ws_link *l;
    int in, out, err, terminal;
    bool is_over;
    int status;
};

static bool write_all(int fd, struct str s)
{
    while (s.len) {
        const ssize_t n = write(fd, s.ptr, s.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        s = str_n(s.ptr + n, s.len - (size_t)n);
    }
    return true;
}

static void over(struct talk *t, int status)
{
    t->is_over = true;
    t->status = status;
}

static void on_end(struct talk *t, struct str json)
{
    const struct jval *v;
    struct err ignored;
    if (jval_parse(t->c->arena, json, 2, &v, &ignored) != ERR_OK) {
        over(t, cli_fail(t->c, CLI_NETWORK, NULL, "the session ended with words that are none"));
        return;
    }
    const struct str error = jval_str(jval_get(v, "error"));
    if (error.len)
        over(t, cli_fail(t->c, CLI_FAILED, NULL, "the session ended: %.*s", STR_ARG(error)));
    else
        over(t, (int)(jval_i64(jval_get(v, "exit_code"), 0) & STATUS_MAX));
}

static void on_message(struct talk *t, const struct ws_message *m)
{
    if (m->op == WS_CLOSE) {
        over(t, cli_fail(t->c, CLI_NETWORK, NULL, "the session was cut"));
        return;
    }
    if (m->op != WS_BINARY || !m->body.len)
        return;
    const struct str rest = str_n(m->body.ptr + 1, m->body.len - 1);
    if (m->body.ptr[0] == INSIDE_END)
        on_end(t, rest);
    else if (m->body.ptr[0] == INSIDE_OUT || m->body.ptr[0] == INSIDE_ERR) {
        if (!write_all(m->body.ptr[0] == INSIDE_OUT ? t->out : t->err, rest))
            over(t, CLI_FAILED);        /* who read it has gone */
    }
}

static enum errc take_messages(struct talk *t, struct err *e)
{
    for (enum ws_step step = WS_GOT; step == WS_GOT && !t->is_over;) {
        struct ws_message m;
        TRY(ws_link_read(t->l, &step, &m, e));
        if (step == WS_GOT)
            on_message(t, &m);
    }
    return ERR_OK;
}

static enum errc take_input(struct talk *t, struct err *e)
{
    char text[CHUNK];
    const ssize_t n = read(t->in, text, sizeof text);
    if (n > 0)
        return ws_link_send(t->l, INSIDE_IN, str_n(text, (size_t)n), e);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return ERR_OK;
    t->in = -1;
    return ws_link_send(t->l, INSIDE_EOF, STR(""), e);
}

static enum errc say_size(struct talk *t, struct err *e)
{
    struct winsize s;
    char json[64];
    if (t->terminal < 0 || ioctl(t->terminal, TIOCGWINSZ, &s) != 0 || !s.ws_col || !s.ws_row)
        return ERR_OK;
    snprintf(json, sizeof json, "{\"cols\":%d,\"rows\":%d}", s.ws_col < INSIDE_SIDE_MAX ? s.ws_col : INSIDE_SIDE_MAX,
             s.ws_row < INSIDE_SIDE_MAX ? s.ws_row : INSIDE_SIDE_MAX);
    return ws_link_send(t->l, INSIDE_SIZE, str_c(json), e);
}

static enum errc take_signal(struct talk *t, int signals, struct err *e)
{
    struct signalfd_siginfo got;
    if (read(signals, &got, sizeof got) != sizeof got)
        return ERR_OK;
    if (got.ssi_signo == SIGWINCH)
        return say_size(t, e);
    ws_link_close(t->l, 1000);
    TRY(ws_link_flush(t->l, e));        /* so that its end has its right name */
    over(t, got.ssi_signo == SIGINT ? CLI_INTERRUPTED : 128 + (int)got.ssi_signo);
    return ERR_OK;
}

static enum errc turn(struct talk *t, int signals, struct err *e)
{
    const bool has_room = ws_link_room(t->l) >= CHUNK;
    struct pollfd p[3] = { { ws_link_fd(t->l), (short)(POLLIN | (ws_link_waits(t->l) ? POLLOUT : 0)), 0 },
                           { has_room ? t->in : -1, POLLIN, 0 }, { signals, POLLIN, 0 } };
    if (poll(p, 3, -1) < 0 && errno != EINTR)
        return FAIL(e, IO, "nothing can be waited for");
    TRY(ws_link_flush(t->l, e));
    TRY(take_messages(t, e));
    if (!t->is_over && p[1].revents)
        TRY(take_input(t, e));
    return p[2].revents && !t->is_over ? take_signal(t, signals, e) : ERR_OK;
}

int inside_talk(struct cli *c, struct ws_link *l, int in, int out, int err, int terminal)
{
    struct talk t = { c, l, in, out, err, terminal, false, CLI_FAILED };
    struct err e = { 0 };
    sigset_t set, before;
    sigemptyset(&set);
    for (size_t i = 0; i < 4; i++)
        sigaddset(&set, (const int[]){ SIGWINCH, SIGINT, SIGTERM, SIGHUP }[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
    CLEANUP(fd_closep) int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    enum errc rc = take_messages(&t, &e);       /* what came with the answer */
    while (rc == ERR_OK && !t.is_over)
        rc = turn(&t, signals, &e);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (rc == ERR_OK)
        return t.status;
    return cli_fail(c, CLI_NETWORK, "the command in the job was hung up; look again with 'falaj job get'",
                    "the session was cut: %s", e.msg);
}
