/* SPDX-License-Identifier: Apache-2.0 */
/* inside_relay.c - frames from one end to the other: read whole, counted, written anew without a mask. */
#include "api/inside_int.h"
#include "core/base/clock.h"
#include "core/json/decode.h"
#include "core/json/encode.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include "core/base/cleanup.h"

enum { CLOSE_NORMAL = 1000, CLOSE_BROKEN = 1002 };
static const int64_t FLUSH_US = 3000000;

static struct inside_side *other(const struct inside_side *side)
{
    return &side->of->sides[side == &side->of->sides[PERSON] ? MACHINE : PERSON];
}

static size_t room_of(const struct inside_side *side)
{
    return SIDE_ROOM - (side->n - side->sent);
}

static void put(struct inside_side *to, struct str s)
{
    memcpy(to->out + to->n, s.ptr, s.len);
    to->n += s.len;
}

void relay_say(struct inside_side *to, enum ws_op op, struct str first, struct str rest)
{
    uint8_t head[WS_HEAD_MAX];
    const size_t n = ws_head(op, first.len + rest.len, NULL, head);
    if (to->fd < 0 || room_of(to) < n + first.len + rest.len)
        return;
    if (to->sent) {                     /* else many small messages would each move all that waits */
        memmove(to->out, to->out + to->sent, to->n - to->sent);
        to->n -= to->sent;
        to->sent = 0;
    }
    put(to, str_n((const char *)head, n));
    put(to, first);
    put(to, rest);
}

static void say_close(struct inside_side *to, int code)
{
    const char text[2] = { (char)(code >> 8), (char)code };
    relay_say(to, WS_CLOSE, str_n(text, sizeof text), STR(""));
}

static void end(struct inside_call *s, enum inside_why why, bool is_said)
{
    const struct inside_end e = { .error = str_c(inside_whys[why].text), .reason = str_c(inside_whys[why].word) };
    static const char part = INSIDE_END;
    if (s->why)
        return;
    s->why = why;
    s->ended_us = clock_mono_us(&clock_system);
    CLEANUP(buf_releasep) struct buf json = BUF(1024);
    json_encode(&inside_end_schema, &e, &json);
    if (!is_said)
        relay_say(&s->sides[PERSON], WS_BINARY, str_n(&part, 1), buf_str(&json));
    for (int i = 0; i < SIDES; i++)
        say_close(&s->sides[i], CLOSE_NORMAL);
}

void relay_end(struct inside_call *s, enum inside_why why)
{
    end(s, why, false);
}

static void pass(struct inside_side *from, struct str body)
{
    relay_say(other(from), WS_BINARY, body, STR(""));
}

static void on_machine(struct inside_call *s, struct str body)
{
    struct inside_end e = { 0 };
    switch ((enum inside_part)body.ptr[0]) {
    case INSIDE_OUT:
    case INSIDE_ERR:
        s->bytes_out += (int64_t)body.len - 1;
        pass(&s->sides[MACHINE], body);
        return;
    case INSIDE_END: {
        CLEANUP(arena_freep) struct arena *a = arena_new(256 * 1024);
        if (json_decode(&inside_end_schema, str_n(body.ptr + 1, body.len - 1), a, &e, NULL) == ERR_OK) {
            s->exit_code = e.has_exit_code ? (int)e.exit_code : -1;
            pass(&s->sides[MACHINE], body);
            end(s, e.error.len ? INSIDE_WHY_NOT_BEGUN : INSIDE_WHY_ENDED, true);
            return;
        }
        break;
    }
    default:
        break;
    }
    end(s, INSIDE_WHY_MACHINE_TALK, false);
}

static void on_person(struct inside_call *s, struct str body)
{
    switch ((enum inside_part)body.ptr[0]) {
    case INSIDE_IN:
        s->bytes_in += (int64_t)body.len - 1;
        pass(&s->sides[PERSON], body);
        return;
    case INSIDE_EOF:
    case INSIDE_SIZE:
        pass(&s->sides[PERSON], body);
        return;
    case INSIDE_PAUSE:
    case INSIDE_GO:
        s->is_paused = body.ptr[0] == INSIDE_PAUSE;
        return;
    default:
        end(s, INSIDE_WHY_PERSON_TALK, false);
    }
}

