/* SPDX-License-Identifier: Apache-2.0 */
/* falaj-api - HTTP in, HTTP out; stateless, any number of them.
 *
 *   falaj-api [--config=FILE] [--section.name=value …]     serve until SIGTERM
 *   falaj-api --check-db            compare every statement with the database and exit
 *   falaj-api --bootstrap-officer NAME  the same for the platform's first compliance officer, while it has none
 *   falaj-api --bootstrap-admin     print a fresh token of the platform's administrator, and tenant, name and password of its login
 *   falaj-api --move-blobs          move blobs from blob.dir to blob.s3_url, while others serve, and exit
 *   falaj-api --print-WHAT          openapi, errors, config, metrics, permissions, job-states, job-types, lanes, sql-FUNCTION
 *
 * Stop: SIGTERM makes /readyz say 503, nobody new is accepted, what is open is finished for api.drain_ms; a second one ends it. */
#include "api/api.h"
#include "api/bootstrap.h"
#include "api/console_files.h"
#include "api/events.h"
#include "api/housekeeping.h"
#include "api/keys_watch.h"
#include "api/listeners.h"
#include "api/openapi.h"
#include "api/stmts.h"
#include "api/stream.h"
#include "api/trust.h"
#include "audit/erasure_keeper.h"
#include "audit/pii.h"
#include "core/base/fault.h"
#include "core/base/log.h"
#include "core/base/notify.h"
#include "core/crypto/secmem.h"
#include "core/db/pool.h"
#include "core/db/run_tx.h"
#include "core/http/cert_watch.h"
#include "core/http/otlp.h"
#include "core/redis/rate.h"
#include "core/redis/wake.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "keys/client.h"
#include "registry/vault/shred_again.h"
#include "registry/vault/blob_store.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_wake.h"
#include "scheduler/jobs/job_state.h"
#include "scheduler/mirror/capacity.h"
#include "serving/infer_stats.h"
#include "serving/roll.h"
#include "serving/serving.h"
#include "tenants/access/authz.h"
#include "tenants/access/second_person.h"
#include "tenants/accounts/api_rate.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/tenant.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/invitation.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/outside.h"
#include "tenants/identity/session_authn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECURE_HEAP = 4 << 20, KEYD_TIMEOUT_MS = 3000 };

static const char usage[] = "usage: falaj-api [--config FILE] [--section.name=value]... [--check-db | --bootstrap-admin |\n"
                            "                 --bootstrap-officer NAME | --move-blobs | --help | --help-config | --version]\n";

static int print_document(const char *what)
{
    struct buf b = BUF(16 << 20);
    if (!strcmp(what, "--help"))
        buf_add_c(&b, usage);
    else if (!strcmp(what, "--print-openapi"))
        openapi_print(&b);
    else if (!strcmp(what, "--print-errors"))
        errors_print_markdown(&b);
    else if (!strcmp(what, "--print-metrics"))
        metrics_print_markdown(&b);
    else if (!strcmp(what, "--print-permissions"))
        authz_print_markdown(&b);
    else if (!strcmp(what, "--print-job-states"))
        job_state_print_markdown(&b);
    else if (!strcmp(what, "--print-job-types"))
        job_types_print_markdown(&b);
    else if (!strcmp(what, "--print-lanes"))
        lanes_print_markdown(&b);
    else if (!strcmp(what, "--print-config"))
        config_print_markdown(stdout);
    else if (strncmp(what, "--print-sql-", strlen("--print-sql-")) || !job_types_print_sql(&b, what + strlen("--print-sql-")))
        return -1;
    if (b.len)
        fwrite(b.ptr, 1, b.len, stdout);
    buf_release(&b);
    return 0;
}

static int refuse(const char *what, const struct err *e)
{
    log_err(LOG_ERROR, what, e);
    fprintf(stderr, "falaj-api: %s: %s%s%s\n", what, e->msg, e->detail[0] ? ": " : "", e->detail);
    return 1;
}

static struct db_pool *pool_for(int64_t statement_ms, const char *url, int64_t size, const char *name,
                                const struct stmt *const *const *lists, bool is_batch)
{
    struct db_pool_opts o = { .conninfo = url, .size = (int)size, .app_name = name, .lists = lists, .statement_timeout_ms = statement_ms,
                              .is_batch = is_batch };
    return db_pool_new(&o);
}

static bool hex_tail(struct str channel, const char *prefix, struct uuid *ret)
{
    size_t n = strlen(prefix);
    return str_starts(channel, prefix) && uuid_parse(str_n(channel.ptr + n, channel.len - n), ret);
}

