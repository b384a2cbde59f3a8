/* SPDX-License-Identifier: Apache-2.0 */
/* inside_link.c - call, ask the box, move bytes both ways, say the end.
 *
 * Another falaj-api than the person's may answer the call: it says so, and the call is tried again. What the API does not take is
 * not read from the box, and the other way round. */
#include "workers/agent/inside_link.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/http/ws_link.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/inside_wire.h"
#include "workers/lease/inside.h"

enum { MEET_MS = 30000, AGAIN_MS = 100, ASK_MS = 15000, DRAIN_MS = 2000, LEAVE_S = 1860, LOOK_MS = 500, CHUNK = 16 * 1024,
       UNAVAILABLE_HERE = 503 };

struct inside_link {
    const struct config *cfg;
    struct held *held;
    struct lease_session session;
    _Atomic int *n;
    const _Atomic bool *stopping;
    struct arena *arena;
    struct ws_link *ws;
    struct inside_ends ends;
    int kind;                           /* enum inside_kind */
    char in[WS_MESSAGE_MAX];            /* for the command, from in_sent on */
    size_t in_len, in_sent;
    bool in_ends;                       /* and then there is no more */
    bool is_over;                       /* the person has left, or the API */
    int64_t drain_us;                   /* the command has ended: until then what it left is waited for; moves while some comes */
    struct str end;                     /* JSON */
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

static bool is_unwanted(const struct inside_link *l)
{
    return *l->stopping || held_is_stale(l->held);
}

/* --- the call --- */

static enum errc call_once(struct inside_link *l, int *ret_status, struct err *e)
{
    char attempt[UUID_HEX], session[UUID_HEX], tenant[UUID_HEX];
    const struct lease_grant *g = held_grant(l->held);
    const struct config *cfg = l->cfg;
    const struct http_client_options o = { .base_url = cfg->worker_api_url, .ca_file = cfg->worker_ca,
                                           .cert_file = cfg->worker_cert, .key_file = cfg->worker_key };
    struct str body;
    hex_encode(g->attempt_id.b, 16, attempt);
    hex_encode(l->session.session_id.b, 16, session);
    hex_encode(g->tenant_id.b, 16, tenant);
    const char *path = arena_printf(l->arena, "/v1/leases/att_%s/sessions/ins_%s?tenant_id=tnt_%s&fence=%ld", attempt, session,
                                    tenant, (long)g->fence);
    return ws_dial(&o, path, NULL, l->arena, &l->ws, ret_status, &body, e);
}

static enum errc call(struct inside_link *l, struct err *e)
{
    const int64_t until_us = now_us() + MEET_MS * INT64_C(1000);
    for (;;) {
        int status = 0;
        const enum errc rc = call_once(l, &status, e);
        const bool is_passing = rc == ERR_UNAVAILABLE || rc == ERR_DEADLINE || (rc == ERR_UPSTREAM && status == UNAVAILABLE_HERE);
        if (rc == ERR_OK || !is_passing || is_unwanted(l) || now_us() >= until_us)
            return rc;
        poll(NULL, 0, AGAIN_MS);
    }
}

/* The first message of the API's. */
static enum errc read_ask(struct inside_link *l, struct str *ret, struct err *e)
{
    for (const int64_t until_us = now_us() + ASK_MS * INT64_C(1000); now_us() < until_us && !is_unwanted(l);) {
        enum ws_step step;
        struct ws_message m;
        TRY(ws_link_read(l->ws, &step, &m, e));
        if (step == WS_GOT && m.op == WS_BINARY && m.body.len && m.body.ptr[0] == INSIDE_ASK) {
            *ret = str_dup(l->arena, str_n(m.body.ptr + 1, m.body.len - 1));
            return ERR_OK;
        }
        if (step == WS_GOT && m.op == WS_CLOSE)
            break;
        struct pollfd p = { ws_link_fd(l->ws), POLLIN, 0 };
        if (step == WS_MORE)
            poll(&p, 1, LOOK_MS);
    }
    return FAIL(e, UNAVAILABLE, "the API did not say what is asked");
}

/* --- bytes --- */

static void resize(struct inside_link *l, struct str json)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 * 1024);
    struct inside_size s;
    if (json_decode(&inside_size_schema, json, a, &s, NULL) != ERR_OK)
        return;
    const struct winsize size = { .ws_row = (unsigned short)s.rows, .ws_col = (unsigned short)s.cols };
    (void)ioctl(l->ends.out, TIOCSWINSZ, &size);    /* of what is no terminal it does nothing */
}

