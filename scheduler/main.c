/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj-scheduler: wires pools, wake-ups, the loop, the audit sequencer and the ops pages; any number may run, one
 * leads.
 *
 *     falaj-scheduler --config=FILE [--section.name=value]… [--help-config]
 *     falaj-scheduler simulate …      (scheduler/simulate/simulate.h: no configuration, no database)
 *     falaj-scheduler replay …        (scheduler/replay/replay.h: the same)
 *
 * SIGTERM and SIGINT end it: the round in progress is finished, the audit heads are signed, then it goes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "audit/anchor.h"
#include "audit/event.h"
#include "audit/reconcile.h"
#include "audit/retention.h"
#include "audit/sequencer.h"
#include "audit/shadow.h"
#include "audit/tail.h"
#include "core/base/fault.h"
#include "core/base/log.h"
#include "core/base/notify.h"
#include "core/crypto/secmem.h"
#include "core/db/pool.h"
#include "core/http/ops.h"
#include "core/http/otlp.h"
#include "core/redis/wake.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "keys/client.h"
#include "scheduler/duty/custody.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/key_shred.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/duty/key_keeper.h"
#include "scheduler/duty/notice_send.h"
#include "scheduler/duty/notices.h"
#include "scheduler/duty/budget_watch.h"
#include "scheduler/duty/idle_watch.h"
#include "scheduler/duty/queue_usage.h"
#include "scheduler/duty/dependencies.h"
#include "scheduler/duty/arrays.h"
#include "scheduler/duty/due_jobs.h"
#include "scheduler/duty/job_pages.h"
#include "scheduler/duty/engines.h"
#include "scheduler/leader.h"
#include "scheduler/engine/lease.h"
#include "scheduler/engines/demand.h"
#include "scheduler/engines/lent.h"
#include "scheduler/engines/run.h"
#include "scheduler/loop.h"
#include "scheduler/engine/node.h"
#include "scheduler/plan/bookings.h"
#include "scheduler/plan/claims.h"
#include "scheduler/plan/turnover.h"
#include "scheduler/plan/workload.h"
#include "scheduler/evict.h"
#include "scheduler/grow.h"
#include "scheduler/mirror/ends.h"
#include "scheduler/mirror/holders.h"
#include "scheduler/plan_apply.h"
#include "scheduler/plan_check.h"
#include "scheduler/plan_gang.h"
#include "scheduler/replay/replay.h"
#include "scheduler/replay/ring.h"
#include "scheduler/duty/reaper.h"
#include "scheduler/duty/reservations.h"
#include "scheduler/round.h"
#include "scheduler/duty/tenant_reaper.h"
#include "scheduler/duty/sequence.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/waiting.h"
#include "scheduler/mirror/policies.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/mirror/snapshot.h"
#include "scheduler/simulate/simulate.h"
#include "tenants/home/legal_clock.h"
#include "tenants/home/residency_facts.h"
#include "tenants/identity/local_auth.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/person.h"
#include "tenants/notice/rule.h"

enum { KEYD_TIMEOUT_MS = 2000, START_PAUSE_US = 250000, START_TRIES = 120, SECURE_HEAP = 64 << 10 };

struct daemon {
    struct app app;
    struct config *config;
    struct db_pool *sequencer_pool, *retention_pool;
    struct claims claims;
    struct bookings bookings;
    struct leader *leader;
    struct loop *loop;
    struct wake_listener *listener;
    struct sequence *sequence;
    struct custody *custody;
    struct key_keeper *keeper;
    struct notice_sender *notices;
    struct engine_keeper *engines;
    struct ops_server *ops;
    pthread_t signals;
    sigset_t set;
};

static const struct stmt *const *const scheduler_lists[] = { residency_stmts, snapshot_stmts, machines_stmts, waiting_stmts,
    rules_stmts, plan_apply_stmts,
    holders_stmts, ends_stmts, evict_stmts, grow_stmts, plan_check_stmts, plan_gang_stmts, lent_stmts,
                                                             reaper_stmts,
                                                             budget_watch_stmts, idle_watch_stmts, queue_usage_stmts,
                                                                 dependencies_stmts,
                                                                 reservations_stmts, engine_run_stmts, engine_demand_stmts,
                                                                 due_jobs_stmts, job_pages_stmts, arrays_stmts, job_submit_stmts,
                                                             tenant_reaper_stmts, node_scheduler_stmts,
                                                             lease_end_stmts, job_apply_stmts, key_rewrap_leader_stmts,
                                                                 key_shred_leader_stmts,
                                                             round_scheduler_stmts, system_facts_stmts, audit_event_stmts,
                                                             notices_stmts, audit_tail_stmts, legal_clock_daemon_stmts,
                                                             notice_rule_daemon_stmts,
                                                             notice_person_daemon_stmts, notice_delivery_daemon_stmts,
                                                             local_auth_stmts, NULL };
