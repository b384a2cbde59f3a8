/* SPDX-License-Identifier: Apache-2.0 */
/* loop_reap.c - the turns of the loop that end what is over: leases, budgets, tenants. Each is one transaction. */
#include "scheduler/loop_int.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/budget_watch.h"
#include "scheduler/duty/idle_watch.h"
#include "scheduler/duty/reaper.h"
#include "scheduler/duty/tenant_reaper.h"

enum { BUDGET_LIMIT = 1000 };

enum errc loop_reap_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct reaper_result r;
    struct work w = loop_work(app, a);
    *ret_more = false;
    TRY(RUN_SYSTEM(&w, app->pool, 0, reaper_pass(&w, REAP_LIMIT, &r, e), e));
    if (r.lost_nodes || r.njobs)
        log_event(LOG_INFO, "reaper.pass", "lost_nodes", LOG_I(r.lost_nodes), "expired", LOG_I(r.expired), "requeued",
                  LOG_I(r.requeued), "failed", LOG_I(r.failed), "cancelled", LOG_I(r.cancelled), NULL);
    *ret_more = r.njobs >= REAP_LIMIT;
    return ERR_OK;
}

enum errc loop_budget_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct budget_watch_result r;
    struct work w = loop_work(app, a);
    *ret_more = false;
    TRY(RUN_SYSTEM(&w, app->pool, 0, budget_watch_pass(&w, BUDGET_LIMIT, &r, e), e));
    if (r.told || r.held || r.released)
        log_event(LOG_INFO, "budget.pass", "told", LOG_I(r.told), "held", LOG_I(r.held), "released", LOG_I(r.released), NULL);
    *ret_more = r.held >= BUDGET_LIMIT || r.released > 0;
    return ERR_OK;
}

enum errc loop_idle_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct idle_watch_result r;
    struct work w = loop_work(app, a);
    *ret_more = false;
    TRY(RUN_SYSTEM(&w, app->pool, 0, idle_watch_pass(&w, IDLE_WATCH_MAX, &r, e), e));
    if (r.noticed || r.withdrawn || r.stopped)
        log_event(LOG_INFO, "scheduler.idled", "noticed", LOG_I(r.noticed), "withdrawn", LOG_I(r.withdrawn), "stopped",
                  LOG_I(r.stopped), NULL);
    return ERR_OK;
}

enum errc loop_end_tenants_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e)
{
    struct tenant_reaped r;
    struct work w = loop_work(app, a);
    *ret_more = false;
    TRY(RUN_SYSTEM(&w, app->pool, 0, tenant_reaper_pass(&w, REAP_LIMIT, &r, e), e));
    if (r.cancelled || r.removed || r.ended)
        log_event(LOG_INFO, "tenants.ended", "cancelled_jobs", LOG_I(r.cancelled), "removed_rows", LOG_I(r.removed), "ended",
                  LOG_I(r.ended), NULL);
    *ret_more = r.removed > 0 || r.cancelled >= REAP_LIMIT;
    return ERR_OK;
}
