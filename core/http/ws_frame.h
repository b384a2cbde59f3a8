/* SPDX-License-Identifier: Apache-2.0 */
/* ws_frame.h - messages of a WebSocket: bytes of one direction in, whole messages out; and the frame of a message to send.
 *
 * Pure. A message has at most WS_MESSAGE_MAX bytes, in as many frames as its sender likes; messages of control come between them.
 * What a client sends is masked and what a server sends is not: the reader knows which it reads, and refuses the other.
 * No extension was agreed upon, so a reserved bit is refused.
 * Calling order: zeroed with from_client set -> ws_reader_take until it says WS_MORE, with more bytes, … . After an error the
 * connection must end. Memory: a message lies in the reader, until the next call. Errors: MALFORMED, TOO_LARGE.
 * Source: RFC 6455 §5, §7.4. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/str.h"

enum ws_op { WS_CONTINUATION = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };
enum { WS_MESSAGE_MAX = 32 * 1024, WS_CONTROL_MAX = 125, WS_HEAD_MAX = 14 };

struct ws_message {
    enum ws_op op;                  /* never WS_CONTINUATION */
    struct str body;
};

struct ws_reader {
    bool from_client;
    uint8_t head[WS_HEAD_MAX];
    size_t nhead;                   /* bytes of the head so far */
    uint64_t got, length;           /* of this frame's payload */
    enum ws_op op;                  /* of the message under way; WS_CONTINUATION: none */
    size_t n;                       /* its bytes so far */
    bool is_done;                   /* it was given out: the next byte begins another one */
    char body[WS_MESSAGE_MAX], control[WS_CONTROL_MAX];
};

enum ws_step { WS_MORE, WS_GOT };
/* Takes bytes off the front of *in. WS_GOT: *ret is a message, and there may be more in *in; WS_MORE: *in is empty. */
MUST_CHECK enum errc ws_reader_take(struct ws_reader *r, struct str *in, enum ws_step *ret_step, struct ws_message *ret,
                                    struct err *e);

/* The head of an unfragmented frame of n bytes; mask NULL: a server's. Returns its length. */
size_t ws_head(enum ws_op op, size_t n, const uint8_t mask[4], uint8_t out[WS_HEAD_MAX]);
void ws_mask(char *p, size_t n, const uint8_t mask[4]);
