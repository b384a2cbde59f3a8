/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - the threads of a worker around one book of leases.
 *
 * A report is whatever came in during the last one: no timer but the heartbeat, so an idle line answers at once and a busy one
 * combines. noop leases are booked as started and finished in one step by the fetching thread; their slot is free again before the
 * report has left, and the API's own books limit how many it grants.
 * At the end every thread is joined: a long poll that waits is given up, and a lease that does not end is killed and given up. */
#include "workers/agent/agent.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/notify.h"
#include "core/json/jsonvalue.h"
#include "core/table/metrics.h"
#include "workers/lease/executor.h"
#include "workers/lease/work_dir.h"
#include "workers/lease/work_type.h"
#include "workers/compute/kernels/backend.h"
#include "workers/agent/timers.h"

enum { GPUS_MAX = 64, ZONE_RETRY_MS = 200, WAIT_MS = 20000, WATCH_MS = 50, RETRY_MAX_MS = 1000, EMPTY_PAUSE_MS = 32,
       STOP_EXTRA_MS = 1000,
       RUNNERS_MS = 10000 };
static const size_t CALL_ARENA = (size_t)256 << 20, REPORT_MAX = (size_t)2 << 20;

struct agent {
    const struct config *config;
    const struct clock *clock;
    struct agent_api api;
    struct client *poll_client, *report_client;     /* NULL with another api */
    struct book *book;
    struct timers *timers;
    struct node_device devices[GPUS_MAX];
    struct cards *cards;                /* of the fetching thread; changed only while no lease has one */
    int64_t cards_at_us;                /* when they are asked next */
    bool cards_changed, cards_withdrawn;
    _Atomic int gpu_leases;
    struct node_register facts;
    char name[160];
    struct hw hw;
    struct executor_env env;
    pthread_mutex_t lock;               /* guards env.node; only the fetching thread writes it */
    _Atomic bool stopping, reporter_ends;
    _Atomic int runners;
    pthread_t fetcher, reporter;
};

struct runner {
    struct agent *agent;
    struct executor_env env;            /* with the node as it was when the lease came */
    struct held *held;
    bool has_gpus;
};

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

static void pause_ms(const struct agent *a, int ms)
{
    for (; ms > 0 && !a->stopping; ms -= WATCH_MS)
        poll(NULL, 0, ms < WATCH_MS ? ms : WATCH_MS);
}

static void *runner_main(void *p)
{
    struct runner r = *(struct runner *)p;
    free(p);
    executor_run(&r.env, r.held);
    if (r.has_gpus)
        r.agent->gpu_leases--;
    r.agent->runners--;
    return NULL;
}

static struct runner *runner_new(struct agent *a, struct held *h, bool has_gpus)
{
    struct runner *r = malloc(sizeof *r);
    ASSERT(r);
    *r = (struct runner){ a, a->env, h, has_gpus };
    return r;
}

static void run_on_thread(struct agent *a, const struct lease_grant *g)
{
    struct runner *r = runner_new(a, book_add(a->book, g, true), g->gpus > 0);
    a->runners++;
    a->gpu_leases += r->has_gpus;
    pthread_t t;
    if (pthread_create(&t, NULL, runner_main, r) == 0) {
        pthread_detach(t);
        return;
    }
    a->runners--;
    a->gpu_leases -= r->has_gpus;
    held_finish(r->held, &(struct lease_item){ .event = LE_RETURN, .exit_code = 1, .message = STR("the worker has no thread left") });
    held_unref(r->held);
    free(r);
}

static void take(struct agent *a, struct arena *arena, const struct lease_grant *g)
{
    const struct work_type *type = work_type_of(g->kind);
    metrics_inc(M_worker_leases_taken_total);
    bool is_there = cards_can_give(a->cards, (uint64_t)g->devices);
    if (a->stopping || !is_there) {
        struct held *h = book_add(a->book, g, false);
        held_finish(h, &(struct lease_item){ .event = LE_RETURN,
                                             .message = is_there ? STR_NULL : STR("the GPU of this lease is out of service") });
        held_unref(h);
    } else if (type->take) {
        type->take(a->book, a->timers, arena, g);
    } else {
        run_on_thread(a, g);
    }
}

