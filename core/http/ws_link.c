/* SPDX-License-Identifier: Apache-2.0 */
/* ws_link.c - curl connects and speaks TLS (CURLOPT_CONNECT_ONLY); the request, its answer and the frames are ours. */
#include "core/http/ws_link.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/http/client_int.h"
#include "core/http/ws_hello.h"

enum { ANSWER_MAX = 16 * 1024, CHUNK = 16 * 1024, ANSWER_MS = 15000, KEY_RAW = 16, STATUS_AT = 9 };

struct ws_link {
    CURL *curl;
    struct http_target *target;
    curl_socket_t fd;
    struct buf out;                 /* from `sent` on it is still to be sent */
    size_t sent;
    /* Handed to curl, from `gone` on to be handed to it again: TLS wants what it could not send offered anew from the same
     * place and as long, or it ends the connection (SSL_write(3)). */
    char going[CHUNK];
    size_t ngoing, gone;
    char in[CHUNK];
    struct str left;                /* of `in`, not yet read by the reader */
    struct ws_reader reader;
};

static void fill_random(void *p, size_t n)
{
    ASSERT(getrandom(p, n, 0) == (ssize_t)n);
}

static enum errc lost(CURLcode code, struct err *e)
{
    FAIL(e, UNAVAILABLE, "The connection is lost");
    err_note(e, "%s", curl_easy_strerror(code));
    return e ? e->code : ERR_UNAVAILABLE;
}

/* Reads what is there into `in`; *ret_n 0: nothing now. */
static enum errc receive(struct ws_link *l, size_t *ret_n, struct err *e)
{
    *ret_n = 0;
    const CURLcode code = curl_easy_recv(l->curl, l->in, sizeof l->in, ret_n);
    if (code == CURLE_AGAIN)
        return ERR_OK;
    if (code != CURLE_OK)
        return lost(code, e);
    return *ret_n ? ERR_OK : FAIL(e, UNAVAILABLE, "The other side has closed the connection");
}

/* Where all that went is gone, the next piece goes. */
static void take(struct ws_link *l)
{
    if (l->gone < l->ngoing)
        return;
    const size_t left = l->out.len - l->sent;
    l->gone = 0;
    l->ngoing = left < sizeof l->going ? left : sizeof l->going;
    if (l->ngoing)
        memcpy(l->going, l->out.ptr + l->sent, l->ngoing);
    l->sent += l->ngoing;
    if (l->sent == l->out.len) {
        buf_clear(&l->out);
        l->sent = 0;
    }
}

enum errc ws_link_flush(struct ws_link *l, struct err *e)
{
    for (take(l); l->gone < l->ngoing; take(l)) {
        size_t n = 0;
        const CURLcode code = curl_easy_send(l->curl, l->going + l->gone, l->ngoing - l->gone, &n);
        if (code == CURLE_AGAIN)
            return ERR_OK;
        if (code != CURLE_OK)
            return lost(code, e);
        l->gone += n;
    }
    return ERR_OK;
}

bool ws_link_waits(const struct ws_link *l)
{
    return l->gone < l->ngoing || l->sent < l->out.len;
}

int ws_link_fd(const struct ws_link *l)
{
    return l->fd;
}

/* --- the request and its answer --- */

static const char *after_host(const char *base)
{
    const char *host = strstr(base, "://");
    return host ? host + 3 : base;
}

static void ask(struct ws_link *l, const char *path, const char *const *headers, struct str key)
{
    const char *host = after_host(l->target->base), *below = strchr(host, '/');
    buf_printf(&l->out, "GET %s%s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: %s\r\n", below ? below : "", path,
               (int)(below ? below - host : (long)strlen(host)), host, l->target->agent);
    buf_printf(&l->out, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %.*s\r\n",
               STR_ARG(key));
    for (; headers && *headers; headers++)
        buf_printf(&l->out, "%s\r\n", *headers);
    buf_add_c(&l->out, "\r\n");
}

static enum errc wait_for(struct ws_link *l, int64_t until_us, struct err *e)
{
    struct pollfd p = { l->fd, (short)(POLLIN | (ws_link_waits(l) ? POLLOUT : 0)), 0 };
    const int64_t ms = (until_us - clock_mono_us(&clock_system)) / 1000;
    if (ms <= 0 || poll(&p, 1, (int)ms) == 0)
        return FAIL(e, DEADLINE, "The server took too long");
    return ws_link_flush(l, e);
}

