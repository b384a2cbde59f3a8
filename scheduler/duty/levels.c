/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c - the facts that the platform's page shows, as numbers for monitoring. */
#include "scheduler/duty/levels.h"
#include "core/db/run_tx.h"
#include "core/table/metrics.h"
#include "scheduler/round.h"

static void set(const struct system_facts *f)
{
    metrics_set(M_jobs_waiting, (double)f->waiting);
    metrics_set(M_attempts_running, (double)f->running);
    metrics_set(M_machines, (double)f->nodes_ready, "READY");
    metrics_set(M_machines, (double)f->nodes_draining, "DRAINING");
    metrics_set(M_machines, (double)f->nodes_quarantined, "QUARANTINED");
    metrics_set(M_machines, (double)f->nodes_lost, "LOST");
    metrics_set(M_slots, (double)f->used_slots, "used");
    metrics_set(M_slots, (double)(f->slots > f->used_slots ? f->slots - f->used_slots : 0), "free");
}

enum errc levels_measure(struct work *w, struct err *e)
{
    struct system_facts f;
    const struct uuid platform = { 0 };
    TRY(RUN_TX(w, w->app->pool, SCOPE_TENANT(platform), TX_READ_ONLY, system_facts_read(w, &f, e), e));
    set(&f);
    return ERR_OK;
}

void levels_clear(void)
{
    set(&(struct system_facts){ .slots = 0 });
}
