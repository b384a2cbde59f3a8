/* SPDX-License-Identifier: Apache-2.0 */
/* ws_frame.c - the head byte by byte, since it may be cut anywhere; the payload in runs. */
#include "core/http/ws_frame.h"

#include <string.h>

enum { FIN = 0x80, RESERVED = 0x70, OP = 0x0f, MASKED = 0x80, LENGTH = 0x7f, LENGTH_16 = 126, LENGTH_64 = 127, CONTROL = 0x08 };

static bool is_control(uint8_t first)
{
    return first & CONTROL;
}

static size_t head_bytes(const struct ws_reader *r)
{
    if (r->nhead < 2)
        return 2;
    const uint8_t length = r->head[1] & LENGTH;
    return 2 + (length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0) + (r->head[1] & MASKED ? 4 : 0);
}

static uint64_t length_of(const struct ws_reader *r)
{
    const uint8_t length = r->head[1] & LENGTH;
    const size_t bytes = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
    uint64_t n = bytes ? 0 : length;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | r->head[2 + i];
    return n;
}

static bool is_known(uint8_t op)
{
    return op <= WS_BINARY || (op >= WS_CLOSE && op <= WS_PONG);
}

/* What the first two bytes say. */
static enum errc check_start(const struct ws_reader *r, struct err *e)
{
    const uint8_t first = r->head[0], op = first & OP;
    if (first & RESERVED || !is_known(op))
        return FAIL(e, MALFORMED, "a frame of a kind that was not agreed upon");
    if (!!(r->head[1] & MASKED) != r->from_client)
        return FAIL(e, MALFORMED, r->from_client ? "a client's frame without a mask" : "a server's frame with a mask");
    if (is_control(first) && (!(first & FIN) || (r->head[1] & LENGTH) > WS_CONTROL_MAX))
        return FAIL(e, MALFORMED, "a frame of control in parts, or longer than %d bytes", WS_CONTROL_MAX);
    if (!is_control(first) && (op == WS_CONTINUATION) != (r->op != WS_CONTINUATION))
        return FAIL(e, MALFORMED, op == WS_CONTINUATION ? "a part of no message" : "a message within another one");
    return ERR_OK;
}

static enum errc check_head(struct ws_reader *r, struct err *e)
{
    const uint8_t length = r->head[1] & LENGTH;
    r->length = length_of(r);
    if ((length == LENGTH_16 && r->length < LENGTH_16) || (length == LENGTH_64 && (r->length <= UINT16_MAX || r->length >> 63)))
        return FAIL(e, MALFORMED, "a length in more bytes than it needs");
    if (!is_control(r->head[0]) && r->length > WS_MESSAGE_MAX - r->n)
        return FAIL(e, TOO_LARGE, "a message of more than %d bytes", WS_MESSAGE_MAX);
    if (!is_control(r->head[0]) && r->op == WS_CONTINUATION)
        r->op = (enum ws_op)(r->head[0] & OP);
    r->got = 0;
    return ERR_OK;
}

/* One byte of the head; *ret_whole: that was the last. */
static enum errc take_head(struct ws_reader *r, uint8_t byte, bool *ret_whole, struct err *e)
{
    r->head[r->nhead++] = byte;
    if (r->nhead == 2)
        TRY(check_start(r, e));
    *ret_whole = r->nhead >= 2 && r->nhead == head_bytes(r);
    return *ret_whole ? check_head(r, e) : ERR_OK;
}

static void take_payload(struct ws_reader *r, struct str *in)
{
    char *to = is_control(r->head[0]) ? r->control + r->got : r->body + r->n;
    const size_t left = (size_t)(r->length - r->got), n = in->len < left ? in->len : left;
    if (!n)
        return;
    memcpy(to, in->ptr, n);
    if (r->from_client) {
        const uint8_t *mask = r->head + r->nhead - 4;
        for (size_t i = 0; i < n; i++)
            to[i] = (char)(to[i] ^ mask[(r->got + i) & 3]);
    }
    *in = str_n(in->ptr + n, in->len - n);
    r->got += n;
    if (!is_control(r->head[0]))
        r->n += n;
}

/* The frame is whole: is a message? */
static bool give(struct ws_reader *r, struct ws_message *ret)
{
    r->nhead = 0;
    if (is_control(r->head[0])) {
        *ret = (struct ws_message){ (enum ws_op)(r->head[0] & OP), str_n(r->control, (size_t)r->got) };
        return true;
    }
    if (!(r->head[0] & FIN))
        return false;
    *ret = (struct ws_message){ r->op, str_n(r->body, r->n) };
    r->is_done = true;
    return true;
}

enum errc ws_reader_take(struct ws_reader *r, struct str *in, enum ws_step *ret_step, struct ws_message *ret, struct err *e)
{
    if (r->is_done) {
        r->is_done = false;
        r->op = WS_CONTINUATION;
        r->n = 0;
    }
    for (*ret_step = WS_MORE; in->len;) {
        bool is_whole = r->nhead >= 2 && r->nhead == head_bytes(r);
        if (!is_whole) {
            const uint8_t byte = (uint8_t)*in->ptr;
            *in = str_n(in->ptr + 1, in->len - 1);
            TRY(take_head(r, byte, &is_whole, e));
        }
        if (!is_whole)
            continue;
        take_payload(r, in);
        if (r->got == r->length && give(r, ret)) {
            *ret_step = WS_GOT;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

size_t ws_head(enum ws_op op, size_t n, const uint8_t mask[4], uint8_t out[WS_HEAD_MAX])
{
    size_t at = 2;
    const size_t bytes = n < LENGTH_16 ? 0 : n <= UINT16_MAX ? 2 : 8;
    out[0] = (uint8_t)(FIN | op);
    out[1] = (uint8_t)((mask ? MASKED : 0) | (bytes == 0 ? (int)n : bytes == 2 ? LENGTH_16 : LENGTH_64));
    for (size_t i = bytes; i-- > 0;)
        out[at++] = (uint8_t)((uint64_t)n >> (8 * i));
    if (mask) {
        memcpy(out + at, mask, 4);
        at += 4;
    }
    return at;
}

void ws_mask(char *p, size_t n, const uint8_t mask[4])
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(p[i] ^ mask[i & 3]);
}