/* Until it is done, told to stop, or refused for good. */
static enum errc enroll(struct agent *a, const _Atomic bool *stop, struct err *e)
{
    for (int failures = 0; !*stop; failures++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new(CALL_ARENA);
        struct node_identity node;
        enum errc rc = a->api.enroll(a->api.ctx, arena, &a->facts, &node, e);
        if (rc == ERR_OK) {
            pthread_mutex_lock(&a->lock);
            a->env.node = node;
            pthread_mutex_unlock(&a->lock);
            log_event(LOG_INFO, "node.registered", "node_id", LOG_ID("nod", node.node_id), "slots", LOG_I(a->facts.slots), "backend",
                      LOG_STR(a->facts.backend), NULL);
            return ERR_OK;
        }
        if (rc == ERR_UNAUTHENTICATED || rc == ERR_FORBIDDEN || rc == ERR_INVALID || rc == ERR_MALFORMED || rc == ERR_UNKNOWN_FIELD)
            return rc;
        if (failures == 0)
            log_err(LOG_INFO, "node.waits", e);
        poll(NULL, 0, ZONE_RETRY_MS);
    }
    return FAIL(e, DEADLINE, "told to stop before the node was registered");
}

/* A lease may come again as long as nothing was reported of it: it is run once. */
static size_t take_new(struct agent *a, struct arena *arena, const struct lease_next_out *got, struct uuid *after)
{
    const struct lease_grant *g = got->leases.items;
    size_t taken = 0;
    for (size_t i = 0; i < got->leases.n; i++) {
        if (uuid_cmp(g[i].attempt_id, *after) > 0)
            *after = g[i].attempt_id;
        else if (book_has(a->book, g[i].attempt_id))
            continue;
        take(a, arena, &g[i]);
        taken++;
    }
    return taken;
}

/* Found, unless the settings say how many there are. Without a library, or where it does not answer, there are none. */
static void cards_find(struct agent *a)
{
    struct err e = { 0 };
    if (a->config->worker_gpus || !a->config->worker_nvml[0] || cards_new(a->config->worker_nvml, &a->cards, &e) == ERR_OK)
        return;
    a->cards = NULL;
    log_event(LOG_INFO, "gpu.none", "why", LOG_S(e.msg), NULL);
}

static struct slice devices_found(struct agent *a, int isolation)
{
    size_t n = a->cards_withdrawn ? 0 : a->cards->offered_count;
    for (size_t i = 0; i < n; i++) {
        const struct card *card = a->cards->offered[i];
        a->devices[i] = (struct node_device){ (int64_t)i, str_c(card->uuid), str_c(card->model), card->memory_bytes, isolation };
    }
    a->facts.gpus = (int64_t)n;
    return (struct slice){ a->devices, n };
}

/* What was found, or what the settings say of this machine's GPUs. */
static struct slice devices_from(struct agent *a)
{
    const struct config *cfg = a->config;
    struct str rest = str_c(cfg->worker_gpu_uuids);
    int isolation = GPU_NONE;
    for (int i = 0; gpu_isolation_names[i]; i++)        /* another word gives no shares, which is safe */
        if (strcmp(gpu_isolation_names[i], cfg->worker_gpu_isolation) == 0)
            isolation = i;
    if (a->cards)
        return devices_found(a, isolation);
    if (!cfg->worker_gpu_model[0] && !rest.len)
        return (struct slice){ 0 };
    for (int64_t i = 0; i < cfg->worker_gpus; i++) {
        struct str uuid = STR("");
        if (rest.len)
            (void)str_cut(rest, ',', &uuid, &rest);
        a->devices[i] = (struct node_device){ i, uuid, str_c(cfg->worker_gpu_model), cfg->worker_gpu_memory, isolation };
    }
    return (struct slice){ a->devices, (size_t)cfg->worker_gpus };
}

