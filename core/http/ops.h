/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - /healthz, /readyz and /metrics for daemons without an API of their own.
 *
 * /healthz answers 200 "ok" while the process lives; /readyz 200 or 503 with what `ready` wrote; /metrics what `metrics` wrote,
 * in the Prometheus text format. The functions run on the server's loop thread and must not block.
 * An address (an IPv6 /64) has at most half of its 64 connections, and 200 new ones in a second.
 * Calling order: ops_server_new -> ops_server_free. Errors: as http_server_new. */
#pragma once
#include <stdbool.h>
#include "core/base/err.h"
#include "core/base/str.h"

struct ops_source {
    bool (*ready)(void *ctx, struct buf *why);      /* NULL: always ready */
    void (*metrics)(void *ctx, struct buf *out);    /* NULL: 404 */
    void *ctx;
};

struct ops_server;

struct ops_server *ops_server_new(const char *bind_addr, int port, struct ops_source source, struct err *e);

/* Where a daemon's settings want it. port -1: prod_port in the prod profile, else none; 0: none. A port that was named and
 * cannot be had is
 * the error of ops_server_new; one that was not named, or in the dev profile, is told in the log and done without: *ret NULL. */
struct ops_place {
    const char *bind_addr;
    int64_t port;
    int prod_port;
    bool is_prod;
};
/* As Prometheus' exporters: from 9464 on by its own convention. */
enum { OPS_PORT_API = 9464, OPS_PORT_SCHEDULER = 9465, OPS_PORT_WORKER = 9466, OPS_PORT_KEYD = 9467 };
enum errc ops_open(const struct ops_place *p, struct ops_source source, struct ops_server **ret, struct err *e) MUST_CHECK;
int ops_server_port(const struct ops_server *s);
void ops_server_free(struct ops_server *s);
