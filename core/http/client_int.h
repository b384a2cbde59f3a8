/* SPDX-License-Identifier: Apache-2.0 */
/* client_int.h - what client.c and mux.c share: where a call goes, and the call while it runs on a curl handle. */
#pragma once
#include <curl/curl.h>
#include <stdatomic.h>
#include "core/http/client.h"
#include "core/http/mux.h"

/* Copied from struct http_client_options, its defaults filled in; constant once made. */
struct http_target {
    struct curl_slist *resolve, *connect_to;
    char *base, *unix_socket, *ca, *ca_pem, *cert, *key, *agent;
    int connect_timeout_ms, timeout_ms;
    bool no_verify_host, use_proxy_env;
    bool (*may_connect)(void *ctx, const struct sockaddr *to);
    void *may_connect_ctx;
    int (*dial)(void *ctx);
    void *dial_ctx;
    _Atomic int refs;
};

/* One call while it runs. Zeroed; bytes and bytes_max set: body bytes that it may hold together with others are counted there. */
struct http_running {
    CURL *curl;
    const struct http_call *call;
    struct arena *arena;
    struct curl_slist *send_headers;
    struct buf body;
    struct http_client_header *headers;
    size_t nheaders, header_bytes, counted;
    size_t *bytes, bytes_max;
    bool stopped, has_replied, too_large, read_failed, crowded;
    const char *send;
    size_t send_left;
    char text[CURL_ERROR_SIZE];
};

void http_curl_start(void);      /* libcurl's own state, once for the process */

/* The options of h that say where it goes, and no others. */
void http_target_set(CURL *h, const struct http_target *t);

/* Sets h up for the call. On success http_running_end must follow, which frees what the call held. */
enum errc http_running_begin(struct http_running *run, CURL *h, const struct http_target *t, const struct http_call *call, struct arena *a,
                             struct err *e) MUST_CHECK;
enum errc http_running_end(struct http_running *run, CURLcode code, struct http_result *ret, struct err *e) MUST_CHECK;
