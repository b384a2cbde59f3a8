/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_port.c - a listener of its own for health and metrics (core/http/ops.h). */
#include "api/metrics_port.h"
#include "core/base/log.h"
#include "core/http/ops.h"
#include "core/table/config.h"

enum { OPS_PORT = 9464 };       /* where Prometheus looks for an exporter by its own convention */

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
    int64_t port = cfg->api_ops_port >= 0 ? cfg->api_ops_port : cfg->run_profile == PROFILE_PROD ? OPS_PORT : 0;
    if (!port)
        return ERR_OK;
    api->ops = ops_server_new(cfg->api_ops_bind, (int)port, (struct ops_source){ ops_ready, ops_metrics, app }, e);
    if (!api->ops)
        return e->code;
    log_event(LOG_INFO, "api.ops", "bind", LOG_S(cfg->api_ops_bind), "port", LOG_I(port), NULL);
    return ERR_OK;
}

void metrics_port_close(struct api *api)
{
    ops_server_free(api->ops);
    api->ops = NULL;
}