/* A sick card takes all out until no lease has one; then the healthy are registered anew. Of the fetching thread. */
static void cards_watch(struct agent *a)
{
    struct err e = { 0 };
    if (!a->cards || clock_mono_us(&clock_system) < a->cards_at_us)
        return;
    a->cards_at_us = clock_mono_us(&clock_system) + a->config->worker_gpu_check_ms * 1000;
    a->cards_changed = cards_check(a->cards) || a->cards_changed;
    bool is_free = !a->gpu_leases, was_withdrawn = a->cards_withdrawn;
    if (!a->cards_changed || (was_withdrawn && !is_free))
        return;
    if (is_free)
        cards_offer(a->cards);
    a->cards_withdrawn = !is_free;
    a->facts.devices = devices_from(a);
    if (enroll(a, &a->stopping, &e) == ERR_OK) {
        a->cards_changed = !is_free;
    } else if (!a->stopping) {
        a->cards_withdrawn = was_withdrawn;             /* at the next check again */
        log_err(LOG_WARN, "gpu.not_registered", &e);
    }
}

static void *fetcher_main(void *p)
{
    struct agent *a = p;
    int failures = 0, empty_ms = 1;
    int64_t sweep_us = 0;
    struct uuid after = UUID_LEAST;     /* the greatest attempt that came; after a new registration the database may count anew */
    while (!a->stopping) {
        size_t room;
        if (clock_mono_us(&clock_system) >= sweep_us) {
            size_t n = work_dir_sweep(a->env.work_dir, WORK_DIR_KEEP_S);
            if (n)
                log_event(LOG_INFO, "node.swept", "directories", LOG_I(n), NULL);
            sweep_us = clock_mono_us(&clock_system) + WORK_DIR_SWEEP_S * INT64_C(1000000);
        }
        cards_watch(a);
        (void)book_wait_room(a->book, (size_t)a->facts.slots, &room);   /* a full machine asks too, for notices */
        if (a->stopping)
            break;
        CLEANUP(arena_freep) struct arena *arena = arena_new(CALL_ARENA);
        struct err e = { 0 };
        struct lease_next_out got = { 0 };
        int64_t began = clock_mono_us(&clock_system);
        const struct slice told = book_told(a->book, arena);
        enum errc rc = a->api.next(a->api.ctx, arena, &a->env.node, after, told, (int64_t)room, WAIT_MS, &got, &e);
        if (rc == ERR_OK) {
            failures = 0;
            size_t taken = take_new(a, arena, &got, &after) + got.notices.n;
            book_notify(a->book, got.notices);
            if (!taken && clock_mono_us(&clock_system) - began < EMPTY_PAUSE_MS * 1000)
                pause_ms(a, empty_ms);  /* it did not wait, as it was asked to: do not storm it */
            empty_ms = taken ? 1 : empty_ms < EMPTY_PAUSE_MS ? empty_ms * 2 : empty_ms;
            continue;
        }
        if (a->stopping)
            break;                      /* the long poll was given up */
        if (failures++ == 0)
            log_err(LOG_WARN, "lease.next_failed", &e);
        /* This run of the agent is not known: the database came back from a backup, or from a standby that lagged behind. */
        if (rc == ERR_STALE && enroll(a, &a->stopping, &e) == ERR_OK) {
            after = UUID_LEAST;
            continue;
        }
        pause_ms(a, failures < 5 ? 100 << failures : RETRY_MAX_MS);
    }
    return NULL;
}

/* A report that the API understood and will never take: it is about what the report says, not about this machine. */
static bool is_refusal(enum errc rc)
{
    int status = err_row(rc)->http;
    return err_row(rc)->retry == RETRY_NEVER && (status == 400 || status == 413 || status == 422);
}

static void on_refusal(struct agent *a, const struct err *e)
{
    struct uuid attempt = { 0 };
    enum book_refusal what = book_refuse(a->book, str_c(e->msg), &attempt);
    if (what == BOOK_SPLIT)
        log_err(LOG_WARN, "lease.report_split", e);
    else
        log_event(LOG_ERROR, "lease.report_dropped", "attempt_id", LOG_ID("att", attempt), "lease",
                  LOG_S(what == BOOK_STRIPPED ? "kept" : "given up"), "error", LOG_S(e->msg), "field", LOG_S(e->field), NULL);
}