static void on_message(struct inside_link *l, const struct ws_message *m)
{
    if (m->op == WS_CLOSE) {
        l->is_over = true;
        return;
    }
    if (m->op != WS_BINARY || !m->body.len)
        return;
    const struct str rest = str_n(m->body.ptr + 1, m->body.len - 1);
    if (m->body.ptr[0] == INSIDE_IN && l->ends.in >= 0 && !l->in_ends) {
        memcpy(l->in, rest.ptr, rest.len);
        l->in_len = rest.len;
        l->in_sent = 0;
    } else if (m->body.ptr[0] == INSIDE_EOF) {
        l->in_ends = true;
    } else if (m->body.ptr[0] == INSIDE_SIZE) {
        resize(l, rest);
    }
}

static bool has_input(const struct inside_link *l)
{
    return l->in_sent < l->in_len;
}

/* One message is with the command at a time: until it has taken it the API's are left where they are. */
static enum errc take_messages(struct inside_link *l, struct err *e)
{
    for (enum ws_step step = WS_GOT; step == WS_GOT && !has_input(l) && !l->is_over;) {
        struct ws_message m;
        TRY(ws_link_read(l->ws, &step, &m, e));
        if (step == WS_GOT)
            on_message(l, &m);
    }
    return ERR_OK;
}

/* A command that reads no more loses what it is told; it goes on. */
static void feed(struct inside_link *l)
{
    while (has_input(l) && l->ends.in >= 0) {
        const ssize_t n = write(l->ends.in, l->in + l->in_sent, l->in_len - l->in_sent);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0)
            l->in_sent = l->in_len;
        else
            l->in_sent += (size_t)n;
    }
    if (has_input(l) || !l->in_ends || l->ends.in < 0)
        return;
    if (l->kind == INSIDE_ATTACH) {
        inside_no_more(&l->ends);
        return;
    }
    if (l->ends.err < 0)
        (void)shutdown(l->ends.in, SHUT_WR);        /* of a terminal it does nothing, and who types ends by typing so */
    fd_closep(&l->ends.in);
}

/* false: there is no more to come. */
static bool pour(struct inside_link *l, int *fd, enum inside_part part, struct err *e)
{
    char out[CHUNK];
    if (ws_link_room(l->ws) < sizeof out)
        return true;
    const ssize_t n = read(*fd, out, sizeof out);
    if (n > 0 && l->drain_us)
        l->drain_us = now_us() + DRAIN_MS * INT64_C(1000);
    if (n > 0)
        return ws_link_send(l->ws, (char)part, str_n(out, (size_t)n), e) == ERR_OK;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    fd_closep(fd);                      /* its end; of a terminal EIO says so */
    return true;
}

static void say_end(struct inside_link *l, const struct inside_end *end)
{
    CLEANUP(buf_releasep) struct buf json = BUF(2048);
    struct err ignored;
    json_encode(&inside_end_schema, end, &json);
    if (ws_link_send(l->ws, INSIDE_END, buf_str(&json), &ignored) == ERR_OK)
        ws_link_close(l->ws, 1000);
}

/* The helper says how the command ended; a connection ends by itself. */
static void look_at_helper(struct inside_link *l, bool is_readable)
{
    struct err ignored;
    if (is_readable && !l->drain_us) {
        l->drain_us = now_us() + DRAIN_MS * INT64_C(1000);
        if (inside_ended(&l->ends, l->arena, &l->end, &ignored) == ERR_OK)
            l->end = str_dup(l->arena, l->end);
        fd_closep(&l->ends.socket);
    }
}

static bool is_done(const struct inside_link *l, bool is_connection)
{
    const bool is_read = l->ends.out < 0 && l->ends.err < 0;
    if (is_connection)
        return is_read;
    return l->drain_us && (is_read || now_us() >= l->drain_us);
}