static const struct stmt *const *const sequencer_lists[] = { sequencer_stmts, sequencer_head_stmts, sequencer_page_stmts,
                                                       audit_event_stmts,
                                                             audit_shadow_stmts, audit_anchor_stmts, audit_reconcile_stmts,
                                                                 custody_stmts, NULL };
static const struct stmt *const *const retention_lists[] = { audit_retention_drop_stmts, NULL };

static void on_wake(void *ctx, struct str channel, struct str payload)
{
    struct daemon *d = ctx;
    (void)payload;
    bool is_submission = channel.ptr && str_eq_c(channel, WAKE_SUBMITTED);
    if (channel.ptr && str_eq_c(channel, WAKE_AUDIT)) {
        struct sequence *s = __atomic_load_n(&d->sequence, __ATOMIC_ACQUIRE);
        if (s)
            sequence_wake(s);
        return;
    }
    (void)loop_wake(d->loop, is_submission);
}

static bool is_ready(void *ctx, struct buf *why)
{
    struct daemon *d = ctx;
    /* The pool says nothing of it: who stands by has not opened one of its connections yet. */
    const bool is_connected = leader_is_connected(d->leader);
    buf_add_c(why, !is_connected ? "no database connection\n" : loop_is_leading(d->loop) ? "leading\n" : "standing by\n");
    return is_connected;
}

static void print_metrics(void *ctx, struct buf *out)
{
    (void)ctx;
    metrics_print(out, "falaj-scheduler");
}

static bool leads(void *ctx)
{
    return loop_is_leading(((struct daemon *)ctx)->loop);
}

static void *wait_for_signal(void *arg)
{
    struct daemon *d = arg;
    int number = 0;
    pthread_setname_np(pthread_self(), "signals");
    while (sigwait(&d->set, &number) == 0 && number == SIGHUP)
        config_hangup(d->config);
    log_event(LOG_INFO, "scheduler.stopping", "signal", LOG_I(number), NULL);
    notify_stopping();
    loop_stop(d->loop);
    return NULL;
}

static struct db_pool *pool_of(const struct config *c, const char *url, int size, const char *name,
    const struct stmt *const *const *lists,
                               bool is_batch)
{
    return db_pool_new(&(struct db_pool_opts){ .conninfo = url, .size = size, .app_name = name, .lists = lists,
                                               .statement_timeout_ms = c->db_statement_timeout_ms, .is_batch = is_batch });
}

/* A database that is still coming up is waited for; statements that do not fit it are not. */
static enum errc check_pool(struct db_pool *p, struct err *e)
{
    for (int i = 0;; i++) {
        enum errc rc = db_pool_check(p, e);
        if (rc != ERR_UNAVAILABLE || i == START_TRIES)
            return rc;
        usleep(START_PAUSE_US);
    }
}

static enum errc start_database(struct daemon *d, struct err *e)
{
    const struct config *c = d->config;
    const char *url = *c->scheduler_url ? c->scheduler_url : c->db_url;
    if (!*url)
        return FAIL(e, INVALID, "scheduler.url is not set");
    d->app.pool = pool_of(c, url, 6, "falaj-scheduler", scheduler_lists, true);
    d->app.policies = policies_new();
    d->app.machines = machines_new();
    d->app.waiting = waiting_new();
    d->app.workload = workload_new();
    d->app.turnover = turnover_new();
    d->app.claims = &d->claims;
    d->app.bookings = &d->bookings;
    TRY(check_pool(d->app.pool, e));
    d->leader = leader_new(url, d->app.clock);
    if (!*c->sequencer_url)
        return ERR_OK;
    d->sequencer_pool = pool_of(c, c->sequencer_url, 3, "falaj-sequencer", sequencer_lists, false);
    TRY(check_pool(d->sequencer_pool, e));
    if (!*c->audit_retention_url)
        return ERR_OK;
    d->retention_pool = pool_of(c, c->audit_retention_url, 1, "falaj-retention", retention_lists, false);
    return check_pool(d->retention_pool, e);
}

/* The secrets of webhooks are under the zone's sign-in secret. */
static enum errc start_notices(struct daemon *d, struct err *e)
{
    TRY(secmem_init(SECURE_HEAP, d->config->run_profile == PROFILE_PROD, e));
    d->app.auth = local_auth_new(d->config);
    d->notices = notice_sender_new(&d->app, leads, d);
    return ERR_OK;
}

static enum errc start_cycles(struct daemon *d, struct err *e)
{
    const struct config *c = d->config;
    const struct cycle_ring_opts o = { *c->scheduler_cycles_dir ? c->scheduler_cycles_dir : "/var/lib/falaj/scheduler-cycles",
                                       c->scheduler_cycles_kept, c->scheduler_cycles_bytes };
    return c->scheduler_cycles_kept ? cycle_ring_new(&o, &d->app.cycles, e) : ERR_OK;
}