static void on_wake(void *ctx, struct str channel, struct str payload)
{
    struct api *api = ctx;
    struct uuid id;
    if (!channel.ptr) {
        pipeline_wake(api->pipeline, UUID_NIL);
        job_streams_wake(api->streams, UUID_NIL);
    } else if (hex_tail(channel, WAKE_NODE_PREFIX, &id)) {
        pipeline_wake(api->pipeline, id);
    } else if (str_starts(channel, WAKE_JOB_PREFIX)) {
        for (size_t at = 0; job_wake_next(channel, &at, &id);) {
            job_streams_wake(api->streams, id);
            events_wake(api->events, id);
        }
    } else if (str_eq_c(channel, WAKE_REVOKE) && uuid_parse(payload, &id)) {
        authn_forget(api->authn, id);
    }
}

/* Certificates of this process: its listeners', and the one it shows to serving machines, read at each of its connections. */
static void watch_certificates(struct api *api, const struct config *cfg)
{
    api->certs = cert_watch_new();
    if (*cfg->api_cert)
        cert_watch_add(api->certs, "api", cfg->api_cert, cfg->api_key, api->people);
    if (*cfg->api_worker_cert)
        cert_watch_add(api->certs, "api_worker", cfg->api_worker_cert, cfg->api_worker_key, api->nodes);
    if (*cfg->api_client_cert)
        cert_watch_add(api->certs, "api_client", cfg->api_client_cert, NULL, NULL);
}

static void drain(struct api *api, const struct config *cfg)
{
    api->draining = true;
    log_event(LOG_INFO, "api.draining", "ms", LOG_I(cfg->api_drain_ms), NULL);
    http_server_drain(api->people);
    if (api->nodes)
        http_server_drain(api->nodes);
    job_streams_stop(api->streams);
    events_stop(api->events);
    int64_t until = clock_mono_us(&clock_system) + cfg->api_drain_ms * 1000;
    pipeline_wake(api->pipeline, UUID_NIL);
    struct timespec step = { 0, 10000000 };
    /* Connections, not only exchanges: one that a client keeps alive may bring another call until it is closed. */
    while (clock_mono_us(&clock_system) < until &&
           http_server_connections(api->people) + (api->nodes ? http_server_connections(api->nodes) : 0) > 0)
        nanosleep(&step, NULL);
}

/* A folder that was named and cannot be served as a whole is a mistake that somebody should see at once. */
static enum errc open_console(struct api *api, const struct config *cfg, struct err *e)
{
    size_t bytes;
    if (!*cfg->api_console_dir)
        return ERR_OK;
    TRY(console_open(cfg->api_console_dir, &api->console, e));
    size_t n = console_count(api->console, &bytes);
    log_event(LOG_INFO, "api.console", "files", LOG_I(n), "bytes", LOG_I(bytes), NULL);
    return ERR_OK;
}

/* A lane's connections are its own: what fills one lane takes none from another. All else it shares with app. */
static void open_lanes(const struct app *app, struct api *api, const struct app **ret)
{
    const struct config *cfg = app->config;
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {
        struct lane_size s = lane_size(l, cfg);
        bool is_node = l == LANE_WORKERS || l == LANE_WORKER_CONTENT;
        if (!s.connections || (is_node && !app->node_pool))
            continue;
        int64_t ms = s.statement_ms ? s.statement_ms : cfg->db_statement_timeout_ms;
        api->lane_apps[l] = *app;
        api->lane_apps[l].pool = pool_for(ms, cfg->db_url, s.connections, "falaj-api", api_stmts, false);
        if (is_node)
            api->lane_apps[l].node_pool = pool_for(ms, cfg->db_node_url, s.connections, "falaj-api-node",
                                                    api_node_stmts, true);
        ret[l] = &api->lane_apps[l];
    }
}

static void close_lanes(const struct app *app, struct api *api)
{
    for (int l = LANE_NONE + 1; l < LANE_COUNT; l++) {
        db_pool_free(api->lane_apps[l].pool);
        if (api->lane_apps[l].node_pool != app->node_pool)
            db_pool_free(api->lane_apps[l].node_pool);
    }
}

