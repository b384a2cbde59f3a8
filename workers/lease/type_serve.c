/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve.c - a serve job in the child: the model in memory behind a TLS listener that only the zone's API may call.
 *
 * The listener stands before the sandbox closes, because it opens the key files by name; until the model is loaded it answers 503.
 * A renewed certificate comes from the agent, for the sandbox opens no file; new connections see it.
 * A request is read on the loop thread, computed by the batcher, answered from there. SIGTERM: what is open is served, then the end. */
#include "workers/lease/type_serve_int.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_serve.h"
#include "core/wire/infer_wire.h"
#include "workers/lease/work_type.h"

enum { QUEUE_ROWS = 65536, DRAIN_MS = 2000, POLL_MS = 50 };
static const size_t BODY_MAX = (size_t)32 << 20, REQUEST_ARENA = (size_t)256 << 20;

static void serve_json(struct http_exchange *x, int status, const struct schema *schema, const void *body)
{
    struct buf b = BUF(64 * 1024);
    json_encode(schema, body, &b);
    http_reply_buf(x, status, STR("application/json"), NULL, 0, &b);
}

void serve_fail(struct http_exchange *x, int status, const char *why)
{
    struct str text = str_c(why);
    serve_json(x, status, &infer_error_schema, &(struct infer_error){ str_is_utf8(text) ? text : STR("the request is not acceptable") });
}

static void serve_metadata(struct job_serve *s, struct http_exchange *x)
{
    const struct infer_info *info = infer_model_info(s->model);
    char version[24];
    snprintf(version, sizeof version, "%ld", (long)s->version);
    struct str versions[] = { str_c(version) };
    int64_t in_shape[] = { -1, (int64_t)info->inputs }, out_shape[] = { -1, (int64_t)info->classes };
    struct infer_tensor inputs[] = { { .name = STR("input"), .datatype = STR("FP32"), .shape = { in_shape, 2 } } },
                        outputs[] = { { .name = STR("probabilities"), .datatype = STR("FP32"), .shape = { out_shape, 2 } },
                                      { .name = STR("label"), .datatype = STR("INT64"), .shape = { out_shape, 1 } } };
    serve_json(x, 200, &infer_metadata_schema,
               &(struct infer_metadata){ s->name, { versions, 1 }, STR("falaj_mlp"), { inputs, 1 }, { outputs, 2 } });
}

static void on_request(void *ctx, struct http_exchange *x)
{
    struct job_serve *s = ctx;
    const struct http_request *r = http_exchange_request(x);
    if (!str_eq_c(r->peer_identity, s->identity))
        return serve_fail(x, 403, "only the zone's API may call");
    if (!s->is_ready)
        return serve_fail(x, 503, "the model is being loaded");
    if (r->method == HTTP_POST && str_eq_c(r->path, "/infer"))
        return serve_infer(s, x);
    if (r->method == HTTP_GET && str_eq_c(r->path, "/metadata"))
        return serve_metadata(s, x);
    if (r->method == HTTP_GET && str_eq_c(r->path, "/ready"))
        return serve_json(x, 200, &infer_ready_schema, &(struct infer_ready){ true });
    serve_fail(x, 404, "there is no such path");
}

static void on_reject(void *ctx, struct http_exchange *x, enum errc code, const char *why)
{
    (void)ctx;
    serve_fail(x, err_row(code)->http, why);
}

static enum errc serve_open(struct child *c, void **ret, struct err *e)
{
    struct serve_job job = { 0 };
    const struct child_grant *g = &c->grant;
    TRY(json_decode(&serve_job_schema, g->lease.spec.text, c->arena, &job, e));
    struct job_serve *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->child = c;
    s->name = job.name;
    s->version = job.model_version;
    snprintf(s->identity, sizeof s->identity, "spiffe://%.*s/api", STR_ARG(g->lease.zone));
    const struct http_server_options o = { .bind_addr = g->serve_bind.ptr, .port = 0, .loops = 1, .max_connections = 512,
                                           .body_max_default = BODY_MAX, .arena_max = REQUEST_ARENA, .on_request = on_request,
                                           .reject = on_reject, .ctx = s, .tls_cert_file = g->cert.ptr, .tls_key_file = g->key.ptr,
                                           .tls_client_ca_file = g->ca.ptr, .require_client_cert = true };
    s->server = http_server_new(&o, e);
    if (!s->server) {
        free(s);
        return e->code;
    }
    *ret = s;
    return ERR_OK;
}

