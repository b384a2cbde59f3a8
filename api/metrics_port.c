/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_port.c - a listener of its own for health and metrics (core/http/ops.h). */
#include "api/metrics_port.h"
#include "core/http/ops.h"
#include "core/table/config.h"

static bool ops_ready(void *ctx, struct buf *why)
{
    const struct app *app = ctx;
    const struct api *api = app->extra;
    if (api->draining)
        buf_add_c(why, "draining\n");
    return !api->draining;
}

static void ops_metrics(void *ctx, struct buf *out)
{
    api_metrics_print(ctx, out);
}

/* Metrics tell how much whom is doing what: in prod they are not for who may reach the API. */
enum errc metrics_port_open(struct app *app, struct api *api, struct err *e)
{
    const struct config *cfg = app->config;
    const struct ops_place at = { cfg->api_ops_bind, cfg->api_ops_port, OPS_PORT_API, cfg->run_profile == PROFILE_PROD };
    return ops_open(&at, (struct ops_source){ ops_ready, ops_metrics, app }, &api->ops, e);
}

void metrics_port_close(struct api *api)
{
    ops_server_free(api->ops);
    api->ops = NULL;
}
