/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - /healthz, /readyz and /metrics: one loop, few connections, answers made on the loop thread. */
#include "core/http/ops.h"

#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/http/server.h"

enum { METRICS_MAX = 8 << 20, WHY_MAX = 16 * 1024, CONNECTIONS = 64, PER_ADDRESS = 32, CONNECTS_PER_S = 200, BODY_MAX = 1024 };

struct ops_server {
    struct http_server *http;
    struct ops_source source;
};

static const struct http_header NO_STORE[] = { { { "Cache-Control", 13 }, { "no-store", 8 } } };

static void answer(struct http_exchange *x, int status, const char *type, struct buf *take)
{
    http_reply_buf(x, status, str_c(type), NO_STORE, 1, take);
}

static void on_request(void *ctx, struct http_exchange *x)
{
    static const char TEXT[] = "text/plain; charset=utf-8";
    struct ops_server *s = ctx;
    const struct http_request *r = http_exchange_request(x);
    struct buf b = BUF(METRICS_MAX);
    if (r->method != HTTP_GET && r->method != HTTP_HEAD) {
        buf_add_c(&b, "GET only\n");
        answer(x, 405, TEXT, &b);
    } else if (str_eq_c(r->path, "/healthz")) {
        buf_add_c(&b, "ok\n");
        answer(x, 200, TEXT, &b);
    } else if (str_eq_c(r->path, "/readyz")) {
        b.max = WHY_MAX;
        bool is_ready = !s->source.ready || s->source.ready(s->source.ctx, &b);
        if (b.len == 0)
            buf_add_c(&b, is_ready ? "ready\n" : "not ready\n");
        answer(x, is_ready ? 200 : 503, TEXT, &b);
    } else if (str_eq_c(r->path, "/metrics") && s->source.metrics) {
        s->source.metrics(s->source.ctx, &b);
        answer(x, 200, "text/plain; version=0.0.4; charset=utf-8", &b);
    } else {
        buf_add_c(&b, "not found\n");
        answer(x, 404, TEXT, &b);
    }
    buf_release(&b);
}

struct ops_server *ops_server_new(const char *bind_addr, int port, struct ops_source source, struct err *e)
{
    struct ops_server *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->source = source;
    struct http_server_options o = { .bind_addr = bind_addr, .port = port, .loops = 1, .max_connections = CONNECTIONS,
                                     .per_address = PER_ADDRESS, .connects_per_s = CONNECTS_PER_S,
                                     .body_max_default = BODY_MAX, .header_deadline_ms = 10000, .body_deadline_ms = 10000,
                                     .on_request = on_request, .ctx = s };
    s->http = http_server_new(&o, e);
    if (!s->http) {
        free(s);
        return NULL;
    }
    return s;
}

enum errc ops_open(const struct ops_place *p, struct ops_source source, struct ops_server **ret, struct err *e)
{
    int port = p->port >= 0 ? (int)p->port : p->is_prod ? p->prod_port : 0;
    *ret = NULL;
    if (!port)
        return ERR_OK;
    *ret = ops_server_new(p->bind_addr, port, source, e);
    if (*ret) {
        log_event(LOG_INFO, "ops.listening", "bind", LOG_S(p->bind_addr), "port", LOG_I(port), NULL);
        return ERR_OK;
    }
    if (p->is_prod && p->port >= 0)
        return e->code;
    log_err(LOG_WARN, "ops.without", e);
    return ERR_OK;
}

int ops_server_port(const struct ops_server *s)
{
    return http_server_port(s->http);
}

void ops_server_free(struct ops_server *s)
{
    if (!s)
        return;
    http_server_free(s->http);
    free(s);
}
