/* SPDX-License-Identifier: Apache-2.0 */
/* kube.c - Kubernetes by its API (batch/v1), with a token or a client certificate, in one namespace (ADR 0144).
 *
 * Its health is a dry run of a submission: the server judges and stores nothing, so the right to submit, the namespace, its
 * quota and what an old server would drop are known before a job depends on them. A run is submitted as a Secret and then a Job;
 * what is between them is removed by the run's name, which is the id of both. Lists have no resourceVersion: what they say is
 * what is stored, not what a cache had, so that what is absent is absent. */
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/fault.h"
#include "core/http/client.h"
#include "core/json/jsonvalue.h"
#include "scheduler/engines/kube_read.h"
#include "scheduler/engines/kube_same.h"
#include "scheduler/engines/kube_script.h"
#include "scheduler/engines/kube_text.h"

#include <signal.h>

enum { CONNECT_MS = 2000, BODY_MAX = 128 << 10 };
/* The text of a list and what its call needs. */
static const size_t LIST_ARENA = (size_t)ENGINE_LIST_MAX + (4 << 20);
#define OURS "labelSelector=app.kubernetes.io%2Fmanaged-by%3D" KUBE_OWNER
#define JOBS "/apis/batch/v1/namespaces/%.*s/jobs"
#define SECRETS "/api/v1/namespaces/%.*s/secrets"
#define PODS "/api/v1/namespaces/%.*s/pods"
/* Of 1.27 and later: a member that is not known is an error. Before, what was stored is held against what was sent. */
#define STRICT "fieldValidation=Strict"

static enum errc open_client(const struct engine_call *c, struct http_client **ret, struct err *e)
{
    const bool is_unix = str_starts(c->address, "unix:");
    const struct http_client_options o = {
        .base_url = is_unix ? "http://localhost" : str_z(c->arena, c->address),
        .unix_socket = is_unix ? str_z(c->arena, str_n(c->address.ptr + 5, c->address.len - 5)) : NULL,
        .ca_file = c->ca_file, .cert_file = c->cert_file, .key_file = c->cert_file, .connect_timeout_ms = CONNECT_MS,
        .timeout_ms = ENGINE_CALL_MS };
    *ret = http_client_new(&o, e);
    return *ret ? ERR_OK : e->code;
}

static enum errc call(const struct engine_call *c, struct http_client *client, const char *method, struct str path,
                      struct str body, size_t most, struct http_result *ret, struct err *e)
{
    const char *headers[3] = { "Accept: application/json" };
    if (c->credential.len)
        headers[1] = str_z(c->arena, str_fmt(c->arena, "Authorization: Bearer %.*s", STR_ARG(c->credential)));
    const struct http_call h = { .method = method, .path = str_z(c->arena, path), .headers = headers, .body = body,
                                 .response_max = most, .is_unwanted = c->is_unwanted, .unwanted_ctx = c->ctx };
    return http_client_call(client, c->arena, &h, ret, e);
}

/* Posts the Job; what was stored must be what was sent. ret_is_stored: it was taken, however that ends. */
static enum errc post_job(const struct engine_call *c, struct http_client *client, const struct engine_ask *ask, bool is_dry,
                          bool *ret_is_stored, struct err *e)
{
    CLEANUP(buf_releasep) struct buf body = BUF(BODY_MAX);
    const struct jval *sent = NULL, *stored = NULL;
    struct http_result r;
    const struct str path = str_fmt(c->arena, JOBS "?" STRICT "%s", STR_ARG(c->account), is_dry ? "&dryRun=All" : "");
    kube_job_body(ask, &body);
    if (body.overflow)
        return FAIL(e, INVALID, "the job for Kubernetes is longer than %d bytes", BODY_MAX);
    TRY(jval_parse(c->arena, buf_str(&body), 0, &sent, e));
    TRY(call(c, client, "POST", path, buf_str(&body), ENGINE_ONE_MAX, &r, e));
    TRY(kube_read(c->arena, r.status, r.body, true, &stored, e));
    *ret_is_stored = true;
    const struct str differs = kube_differs(c->arena, sent, stored);
    if (differs.ptr)
        return FAIL(e, INVALID, "Kubernetes would not keep what was sent, but change %.*s%s", STR_ARG(differs),
                    str_eq_c(differs, "spec.suspend") || str_eq_c(differs, "spec.completionMode")
                    ? ": a queue needs Kubernetes 1.24 or later" : "");
    return ERR_OK;
}

