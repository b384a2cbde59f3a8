/* SPDX-License-Identifier: Apache-2.0 */
/* slurm.c - Slurm by slurmrestd (v0.0.38): by a JWT over TCP, with TLS where a front has it, or by a Unix socket whose daemon has
 * our account. One connection a call: a turn has few, and a connection that died between two turns is no fault of the engine. */
#include "core/base/cleanup.h"
#include "core/http/client.h"
#include "scheduler/engines/script.h"
#include "scheduler/engines/slurm_text.h"

enum { CONNECT_MS = 2000, BODY_MAX = 256 << 10 };

static enum errc call(const struct engine_call *c, const char *method, struct str path, struct str body, size_t most,
                      struct http_result *ret, struct err *e)
{
    const bool is_unix = str_starts(c->address, "unix:");
    const struct http_client_options o = {
        .base_url = is_unix ? "http://localhost" : str_z(c->arena, c->address),
        .unix_socket = is_unix ? str_z(c->arena, str_n(c->address.ptr + 5, c->address.len - 5)) : NULL,
        .ca_file = c->ca_file, .connect_timeout_ms = CONNECT_MS, .timeout_ms = ENGINE_CALL_MS };
    const char *headers[3] = { NULL };
    size_t n = 0;
    if (c->account.len)
        headers[n++] = str_z(c->arena, str_fmt(c->arena, "X-SLURM-USER-NAME: %.*s", STR_ARG(c->account)));
    if (c->credential.len)
        headers[n++] = str_z(c->arena, str_fmt(c->arena, "X-SLURM-USER-TOKEN: %.*s", STR_ARG(c->credential)));
    CLEANUP(http_client_freep) struct http_client *client = http_client_new(&o, e);
    if (!client)
        return e->code;
    const struct http_call h = { .method = method, .path = str_z(c->arena, path), .headers = headers, .body = body,
                                 .response_max = most, .is_unwanted = c->is_unwanted, .unwanted_ctx = c->ctx };
    return http_client_call(client, c->arena, &h, ret, e);
}

static enum errc health(const struct engine_call *c, struct err *e)
{
    struct http_result r;
    TRY(call(c, "GET", STR(SLURM_PATH "/ping"), STR_NULL, ENGINE_ONE_MAX, &r, e));
    return slurm_read_ping(c->arena, r.status, r.body, e);
}

static enum errc submit(const struct engine_call *c, const struct engine_ask *ask, struct str *ret_id, struct err *e)
{
    struct http_result r;
    CLEANUP(buf_releasep) struct buf body = BUF(BODY_MAX);
    slurm_submit_body(ask, &body);
    if (body.overflow)
        return FAIL(e, INVALID, "the job for Slurm is longer than %d bytes", BODY_MAX);
    TRY(call(c, "POST", STR(SLURM_PATH "/job/submit"), buf_str(&body), ENGINE_ONE_MAX, &r, e));
    return slurm_read_submit(c->arena, r.status, r.body, ret_id, e);
}

static struct str path_of(const struct engine_call *c, struct str id)
{
    return str_fmt(c->arena, SLURM_PATH "/job/%.*s", STR_ARG(id));
}

static enum errc look(const struct engine_call *c, struct str id, struct engine_seen *ret, bool *ret_found, struct err *e)
{
    struct http_result r;
    struct slice rows;
    size_t large;
    TRY(call(c, "GET", path_of(c, id), STR_NULL, ENGINE_ONE_MAX, &r, e));
    TRY(slurm_read_jobs(c->arena, r.status, r.body, &rows, &large, e));
    *ret_found = rows.n > 0;
    if (rows.n)
        *ret = *(const struct engine_seen *)rows.items;
    return ERR_OK;
}

static enum errc list(const struct engine_call *c, struct slice *ret, struct err *e)
{
    struct http_result r;
    size_t large;
    TRY(call(c, "GET", STR(SLURM_PATH "/jobs"), STR_NULL, ENGINE_LIST_MAX, &r, e));
    return slurm_read_jobs(c->arena, r.status, r.body, ret, c->ret_large ? c->ret_large : &large, e);
}

static enum errc cancel(const struct engine_call *c, struct str id, struct err *e)
{
    struct http_result r;
    TRY(call(c, "DELETE", path_of(c, id), STR_NULL, ENGINE_ONE_MAX, &r, e));
    return slurm_read_plain(c->arena, r.status, r.body, e);
}

const struct engine_door engine_slurm = { .kind = "slurm", .script = engine_script, .health = health, .submit = submit,
                                          .look = look, .list = list, .cancel = cancel };
