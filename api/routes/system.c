/* SPDX-License-Identifier: Apache-2.0 */
/* system.c - the platform about itself: health, readiness, metrics, version, contract. */
#include "api/api.h"
#include "api/keys_watch.h"
#include "api/openapi.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/pool.h"
#include "core/redis/client.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "keys/client.h"
#include "registry/vault/blob_store.h"

#include <sys/statvfs.h>

struct status_out { struct str status; };
SCHEMA_OF(status_out, "Is it alive", FIELD(status_out, status, 0, .doc = "ok"));
enum { READY_OWN = 4 };           /* listener, postgresql, redis, blobs; then the keys of each zone */
struct ready_part { struct str name, status, detail; };
SCHEMA_OF(ready_part, "One part", FIELD(ready_part, name, 0, .doc = "Which part"),
    FIELD(ready_part, status, 0, .doc = "ok, down, degraded, draining, sealed (keys), or full (the disk of blobs)"),
    FIELD(ready_part, detail, 0, .doc = "In words, where it is not ok"));
struct ready_in { bool whole; };
SCHEMA_OF(ready_in, "Who asks", FIELD(ready_in, whole, F_QUERY,
    .doc = "503 also when a part is not ok: for a balancer that prefers others then, and asks without it when there are none"));
struct ready_out { struct str status; struct slice parts; };
SCHEMA_OF(ready_out, "May it get traffic", FIELD(ready_out, status, 0,
    .doc = "ready; degraded: takes traffic, but a part is not ok; not ready"),
          FIELD_LIST(ready_out, parts, &ready_part_schema, 0, .max = 80, .doc = "What it depends on"));
struct version_out { struct str name, version, compiler; };
SCHEMA_OF(version_out, "What runs here", FIELD(version_out, name, F_ALWAYS, .doc = "Program"),
    FIELD(version_out, version, F_ALWAYS, .doc = "Version"),
          FIELD(version_out, compiler, F_ALWAYS, .doc = "Compiler it was built with"));

static enum errc healthz(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)e;
    ((struct status_out *)out)->status = STR("ok");
    return ERR_OK;
}

/* The keys of one zone. What needs none of them goes on, and other zones do. */
static void ready_keys(struct work *w, size_t zone, struct ready_part *ret)
{
    const struct keys_seen seen = keys_watch_see(((const struct api *)w->app->extra)->keys, zone);
    ret->name = str_fmt(w->arena, "keys %s", keyd_client_zone(w->app->keyd, zone));
    ret->status = STR("ok");
    if (seen.state == KEYS_DOWN) {
        ret->status = STR("down");
        ret->detail = STR("The zone's falaj-keyd does not answer");
    } else if (seen.state == KEYS_SEALED) {
        ret->status = STR("sealed");
        ret->detail = str_dup(w->arena, str_c(seen.reason));
    }
}

/* Reading goes on with a full disk; what would be stored is refused. */
static void ready_blobs(struct work *w, struct ready_part *ret)
{
    const struct config *cfg = w->app->config;
    struct statvfs fs;
    struct err e;
    *ret = (struct ready_part){ STR("blobs"), STR("ok"), STR_NULL };
    if (w->app->blobs && blob_store_look(w->app->blobs, &e) != ERR_OK) {
        ret->status = STR("down");
        ret->detail = str_dup(w->arena, str_c(e.msg));
        return;
    }
    if (!*cfg->blob_dir)
        return;
    if (statvfs(cfg->blob_dir, &fs) != 0) {
        ret->status = STR("down");
        ret->detail = STR("The folder of blobs cannot be looked at");
        return;
    }
    int64_t left = (int64_t)(fs.f_bavail * fs.f_frsize);
    if (left >= cfg->blob_min_free && !(fs.f_files && !fs.f_favail) && !(fs.f_flag & ST_RDONLY))
        return;
    ret->status = STR("full");
    ret->detail = fs.f_flag & ST_RDONLY ? STR("The disk of blobs is mounted read-only")
                                        : str_fmt(w->arena, "%ld MiB and %ld files are free where blobs lie; blob.min_free asks for %ld MiB",
                                                  (long)(left >> 20), (long)fs.f_favail, (long)(cfg->blob_min_free >> 20));
}

/* The parts that falaj-api itself needs, in READY_OWN places: listener, postgresql, redis, blobs.
 * PostgreSQL down means not ready; Redis down only means slower wake-ups. */
static void ready_own(struct work *w, struct ready_part *parts, bool *ret_can_work)
{
    struct err e;
    const struct api *api = w->app->extra;
    bool draining = api->draining, db = db_pool_ping(w->app->pool, &e) == ERR_OK;
    bool redis = w->app->redis && redis_ping(w->app->redis, 50, &e) == ERR_OK;
    parts[0] = (struct ready_part){ STR("listener"), draining ? STR("draining") : STR("ok"), STR_NULL };
    parts[1] = (struct ready_part){ STR("postgresql"), db ? STR("ok") : STR("down"), STR_NULL };
    parts[2] = (struct ready_part){ STR("redis"), redis ? STR("ok") : STR("degraded"),
        redis ? STR_NULL : STR("Wake-ups are slower") };
    ready_blobs(w, &parts[3]);
    *ret_can_work = db && !draining;
}

