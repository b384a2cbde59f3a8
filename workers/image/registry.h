/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - GET of one registry over HTTPS: who it is, whom it may send to, how slow it may be.
 *
 * Each connection is asked of `dial`; this process looks up no name. Only the registry's host and those of `hosts` are asked,
 * HTTPS alone, each believed by ca_pem alone where there is one. At most REGISTRY_HOPS redirects; credentials go to the
 * registry's host and to the host of its realm, which must be one of these, and along no redirect. A reply is 401 once: then
 * with a token, or with the credentials; twice is a refusal. Who brings less than 1 KiB a second over silent_s seconds is left.
 * Calling order: registry_new -> registry_get* -> registry_free. One thread.
 * Errors: FORBIDDEN (a place that the row does not name, credentials), NOT_FOUND, DEADLINE (too slow), UNAVAILABLE (connection,
 * TLS, 5xx: worth another try), BAD_DATA (what it says is no such thing), LIMIT, RETRY (is_stopped).
 * Sources: OCI distribution-spec 1.1; RFC 9110; distribution's "Token Authentication Specification". */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/http/client.h"

enum { REGISTRY_HOPS = 5, REGISTRY_TOKENS_MAX = 64, REGISTRY_TOKEN_BYTES = 64 << 10, REGISTRY_PACE = 1024 };

struct registry_place {
    struct str host;                    /* HOST[:PORT] */
    const struct str *hosts;
    size_t nhosts;
    struct str ca_pem;                  /* empty: whom the machine believes */
    struct str repository;
    struct str credentials;             /* USER:PASSWORD, or a token; empty: none */
    int64_t silent_s;
    int (*dial)(void *ctx, struct str host, struct err *e);     /* HOST:PORT -> a connected socket; -1 */
    bool (*is_stopped)(void *ctx);
    void *ctx;
};

/* A body: begin judges status and headers, take gets the bytes; false ends the call with what they have noted themselves. */
struct registry_body {
    const char *path, *accept;          /* accept NULL: any */
    uint64_t from;                      /* > 0: the rest from there is enough */
    bool (*begin)(void *ctx, const struct http_result *head);
    bool (*take)(void *ctx, const char *p, size_t n);
    void *ctx;
};

struct registry;
/* p lives as long as it does. */
MUST_CHECK enum errc registry_new(const struct registry_place *p, struct arena *a, struct registry **ret, struct err *e);
MUST_CHECK enum errc registry_get(struct registry *r, const struct registry_body *b, struct http_result *ret, struct err *e);
/* The whole of a small body. */
MUST_CHECK enum errc registry_text(struct registry *r, const char *path, const char *accept, size_t most, struct http_result *ret,
                                   struct err *e);
void registry_free(struct registry *r);
void registry_freep(struct registry **r);
