/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h - a collector of OpenTelemetry inside a test: what a sender (core/http/otlp.h) told it, as text.
 *
 *     struct collector c;
 *     struct otlp *o = collector_begin(&c, "falaj-api");
 *     … otlp_tell … ; otlp_free(o);            // sends all
 *     assert_non_null(strstr(collector_text(&c), "\"name\":\"wait\""));
 *     collector_end(&c); */
#pragma once
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/http/otlp.h"
#include "core/http/server.h"
#include "core/table/config.h"

struct collector {
    struct http_server *server;
    struct config *config;
    pthread_mutex_t lock;               /* guards text */
    struct buf text;
};

static inline void collector_take(void *ctx, struct http_exchange *x)
{
    struct collector *c = ctx;
    pthread_mutex_lock(&c->lock);
    buf_add_str(&c->text, http_exchange_request(x)->body);
    pthread_mutex_unlock(&c->lock);
    http_reply(x, &(struct http_response){ .status = 200, .content_type = STR("application/json"), .body = STR("{}") });
}

static inline struct otlp *collector_begin(struct collector *c, const char *program)
{
    char url[64];
    struct err e = { 0 };
    struct otlp *o = NULL;
    *c = (struct collector){ .config = config_new_default(), .text = BUF(1 << 20) };
    pthread_mutex_init(&c->lock, NULL);
    const struct http_server_options how = { .bind_addr = "127.0.0.1", .on_request = collector_take, .ctx = c };
    c->server = http_server_new(&how, &e);
    assert_non_null(c->server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(c->server));
    assert_int_equal(config_set(c->config, "otlp.endpoint", url, &e), ERR_OK);
    assert_int_equal(config_set(c->config, "otlp.metrics_ms", "0", &e), ERR_OK);
    assert_int_equal(otlp_new(c->config, program, &o, &e), ERR_OK);
    return o;
}

static inline const char *collector_text(const struct collector *c)
{
    return c->text.ptr ? c->text.ptr : "";
}

/* How often it was told this. */
static inline int collector_count(const struct collector *c, const char *what)
{
    int n = 0;
    for (const char *at = collector_text(c); (at = strstr(at, what)); at++)
        n++;
    return n;
}

static inline void collector_end(struct collector *c)
{
    http_server_free(c->server);
    buf_release(&c->text);
    config_free(c->config);
    pthread_mutex_destroy(&c->lock);
}
