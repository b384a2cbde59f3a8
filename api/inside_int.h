/* SPDX-License-Identifier: Apache-2.0 */
/* inside_int.h - a session as inside.c (the list, the calls) and inside_relay.c (the bytes) see it. All of it is under the lock
 * of the list, but what a call reads that has its turn. */
#pragma once
#include <pthread.h>
#include "api/inside.h"
#include "core/http/ws_frame.h"
#include "tenants/access/principal.h"

enum { PERSON, MACHINE, SIDES, SIDE_ROOM = 128 * 1024, SIDE_CHUNK = 16 * 1024 };

struct inside_side {
    struct inside_call *of;
    struct http_exchange *x;            /* NULL: nobody has come */
    int fd;                             /* -1: not open, or closed */
    bool is_gone;                       /* it has left, or never came; x waits to be given back */
    struct ws_reader reader;
    char out[SIDE_ROOM];
    size_t n, sent;                     /* from sent on it is to be sent */
};

struct inside_call {
    struct inside_call *next;
    struct inside *k;
    struct inside_session s;            /* its text lies in the person's call */
    struct call *c;
    struct principal *person;           /* as it began */
    struct inside_side sides[SIDES];
    int64_t born_us, moved_us, look_us, pinged_us, ended_us;
    int64_t looked_us;                  /* when it was last known that it may go on */
    int64_t bytes_in, bytes_out;
    enum inside_why why;                /* it ends, for this reason */
    bool is_paused;                     /* the person takes no more for now */
    int exit_code;                      /* -1: not known */
    bool has_turn;                      /* its call is with a thread */
    bool is_meeting;                    /* its machine's call is about to become its other end */
    bool is_over;                       /* both ends have what there was, or do not take it */
};

/* inside_relay.c. Bytes that came with a request. */
void relay_first(struct inside_side *from, struct str bytes);
/* What poll is to wait for at a side. */
short relay_wants(const struct inside_side *side);
/* Moves what can be moved now. */
void relay_turn(struct inside_call *s, const short got[SIDES]);
/* A message of falaj-api's own to a side, where there is room. */
void relay_say(struct inside_side *to, enum ws_op op, struct str first, struct str rest);
/* The session ends for this reason; the person hears why, unless the machine's last word says it. */
void relay_end(struct inside_call *s, enum inside_why why);
/* It has an end, and both ends have what there was or do not take it. An end whose connection is still to be opened is waited
 * for: it comes with the session's address. */
bool relay_is_over(const struct inside_call *s, int64_t now_us);
/* The session of a list; NULL: it is not there. A session has one stream, so that who has few sessions has few streams. */
struct inside_call *relay_find(struct inside_call *list, struct uuid session_id);
/* May the tenant have one more of `most` sessions? While it has fewer than are free, so that one never takes the last places. */
bool relay_has_room(const struct inside_call *list, struct uuid tenant_id, size_t most);
