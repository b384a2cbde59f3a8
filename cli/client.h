/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - one call of the API: token, idempotency key, patience, and what its answer means for a person.
 *
 * POST gets an Idempotency-Key made once per call and kept over its retries, so a lost answer never does the work twice. Lost
 * connections and 503 are tried three times in all, after 0.3 s and 1 s, or what Retry-After says (at most 10 s).
 * api_send leaves judgement to the caller; api_do prints what went wrong and returns an exit code. Memory: c->arena. */
#pragma once
#include <sys/types.h>
#include "cli/command.h"
#include "core/json/jsonvalue.h"

struct api_req {
    const char *method, *path;
    struct str body;                /* STR_NULL: none */
    const char *content_type;       /* NULL: application/json */
    const char *accept;             /* NULL: application/json */
    const char *token;              /* NULL: the profile's */
    const char *last_event_id;      /* NULL or "": none */
    const char *if_match;           /* NULL: none */
    const char *range;              /* "bytes=N-"; NULL: all */
    bool (*on_data)(void *ctx, const char *p, size_t n);    /* body of a 2xx answer, piece by piece */
    void *ctx;
    int timeout_ms;                 /* 0: 60 s; -1: none */
    int idle_timeout_ms;            /* 0: off */
    bool is_once;                   /* no retries */
    bool is_secret;                 /* --debug does not show the body */
    bool (*is_unwanted)(void *unwanted_ctx);    /* asked ten times a second; true ends the call as UNAVAILABLE, without retries */
    void *unwanted_ctx;
};

struct api_reply {
    int status;
    struct str body, content_type, request_id;
    const struct jval *json;        /* NULL unless the body is JSON */
    struct str code;                /* of a problem document, else absent */
};

/* UNAVAILABLE, DEADLINE … when there is no answer; any HTTP status is an answer. */
enum errc api_send(struct cli *c, const struct api_req *q, struct api_reply *ret, struct err *e) MUST_CHECK;
/* As api_send, and whatever is no 2xx is told on standard error. */
int api_do(struct cli *c, const struct api_req *q, struct api_reply *ret);
/* Tell a problem document; returns its exit code. */
int api_tell(struct cli *c, const struct api_reply *r);
int api_exit_of(const struct api_reply *r);
/* A name or an id to an id: looks the name up in the noun's list where text has not the id's prefix. */
int api_resolve(struct cli *c, const struct noun *noun, const char *text, const char **ret);
/* Append s percent-encoded to a path in the arena. */
const char *api_escape(struct arena *a, const char *s);
/* GET of a path into *ret; CLI_OK or an exit code after a message. */
int api_get(struct cli *c, const char *path, struct api_reply *ret);
