/* SPDX-License-Identifier: Apache-2.0 */
/* listeners.h - the listeners of falaj-api: people's at api.port, machines' at api.worker_port, and health and metrics on a port
 * of their own, api.ops_port at api.ops_bind, in prod by itself: then /metrics is no longer on the people's port. That one is
 * closed before what the metrics are about is taken down.
 * Errors: those of http_server_new and ops_open. */
#pragma once
#include "api/api.h"
#include "core/base/err.h"
#include "core/base/work.h"

struct config;

/* What the bodies of both may hold (api.body_memory), before either; INVALID: too little for one. */
enum errc bodies_open(struct api *api, const struct config *cfg, struct err *e) MUST_CHECK;
struct http_server *listen_people(struct api *api, const struct config *cfg, struct err *e);     /* NULL: it cannot */
struct http_server *listen_nodes(struct api *api, const struct config *cfg, struct err *e);      /* NULL: it cannot */
void listeners_free(struct api *api);                           /* both, and what their bodies had; those that are there */
enum errc metrics_port_open(struct app *app, struct api *api, struct err *e) MUST_CHECK;        /* sets api->ops */
void metrics_port_close(struct api *api);