static void report_once(struct agent *a, struct str body, int *failures)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new(CALL_ARENA);
    struct err e = { 0 };
    struct lease_report_out got = { 0 };
    int64_t sent = clock_mono_us(a->clock);
    enum errc rc = a->api.report(a->api.ctx, arena, body, &got, &e);
    metrics_observe(M_worker_report_seconds, (double)(clock_mono_us(a->clock) - sent) / 1e6);
    metrics_inc(M_worker_reports_total, rc == ERR_OK ? "ok" : err_row(rc)->wire);
    if (rc == ERR_OK || is_refusal(rc)) {
        if (rc == ERR_OK)
            book_settle(a->book, got.items.items, got.items.n, sent);
        else
            on_refusal(a, &e);
        *failures = 0;
        return;
    }
    book_unsettle(a->book);
    if ((*failures)++ == 0)
        log_err(LOG_WARN, "lease.report_failed", &e);
    int ms = *failures < 5 ? 50 << *failures : RETRY_MAX_MS;
    for (; ms > 0 && !a->reporter_ends; ms -= WATCH_MS)
        poll(NULL, 0, WATCH_MS);
}

static void *reporter_main(void *p)
{
    struct agent *a = p;
    CLEANUP(buf_releasep) struct buf body = BUF(REPORT_MAX);
    int failures = 0;
    while (!a->reporter_ends) {
        int64_t next = timers_run(a->timers, a->stopping);
        buf_clear(&body);
        pthread_mutex_lock(&a->lock);
        struct node_identity node = a->env.node;
        pthread_mutex_unlock(&a->lock);
        if (book_collect(a->book, &node, &body)) {
            report_once(a, buf_str(&body), &failures);
            continue;
        }
        int64_t beat = clock_mono_us(a->clock) + a->config->worker_heartbeat_ms * 1000;
        book_wait(a->book, next < beat ? next : beat);
    }
    return NULL;
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
    a->facts.devices = devices_from(a);
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
    a->api = (struct agent_api){ a, api_enroll, api_next, api_report };
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

enum errc agent_new(const struct config *cfg, const struct clock *clock, const struct agent_api *api, struct agent **ret, struct err *e)
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
    struct agent *a = calloc(1, sizeof *a);
    ASSERT(a);
    a->config = cfg;
    a->clock = clock;
    pthread_mutex_init(&a->lock, NULL);
    cards_find(a);
    facts_fill(a, be);
    a->env = (struct executor_env){ .config = cfg, .cards = a->cards, .work_dir = dir,
                                    .stopping = &a->stopping, .isolation = isolation_new(cfg) };
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
    for (int ms = RUNNERS_MS; ms > 0 && a->runners; ms -= WATCH_MS)
        poll(NULL, 0, WATCH_MS);
    a->reporter_ends = true;
    book_wake(a->book);
    pthread_join(a->reporter, NULL);
    pthread_join(a->fetcher, NULL);
}

enum errc agent_run(struct agent *a, const _Atomic bool *stop, struct err *e)
{
    notify_ready("asks the API for its name");     /* a machine that waits for the API is no failed start */
    if (enroll(a, stop, e) != ERR_OK)
        return *stop ? ERR_OK : e->code;
    notify_status("takes work");
    int64_t fence_ms = a->env.node.lease_ms * 2 / 3;
    ASSERT(pthread_create(&a->reporter, NULL, reporter_main, a) == 0);
    ASSERT(pthread_create(&a->fetcher, NULL, fetcher_main, a) == 0);
    while (!*stop) {
        size_t n = book_fence(a->book, fence_ms);
        if (n)
            log_event(LOG_ERROR, "node.fenced", "leases", LOG_I(n), "silence_ms", LOG_I(fence_ms), NULL);
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
    if (a->runners)
        return false;
    isolation_free(a->env.isolation);
    cards_free(a->cards);
    timers_free(a->timers);
    book_free(a->book);
    client_free(a->poll_client);
    client_free(a->report_client);
    pthread_mutex_destroy(&a->lock);
    free(a);
    return true;
}
