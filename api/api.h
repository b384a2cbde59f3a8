/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - the state of falaj-api beyond struct app: its listeners, its pipeline, its watchers. Made and undone by main.c. */
#pragma once
#include <stdatomic.h>
#include "api/pipeline.h"

struct console;
struct events;
struct job_streams;
struct serving;
struct infer_stats;
struct keys_watch;
struct roll_keeper;
struct mtls_trust;

struct api {
    struct pipeline *pipeline;
    struct authn *authn;
    struct session_authn *sessions;
    struct rate_limiter *rate;
    struct http_server *people, *nodes;
    struct body_budget *bodies;         /* core/http/body_budget.h: of both */
    struct mtls_trust *trust;           /* api/trust.h: authorities of the node listener */
    struct listener people_listener, node_listener;
    struct wake_listener *wakes;
    struct job_streams *streams;        /* api/stream.h: open SSE streams of jobs */
    struct console *console;            /* api/console.h: the built files of the web console; NULL: none */
    struct events *events;              /* api/events.h: open streams of browser tabs */
    struct serving *serving;            /* serving/serving.h: connections to serving workers */
    struct roll_keeper *rolls;          /* serving/roll.h: deployments that move to another job */
    struct infer_stats *infer_stats;    /* serving/infer_stats.h: how deployments answered */
    struct keys_watch *keys;            /* api/keys_watch.h: how falaj-keyd of each zone is */
    struct ops_server *ops;             /* core/http/ops.h: health and metrics on a port of their own; NULL: on the people's */
    struct cert_watch *certs;           /* core/http/cert_watch.h: certificates that are replaced, or end soon */
    struct app lane_apps[LANE_COUNT];   /* copies of the app with the connections of each lane (lane.def) */
    _Atomic bool draining;
};

/* The metrics of this process as they are now. Any thread. */
struct app;
struct buf;
void api_metrics_print(const struct app *app, struct buf *out);

