/* SPDX-License-Identifier: Apache-2.0 */
/* server_int.h - what server.c, loop.c, listen.c, exchange.c, conn.c, credential.c, reply.c and stream.c share: server > loops > connections > one
 * exchange at a time.
 *
 * Threads: a loop's daemon, connections, free list and every suspend/resume belong to its loop thread. Other threads reach a loop
 * only through `ready` (under its mutex) and the eventfd, and an exchange only through `state`, `refs` and its stream's mutex. */
#pragma once
#include <microhttpd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include "core/http/guard.h"
#include "core/http/mtls.h"
#include "core/http/server.h"

/* SENDING: the answer goes at the peer's pace; one that is a stream stays in HANDLING. */
enum conn_phase { CONN_IDLE, CONN_HEADERS, CONN_BODY, CONN_HANDLING, CONN_SENDING, CONN_PHASES };

struct conn_queue { struct http_conn *first, *last; };

struct http_conn {
    struct http_conn *next, *prev;      /* the loop's list */
    struct http_loop *loop;
    struct http_exchange *x;            /* the request being read or answered */
    int fd;
    enum conn_phase phase;
    bool cut;                           /* shut down by the reaper */
    int64_t since_us, deadline_us;      /* of the phase; INT64_MAX: none */
    struct http_conn *after, *before;   /* in the queue of the phase */
    bool is_queued;
    struct share *share;        /* NULL: not counted */
    char remote[64];
    struct arena *peer_arena;           /* TLS: the verified identity, kept while peer_until_us has not come */
    struct mtls_peer peer;
    int64_t peer_until_us;
    struct http_credential *credential; /* NULL: the one the listener started with */
};

/* An answered exchange goes through: CALLING (on_request runs) -> PARKED (suspended) -> ANSWERED, or CALLING -> ANSWERED. */
enum exchange_state { X_READING, X_CALLING, X_PARKED, X_ANSWERED };

struct http_stream {
    pthread_mutex_t mutex;
    char *ring;
    size_t cap, max, head, len;         /* len bytes from head on */
    bool starved;                       /* suspended, waiting for bytes */
    bool ended;
    _Atomic bool gone, overrun;
};

/* A connection that another protocol has taken over. */
struct http_upgrade {
    void (*opened)(void *ctx, int fd, struct str first);    /* NULL: none */
    void *ctx;
    struct MHD_UpgradeResponseHandle *handle;       /* loop thread; NULL: not yet opened, or closed */
    bool was_opened;                                /* opened was called; loop thread */
    int fd;                                         /* the caller's; loop thread */
    _Atomic bool is_over;                           /* given back */
};

struct http_exchange {
    struct http_loop *loop;
    struct http_conn *conn;             /* loop thread only */
    struct MHD_Connection *mhd;         /* loop thread only */
    struct http_exchange *next;         /* ready list or free list */
    struct http_request req;
    _Atomic int state;
    _Atomic int refs;                   /* one for the loop, one for an open stream */
    _Atomic bool gone;
    bool first_call_done, counted, close_after;
    enum errc refused;                  /* refusal to be sent once the body has been thrown away */
    size_t discarded;
    const char *uri_end;                /* in the parser's buffer */
    char refused_why[160];
    struct buf body;
    struct body_owner owner;            /* n 0: not asked yet */
    struct body_hold hold;
    struct MHD_Response *response;
    int status;
    int64_t answer_bytes;               /* of a body that is no stream; -1: not known */
    void *data;
    struct http_stream *stream;
    struct http_upgrade upgrade;
    struct http_header headers[GUARD_HEADERS_MAX];
};

struct http_loop {
    struct http_server *server;
    struct MHD_Daemon *daemon;
    pthread_t thread;                   /* for joining; written by the starter */
    pthread_t self;                     /* who may touch the free list; written by the loop */
    bool started, quiesced;
    int epoll_fd, event_fd;
    struct http_conn *conns;
    struct conn_queue queues[CONN_PHASES];
    struct accept_budget *accepts;      /* NULL: no limit */
    struct share_count *shares;       /* open connections of each address; NULL: no limit */
    struct http_exchange *free_list;
    int nfree;
    int64_t now_us;                     /* refreshed once per turn of the loop */
    int64_t reap_at_us, poll_at_us;
    struct http_credential *credentials;        /* newest first; loop thread */
    pthread_mutex_t mutex;              /* guards ready, fresh */
    struct http_credential *fresh;      /* to be taken up with the next connection */
    struct http_exchange *ready, **ready_tail;
    _Atomic size_t open, connections, turned_away;
    _Atomic bool is_refusing;           /* set by the loop between two turns of the daemon */
};