static int serve(struct app *app, struct api *api, struct config *settings, const struct redis_opts *redis, struct err *e)
{
    app->pii = audit_pii_new();
    const struct config *cfg = app->config;
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < 4; i++)
        sigaddset(&set, (const int[]){ SIGTERM, SIGINT, SIGHUP, SIGUSR1 }[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL);         /* before any thread: one that does not block them would end the process at once */
    signal(SIGPIPE, SIG_IGN);
    app->redis = redis->address ? redis_client_new(redis) : NULL;
    api->rate = rate_limiter_new(app->clock, app->redis, 0);
    rate_limiter_share(api->rate, cfg->rate_processes);
    app->api_rates = api_rates_new();
    api->streams = job_streams_new(app);
    api->events = events_new(app);
    api->serving = serving_new(app);
    api->infer_stats = infer_stats_new(app);
    api->rolls = roll_keeper_new(app);
    app->extra = api;
    api->keys = keys_watch_new(app->keyd);
    if (open_console(api, cfg, e) != ERR_OK)
        return refuse("console", e);
    struct pipeline_opts po = { .app = app, .authn = api->authn, .sessions = api->sessions, .rate = api->rate, .console = api->console,
                                .gate = gate_pass };
    open_lanes(app, api, po.lane_apps);
    if (!(api->pipeline = pipeline_new(&po, e)))
        return refuse("routes", e);
    api->people_listener = (struct listener){ api->pipeline, false };
    api->node_listener = (struct listener){ api->pipeline, true };
    if (bodies_open(api, cfg, e) != ERR_OK || !(api->people = listen_people(api, cfg, e)))
        return refuse("listen", e);
    if (metrics_port_open(app, api, e) != ERR_OK)
        return refuse("listen for metrics (api.ops_port)", e);
    if (*cfg->api_worker_cert && trust_open(app, &api->trust, e) != ERR_OK)
        return refuse("authorities for workers", e);
    serving_trust_share(api);
    if (*cfg->api_worker_cert && !(api->nodes = listen_nodes(api, cfg, e)))
        return refuse("listen for workers", e);
    watch_certificates(api, cfg);
    cert_watch_look(api->certs, clock_wall_us(app->clock));
    static const char *const channels[] = { WAKE_NODE_PREFIX "*", WAKE_JOB_PREFIX "*", WAKE_REVOKE };
    if (app->redis)
        api->wakes = wake_listener_new(redis, channels, 3, on_wake, api);
    log_event(LOG_INFO, "api.ready", "bind", LOG_S(cfg->api_bind), "port", LOG_I(http_server_port(api->people)), "worker_port",
              LOG_I(api->nodes ? http_server_port(api->nodes) : 0), NULL);
    notify_ready("serves");
    housekeeping_run(app, api, settings, &set);
    signal(SIGTERM, SIG_DFL);
    sigdelset(&set, SIGUSR1);
    sigdelset(&set, SIGHUP);            /* nobody reads settings any more, and unblocked it would end the drain */
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    notify_stopping();
    drain(api, cfg);
    return 0;
}

static void undo(struct app *app, struct api *api)
{
    wake_listener_free(api->wakes);
    cert_watch_free(api->certs);
    metrics_port_close(api);
    http_server_refuse(api->people);
    http_server_refuse(api->nodes);
    serving_stop(api->serving);
    pipeline_free(api->pipeline);
    otlp_free(app->otlp);
    app->otlp = NULL;
    listeners_free(api);
    console_free(api->console);
    mtls_trust_free(api->trust);
    job_streams_free(api->streams);
    events_free(api->events);
    roll_keeper_free(api->rolls);
    serving_free(api->serving);
    infer_stats_free(api->infer_stats);
    rate_limiter_free(api->rate);
    authn_free(api->authn);
    session_authn_free(api->sessions);
    local_auth_free(app->auth);
    federation_free(app->federation);
    capacity_cache_free(app->capacity);
    audit_pii_free(app->pii);
    erasure_keeper_free(app->erasures);
    api_rates_free(app->api_rates);
    residency_cache_free(app->residency);
    blob_store_free(app->blobs);
    keys_watch_free(api->keys);
    keyd_client_free(app->keyd);
    close_lanes(app, api);
    redis_client_free(app->redis);
    db_pool_free(app->node_pool);
    db_pool_free(app->pool);
}

/* Prints the token, and tenant, name and password where there is one. */
static int bootstrap(const struct app *app, const char *officer, struct err *e)
{
    char token[TOKEN_TEXT], password[21];
    struct arena *a = arena_new(1 << 20);
    int rc = 0;
    if (bootstrap_person(app, a, officer, token, password, e) != ERR_OK)
        rc = refuse("bootstrap", e);
    else
        *password ? printf("%s\nplatform %s %s\n", token, officer ? officer : "operator", password) : printf("%s\n", token);
    arena_free(a);
    return rc;
}

