/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - a worker from its start to its end: the threads around one book of leases (fetch.c, report.c), and the fence.
 *
 * At the end every thread is joined: a long poll that waits is given up, and a lease that does not end is killed and given up. */
#include "workers/agent/agent_int.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/notify.h"
#include "core/wire/type_run.h"
#include "workers/lease/image_cache.h"
#include "workers/lease/programs.h"
#include "core/http/otlp.h"

enum { STOP_EXTRA_MS = 1000, RUNNERS_MS = 10000 };

static enum errc api_enroll(void *ctx, struct arena *a, const struct node_register *f, struct node_identity *ret, struct err *e)
{
    return client_register(((struct agent *)ctx)->poll_client, a, f, ret, e);
}

static enum errc api_next(void *ctx, struct arena *a, const struct node_identity *n, struct uuid after, struct slice told,
                          int64_t free_slots, int64_t wait_ms, struct lease_next_out *ret, struct err *e)
{
    return client_next(((struct agent *)ctx)->poll_client, a, n, after, told, free_slots, wait_ms, ret, e);
}

static enum errc api_report(void *ctx, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e)
{
    return client_report(((struct agent *)ctx)->report_client, a, body, ret, e);
}

static enum errc api_kept(void *ctx, struct arena *a, const struct lease_kept_in *in, struct lease_kept_out *ret, struct err *e)
{
    return client_kept(((struct agent *)ctx)->report_client, a, in, ret, e);
}

static void facts_fill(struct agent *a, const struct backend *be)
{
    const struct config *cfg = a->config;
    hw_read(&a->hw);
    if (cfg->worker_name[0])
        snprintf(a->name, sizeof a->name, "%s", cfg->worker_name);
    else if (gethostname(a->name, sizeof a->name - 1) != 0)
        snprintf(a->name, sizeof a->name, "worker");
    a->facts = (struct node_register){ .name = str_c(a->name), .zone = str_c(cfg->worker_zone), .pool = str_c(cfg->worker_pool),
                                    .backend = str_c(be->name), .slots = cfg->worker_slots ? cfg->worker_slots : a->hw.cores,
                                    .cpus = a->hw.cores, .gpus = cfg->worker_gpus,
                                    .cpu_milli = cfg->worker_cpu_milli,
                                    .memory_bytes = cfg->worker_memory ? cfg->worker_memory : (int64_t)a->hw.memory_limit_bytes,
                                    .version = STR(FALAJ_VERSION), .boot_id = uuid_v7(clock_wall_us(&clock_system)) };
    a->facts.devices = agent_devices(a);
}

/* Images are kept where programs run. That memory is not for jobs, unless the operator has said how much is. */
static struct image_cache *images_new(struct agent *a, bool programs)
{
    enum { SHARE = 8 };
    const int64_t share = (int64_t)a->hw.memory_limit_bytes / SHARE, asked = programs ? a->config->worker_image_cache : 0;
    const int64_t bytes = asked < share ? asked : share;
    if (!a->config->worker_memory)
        a->facts.memory_bytes -= bytes;
    return image_cache_new(bytes, a->config->worker_image_cache_age_ms, a->clock);
}

static void on_skip(void *ctx, const char *name, const char *why)
{
    (void)ctx;
    log_event(LOG_INFO, "backend.skipped", "backend", LOG_S(name), "why", LOG_S(why), NULL);
}

static bool is_stopping(void *ctx)
{
    return ((const struct agent *)ctx)->stopping;
}

static bool has_reported(void *ctx)
{
    return ((const struct agent *)ctx)->reporter_ends;
}

static enum errc clients_make(struct agent *a, struct err *e)
{
    a->api = (struct agent_api){ a, api_enroll, api_next, api_report, api_kept };
    a->poll_client = client_new(a->config, e);
    if (!a->poll_client)
        return e->code;
    client_until(a->poll_client, is_stopping, a);
    a->report_client = client_new(a->config, e);
    if (!a->report_client)
        return e->code;
    client_until(a->report_client, has_reported, a);
    return ERR_OK;
}

