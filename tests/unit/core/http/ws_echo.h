/* SPDX-License-Identifier: Apache-2.0 */
/* ws_echo.h - a server whose every request becomes a WebSocket that sends back what it is sent, on a thread of its own, until a
 * message "bye" or the peer's end. */
#pragma once
#include <fcntl.h>
#include <pthread.h>
#include "core/http/ws_frame.h"
#include "core/http/ws_hello.h"
#include "tests/unit/core/http/net.h"

struct ws_echo {
    struct http_server *server;
    pthread_t thread;
    int fd;                         /* -1: the peer had left */
    char first[512];
    size_t nfirst;
    struct http_exchange *x;
    bool holds;                     /* do not end the connection */
    void (*answer)(struct ws_echo *s, const struct ws_message *m);     /* instead of the same; NULL: the same */
    const void *own;                /* of answer */
    _Atomic bool opened, ended;
    _Atomic size_t messages;
};

static inline void ws_echo_write(int fd, const char *p, size_t n)
{
    while (n) {
        const ssize_t got = send(fd, p, n, MSG_NOSIGNAL);
        struct pollfd wait = { fd, POLLOUT, 0 };
        if (got < 0 && errno == EAGAIN)
            poll(&wait, 1, PATIENCE_MS);
        else if (got <= 0)
            return;
        p += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
}

/* false: it is over. */
static inline bool ws_echo_answer(struct ws_echo *s, struct ws_reader *r, struct str in)
{
    for (enum ws_step step = WS_GOT; step == WS_GOT;) {
        struct ws_message m;
        uint8_t head[WS_HEAD_MAX];
        if (ws_reader_take(r, &in, &step, &m, NULL) != ERR_OK)
            return false;
        if (step != WS_GOT)
            return true;
        atomic_fetch_add(&s->messages, 1);
        if (str_eq_c(m.body, "bye"))
            return false;
        if (s->answer) {
            s->answer(s, &m);
            continue;
        }
        ws_echo_write(s->fd, (const char *)head, ws_head(m.op, m.body.len, NULL, head));
        ws_echo_write(s->fd, m.body.ptr, m.body.len);
    }
    return true;
}

static inline void *ws_echo_main(void *p)
{
    struct ws_echo *s = p;
    struct ws_reader *r = calloc(1, sizeof *r);
    char in[8192];
    r->from_client = true;
    bool goes_on = s->fd >= 0 && ws_echo_answer(s, r, str_n(s->first, s->nfirst));
    while (goes_on) {
        struct pollfd wait = { s->fd, POLLIN, 0 };
        poll(&wait, 1, PATIENCE_MS);
        const ssize_t n = recv(s->fd, in, sizeof in, 0);
        goes_on = n > 0 ? ws_echo_answer(s, r, str_n(in, (size_t)n)) : n < 0 && errno == EAGAIN;
    }
    free(r);
    if (!s->holds)
        http_upgrade_end(s->x);
    atomic_store(&s->ended, true);
    return NULL;
}

static inline void ws_echo_opened(void *ctx, int fd, struct str first)
{
    struct ws_echo *s = ctx;
    s->fd = fd;
    assert_true(first.len <= sizeof s->first);
    memcpy(s->first, first.ptr ? first.ptr : "", first.len);
    s->nfirst = first.len;
    atomic_store(&s->opened, true);
    pthread_create(&s->thread, NULL, ws_echo_main, s);
}

static inline void ws_echo_request(void *ctx, struct http_exchange *x)
{
    struct ws_echo *s = ctx;
    struct str key;
    struct err e = { 0 };
    char accept[WS_ACCEPT_BYTES + 1];
    if (ws_hello_key(http_exchange_request(x), &key, &e) != ERR_OK) {
        http_reply(x, &(struct http_response){ .status = 400, .content_type = STR("text/plain"), .body = str_c(e.msg) });
        return;
    }
    ws_hello_accept(key, accept);
    const struct http_header h[] = { { STR("Upgrade"), STR("websocket") }, { STR("Sec-WebSocket-Accept"), str_c(accept) } };
    s->x = x;
    http_upgrade(x, h, 2, ws_echo_opened, s);
}

static inline void ws_echo_join(struct ws_echo *s)
{
    for (int i = 0; i < PATIENCE_MS / 10 && !atomic_load(&s->ended); i++)
        usleep(10000);
    assert_true(atomic_load(&s->ended));
    pthread_join(s->thread, NULL);
}