static enum errc turn(struct inside_link *l, bool is_connection, struct err *e)
{
    const bool has_room = ws_link_room(l->ws) >= CHUNK;
    if (!has_room && l->drain_us)
        l->drain_us = now_us() + DRAIN_MS * INT64_C(1000);
    struct pollfd p[5] = {
        { ws_link_fd(l->ws), (short)((has_input(l) ? 0 : POLLIN) | (ws_link_waits(l->ws) ? POLLOUT : 0)), 0 },
        { has_input(l) ? l->ends.in : -1, POLLOUT, 0 }, { has_room ? l->ends.out : -1, POLLIN, 0 },
        { has_room ? l->ends.err : -1, POLLIN, 0 }, { is_connection ? -1 : l->ends.socket, POLLIN, 0 } };
    if (!p[0].events)
        p[0].fd = -1;
    poll(p, 5, l->drain_us ? LOOK_MS / 10 : LOOK_MS);
    TRY(ws_link_flush(l->ws, e));
    TRY(take_messages(l, e));
    feed(l);
    if (p[2].revents && !pour(l, &l->ends.out, INSIDE_OUT, e))
        return e->code;
    if (p[3].revents && !pour(l, &l->ends.err, INSIDE_ERR, e))
        return e->code;
    look_at_helper(l, p[4].revents != 0);
    return ERR_OK;
}

/* The API closes once the person has it all, or has stood still for too long: who left first would lose what is under way. */
static void wait_for_close(struct inside_link *l)
{
    struct err ignored;
    for (const int64_t until_us = now_us() + LEAVE_S * INT64_C(1000000); now_us() < until_us && !is_unwanted(l);) {
        enum ws_step step;
        struct ws_message m;
        if (ws_link_flush(l->ws, &ignored) != ERR_OK || ws_link_read(l->ws, &step, &m, &ignored) != ERR_OK)
            return;
        struct pollfd p = { ws_link_fd(l->ws), (short)(POLLIN | (ws_link_waits(l->ws) ? POLLOUT : 0)), 0 };
        if (step == WS_MORE)
            poll(&p, 1, LOOK_MS / 10);
    }
}

static enum errc relay(struct inside_link *l, bool is_connection, struct err *e)
{
    while (!l->is_over && !is_done(l, is_connection) && !is_unwanted(l))
        TRY(turn(l, is_connection, e));
    if (l->is_over)
        return ERR_OK;
    struct inside_end end = { 0 };
    if (!is_connection && (!l->end.len || json_decode(&inside_end_schema, l->end, l->arena, &end, NULL) != ERR_OK))
        end = (struct inside_end){ .error = STR("the program's box has ended") };
    say_end(l, &end);
    wait_for_close(l);
    return ERR_OK;
}

static enum errc serve(struct inside_link *l, struct err *e)
{
    struct str json;
    struct inside_ask ask;
    TRY(call(l, e));
    TRY(read_ask(l, &json, e));
    TRY(json_decode_reply(&inside_ask_schema, json, l->arena, &ask, e));
    l->kind = ask.kind;
    if ((ask.kind == INSIDE_ATTACH ? inside_attach(l->held, &l->ends, e) : inside_open(l->held, json, &l->ends, e)) == ERR_OK)
        return relay(l, ask.kind == INSIDE_FORWARD, e);
    say_end(l, &(struct inside_end){ .error = str_c(e->msg) });
    wait_for_close(l);
    return ERR_OK;
}

static void *run(void *p)
{
    struct inside_link *l = p;
    struct err e = { 0 };
    if (serve(l, &e) != ERR_OK)
        log_err(LOG_INFO, "inside.ended", &e);
    inside_close(&l->ends);
    ws_link_free(l->ws);
    held_unref(l->held);
    arena_free(l->arena);
    atomic_fetch_sub(l->n, 1);
    free(l);
    return NULL;
}

static struct inside_link *link_new(const struct config *cfg, struct held *h, const struct lease_session *s)
{
    struct inside_link *l = calloc(1, sizeof *l);
    ASSERT(l);
    *l = (struct inside_link){ .cfg = cfg, .held = h, .session = *s, .arena = arena_new((size_t)16 << 20),
                               .ends = { -1, -1, -1, -1 } };
    return l;
}

void inside_link_begin(const struct config *cfg, struct book *b, const struct lease_session *session, _Atomic int *n,
                       const _Atomic bool *stopping)
{
    struct held *h = *n < INSIDE_LINKS_MAX ? book_find(b, session->attempt_id) : NULL;
    pthread_t t;
    if (!h)
        return;
    struct inside_link *l = link_new(cfg, h, session);
    l->n = n;
    l->stopping = stopping;
    atomic_fetch_add(n, 1);
    if (pthread_create(&t, NULL, run, l) == 0) {
        pthread_detach(t);
        return;
    }
    atomic_fetch_sub(n, 1);
    held_unref(h);
    arena_free(l->arena);
    free(l);
}