/* Until the head is whole, and of an answer that is none of ours its body as far as it comes. */
static enum errc read_answer(struct ws_link *l, struct buf *ret, size_t *ret_head, struct err *e)
{
    const int64_t until_us = clock_mono_us(&clock_system) + ANSWER_MS * 1000;
    for (;;) {
        size_t n;
        TRY(wait_for(l, until_us, e));
        TRY(receive(l, &n, e));
        if (!buf_add(ret, l->in, n))
            return FAIL(e, LIMIT, "The answer is larger than %d bytes", ANSWER_MAX);
        const char *end = ret->len ? memmem(ret->ptr, ret->len, "\r\n\r\n", 4) : NULL;
        if (end) {
            *ret_head = (size_t)(end - ret->ptr) + 4;
            return ERR_OK;
        }
    }
}

static struct str header_of(struct str head, const char *name)
{
    struct str line, rest = head, key, value;
    const struct str want = str_c(name);
    while (rest.len) {
        if (!str_cut(rest, '\n', &line, &rest)) {
            line = rest;
            rest = STR_NULL;
        }
        line.len -= line.len && line.ptr[line.len - 1] == '\r';
        if (str_cut(line, ':', &key, &value) && key.len == want.len && strncasecmp(key.ptr, want.ptr, want.len) == 0)
            return str_trim(value);
    }
    return STR_NULL;
}

/* What is left of the body of an answer with a length. */
static void read_rest(struct ws_link *l, struct buf *text, size_t head)
{
    int64_t length = 0;
    const int64_t until_us = clock_mono_us(&clock_system) + ANSWER_MS * 1000;
    if (!str_to_i64(header_of(str_n(text->ptr, head), "Content-Length"), 0, ANSWER_MAX, &length))
        return;
    while (text->len < head + (size_t)length) {
        size_t n;
        if (wait_for(l, until_us, NULL) != ERR_OK || receive(l, &n, NULL) != ERR_OK || !buf_add(text, l->in, n))
            return;
    }
}

static enum errc judge(struct ws_link *l, struct arena *a, struct str key, int *ret_status, struct str *ret_body, struct err *e)
{
    CLEANUP(buf_releasep) struct buf text = BUF(ANSWER_MAX);
    size_t head = 0;
    int64_t status = 0;
    char accept[WS_ACCEPT_BYTES + 1];
    TRY(read_answer(l, &text, &head, e));
    const struct str all = str_n(text.ptr, head);
    if (!str_starts(all, "HTTP/1.1 ") || all.len < STATUS_AT + 3 || !str_to_i64(str_n(all.ptr + STATUS_AT, 3), 100, 599, &status))
        return FAIL(e, UPSTREAM, "The server did not answer in HTTP");
    *ret_status = (int)status;
    if (status != 101) {
        read_rest(l, &text, head);
        *ret_body = str_dup(a, str_n(text.ptr + head, text.len - head));
        return FAIL(e, UPSTREAM, "The server answered with status %d", (int)status);
    }
    ws_hello_accept(key, accept);
    if (!ws_hello_has(header_of(all, "Upgrade"), STR("websocket")) || !str_eq_c(header_of(all, "Sec-WebSocket-Accept"), accept))
        return FAIL(e, UPSTREAM, "The server does not speak WebSocket");
    l->left = str_n(l->in, text.len - head);
    memcpy(l->in, text.ptr + head, l->left.len);
    return ERR_OK;
}