struct http_server {
    struct http_server_options o;       /* defaults filled in */
    int port;
    bool layout_known;
    char *unix_path, *cert, *key, *ca;
    struct http_loop *loops;
    int nloops;
    struct deaf *deaf;                  /* NULL: nobody is */
    _Atomic bool draining, refusing, stopping;
};

/* loop.c: the thread of a loop whose daemon is there; it ends with s->stopping. Errors: IO. */
enum errc loop_start(struct http_loop *l, int index, struct err *e) MUST_CHECK;
/* listen.c: may more sockets have the port? */
bool listen_is_shared(const struct http_server *s);
/* A socket for each loop, into fds, which the caller closes on errors too; sets s->port. Errors: INVALID, IO. */
enum errc listen_open(struct http_server *s, int *fds, struct err *e) MUST_CHECK;
/* exchange.c: the callbacks of the daemon */
/* What the parser logs: refusal.c looks for what it is about to refuse. */
void refusal_on_log(void *loop, const char *format, va_list ap);
void *exchange_on_uri(void *loop, const char *uri, struct MHD_Connection *c);
enum MHD_Result exchange_on_call(void *loop, struct MHD_Connection *c, const char *url, const char *method, const char *version,
                                 const char *data, size_t *len, void **con_cls);
void exchange_on_completed(void *loop, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why);
struct http_stream *exchange_stream(struct http_exchange *x);   /* NULL until the exchange is answered by a stream */
void exchange_unref(struct http_exchange *x);
void exchange_destroy(struct http_exchange *x);
/* body.c. hold: memory for a body of so many bytes; false: x->refused says why there is none. came: on the loop thread. */
enum { BODY_DISCARD_MAX = 4 << 20 };
bool body_hold(struct http_exchange *x, size_t bytes);
void body_give_back(struct http_exchange *x);
enum MHD_Result body_came(struct http_exchange *x, const char *data, size_t n);
/* conn.c, on the loop thread */
void exchange_on_connection(void *loop, struct MHD_Connection *c, void **socket_context,
                            enum MHD_ConnectionNotificationCode code);
enum MHD_Result conn_may_come(void *loop, const struct sockaddr *from, socklen_t n);
struct http_conn *conn_of(struct MHD_Connection *c);
void conn_enter(struct http_conn *n, enum conn_phase phase, int64_t deadline_us);
void conn_body_came(struct http_conn *n, size_t bytes);     /* in CONN_BODY: its deadline moves on by what came */
void conn_sends(struct http_exchange *x);               /* its answer is handed to the daemon now */
/* credential.c, on the loop thread; give: a new connection's, before its handshake; take_back: of a connection that is gone. */
struct http_credential *credential_give(struct http_loop *l, void *tls_session);
void credential_take_back(struct http_credential *c);
void credential_sweep(struct http_loop *l);
void credential_free_all(struct http_loop *l);
/* reply.c: hand a finished exchange to its loop; x must not be touched afterwards. */
void exchange_answered(struct http_exchange *x, struct MHD_Response *r, int status);
void exchange_wake(struct http_exchange *x);
struct MHD_Response *response_headers(struct MHD_Response *r, struct str type, const struct http_header *h, size_t n);
/* upgrade.c, on the loop thread: gives a connection back to the daemon, once it is over; tells that it never came. */
bool upgrade_close(struct http_exchange *x);
void upgrade_missed(struct http_exchange *x);
void upgrade_peer_gone(struct http_exchange *x);
/* stream.c. keep_request: its texts outlive the parser's memory. */
void exchange_keep_request(struct http_exchange *x);
void stream_peer_gone(struct http_exchange *x, bool connection_ends);    /* loop thread */
void stream_free(struct http_stream *s);
