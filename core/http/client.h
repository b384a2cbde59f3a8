/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - blocking HTTP calls over kept-alive connections; with mux.h, which has many under way on one thread, the only door to libcurl.
 *
 * One handle, one thread at a time. http and https only, no redirects, no signals, and no proxy of the environment unless
 * asked for.
 * Calling order: http_client_new -> http_client_call* -> http_client_free.
 * Memory: results live in the arena given to the call. A status of 400 and above is a result, not an error.
 * Errors: UNAVAILABLE (no connection, TLS refused, connection lost, the call is no longer wanted), DEADLINE (timeout), LIMIT (response_max passed),
 * INVALID (a bad URL, path or header), UPSTREAM (not HTTP), IO (read_body failed). on_data saying false is OK with `stopped`. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct sockaddr;
struct http_result;

struct http_client_options {
    const char *base_url;           /* "https://api.falaj.internal:8443", no trailing '/' needed */
    const char *unix_socket;        /* connect there, whatever base_url's host is */
    const char *ca_file;            /* trust these only; NULL: the system's */
    struct str ca_pem;              /* trust these as well as nothing else, instead of ca_file; copied */
    const char *cert_file, *key_file;   /* client certificate, PEM */
    int connect_timeout_ms;         /* 0: 5000 */
    int timeout_ms;                 /* of a whole call; 0: 30000 */
    const char *user_agent;         /* NULL: falaj/<version> */
    const char *resolve;            /* "host:port:address", as curl's --resolve; NULL: none */
    const char *connect_to;         /* "host:port": connect there; who must answer is base_url's host. NULL: base_url's */
    bool (*may_connect)(void *ctx, const struct sockaddr *to);  /* asked for the address itself, after names were resolved; NULL: any */
    void *may_connect_ctx;
    /* Gives a connected socket, the client's from then on, in place of connecting; -1: there is none. It was connected without
     * blocking, and connect(2) was not called on it again: libcurl 7.88 does so in spite of CURL_SOCKOPT_ALREADY_CONNECTED, and
     * only the first call after such a connect is answered with success. */
    int (*dial)(void *ctx);
    void *dial_ctx;
    bool no_verify_host;            /* accept a certificate for another name (still from ca_file) */
    bool use_proxy_env;             /* http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY as curl(1) reads them; false: none */
};

struct http_call {
    const char *method;             /* NULL: GET */
    const char *path;               /* "/v1/jobs?limit=5", appended to base_url */
    const char *const *headers;     /* "Name: value", NULL-ended; NULL: none */
    struct str body;                /* STR_NULL: none */
    const char *content_type;       /* of body; NULL: application/json */
    size_t response_max;            /* 0: 16 MiB; without on_data only */
    int timeout_ms;                 /* 0: the client's; -1: none (streams) */
    int idle_timeout_ms;            /* DEADLINE when nothing arrives for so long, in whole seconds; 0: off */
    bool (*on_data)(void *ctx, const char *p, size_t n);    /* gets the body of 2xx replies; false stops */
    bool (*on_reply)(void *ctx, const struct http_result *head);    /* before on_data's first byte; false stops */
    void *ctx;
    ssize_t (*read_body)(void *ctx, char *p, size_t n);     /* upload instead of body; 0: end, -1: failure */
    int64_t read_total;             /* size of that upload; -1: not known (chunked) */
    bool (*is_unwanted)(void *unwanted_ctx);    /* asked ten times a second by http_client_call; true ends the call; NULL: it is wanted */
    void *unwanted_ctx;
};

struct http_result {
    int status;
    struct str content_type;
    struct str body;
    bool stopped;                   /* on_data said false */
    const struct http_client_header *headers;
    size_t nheaders;
};

struct http_client_header {
    struct str name, value;
};

struct http_client;

struct http_client *http_client_new(const struct http_client_options *o, struct err *e);    /* NULL on error */
enum errc http_client_call(struct http_client *c, struct arena *a, const struct http_call *call, struct http_result *ret,
                           struct err *e) MUST_CHECK;
struct str http_result_header(const struct http_result *r, const char *name);   /* case-insensitive; STR_NULL when absent */
/* Closes the connections and forgets TLS sessions: the next call reads the certificate files anew. False: no memory, nothing changed. */
bool http_client_reset(struct http_client *c);
void http_client_free(struct http_client *c);
void http_client_freep(struct http_client **c);     /* for CLEANUP */
