/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - /healthz, /readyz and /metrics for daemons without an API of their own.
 *
 * /healthz answers 200 "ok" while the process lives; /readyz 200 or 503 with what `ready` wrote; /metrics what `metrics` wrote,
 * in the Prometheus text format. The functions run on the server's loop thread and must not block.
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
int ops_server_port(const struct ops_server *s);
void ops_server_free(struct ops_server *s);
