/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the thread that tells the API what became of the leases.
 *
 * A report is whatever came in during the last one: no timer but the heartbeat, so an idle line answers at once and a busy one
 * combines. */
#include "workers/agent/agent_int.h"

#include <poll.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/table/metrics.h"

static const size_t REPORT_MAX = (size_t)2 << 20;

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

void *agent_report(void *p)
{
    struct agent *a = p;
    CLEANUP(buf_releasep) struct buf body = BUF(REPORT_MAX);
    int failures = 0;
    while (!a->reporter_ends) {
        int64_t next = timers_run(a->timers, a->stopping);
        const int64_t ask = agent_ask_kept(a);
        buf_clear(&body);
        pthread_mutex_lock(&a->lock);
        struct node_identity node = a->env.node;
        pthread_mutex_unlock(&a->lock);
        if (book_collect(a->book, &node, &body)) {
            report_once(a, buf_str(&body), &failures);
            continue;
        }
        int64_t beat = clock_mono_us(a->clock) + a->config->worker_heartbeat_ms * 1000;
        next = next < ask ? next : ask;
        book_wait(a->book, next < beat ? next : beat);
    }
    return NULL;
}
