/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - the stream of a browser tab: which topics, and whether this caller may watch each of them. */
#include "api/api.h"
#include "api/api_int.h"
#include "api/events.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/job.h"
#include "tenants/access/authz.h"

struct events_in { struct str topics; };
SCHEMA_OF(events_in, "What to watch", FIELD(events_in, topics, F_QUERY | F_REQ, .min = 1, .max = 1024,
    .doc = "jobs, job:<id>, nodes, approvals, deployments: any of them, with commas between, at most 16"));

/* The same rules as for the lists behind the topics: permission, projects, and the caller's own tenant. */
static enum errc may_watch(struct call *c, struct event_watch *ret, struct err *e)
{
    struct work *w = &c->work;
    enum permission perm = feed_permission(ret->topic.kind);
    struct authz_context ctx = { .now_us = w->now_us, .source_ip = w->source_ip };
    struct decision d = authz_decide(c->principal, perm, &ctx);
    if (!d.allowed)
        return admit_refuse(c, &d, perm, e);
    ret->projects = d.in_projects ? authz_projects(c->principal, perm, &ctx, w->arena) : (struct slice){ 0 };
    if (ret->topic.kind != FEED_JOB)
        return ERR_OK;
    struct job job;
    return RUN_TX(w, w->app->pool, SCOPE_PROJECTS(w->tenant_id, ret->projects.items, ret->projects.n), TX_READ_ONLY, job_get(w, ret->topic.id, &job, e), e);
}

static enum errc events(struct call *c, struct err *e)
{
    const struct events_in *in = c->in;
    const struct api *api = c->work.app->extra;
    struct feed_topic topics[FEED_TOPICS_MAX];
    struct event_watch watches[FEED_TOPICS_MAX] = { 0 };
    size_t n;
    TRY(feed_topics_parse(in->topics, topics, &n, e));
    for (size_t i = 0; i < n; i++) {
        watches[i].topic = topics[i];
        TRY(may_watch(c, &watches[i], e));
    }
    return events_add(api->events, c, watches, n, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/events", .lane = LANE_CALLS,
      .op = "events_watch", .perm = PERM_SIGNED_IN, .raw = events, .in = &events_in_schema, .status = 200,
      .content_type = "text/event-stream", .flags = R_UNNOTICED,
      .doc = "Server-sent events {topic, id, kind}: what has changed and is worth reading again. First {topic, id: null, kind: \"ready\"} of each "
             "topic. Ends after five minutes at most; a browser comes back by itself" },
};
extern const struct route_table event_routes;
ROUTE_TABLE(event_routes, rows);
