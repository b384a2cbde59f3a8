/* SPDX-License-Identifier: Apache-2.0 */
/* housekeeping.c - by the clock of the main thread; what fails is told in the log and tried again at the next look. */
#include "api/housekeeping.h"
#include "api/trust.h"
#include "audit/erasure_keeper.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/notify.h"
#include "core/db/run_tx.h"
#include "core/http/cert_watch.h"
#include "core/table/config.h"
#include "registry/catalog/upload.h"
#include "registry/vault/blob_store.h"
#include "registry/vault/orphan.h"
#include "registry/vault/worker_checkpoint.h"
#include "scheduler/jobs/environment.h"
#include "scheduler/jobs/inside_sweep.h"
#include "serving/serving.h"
#include "tenants/accounts/api_rate.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/login_guard.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/refusals.h"
#include "tenants/identity/session_authn.h"

#include <time.h>

enum { HOUSEKEEPING_S = 10, ORPHAN_EVERY_S = 3600, BLOB_AGE_S = 3600 };
/* The largest task reads up to 100,000 tenants' own rates (tenants/accounts/api_rate.c). */
static const size_t HOUSEKEEPING_ARENA = 16 << 20;

/* Blobs that no row knows: only a process that may see every tenant's rows can say so. */
static void sweep_orphans(struct app *app, struct arena *a)
{
    struct err e;
    int64_t removed = 0;
    if (app->node_pool && orphan_sweep(app, a, BLOB_AGE_S, &removed, &e) != ERR_OK)
        log_err(LOG_WARN, "orphan.sweep", &e);
}

/* Uploads that nobody went on with, and what was sent of them; checkpoints of jobs that have ended; archives of refused
 * environments, and those that came from a registry. */
static void sweep_uploads(struct app *app, struct arena *a)
{
    struct err e;
    int64_t ended = 0;
    if (app->node_pool && (upload_sweep(app, a, &ended, &e) != ERR_OK || checkpoint_sweep(app, a, &ended, &e) != ERR_OK ||
                           environment_sweep(app, a, &ended, &e) != ERR_OK || environment_settle(app, a, &ended, &e) != ERR_OK))
        log_err(LOG_WARN, "content.sweep", &e);
}

/* Sessions in programs whose falaj-api is gone, or for which nobody came. */
static void sweep_inside(struct app *app)
{
    struct err e;
    int64_t tenants = 0;
    if (app->node_pool && inside_sweep(app, &tenants, &e) != ERR_OK)
        log_err(LOG_WARN, "inside.sweep", &e);
}

/* Counts of tries, device codes, logins at providers and used tokens that are long over. */
static void sweep_signin(struct app *app, struct arena *a)
{
    struct err e;
    struct work w = { .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
    if (RUN_WRITE(&w, (guard_sweep(&w), oidc_sweep(&w), ERR_OK), &e) != ERR_OK)
        log_err(LOG_WARN, "signin.sweep", &e);
}

void serving_trust_share(struct api *api)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
    if (api->trust)
        serving_trust(api->serving, mtls_trust_pem(api->trust, a));
}

void housekeeping_run(struct app *app, struct api *api, struct config *cfg, sigset_t *set)
{
    struct timespec pause = { HOUSEKEEPING_S, 0 };
    int64_t sweep_us = clock_mono_us(app->clock) + ORPHAN_EVERY_S * INT64_C(1000000);
    for (;;) {
        int sig = sigtimedwait(set, NULL, &pause);
        if (sig == SIGHUP)
            config_hangup(cfg);
        if (sig == SIGHUP || sig == SIGUSR1)
            pipeline_reopen_log(api->pipeline);
        else if (sig > 0)
            return;
        notify_alive();
        cert_watch_look(api->certs, clock_wall_us(app->clock));
        struct arena *a = arena_new(HOUSEKEEPING_ARENA);
        struct err e;
        if (refusals_flush(authn_refusals(api->authn), app, a, &e) != ERR_OK)
            log_err(LOG_WARN, "authn.refusals", &e);
        if (authn_flush_used(api->authn, a, &e) != ERR_OK)
            log_err(LOG_WARN, "authn.flush", &e);
        if (session_authn_flush(api->sessions, a, &e) != ERR_OK)
            log_err(LOG_WARN, "session.flush", &e);
        if (api_rates_refresh(app->api_rates, app->pool, a, &e) != ERR_OK)
            log_err(LOG_WARN, "rates.refresh", &e);
        blob_sweep(app->blobs, BLOB_AGE_S);
        if (erasure_keeper_look_if_moved(app, &e) != ERR_OK)
            log_err(LOG_WARN, "erasure.look", &e);
        sweep_uploads(app, a);
        sweep_inside(app);
        if (api->trust && trust_refresh(app, api->trust))
            serving_trust_share(api);
        if (clock_mono_us(app->clock) >= sweep_us) {
            sweep_orphans(app, a);
            sweep_signin(app, a);
            sweep_us = clock_mono_us(app->clock) + ORPHAN_EVERY_S * INT64_C(1000000);
        }
        arena_free(a);
    }
}