static enum errc start_helpers(struct daemon *d, struct err *e)
{
    static const char *const channels[] = { WAKE_SCHEDULER, WAKE_SUBMITTED, WAKE_AUDIT };
    const struct config *c = d->config;
    struct str zone = STR("");
    TRY(otlp_new(c, "falaj-scheduler", &d->app.otlp, e));
    if (*c->keys_sockets) {
        struct str rest;
        TRY(keyd_client_new(str_c(c->keys_sockets), KEYD_TIMEOUT_MS, &d->app.keyd, e));
        (void)str_cut(str_c(c->keys_sockets), '=', &zone, &rest);
    }
    d->loop = loop_new(&d->app, d->leader);
    struct redis_opts redis;
    TRY(redis_opts_of(c, &redis, e));
    if (redis.address) {
        d->app.redis = redis_client_new(&redis);
        d->listener = wake_listener_new(&redis, channels, sizeof channels / sizeof *channels, on_wake, d);
    }
    if (d->sequencer_pool)
        d->custody = custody_new(&d->app, d->sequencer_pool, d->retention_pool);
    if (d->sequencer_pool)
        __atomic_store_n(&d->sequence, sequence_new(&d->app, d->sequencer_pool, zone), __ATOMIC_RELEASE);
    if (d->app.keyd)
        d->keeper = key_keeper_new(&d->app, leads, d);
    if (d->app.keyd)
        TRY(start_notices(d, e));
    d->engines = engine_keeper_new(&d->app, leads, d);
    const struct ops_place at = { c->scheduler_ops_bind, c->scheduler_ops_port, OPS_PORT_SCHEDULER,
                                  c->run_profile == PROFILE_PROD };
    return ops_open(&at, (struct ops_source){ is_ready, print_metrics, d }, &d->ops, e);
}

static void stop(struct daemon *d)
{
    ops_server_free(d->ops);
    wake_listener_free(d->listener);
    engine_keeper_free(d->engines);
    notice_sender_free(d->notices);
    key_keeper_free(d->keeper);
    custody_free(d->custody);
    sequence_free(d->sequence);
    loop_free(d->loop);
    otlp_free(d->app.otlp);
    leader_free(d->leader);
    redis_client_free(d->app.redis);
    keyd_client_free(d->app.keyd);
    db_pool_free(d->retention_pool);
    db_pool_free(d->sequencer_pool);
    db_pool_free(d->app.pool);
    policies_free(d->app.policies);
    machines_free(d->app.machines);
    waiting_free(d->app.waiting);
    workload_free(d->app.workload);
    cycle_ring_free(d->app.cycles);
    turnover_free(d->app.turnover);
    local_auth_free(d->app.auth);
}

static enum errc run(struct daemon *d, struct err *e)
{
    TRY(start_cycles(d, e));
    TRY(start_database(d, e));
    TRY(start_helpers(d, e));
    if (pthread_create(&d->signals, NULL, wait_for_signal, d))
        return FAIL(e, INTERNAL, "no thread for signals");
    log_event(LOG_INFO, "scheduler.started", NULL);
    notify_ready("plans");
    loop_run(d->loop);
    pthread_join(d->signals, NULL);
    return ERR_OK;
}

int main(int argc, char **argv)
{
    struct daemon d = { .app = { .program = "falaj-scheduler", .clock = &clock_system } };
    struct err e = { 0 };
    if (argc > 1 && strcmp(argv[1], "simulate") == 0)
        return simulate_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "replay") == 0)
        return replay_main(argc - 1, argv + 1);
    if (config_load(&argc, argv, &d.config, &e) != ERR_OK) {
        fprintf(stderr, "falaj-scheduler: %s\n", e.msg);
        return 2;
    }
    if (argc > 1) {
        bool is_settings = strcmp(argv[1], "--help-config") == 0, is_help = strcmp(argv[1], "--help") == 0;
        if (is_settings)
            config_help(stdout);
        else
            fputs("usage: falaj-scheduler --config FILE [--section.name=value]... [--help | --help-config]\n"
                  "       falaj-scheduler simulate --help\n"
                  "       falaj-scheduler replay --help\n", is_help ? stdout : stderr);
        config_free(d.config);
        return is_settings || is_help ? 0 : 2;
    }
    d.app.config = d.config;
    log_setup("falaj-scheduler", (enum log_level)d.config->log_level, d.config->log_format ? LOGJSON : LOGFMT, STDERR_FILENO);
    if (d.config->run_profile == PROFILE_DEV)
        fault_setup(getenv("FALAJ_FAULTS"));
    sigemptyset(&d.set);
    sigaddset(&d.set, SIGTERM);
    sigaddset(&d.set, SIGINT);
    sigaddset(&d.set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &d.set, NULL);       /* before any thread, so that only wait_for_signal takes them */
    signal(SIGPIPE, SIG_IGN);
    enum errc rc = run(&d, &e);
    if (rc != ERR_OK)
        log_err(LOG_ERROR, "scheduler.failed", &e);
    stop(&d);
    config_free(d.config);
    return rc == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
