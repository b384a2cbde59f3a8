/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside_relay.c - bytes between a person and a machine over socket pairs: what passes and is counted, what does not pass,
 * and a reader that stands still. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "api/inside_int.h"

static const uint8_t mask[4] = { 1, 2, 3, 4 };

struct pair {
    struct inside_call *s;
    int theirs[SIDES];              /* the ends that the person and the machine hold */
};

static struct pair pair_new(void)
{
    struct pair p = { .s = calloc(1, sizeof *p.s) };
    p.s->exit_code = -1;
    for (int i = 0; i < SIDES; i++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        p.s->sides[i].of = p.s;
        p.s->sides[i].fd = ends[0];
        p.s->sides[i].reader.from_client = true;
        p.theirs[i] = ends[1];
    }
    return p;
}

static void pair_free(struct pair *p)
{
    for (int i = 0; i < SIDES; i++) {
        close(p->s->sides[i].fd);
        if (p->theirs[i] >= 0)
            close(p->theirs[i]);
    }
    free(p->s);
}

static void turn(struct pair *p)
{
    struct pollfd f[SIDES];
    for (int i = 0; i < SIDES; i++)
        f[i] = (struct pollfd){ p->s->sides[i].fd, relay_wants(&p->s->sides[i]), 0 };
    poll(f, SIDES, 0);
    const short got[SIDES] = { f[0].revents, f[1].revents };
    relay_turn(p->s, got);
}

/* Sends a client's frame. */
static void say(struct pair *p, int side, enum ws_op op, const char *body, size_t n)
{
    char bytes[WS_MESSAGE_MAX + WS_HEAD_MAX];
    const size_t h = ws_head(op, n, mask, (uint8_t *)bytes);
    memcpy(bytes + h, body, n);
    ws_mask(bytes + h, n, mask);
    assert_int_equal(write(p->theirs[side], bytes, h + n), (ssize_t)(h + n));
}

/* The messages that have come to a side, "op:body " behind one another. */
static const char *heard(struct pair *p, int side)
{
    static char text[1024], in[65536];
    struct ws_reader *r = calloc(1, sizeof *r);
    const ssize_t n = read(p->theirs[side], in, sizeof in);
    struct str s = str_n(in, n > 0 ? (size_t)n : 0);
    size_t at = 0;
    text[0] = 0;
    for (enum ws_step step = WS_GOT; step == WS_GOT;) {
        struct ws_message m;
        assert_int_equal(ws_reader_take(r, &s, &step, &m, NULL), ERR_OK);
        if (step == WS_GOT)
            at += (size_t)snprintf(text + at, sizeof text - at, "%d:%.*s ", (int)m.op,
                                   m.op == WS_CLOSE ? 0 : (int)m.body.len, m.body.ptr);
    }
    free(r);
    return text;
}

static void what_belongs_passes_and_is_counted(void **state)
{
    (void)state;
    struct pair p = pair_new();
    say(&p, PERSON, WS_BINARY, "ils", 3);
    say(&p, PERSON, WS_BINARY, "s{}", 3);
    say(&p, PERSON, WS_PING, "p", 1);
    say(&p, MACHINE, WS_BINARY, "oabc", 4);
    say(&p, MACHINE, WS_BINARY, "ed", 2);
    turn(&p);
    assert_string_equal(heard(&p, MACHINE), "2:ils 2:s{} ");
    assert_string_equal(heard(&p, PERSON), "10:p 2:oabc 2:ed ");
    assert_int_equal(p.s->bytes_in, 2);
    assert_int_equal(p.s->bytes_out, 4);
    say(&p, MACHINE, WS_BINARY, "x{\"exit_code\":7}", 16);
    turn(&p);
    assert_string_equal(heard(&p, PERSON), "2:x{\"exit_code\":7} 8: ");
    assert_int_equal(p.s->why, INSIDE_WHY_ENDED);
    assert_int_equal(p.s->exit_code, 7);
    pair_free(&p);
}