/* Whom a restored backup has back is erased before anybody is let in. */
static enum errc keep_erased(struct app *app, const struct config *cfg, struct err *e)
{
    struct erasure_look look;
    app->erasures = erasure_keeper_new(cfg->audit_erasure_dir);
    if (!app->erasures && cfg->run_profile == PROFILE_PROD)
        log_event(LOG_WARN, "erasure.none", "why",
                  LOG_S("audit.erasure_dir is empty: a restored backup would bring back who was erased since"), NULL);
    erasure_keeper_set_keys(app->erasures, shred_again);
    return erasure_keeper_look(app, &look, e);
}

static int move_blobs(struct app *app, const struct config *cfg, struct err *e)
{
    int64_t blobs = 0, bytes = 0;
    if (blob_store_open(cfg, &app->blobs, e) != ERR_OK)
        return refuse("blob store", e);
    enum errc rc = blob_store_move(app->blobs, &blobs, &bytes, e);
    printf("%ld blobs of %ld bytes moved\n", (long)blobs, (long)bytes);
    return rc == ERR_OK ? 0 : refuse("moving blobs", e);
}

/* Whatever fails, the caller undoes what is there, so that the refusal is the last word of the log. */
static int run(struct app *app, struct api *api, struct config *cfg, const char *verb, const char *officer, struct err *e)
{
    if (db_pool_check(app->pool, e) != ERR_OK || (app->node_pool && db_pool_check(app->node_pool, e) != ERR_OK))
        return refuse("database", e);
    if (keyd_client_new(str_c(cfg->keys_sockets), KEYD_TIMEOUT_MS, &app->keyd, e) != ERR_OK)
        return refuse("keys", e);
    app->auth = local_auth_new(cfg);
    if (verb && !strcmp(verb, "--move-blobs"))
        return move_blobs(app, cfg, e);
    if (verb)
        return strcmp(verb, "--check-db") ? bootstrap(app, officer, e) : 0;
    if (blob_store_open(cfg, &app->blobs, e) != ERR_OK || otlp_new(cfg, "falaj-api", &app->otlp, e) != ERR_OK)
        return refuse("blob store, or otlp.endpoint", e);
    app->capacity = capacity_cache_new();
    app->residency = residency_cache_new();
    api->authn = authn_new(app->pool, app->clock, cfg->api_token_cache_ms);
    api->sessions = session_authn_new(app->pool, app->clock, cfg);
    if (bootstrap_note_separation(app, e) != ERR_OK || keep_erased(app, cfg, e) != ERR_OK)
        return refuse("audit log, or who was erased (audit.erasure_dir)", e);
    struct redis_opts redis;
    return redis_opts_of(cfg, &redis, e) == ERR_OK ? serve(app, api, cfg, &redis, e) : refuse("redis", e);
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    struct config *cfg;
    const char *verb = NULL, *officer = NULL;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--print-", 8) || !strcmp(argv[i], "--help"))
            return print_document(argv[i]) < 0 ? 2 : 0;
    if (config_load(&argc, argv, &cfg, &e) != ERR_OK || second_person_config(cfg, &e) != ERR_OK)
        return refuse("settings", &e);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check-db") || !strcmp(argv[i], "--bootstrap-admin") || !strcmp(argv[i], "--move-blobs"))
            verb = argv[i];
        else if (!strcmp(argv[i], "--bootstrap-officer") && i + 1 < argc && *argv[i + 1])
            verb = argv[i], officer = argv[++i];
        else if (!strcmp(argv[i], "--help-config"))
            return config_help(stdout), 0;
        else if (!strcmp(argv[i], "--version"))
            return printf("falaj-api %s\n", FALAJ_VERSION), 0;
        else
            return fprintf(stderr, "falaj-api: unknown argument %s\n%s", argv[i], usage), 2;
    }
    log_setup("falaj-api", (enum log_level)cfg->log_level, (enum log_format)cfg->log_format, STDERR_FILENO);
    if (cfg->run_profile == PROFILE_DEV)
        fault_setup(getenv("FALAJ_FAULTS"));
    if (secmem_init(SECURE_HEAP, cfg->run_profile == PROFILE_PROD, &e) != ERR_OK)
        return refuse("secure memory", &e);
    struct app app = { .program = "falaj-api", .config = cfg, .clock = &clock_system, .federation = federation_new(cfg) };
    struct api api = { 0 };
    app.pool = pool_for(cfg->db_statement_timeout_ms, cfg->db_url, cfg->db_pool_size, "falaj-api", api_stmts, false);
    app.node_pool = !*cfg->db_node_url ? NULL : pool_for(cfg->db_statement_timeout_ms, cfg->db_node_url, cfg->db_node_pool_size,
                                                         "falaj-api-node", api_node_stmts, true);
    const int rc = run(&app, &api, cfg, verb, officer, &e);
    undo(&app, &api);
    config_free(cfg);
    return rc;
}
