/* SPDX-License-Identifier: Apache-2.0 */
/* mux_int.h - what mux.c (life, and who may call) and mux_loop.c (the loop's thread) share. */
#pragma once
#include <pthread.h>
#include "core/http/client_int.h"

enum { MUX_SPARE_MAX = 64 };

struct mux_call {
    struct mux_call *next, *prev;
    struct http_mux_call o;
    struct http_running run;
};

struct http_mux {
    struct http_mux_options o;
    CURLM *multi;                       /* this and down to `look_us`: the loop's thread only */
    int epoll_fd, wake_fd;
    struct mux_call *live;
    CURL *spare[MUX_SPARE_MAX];
    int spares;
    size_t bytes;                       /* of replies under way */
    int64_t timer_us, look_us;          /* when curl, and when is_unwanted wants to be asked */
    int64_t quiet_us;                   /* when the last call ended */
    bool has_kept;                      /* there may be connections without a call */
    pthread_mutex_t lock;               /* guards what follows */
    struct mux_call *fresh, **fresh_tail;
    size_t count;
    bool stopping;
    bool joined;                        /* http_mux_stop and _free only */
    pthread_t thread;
};

CURLM *mux_multi_new(struct http_mux *m);
void *mux_loop(void *mux);      /* the thread: until http_mux_stop, then every call that is left is told */
