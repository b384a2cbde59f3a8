/* SPDX-License-Identifier: Apache-2.0 */
/* mux_int.h - what mux.c (life, and who may call), mux_loop.c (the loop's thread) and mux_door.c (who opens connections)
 * share. */
#pragma once
#include <pthread.h>
#include "core/http/client_int.h"

enum { MUX_SPARE_MAX = 64, DOOR_OPENING_MAX = 8 };

struct mux_door;

struct mux_call {
    struct mux_call *next, *prev;
    struct http_mux_call o;
    struct http_running run;
    struct mux_door *door;
    int64_t came_us;
    bool is_opening;                    /* counted there as one that has no connection so far */
};

struct http_mux {
    struct http_mux_options o;
    CURLM *multi;                       /* this and down to `waiting`: the loop's thread only */
    int epoll_fd, wake_fd;
    struct mux_call *live;
    CURL *spare[MUX_SPARE_MAX];
    int spares;
    size_t bytes;                       /* of replies under way */
    int64_t timer_us, look_us;          /* when curl, and when is_unwanted wants to be asked */
    int64_t quiet_us;                   /* when the last call ended */
    bool has_kept;                      /* there may be connections without a call */
    struct mux_door *doors;
    int waiting;                        /* calls, at all doors */
    pthread_mutex_t lock;               /* guards what follows */
    struct mux_call *fresh, **fresh_tail;
    size_t count;
    bool stopping;
    bool joined;                        /* http_mux_stop and _free only */
    pthread_t thread;
};

CURLM *mux_multi_new(struct http_mux *m);
void *mux_loop(void *mux);      /* the thread: until http_mux_stop, then every call that is left is told */

/* False: it waits at its door, until mux_door_next or mux_door_ended gives it. A call that may go on is set up with mux_door_set,
 * after http_running_begin, and leaves when it is over; is_kept: its connection may serve others. */
bool mux_door_enter(struct http_mux *m, struct mux_call *c);
void mux_door_set(CURL *h, struct mux_call *c);
void mux_door_leave(struct mux_call *c, bool is_kept);
struct mux_call *mux_door_next(struct http_mux *m);     /* who may go on now; NULL: nobody */
/* Takes what it has waited off the call's time; false: it is over. */
bool mux_door_spend(struct mux_call *c, int64_t now_us);
/* One that waits and is no longer wanted (ret_why says so), or whose time is over: NULL there. now_us INT64_MAX: any. */
struct mux_call *mux_door_ended(struct http_mux *m, int64_t now_us, const char **ret_why);
void mux_doors_sweep(struct http_mux *m);               /* those without calls are forgotten, and what was free there */