enum errc agent_new(const struct config *cfg, const struct clock *clock, const struct agent_api *api, struct agent **ret,
                    struct err *e)
{
    const struct backend *be;
    struct hw hw;
    hw_read(&hw);
    TRY(backend_choose(cfg->worker_backend, &hw, on_skip, NULL, &be, e));
    const char *dir = cfg->worker_work_dir[0] ? cfg->worker_work_dir : "/var/lib/falaj/worker";
    struct stat st;
    if (mkdir(dir, 0700) != 0 && (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))) {
        FAIL(e, IO, "the work directory %s cannot be made", dir);
        return e->code;
    }
    struct otlp *otlp;
    struct isolation *isolation = isolation_new(cfg);
    const bool programs = programs_here(cfg, isolation);        /* they fork: before any thread */
    const bool meets = programs && programs_meet_here(cfg, isolation);
    char engines[ENGINES_TEXT];
    engines_here(cfg, engines);
    if (meets)
        engines_add(engines, RUN_RANKS_ENGINE " 1");
    if (otlp_new(cfg, "falaj-worker", &otlp, e) != ERR_OK) {
        isolation_free(isolation);
        return e->code;
    }
    struct agent *a = calloc(1, sizeof *a);
    ASSERT(a);
    a->config = cfg;
    a->otlp = otlp;
    a->clock = clock;
    pthread_mutex_init(&a->lock, NULL);
    agent_find_cards(a);
    facts_fill(a, be);
    a->env = (struct executor_env){ .config = cfg, .cards = a->cards, .work_dir = dir, .otlp = otlp,
                                    .energy = energy_new(cfg->worker_powercap, "/proc/stat", a->cards),
                                    .stopping = &a->stopping, .isolation = isolation };
    a->env.images = images_new(a, programs);
    a->facts.programs = programs;
    a->facts.gangs = true;
    a->facts.gang_programs = meets;
    memcpy(a->engines, engines, sizeof engines);
    a->facts.engines = str_c(a->engines);
    a->book = book_new(clock, cfg->worker_heartbeat_ms);
    a->timers = timers_new(clock);
    if (api)
        a->api = *api;
    else if (clients_make(a, e) != ERR_OK) {
        (void)agent_free(a);            /* no lease has been taken */
        return e->code;
    }
    *ret = a;
    return ERR_OK;
}

struct book *agent_book(struct agent *a)
{
    return a->book;
}

static void stop_in_order(struct agent *a)
{
    struct book_counts c;
    a->stopping = true;
    book_cancel_all(a->book);
    book_wake(a->book);
    for (int64_t ms = a->config->worker_grace_ms + STOP_EXTRA_MS; ms > 0; ms -= WATCH_MS) {
        book_get_counts(a->book, &c);
        if (!a->runners && !c.live)
            break;
        poll(NULL, 0, WATCH_MS);
    }
    book_fence_all(a->book);            /* what is left is killed and forgotten; its lease runs out */
    for (int ms = RUNNERS_MS; ms > 0 && (a->runners || a->insiders); ms -= WATCH_MS)
        poll(NULL, 0, WATCH_MS);
    a->reporter_ends = true;
    book_wake(a->book);
    pthread_join(a->reporter, NULL);
    pthread_join(a->fetcher, NULL);
}

/* It is here for some leases only (worker.leases_max, worker.idle_ms), and all that it had has been told of. */
static bool has_done(struct agent *a, int64_t *idle_since_us)
{
    const struct config *cfg = a->config;
    const int64_t now_us = clock_mono_us(&clock_system);
    const bool is_full = agent_is_full(a);          /* first: a lease is in the book before it is counted as taken */
    struct book_counts c;
    book_get_counts(a->book, &c);
    if (c.live || a->runners || a->insiders) {
        *idle_since_us = now_us;
        return false;
    }
    return is_full || (cfg->worker_idle_ms && now_us - *idle_since_us >= cfg->worker_idle_ms * 1000);
}

enum errc agent_run(struct agent *a, const _Atomic bool *stop, struct err *e)
{
    notify_ready("asks the API for its name");     /* a machine that waits for the API is no failed start */
    if (agent_enroll(a, stop, e) != ERR_OK)
        return *stop ? ERR_OK : e->code;
    notify_status("takes work");
    int64_t fence_ms = a->env.node.lease_ms * 2 / 3;
    ASSERT(pthread_create(&a->reporter, NULL, agent_report, a) == 0);
    ASSERT(pthread_create(&a->fetcher, NULL, agent_fetch, a) == 0);
    int64_t idle_since_us = clock_mono_us(&clock_system);
    while (!*stop && !has_done(a, &idle_since_us)) {
        size_t n = book_fence(a->book, fence_ms);
        if (n)
            log_event(LOG_ERROR, "node.fenced", "leases", LOG_I(n), "silence_ms", LOG_I(fence_ms), NULL);
        n = image_cache_sweep(a->env.images);
        if (n)
            log_event(LOG_WARN, "images.forgotten", "images", LOG_I(n), "why", LOG_S("nobody says that they may be kept"), NULL);
        notify_alive();
        poll(NULL, 0, WATCH_MS);
    }
    notify_stopping();
    log_event(LOG_INFO, "node.stops", "running", LOG_I(a->runners), NULL);
    stop_in_order(a);
    return ERR_OK;
}

bool agent_free(struct agent *a)
{
    if (!a)
        return true;
    if (a->runners || a->insiders)
        return false;
    otlp_free(a->otlp);
    isolation_free(a->env.isolation);
    image_cache_free(a->env.images);
    energy_free(a->env.energy);
    cards_free(a->cards);
    timers_free(a->timers);
    book_free(a->book);
    client_free(a->poll_client);
    client_free(a->report_client);
    pthread_mutex_destroy(&a->lock);
    free(a);
    return true;
}
