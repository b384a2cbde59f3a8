/* SPDX-License-Identifier: Apache-2.0 */
/* listeners.c - three doors: people's, machines' with certificates, and one for health and metrics (core/http/ops.h). What one
 * client may take of a door is in its options. */
#include "api/listeners.h"
#include "core/http/ops.h"
#include "core/table/config.h"

enum { BODIES_BY_ITSELF = 16 };     /* of the largest body */

enum errc bodies_open(struct api *api, const struct config *cfg, struct err *e)
{
    int64_t largest = cfg->api_upload_max > cfg->api_max_body ? cfg->api_upload_max : cfg->api_max_body;
    if (cfg->api_body_memory && cfg->api_body_memory / BODY_LARGEST_IN < largest)
        return FAIL(e, INVALID, "api.body_memory is %lld bytes: expected 0, or at least %d times the larger of api.upload_max "
                    "and api.max_body, which is %lld; else a body of that size is never taken", (long long)cfg->api_body_memory,
                    BODY_LARGEST_IN, (long long)largest);
    api->bodies = body_budget_new((size_t)(cfg->api_body_memory ? cfg->api_body_memory : BODIES_BY_ITSELF * largest));
    return ERR_OK;
}

/* What both listeners have alike. */
static struct http_server_options listener_options(const struct api *api, struct listener *l, const struct config *cfg)
{
    return (struct http_server_options){ .max_connections = (int)cfg->api_max_connections,
        .per_address = (int)cfg->api_connections_per_address, .connects_per_s = (int)cfg->api_connects_per_address_per_second,
        .body_max_default = (size_t)cfg->api_max_body, .header_deadline_ms = (int)cfg->api_header_deadline_ms,
        .body_deadline_ms = (int)cfg->api_body_deadline_ms, .arena_max = (size_t)256 << 20, .body_limit = pipeline_body_limit,
        .bodies = api->bodies, .body_owner = pipeline_body_owner,
        .is_proxy = pipeline_is_proxy, .on_request = pipeline_request, .reject = pipeline_reject, .ctx = l };
}

struct http_server *listen_people(struct api *api, const struct config *cfg, struct err *e)
{
    struct http_server_options o = listener_options(api, &api->people_listener, cfg);
    o.bind_addr = cfg->api_bind;
    o.port = (int)cfg->api_port;
    o.loops = (int)cfg->api_loops;
    o.tls_cert_file = *cfg->api_cert ? cfg->api_cert : NULL;
    o.tls_key_file = *cfg->api_key ? cfg->api_key : NULL;
    return http_server_new(&o, e);
}

struct http_server *listen_nodes(struct api *api, const struct config *cfg, struct err *e)
{
    struct http_server_options o = listener_options(api, &api->node_listener, cfg);
    o.bind_addr = cfg->api_worker_bind;
    o.port = (int)cfg->api_worker_port;
    o.tls_cert_file = cfg->api_worker_cert;
    o.tls_key_file = cfg->api_worker_key;
    o.tls_trust = api->trust;
    o.require_client_cert = true;
    return http_server_new(&o, e);
}

void listeners_free(struct api *api)
{
    http_server_free(api->people);
    http_server_free(api->nodes);
    body_budget_free(api->bodies);
}

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