static void what_does_not_ends_it(void **state)
{
    (void)state;
    static const struct { int side; enum ws_op op; const char *body; } all[] = {
        { PERSON, WS_BINARY, "oforged" }, { PERSON, WS_BINARY, "a{}" }, { PERSON, WS_TEXT, "ils" }, { MACHINE, WS_BINARY, "ils" },
        { MACHINE, WS_BINARY, "xnonsense" }, { PERSON, WS_BINARY, "" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pair p = pair_new();
        say(&p, all[i].side, all[i].op, all[i].body, strlen(all[i].body));
        turn(&p);
        assert_int_not_equal(p.s->why, INSIDE_GOES_ON);
        assert_null(strstr(heard(&p, MACHINE), "2:"));
        assert_non_null(strstr(heard(&p, PERSON), "2:x{\"error\":"));
        pair_free(&p);
    }
}

static void bytes_that_are_no_websocket_end_it(void **state)
{
    (void)state;
    struct pair p = pair_new();
    assert_int_equal(write(p.theirs[PERSON], "GET / HTTP/1.1\r\n", 16), 16);
    turn(&p);
    assert_int_equal(p.s->why, INSIDE_WHY_NO_WEBSOCKET);
    pair_free(&p);
}

static void who_leaves_ends_it(void **state)
{
    (void)state;
    for (int side = 0; side < SIDES; side++) {
        struct pair p = pair_new();
        close(p.theirs[side]);
        p.theirs[side] = -1;
        turn(&p);
        assert_int_equal(p.s->why, side == PERSON ? INSIDE_WHY_PERSON_LOST : INSIDE_WHY_MACHINE_LOST);
        pair_free(&p);
    }
}

/* A person who reads nothing holds the machine back, and no more is kept than the buffer. */
static void a_reader_that_stands_still_holds_the_other_end_back(void **state)
{
    (void)state;
    struct pair p = pair_new();
    char body[8192] = "o";
    size_t sent = 0, stalled = 0;
    while (stalled < 50) {
        char bytes[sizeof body + WS_HEAD_MAX];
        const size_t h = ws_head(WS_BINARY, sizeof body, mask, (uint8_t *)bytes);
        memcpy(bytes + h, body, sizeof body);
        ws_mask(bytes + h, sizeof body, mask);
        int room = 0;
        socklen_t n = sizeof room;
        (void)getsockopt(p.theirs[MACHINE], SOL_SOCKET, SO_SNDBUF, &room, &n);
        const ssize_t put = send(p.theirs[MACHINE], bytes, h + sizeof body, MSG_DONTWAIT);
        assert_true(put < 0 || put == (ssize_t)(h + sizeof body));
        sent += put > 0;
        stalled = put > 0 ? 0 : stalled + 1;
        turn(&p);
    }
    assert_int_equal(p.s->why, INSIDE_GOES_ON);
    assert_true(p.s->sides[PERSON].n - p.s->sides[PERSON].sent <= SIDE_ROOM);
    assert_int_equal(relay_wants(&p.s->sides[MACHINE]) & POLLIN, 0);
    /* It reads again, and gets all of it. */
    size_t got = 0;
    for (char in[65536]; got < sent * (sizeof body + 4);) {
        const ssize_t n = read(p.theirs[PERSON], in, sizeof in);
        got += n > 0 ? (size_t)n : 0;
        turn(&p);
    }
    assert_int_equal(got, sent * (sizeof body + 4));
    assert_int_equal(p.s->bytes_out, (int64_t)(sent * (sizeof body - 1)));
    pair_free(&p);
}

/* A browser that draws slower than a program writes says so: nothing more is read from the machine until it says that it may. */
static void who_asks_for_a_pause_gets_one(void **state)
{
    (void)state;
    struct pair p = pair_new();
    say(&p, PERSON, WS_BINARY, "p", 1);
    turn(&p);
    say(&p, MACHINE, WS_BINARY, "oabc", 4);
    turn(&p);
    turn(&p);
    assert_int_equal(relay_wants(&p.s->sides[MACHINE]) & POLLIN, 0);
    assert_string_equal(heard(&p, PERSON), "");
    say(&p, PERSON, WS_BINARY, "iq", 2);        /* what is typed goes on */
    say(&p, PERSON, WS_BINARY, "g", 1);
    turn(&p);
    turn(&p);
    assert_string_equal(heard(&p, MACHINE), "2:iq ");
    assert_string_equal(heard(&p, PERSON), "2:oabc ");
    pair_free(&p);
}

static void a_session_waits_for_an_end_that_is_about_to_open(void **state)
{
    (void)state;
    struct pair p = pair_new();
    struct inside_side *machine = &p.s->sides[MACHINE];
    const int fd = machine->fd;
    assert_false(relay_is_over(p.s, 0));
    machine->fd = -1;
    relay_end(p.s, INSIDE_WHY_PERSON_LEFT);
    p.s->sides[PERSON].is_gone = true;
    assert_true(relay_is_over(p.s, p.s->ended_us));             /* no machine has come */
    machine->x = (struct http_exchange *)p.s;                   /* one comes: it is told the session's address */
    assert_false(relay_is_over(p.s, INT64_MAX));
    machine->is_gone = true;                                    /* it never came through */
    assert_true(relay_is_over(p.s, p.s->ended_us));
    machine->is_gone = false;
    machine->fd = fd;
    assert_true(relay_is_over(p.s, p.s->ended_us));
    pair_free(&p);
}

static void a_session_is_found_by_its_id(void **state)
{
    (void)state;
    struct pair p = pair_new(), q = pair_new();
    p.s->s.session_id = uuid_v7(1);
    q.s->s.session_id = uuid_v7(2);
    p.s->next = q.s;
    assert_ptr_equal(relay_find(p.s, q.s->s.session_id), q.s);
    assert_null(relay_find(p.s, uuid_v7(3)));
    assert_null(relay_find(NULL, q.s->s.session_id));
    pair_free(&p);
    pair_free(&q);
}

static void a_tenant_has_fewer_sessions_than_are_free(void **state)
{
    (void)state;
    struct principal mine = { .tenant_id = uuid_v7(1) }, theirs = { .tenant_id = uuid_v7(2) };
    struct pair p = pair_new(), q = pair_new();
    p.s->person = &mine;
    q.s->person = &mine;
    assert_true(relay_has_room(NULL, mine.tenant_id, 1));
    assert_false(relay_has_room(p.s, mine.tenant_id, 2));       /* it has one, and one is free */
    assert_true(relay_has_room(p.s, theirs.tenant_id, 2));
    p.s->next = q.s;
    assert_true(relay_has_room(p.s, mine.tenant_id, 5));
    assert_false(relay_has_room(p.s, mine.tenant_id, 4));
    assert_false(relay_has_room(p.s, theirs.tenant_id, 2));     /* none is free */
    pair_free(&p);
    pair_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_belongs_passes_and_is_counted),
        cmocka_unit_test(what_does_not_ends_it),
        cmocka_unit_test(bytes_that_are_no_websocket_end_it),
        cmocka_unit_test(who_leaves_ends_it),
        cmocka_unit_test(a_reader_that_stands_still_holds_the_other_end_back),
        cmocka_unit_test(who_asks_for_a_pause_gets_one),
        cmocka_unit_test(a_session_waits_for_an_end_that_is_about_to_open),
        cmocka_unit_test(a_session_is_found_by_its_id),
        cmocka_unit_test(a_tenant_has_fewer_sessions_than_are_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
