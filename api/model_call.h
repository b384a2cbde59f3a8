/* SPDX-License-Identifier: Apache-2.0 */
/* model_call.h - one call of a route of /v2/models while its model is asked: what routes of inference and of text share.
 *
 * A call under way holds no thread: a raw handler asks and ends, and runs again with the answer (call_again). Where all that the
 * question needs is in memory the connection's own thread asks (model_call_ask_now), and a short answer is passed on by the
 * thread that got it, so that no handler has to wake for either. model_call_ask is
 * what it begins with each time; once it says OK without waiting, c->own is the struct model_call with the answer. A stream's
 * pieces go to the caller as they come, on the thread of core/http/mux.h, at most MODEL_STREAM_BUFFER bytes ahead of the reader.
 * Inference is not rate-limited by calls per minute: what a deployment can take is bounded by its machine (429) and by the limits
 * of serving/serving.h. */
#pragma once
#include "api/route.h"
#include "core/http/client.h"
#include "serving/deployment.h"

enum { MODEL_STREAM_BUFFER = 1 << 20 };

struct infer_text;
struct infer_ref { struct str name; };
struct infer_version_ref { struct str name; int64_t version; };
extern const struct schema infer_ref_schema, infer_version_ref_schema;

/* Lives in the request's arena, as c->own. */
struct model_call {
    const char *method, *path;          /* of the serving child; this and down to on_piece are the handler's */
    struct str body;
    int timeout_ms;                     /* 0: the usual one */
    bool is_short;                      /* the handler does no more with a small answer than to count it and pass it on */
    bool is_stream;                     /* a good answer goes on piece by piece; the handler ends the stream */
    void (*on_piece)(struct call *c, const char *p, size_t n);      /* sees what goes on; NULL: nobody does */
    void *own;                          /* the handler's */
    const struct infer_text *text;      /* of a call that made text, when it is over; NULL: of any other */
    struct deployment_target t;
    const char *headers[4];             /* INFER_CALLER; INFER_JSON_LENGTH of the call and its traceparent, where it has them */
    int trace_at;                       /* which of them is the last */
    uint64_t caller;
    struct trace trace;                 /* of asking; unset: it is not told */
    int64_t asked_mono_us, answered_mono_us;    /* of the last try */
    int tries;
    bool has_begun;                     /* the caller's stream */
    enum errc rc;                       /* of the last try, with result or err */
    struct http_result result;
    struct err err;
};

/* The first run asks, the last one has the answer; *ret_waits: neither yet, and nothing of the call may be touched. */
enum errc model_call_ask(struct call *c, const struct model_call *how, bool *ret_waits, struct err *e) MUST_CHECK;
/* What route.h calls quick. False: model_call_ask has it all to do. */
bool model_call_ask_now(struct call *c, const struct model_call *how) MUST_CHECK;
/* Whether the worker's answer may be handed on. */
enum errc model_call_judge(const struct http_result *r, struct err *e) MUST_CHECK;
void model_call_pass_on(struct call *c, const struct http_result *r);
/* What is counted of a call that is over. */
void model_call_account(struct call *c, enum errc rc);