static void on_message(struct inside_side *from, const struct ws_message *m)
{
    struct inside_call *s = from->of;
    const bool is_person = from == &s->sides[PERSON];
    if (m->op == WS_PING) {
        relay_say(from, WS_PONG, m->body, STR(""));
    } else if (m->op == WS_CLOSE) {
        from->is_gone = true;
        end(s, is_person ? INSIDE_WHY_PERSON_LEFT : INSIDE_WHY_MACHINE_LEFT, !is_person);
    } else if (m->op == WS_TEXT || (m->op == WS_BINARY && !m->body.len)) {
        end(s, INSIDE_WHY_BAD_MESSAGE, false);
    } else if (m->op == WS_BINARY) {
        s->moved_us = clock_mono_us(&clock_system);
        if (is_person)
            on_person(s, m->body);
        else
            on_machine(s, m->body);
    }
}

void relay_first(struct inside_side *from, struct str bytes)
{
    for (enum ws_step step = WS_GOT; step == WS_GOT && !from->of->why;) {
        struct ws_message m;
        if (ws_reader_take(&from->reader, &bytes, &step, &m, NULL) != ERR_OK) {
            say_close(from, CLOSE_BROKEN);
            end(from->of, INSIDE_WHY_NO_WEBSOCKET, false);
            return;
        }
        if (step == WS_GOT)
            on_message(from, &m);
    }
}

/* A chunk, and the message that was begun before it, go out with heads no longer than those they came with. */
static bool may_read(const struct inside_side *side)
{
    const struct inside_side *to = other(side);
    if (side->of->is_paused && side == &side->of->sides[MACHINE])
        return false;
    return side->fd >= 0 && !side->is_gone && !side->of->why && to->fd >= 0 && room_of(to) >= SIDE_CHUNK + WS_MESSAGE_MAX + 512
           && room_of(side) >= SIDE_CHUNK + 512;
}

short relay_wants(const struct inside_side *side)
{
    if (side->fd < 0 || side->is_gone)
        return 0;
    return (short)((may_read(side) ? POLLIN : 0) | (side->sent < side->n ? POLLOUT : 0));
}

static void lost(struct inside_side *side)
{
    const bool is_person = side == &side->of->sides[PERSON];
    side->is_gone = true;
    end(side->of, is_person ? INSIDE_WHY_PERSON_LOST : INSIDE_WHY_MACHINE_LOST, false);
}

static void receive(struct inside_side *side)
{
    char in[SIDE_CHUNK];
    const ssize_t n = recv(side->fd, in, sizeof in, MSG_DONTWAIT);
    if (n > 0) {
        relay_first(side, str_n(in, (size_t)n));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        lost(side);
    }
}

static void flush(struct inside_side *side)
{
    while (side->fd >= 0 && !side->is_gone && side->sent < side->n) {
        const ssize_t n = send(side->fd, side->out + side->sent, side->n - side->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            lost(side);
            return;
        }
        side->sent += (size_t)n;
    }
}

void relay_turn(struct inside_call *s, const short got[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        if (got[i] & (POLLIN | POLLHUP | POLLERR) && may_read(&s->sides[i]))
            receive(&s->sides[i]);
    for (int i = 0; i < SIDES; i++)
        flush(&s->sides[i]);
}

bool relay_is_over(const struct inside_call *s, int64_t now_us)
{
    bool is_empty = true;
    for (int i = 0; i < SIDES; i++) {
        const struct inside_side *side = &s->sides[i];
        if (side->x && side->fd < 0 && !side->is_gone)
            return false;
        is_empty &= side->is_gone || side->n == side->sent;
    }
    return s->why && (is_empty || now_us - s->ended_us >= FLUSH_US);
}

struct inside_call *relay_find(struct inside_call *list, struct uuid session_id)
{
    while (list && !uuid_eq(list->s.session_id, session_id))
        list = list->next;
    return list;
}

bool relay_has_room(const struct inside_call *list, struct uuid tenant_id, size_t most)
{
    size_t n = 0, own = 0;
    for (; list; list = list->next, n++)
        own += uuid_eq(list->person->tenant_id, tenant_id);
    return n + own < most;
}
