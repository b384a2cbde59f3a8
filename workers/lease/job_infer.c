/* SPDX-License-Identifier: Apache-2.0 */
/* job_infer.c - one request of the Open Inference Protocol, version 2, in the serving child: read on the loop thread, computed by
 * the batcher, answered from there. All memory of a request is its exchange's arena. */
#include "workers/lease/infer_read_int.h"
#include "workers/lease/type_serve_int.h"

#include <stdio.h>
#include "core/base/cleanup.h"
#include "core/wire/infer_wire.h"

static const size_t REPLY_MAX = (size_t)512 << 20;

struct inference {
    struct infer_request request;
    struct infer_call call;
    struct http_exchange *x;
};

/* Full: the caller may come again. Late: it waited for longer than it may. */
static void refuse(struct http_exchange *x, enum errc rc)
{
    if (rc == ERR_RATE)
        return serve_fail(x, 429, "the model has as many requests waiting as it may; try again");
    if (rc == ERR_DEADLINE)
        return serve_fail(x, 503, INFER_TOO_LATE);
    serve_fail(x, err_row(rc)->http, err_row(rc)->title);
}

static void on_done(struct infer_request *r, enum errc rc)
{
    struct inference *i = r->ctx;
    struct buf b = BUF(REPLY_MAX);
    struct err e;
    size_t json;
    char length[24];
    if (rc != ERR_OK)
        return refuse(i->x, rc);
    if (infer_answer(&i->call, &b, &json, &e) != ERR_OK) {
        buf_release(&b);
        return serve_fail(i->x, 413, e.msg);
    }
    snprintf(length, sizeof length, "%zu", json);
    const struct http_header h[] = { { STR(INFER_JSON_LENGTH), str_c(length) } };
    http_reply_buf(i->x, 200, json ? STR("application/octet-stream") : STR("application/json"), h, json ? 1 : 0, &b);
}

void serve_infer(struct job_serve *s, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    struct inference *i = ARENA_NEW(r->arena, struct inference);
    struct err e = { 0 };
    i->x = x;
    i->call = (struct infer_call){ .model = s->model, .sig = &infer_model_info(s->model)->sig, .arena = r->arena, .name = s->name,
                                   .version = s->version };
    enum errc rc = infer_read(&i->call, http_header_get(r, INFER_JSON_LENGTH), r->body, &e);
    if (rc != ERR_OK)
        return serve_fail(x, err_row(rc)->http, e.msg);
    i->request = (struct infer_request){ .io = i->call.io, .rows = i->call.rows, .timeout_us = i->call.timeout_us,
                                         .priority = i->call.priority, .ctx = i,
                                         .caller = str_hash(http_header_get(r, INFER_CALLER)), .done = on_done };
    rc = batcher_submit(s->batcher, &i->request, &e);
    if (rc != ERR_OK)
        refuse(x, rc);
}
