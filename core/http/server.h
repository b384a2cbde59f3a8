/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - HTTP/1.1 in, HTTP/1.1 out: whole requests are handed up, answered from any thread, while connections are parked.
 *
 * Calling order: http_server_new -> (on_request -> http_reply | http_reply_buf | http_reply_producer |
 * http_stream_begin -> http_stream_write* -> http_stream_end)* -> http_server_drain -> http_server_free.
 * on_request runs on a loop thread when headers AND body are complete. It must not block. The exchange is answered exactly
 * once, there and then or later from any thread; meanwhile its connection is parked and costs nothing.
 * Invariants: every request passed http_guard_check (and, on a listener with client CAs and require_client_cert, mtls_verify)
 * before on_request sees it; what failed goes to `reject`, whose reply closes the connection. Headers have an absolute
 * deadline; a body may come slowly, at a least pace, but never stands still for longer than its limit, nor comes
 * for longer than 20 times that. What all bodies hold has a bound (body_budget.h).
 * Memory: the request is borrowed until the exchange is answered (http_reply… returns) or the stream is ended; its arena dies
 * with the exchange. Replies are copied unless the call says it takes them.
 * Errors: http_server_new: INVALID (options), IO (socket, files). All other calls cannot fail or say so by bool. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/http/body_budget.h"

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OPTIONS, HTTP_OTHER };

struct http_header {
    struct str name, value;
};

struct http_request {
    enum http_method method;
    struct str method_text;
    struct str path;                /* raw, before '?', not decoded */
    struct str query;               /* raw, after '?'; STR_NULL when there is no '?' */
    const struct http_header *headers;
    size_t nheaders;
    struct str body;                /* never NULL-pointed; len 0 when absent */
    struct str remote_addr;         /* "10.0.0.1", "2001:db8::1", "unix" */
    struct arena *arena;            /* handlers allocate here; freed when the exchange ends */
    int64_t received_mono_us;       /* when the request line was complete */
    struct str peer_identity;       /* mTLS listener: the one verified URI SAN, else STR_NULL */
    bool peer_is_registered;        /* see core/http/mtls.h */
    struct str peer_fingerprint;    /* hex SHA-256 of the peer's certificate, else STR_NULL */
};

struct http_exchange;
struct http_server;

struct http_response {
    int status;
    struct str content_type;        /* STR_NULL: none */
    struct str body;
    const struct http_header *headers;
    size_t nheaders;
};

enum { HTTP_BODY_SILENCES = 20 };

struct http_server_options {
    const char *bind_addr;          /* "127.0.0.1", "::", …; ignored with unix_path */
    int port;                       /* 0: the kernel picks, see http_server_port */
    int listen_fd;                  /* > 0: a TCP socket of http_listen, instead; borrowed while it starts; loops 1 */
    const char *unix_path;          /* serve on a Unix socket instead; an old socket there is replaced */
    int loops;                      /* threads that speak HTTP; 0: 1 */
    int max_connections;            /* over all loops; 0: 4096. The last place is made free by ending the connection that has been longest
                                     * without a complete request, if there is one */
    /* Of one address (an IPv6 /64 is one), for each loop; 0: no limit. What is above them is closed unread, and who goes on is
     * not heard for a second (core/http/deaf.h). */
    int per_address;                /* open at once */
    int connects_per_s;             /* new in a second; five seconds' worth at once */
    bool (*is_proxy)(void *ctx, struct str address);    /* has no such limits; asked on the loop; NULL: nobody */
    size_t header_max;              /* request line + headers; 0: 16384. More is HEADERS */
    size_t body_max_default;        /* 0: 1 MiB. More is TOO_LARGE */
    size_t arena_max;               /* limit of a request's arena, body not counted; 0: 64 MiB */
    int header_deadline_ms;         /* absolute, from the first moment; 0: 30000 */
    int body_deadline_ms;           /* longest silence in a body, from the end of the headers, and a HTTP_BODY_SILENCES-th of the
                                     * longest time of one; 0: 60000 */
    int idle_timeout_ms;            /* between requests; 0: 75000 */
    int64_t least_bytes_per_s;      /* of a body: each byte earns its time at this pace, up to body_deadline_ms from now, so that
                                     * none takes longer than body_deadline_ms and what its size takes so. An answer that is no
                                     * stream must be taken within the same. 0: 8192 */
    /* Per-route cap of the body, called after the headers; NULL: body_max_default. 0 means body_max_default too. */
    size_t (*body_limit)(void *ctx, enum http_method m, struct str path);
    /* What bodies may hold together, shared by listeners and borrowed for the server's life; NULL: no bound. Above it one is
     * refused before on_request, RATE for an owner that has its share, UNAVAILABLE for one that has nothing. */
    struct body_budget *bodies;
    /* Whose a body is, asked after the headers, on the loop, once for each body that counts; NULL: its address's. */
    struct body_owner (*body_owner)(void *ctx, const struct http_request *r);
    void (*on_request)(void *ctx, struct http_exchange *x);
    /* Refusals of guard, limits, deadlines and mTLS: write the problem body through http_reply, on this thread, before it
     * returns; the connection closes after it. NULL: a short text. x->request may lack its body. */
    void (*reject)(void *ctx, struct http_exchange *x, enum errc code, const char *why);
    void *ctx;
    const char *tls_cert_file, *tls_key_file;   /* PEM; both or none */
    const char *tls_client_ca_file;             /* PEM bundle: ask clients for a certificate */
    struct str tls_cert_pem, tls_key_pem, tls_client_ca_pem;    /* the same as texts, instead of the three files; copied */
    struct mtls_trust *tls_trust;               /* instead: a bundle per zone, borrowed; it may grow while the listener runs */
    bool require_client_cert;                   /* refuse (UNAUTHENTICATED) who has no good one; else peer_identity stays NULL */
};