/* 200 says that calls are to come here: most of them need neither keys nor blobs nor Redis, so a part that is not ok, which all
 * falaj-api may share, takes none of them out. Who has another one that is whole prefers it by asking for that. */
static enum errc readyz(struct work *w, const void *in, void *out, struct err *e)
{
    (void)e;
    const struct ready_in *asked = in;
    struct ready_out *r = out;
    size_t zones = keyd_client_zones(w->app->keyd);
    struct ready_part *parts = ARENA_ARRAY(w->arena, struct ready_part, READY_OWN + zones);
    bool can_work;
    ready_own(w, parts, &can_work);
    for (size_t i = 0; i < zones; i++)
        ready_keys(w, i, &parts[READY_OWN + i]);
    r->parts = (struct slice){ parts, READY_OWN + zones };
    bool is_whole = true;
    for (size_t i = 0; i < r->parts.n; i++)
        is_whole = is_whole && str_eq_c(parts[i].status, "ok");
    r->status = !can_work ? STR("not ready") : is_whole ? STR("ready") : STR("degraded");
    call_of(w)->status = can_work && (is_whole || !asked->whole) ? 200 : 503;
    return ERR_OK;
}

static void listener_metrics(const char *name, const struct http_server *s)
{
    if (!s)
        return;
    metrics_set(M_connections, (double)http_server_connections(s), name);
    metrics_set(M_connections_turned_away, (double)http_server_turned_away(s), name);
}

static void part_metrics(const struct app *app)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct work w = { .app = app, .arena = a };
    struct ready_part parts[READY_OWN];
    struct statvfs fs;
    bool can_work;
    ready_own(&w, parts, &can_work);
    for (int i = 1; i < READY_OWN; i++)
        metrics_set(M_part_ready, str_eq_c(parts[i].status, "ok"), parts[i].name.ptr);
    if (*app->config->blob_dir && statvfs(app->config->blob_dir, &fs) == 0)
        metrics_set(M_blob_free_bytes, (double)fs.f_bavail * (double)fs.f_frsize);
}

static void body_metrics(struct body_budget *b)
{
    metrics_set(M_body_bytes, (double)body_budget_used(b, true), "known");
    metrics_set(M_body_bytes, (double)body_budget_used(b, false), "unknown");
    metrics_set(M_bodies_refused, (double)body_budget_refused(b, BODY_SHARE_USED), "share");
    metrics_set(M_bodies_refused, (double)body_budget_refused(b, BODY_ALL_USED), "all");
}

void api_metrics_print(const struct app *app, struct buf *out)
{
    const struct api *api = app->extra;
    body_metrics(api->bodies);
    part_metrics(app);
    lanes_metrics(api->pipeline);
    listener_metrics("people", api->people);
    listener_metrics("machines", api->nodes);
    metrics_print(out, "falaj-api");
}

static enum errc metrics(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    struct buf *b = out;
    if (((const struct api *)w->app->extra)->ops)
        return FAIL(e, NOT_FOUND, "Metrics are on the port that api.ops_port names");
    *b = BUF(16 << 20);
    api_metrics_print(w->app, b);
    return ERR_OK;
}

static enum errc version(struct work *w, const void *in, void *out, struct err *e)
{
    (void)w, (void)in, (void)e;
    *(struct version_out *)out = (struct version_out){ STR("falaj-api"), STR(FALAJ_VERSION), STR(__VERSION__) };
    return ERR_OK;
}

static enum errc openapi(struct call *c, struct err *e)
{
    (void)e;
    struct buf b = BUF(8 << 20);
    openapi_print(&b);
    struct http_header h = { STR("X-Request-Id"), c->work.request_id };
    http_reply_buf(c->exchange, 200, STR("application/json"), &h, 1, &b);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/healthz", .lane = LANE_VITAL,
      .op = "healthz", .perm = PERM_PUBLIC, .handler = healthz, .status = 200, .out = &status_out_schema,
      .flags = R_NO_TX, .rate = RL_NONE, .doc = "The process is alive" },
    { .method = HTTP_GET, .path = "/readyz", .lane = LANE_VITAL,
      .op = "readyz", .perm = PERM_PUBLIC, .handler = readyz, .in = &ready_in_schema, .status = 200, .out = &ready_out_schema,
      .flags = R_NO_TX, .rate = RL_NONE, .doc = "The process may get traffic" },
    { .method = HTTP_GET, .path = "/metrics", .lane = LANE_VITAL,
      .op = "metrics", .perm = PERM_PUBLIC, .handler = metrics, .status = 200, .out = &status_out_schema,
      .flags = R_NO_TX | R_TEXT, .rate = RL_NONE,
      .doc = "Metrics in Prometheus text format, unless they have a port of their own (api.ops_port)" },
    { .method = HTTP_GET, .path = "/version", .lane = LANE_VITAL,
      .op = "version", .perm = PERM_PUBLIC, .handler = version, .status = 200, .out = &version_out_schema,
      .flags = R_NO_TX, .rate = RL_NONE, .doc = "What runs here" },
    { .method = HTTP_GET, .path = "/openapi.json", .lane = LANE_HEAVY,
      .op = "openapi", .perm = PERM_PUBLIC, .raw = openapi, .status = 200,
      .content_type = "application/json", .rate = RL_NONE, .doc = "This document" },
};
extern const struct route_table system_routes;
ROUTE_TABLE(system_routes, rows);