static enum errc health(const struct engine_call *c, struct err *e)
{
    CLEANUP(http_client_freep) struct http_client *client = NULL;
    bool is_stored = false;
    TRY(open_client(c, &client, e));
    return post_job(c, client, c->probe, true, &is_stored, e);
}

static enum errc remove_one(const struct engine_call *c, struct http_client *client, struct str path, struct err *e)
{
    struct http_result r;
    const struct str how = STR("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"propagationPolicy\":\"Foreground\"}");
    TRY(call(c, client, "DELETE", path, how, ENGINE_ONE_MAX, &r, e));
    return kube_read_gone(c->arena, r.status, r.body, e);
}

/* The Job stays until its pods have ended: so it can be seen that they do. */
static enum errc cancel(const struct engine_call *c, struct str id, struct err *e)
{
    CLEANUP(http_client_freep) struct http_client *client = NULL;
    TRY(open_client(c, &client, e));
    TRY(remove_one(c, client, str_fmt(c->arena, JOBS "/%.*s", STR_ARG(c->account), STR_ARG(id)), e));
    return remove_one(c, client, str_fmt(c->arena, SECRETS "/%.*s", STR_ARG(c->account), STR_ARG(id)), e);
}

static enum errc post_secret(const struct engine_call *c, struct http_client *client, const struct engine_ask *ask, struct err *e)
{
    CLEANUP(buf_releasep) struct buf body = BUF(BODY_MAX);
    const struct jval *doc = NULL;
    struct http_result r;
    kube_secret_body(ask, &body);
    if (body.overflow)
        return FAIL(e, INVALID, "the tokens for Kubernetes are longer than %d bytes", BODY_MAX);
    TRY(call(c, client, "POST", str_fmt(c->arena, SECRETS, STR_ARG(c->account)), buf_str(&body), ENGINE_ONE_MAX, &r, e));
    return kube_read(c->arena, r.status, r.body, true, &doc, e);
}

static enum errc submit(const struct engine_call *c, const struct engine_ask *ask, struct str *ret_id, struct err *e)
{
    CLEANUP(http_client_freep) struct http_client *client = NULL;
    bool is_stored = false;
    struct err dropped = { 0 };
    TRY(open_client(c, &client, e));
    TRY(post_secret(c, client, ask, e));
    if (FAULT("engine_half"))
        raise(SIGKILL);
    if (post_job(c, client, ask, false, &is_stored, e) == ERR_OK) {
        *ret_id = ask->name;
        return ERR_OK;
    }
    const enum errc why = e->code;
    /* Refused, or stored as something else: nothing of it may stay. Where that is not certain the next look finds it. */
    if (why == ERR_INVALID && cancel(c, ask->name, &dropped) != ERR_OK && is_stored)
        return FAIL(e, UPSTREAM, "Kubernetes changed what was sent and did not remove it: %s", dropped.msg);
    return why;
}

/* Its text lies in an arena of its own, so that of two lists one is there at a time. */
static enum errc list_of(const struct engine_call *c, struct http_client *client, struct arena *own, const char *what,
                         struct http_result *ret, struct err *e)
{
    struct engine_call mine = *c;
    mine.arena = own;
    arena_reset(own);
    return call(&mine, client, "GET", str_fmt(own, "%s?%s", what, OURS), STR_NULL, ENGINE_LIST_MAX, ret, e);
}

static enum errc list(const struct engine_call *c, struct slice *ret, struct err *e)
{
    CLEANUP(http_client_freep) struct http_client *client = NULL;
    CLEANUP(arena_freep) struct arena *own = arena_new(LIST_ARENA);
    const struct kube_pods *pods = NULL;
    struct http_result r;
    TRY(open_client(c, &client, e));
    TRY(list_of(c, client, own, arena_printf(c->arena, PODS, STR_ARG(c->account)), &r, e));
    TRY(kube_read_pods(c->arena, r.status, r.body, clock_wall_us(&clock_system), &pods, e));
    TRY(list_of(c, client, own, arena_printf(c->arena, JOBS, STR_ARG(c->account)), &r, e));
    return kube_read_runs(c->arena, r.status, r.body, pods, ret, e);
}

const struct engine_door engine_kube = { .kind = "kubernetes", .script = kube_script, .has_images = true, .keeps_ended = true,
                                         .health = health, .submit = submit, .list = list, .cancel = cancel };