/* A TCP socket that listens, for http_server_new here or in a process that may open none. *ret_port may be NULL. */
MUST_CHECK enum errc http_listen(const char *bind_addr, int port, int *ret_fd, int *ret_port, struct err *e);

struct http_server *http_server_new(const struct http_server_options *o, struct err *e);    /* NULL on error */
/* From the next connection on the listener shows this certificate (PEM, of the same key); open connections live on with theirs.
 * Any thread. INVALID: not of that key, or no TLS; then nothing changes. */
MUST_CHECK enum errc http_server_renew(struct http_server *s, struct str cert_pem, struct err *e);
/* The same with a key of its own. INVALID: they do not fit each other. */
MUST_CHECK enum errc http_server_renew_pair(struct http_server *s, struct str cert_pem, struct str key_pem, struct err *e);
int http_server_port(const struct http_server *s);              /* 0 for a Unix socket */
/* Stop accepting; serve what is open; replies say Connection: close and idle connections end. Returns at once. */
void http_server_drain(struct http_server *s);
/* From its return on no callback of the options is called: what still comes is answered 503 by the listener itself. So what
 * answers requests
 * can be taken down before the server, whose exchanges it may still hold. Waits for a turn of each loop: not from a callback.
 * NULL: nothing. */
void http_server_refuse(struct http_server *s);
size_t http_server_open_exchanges(const struct http_server *s); /* requests handed up and not yet ended */
size_t http_server_connections(const struct http_server *s);
size_t http_server_turned_away(const struct http_server *s);    /* above the limits of an address, since the start */
/* Ends all. Exchanges not answered by now die unanswered: nobody may touch them during or after this call. */
void http_server_free(struct http_server *s);

const struct http_request *http_exchange_request(const struct http_exchange *x);
void *http_exchange_data(const struct http_exchange *x);        /* a slot for the application, NULL at first */
void http_exchange_set_data(struct http_exchange *x, void *data);
bool http_exchange_gone(const struct http_exchange *x);         /* the peer has left (noticed within about a second) */

struct str http_header_get(const struct http_request *r, const char *name);     /* case-insensitive; STR_NULL when absent */
const char *http_method_name(enum http_method m);               /* "GET" …; "OTHER" */

/* Answer, from any thread, exactly once. x must not be touched afterwards. Copies everything. */
void http_reply(struct http_exchange *x, const struct http_response *r);
/* The same, but the body is not copied: it must stay as it is until the server is freed. */
void http_reply_kept(struct http_exchange *x, const struct http_response *r);
/* The same, but takes the memory of `take` as the body (take becomes empty). headers may be NULL. */
void http_reply_buf(struct http_exchange *x, int status, struct str content_type, const struct http_header *headers,
                    size_t nheaders, struct buf *take);
/* Answers that this thread gives are handed to their loops by http_answers_release, all at once: one wake of a loop for several
 * answers instead of one each. For answers that follow each other without a wait between; not nested. */
void http_answers_hold(void);
void http_answers_release(void);
void http_answers_flush(void);      /* hands over what is held so far, before something that takes long; holding or not goes on */
/* Large downloads with backpressure: read is called on the loop thread whenever the peer can take more. It returns bytes
 * written into buf, 0 at the end, -1 on failure (the connection is cut so that the peer sees it). total -1: not known.
 * free_ is called once, whatever happens. */
void http_reply_producer(struct http_exchange *x, int status, struct str content_type, const struct http_header *headers,
                         size_t nheaders, int64_t total, ssize_t (*read_)(void *p, void *buf, size_t n), void (*free_)(void *p),
                         void *p);

/* Streams. buffer_max: bytes that may wait for the peer. After begin, only the thread(s) of the stream touch x, and
 * http_stream_end or http_stream_abort must be called exactly once, also after a write said false. */
enum errc http_stream_begin(struct http_exchange *x, int status, struct str content_type, const struct http_header *headers,
                            size_t nheaders, size_t buffer_max);
bool http_stream_write(struct http_exchange *x, const void *p, size_t n);   /* false: peer gone or too slow; nothing queued */
bool http_stream_gone(const struct http_exchange *x);
/* Bytes that may be written now without losing the peer: a writer with much to say waits until there is room. */
size_t http_stream_room(struct http_exchange *x);
void http_stream_end(struct http_exchange *x);
/* Instead of the end, when what was sent is not all: the connection is cut so that the peer sees it. */
void http_stream_abort(struct http_exchange *x);

/* Another protocol on the same connection. 101 with these headers, `Upgrade` among them; then, on the loop thread, opened is
 * called once: with a descriptor that does not block (under TLS one of the plain bytes) and with what came behind the request, or
 * with -1 where the peer has left. A peer that leaves later is an end of what is read, under TLS within about a second.
 * From then on the descriptor is the caller's to read and write, never to close: http_upgrade_end, from any thread and exactly
 * once after opened, gives the connection back, which ends. The request stays until then. Whoever has such connections ends them
 * before the server is freed. */
void http_upgrade(struct http_exchange *x, const struct http_header *headers, size_t nheaders,
                  void (*opened)(void *ctx, int fd, struct str first), void *ctx);
void http_upgrade_end(struct http_exchange *x);
