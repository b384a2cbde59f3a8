/* SPDX-License-Identifier: Apache-2.0 */
/* mux.h - many HTTP calls at once over kept-alive connections, all on one thread of its own: a call that waits costs nobody a thread.
 *
 * Calling order: http_mux_new -> http_mux_start* from any thread -> http_mux_stop -> http_mux_free.
 * Invariants: what http_mux_start took is told exactly once to done(), on the mux's thread, which must not block there; calls do not hold
 * each other up, whether their servers answer, stall or never take the connection. At most calls_max calls are under way and at most
 * bytes_max bytes of their replies in memory.
 * To one target eight connections are opened at once; further calls wait for one of them, or for one that is free, and end as a
 * call that connects does: when none came up for connect_timeout_ms. Their wait is part of timeout_ms.
 * Connections that the other side has ended are closed with the next call, and those of any kind idle_ms after the last one: what
 * nobody calls any more holds no descriptor.
 * Memory: what a struct http_mux_call points to must stay until done(); the mux keeps its notes and the result in the call's arena, which
 * nobody else may use meanwhile. done() may free it.
 * Errors: those of http_client_call; UNAVAILABLE too when calls_max are under way, replies fill bytes_max, the caller no longer wants it or
 * the mux stops. Not offered: read_body, and on_data is called on the mux's thread. */
#pragma once
#include "core/http/client.h"

struct http_mux;
struct http_target;

struct http_mux_options {
    const char *name;               /* of the thread, 15 bytes */
    size_t calls_max, bytes_max;
    int idle_max;                   /* connections kept without a call */
    void (*before_done)(void), (*after_done)(void);     /* around up to eight calls of done(), on its thread; both, or neither */
    int idle_ms;                    /* all of them are closed when so long no call was under way; 0: 30000 */
};

struct http_mux_call {
    struct http_target *to;         /* the mux takes a reference of its own */
    struct http_call call;
    struct arena *arena;
    bool (*is_unwanted)(void *ctx); /* asked a few times a second on the mux's thread: true ends the call; NULL: it is always wanted */
    void (*done)(void *ctx, enum errc rc, const struct http_result *r, const struct err *e);    /* r when rc is OK, else e */
    void *ctx;
};

struct http_mux *http_mux_new(const struct http_mux_options *o);
enum errc http_mux_start(struct http_mux *m, const struct http_mux_call *c, struct err *e) MUST_CHECK;
size_t http_mux_calls(struct http_mux *m);      /* under way */
void http_mux_stop(struct http_mux *m);         /* ends all calls, takes no more; on return every done() has been called. Twice is fine */
void http_mux_free(struct http_mux *m);         /* stops; NULL is fine */

/* Where calls go; counted references, so that it can be replaced while calls to it are under way. NULL: INVALID. */
struct http_target *http_target_new(const struct http_client_options *o, struct err *e);
struct http_target *http_target_ref(struct http_target *t);
void http_target_unref(struct http_target *t);