static enum errc load(struct job_serve *s, struct err *e)
{
    struct child *c = s->child;
    if (c->n_inputs < 1)
        return FAIL(e, INVALID, "a serve job needs its model as input");
    CLEANUP(buf_releasep) struct buf bytes = BUF(0);
    TRY(child_open_input(c, 0, &bytes, e));
    enum errc rc = infer_model_load(c->backend, c->pool, bytes.ptr, bytes.len, &s->model, e);
    secret_wipe(bytes.ptr, bytes.len);
    TRY(rc);
    return batcher_new(s->model, c->hw.cores, QUEUE_ROWS, &s->batcher, e);
}

/* The machine's certificate lives a day, a model is served for longer. The key stays the same (workers/agent/enrol.h). */
static void renew(struct job_serve *s, const struct frame *f)
{
    struct err e = { 0 };
    if (f->type == FRAME_CERT && http_server_renew(s->server, f->body, &e) != ERR_OK)
        child_log(s->child, "warning: the renewed certificate cannot be used: %s", e.msg);
}

/* Until SIGTERM, or until the agent's end of descriptor 3 is closed. */
static void wait_for_end(struct job_serve *s)
{
    struct pollfd p = { .fd = FRAME_FD, .events = POLLIN };
    char *room = arena_alloc(s->child->arena, FRAME_MAX);
    while (!*s->child->stop) {
        struct frame f = { 0 };
        if (poll(&p, 1, POLL_MS) <= 0)
            continue;
        if (frame_receive(FRAME_FD, room, &f, NULL) != ERR_OK)
            return;
        frame_close_fds(&f);
        renew(s, &f);
    }
}

static enum errc serve_run(struct child *c, void *state, struct err *e)
{
    struct job_serve *s = state;
    (void)c;
    TRY(load(s, e));
    const struct infer_info *info = infer_model_info(s->model);
    s->is_ready = true;
    struct str bind = s->child->grant.serve_bind;
    char endpoint[300];
    int n = snprintf(endpoint, sizeof endpoint, strchr(bind.ptr, ':') ? "[%s]:%d" : "%s:%d", bind.ptr, http_server_port(s->server));
    child_log(s->child, "info: serving %.*s version %ld: %zu inputs, %zu classes, %zu parameters, backend %s", STR_ARG(s->name),
              (long)s->version, info->inputs, info->classes, info->parameters, s->child->backend->name);
    TRY(frame_send(FRAME_FD, FRAME_READY, STR_NULL, str_n(endpoint, (size_t)n), NULL, 0, true, e));
    wait_for_end(s);
    http_server_drain(s->server);
    for (int ms = 0; ms < DRAIN_MS && http_server_open_exchanges(s->server); ms += POLL_MS)
        poll(NULL, 0, POLL_MS);
    struct batcher_stats stats;
    batcher_get_stats(s->batcher, &stats);
    child_log(s->child, "info: answered %lu requests of %lu rows in %lu batches, of at most %lu requests", (unsigned long)stats.requests,
              (unsigned long)stats.rows, (unsigned long)stats.batches, (unsigned long)stats.batched_requests_max);
    return FAIL(e, RETRY, "told to stop");
}

static void serve_close(void *state)
{
    struct job_serve *s = state;
    http_server_refuse(s->server);
    if (s->batcher)
        batcher_free(s->batcher);       /* answers what is queued */
    http_server_free(s->server);
    if (s->model)
        infer_model_free(s->model);
    free(s);
}

const struct work_type work_type_serve = { .open = serve_open, .run = serve_run, .close = serve_close, .is_server = true };