static enum errc connect_to(struct ws_link *l, const char *path, struct arena *a, struct err *e)
{
    char text[CURL_ERROR_SIZE] = "";
    http_target_set(l->curl, l->target);
    curl_easy_setopt(l->curl, CURLOPT_URL, arena_printf(a, "%s%s", l->target->base, path));
    curl_easy_setopt(l->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(l->curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(l->curl, CURLOPT_ERRORBUFFER, text);
    const CURLcode code = curl_easy_perform(l->curl);
    curl_easy_setopt(l->curl, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_OK && curl_easy_getinfo(l->curl, CURLINFO_ACTIVESOCKET, &l->fd) == CURLE_OK && l->fd != CURL_SOCKET_BAD)
        return ERR_OK;
    FAIL(e, UNAVAILABLE, "The server cannot be reached");
    err_note(e, "%s", text[0] ? text : curl_easy_strerror(code));
    return ERR_UNAVAILABLE;
}

static struct ws_link *link_new(struct http_target *t)
{
    struct ws_link *l = calloc(1, sizeof *l);
    ASSERT(l);
    *l = (struct ws_link){ .curl = curl_easy_init(), .target = t, .out = BUF(WS_LINK_ROOM), .left = STR("") };
    ASSERT(l->curl);
    return l;
}

enum errc ws_dial(const struct http_client_options *o, const char *path, const char *const *headers, struct arena *a,
                  struct ws_link **ret, int *ret_status, struct str *ret_body, struct err *e)
{
    uint8_t random[KEY_RAW];
    char key[BASE64_MAX(KEY_RAW)];
    *ret_status = 0;
    *ret_body = STR_NULL;
    struct http_target *t = http_target_new(o, e);
    if (!t)
        return e ? e->code : ERR_INVALID;
    struct ws_link *l = link_new(t);
    fill_random(random, sizeof random);
    base64_encode(random, sizeof random, key, false);
    enum errc rc = connect_to(l, path, a, e);
    if (rc == ERR_OK) {
        ask(l, path, headers, str_c(key));
        rc = l->out.overflow ? FAIL(e, INVALID, "the request is too long") : ws_link_flush(l, e);
    }
    if (rc == ERR_OK)
        rc = judge(l, a, str_c(key), ret_status, ret_body, e);
    if (rc == ERR_OK)
        *ret = l;
    else
        ws_link_free(l);
    return rc;
}

/* --- messages --- */

static void compact(struct ws_link *l)
{
    if (!l->sent)
        return;
    memmove(l->out.ptr, l->out.ptr + l->sent, l->out.len - l->sent);
    l->out.len -= l->sent;
    l->sent = 0;
}

static bool put(struct ws_link *l, enum ws_op op, struct str first, struct str rest)
{
    uint8_t mask[4], head[WS_HEAD_MAX];
    fill_random(mask, sizeof mask);
    const size_t n = ws_head(op, first.len + rest.len, mask, head);
    compact(l);
    if (l->out.len + n + first.len + rest.len > WS_LINK_ROOM)
        return false;
    buf_add(&l->out, (const char *)head, n);
    const size_t at = l->out.len;
    buf_add_str(&l->out, first);
    buf_add_str(&l->out, rest);
    ws_mask(l->out.ptr + at, first.len + rest.len, mask);
    return true;
}

size_t ws_link_room(const struct ws_link *l)
{
    const size_t used = l->out.len - l->sent + WS_HEAD_MAX + 1 + WS_CONTROL_MAX;
    const size_t room = used < WS_LINK_ROOM ? WS_LINK_ROOM - used : 0;
    return room < WS_MESSAGE_MAX - 1 ? room : WS_MESSAGE_MAX - 1;
}

enum errc ws_link_send(struct ws_link *l, char first, struct str rest, struct err *e)
{
    if (rest.len > ws_link_room(l) || !put(l, WS_BINARY, str_n(&first, 1), rest))
        return FAIL(e, LIMIT, "there is no room for what is to be sent");
    return ws_link_flush(l, e);
}

void ws_link_ping(struct ws_link *l)
{
    (void)put(l, WS_PING, STR(""), STR(""));
}

void ws_link_close(struct ws_link *l, int code)
{
    const char text[2] = { (char)(code >> 8), (char)code };
    (void)put(l, WS_CLOSE, str_n(text, sizeof text), STR(""));
}

enum errc ws_link_read(struct ws_link *l, enum ws_step *ret_step, struct ws_message *ret, struct err *e)
{
    for (;;) {
        TRY(ws_reader_take(&l->reader, &l->left, ret_step, ret, e));
        if (*ret_step == WS_GOT && ret->op == WS_PING) {
            (void)put(l, WS_PONG, ret->body, STR(""));      /* no room: the other side does not read */
            continue;
        }
        if (*ret_step == WS_GOT)
            return ERR_OK;
        size_t n;
        TRY(receive(l, &n, e));
        if (!n)
            return ERR_OK;
        l->left = str_n(l->in, n);
    }
}

void ws_link_free(struct ws_link *l)
{
    if (!l)
        return;
    curl_easy_cleanup(l->curl);
    http_target_unref(l->target);
    buf_release(&l->out);
    free(l);
}
