/* SPDX-License-Identifier: Apache-2.0 */
/* loop_stand.c - an edge: what a scheduler does that does not lead. It reads the changes that a leader reads, and the notes of
 * the leader's plans beside them (scheduler/mirror/waiting_read.c), so its first plan is made from what it knows.
 *
 * It costs the database what changed, once a second, and a slice for comparing twice a minute. A part of all that waits is read
 * at each look at the lock, so that no look is late; and all of it, or all machines, at most once a minute, since what makes
 * it necessary may come again. */
#include "scheduler/loop_int.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/policies.h"
#include "scheduler/mirror/waiting.h"

enum { READ_US = 1000000, COMPARE_US = 30000000, LOAD_US = 60000000 };

struct reads { bool machines, jobs, compares; };

static enum errc read(struct work *w, const struct reads *r, struct err *e)
{
    struct machines_ask *machines = r->machines ? machines_asked(w, false) : NULL;
    struct waiting_ask *jobs = r->jobs ? waiting_asked(w, r->compares) : NULL;
    if (machines)
        TRY(machines_read(w, machines, r->compares, NULL, NULL, e));
    return jobs ? waiting_read(w, jobs, e) : ERR_OK;
}

/* What changed. All machines are read again where any tenant's limits changed (residency_revision), too. */
static enum errc follow(const struct app *app, struct arena *a, struct standing *s, int64_t now, struct err *e)
{
    struct work w = loop_work(app, a);
    const struct reads r = { app->machines && now >= s->machines_us, waiting_is_whole(app->waiting), now >= s->compare_us };
    const int64_t loads = r.machines ? machines_counted(app->machines).loads : 0;
    s->read_us = now + READ_US;
    if (r.compares)
        s->compare_us = now + COMPARE_US;
    const enum errc rc = RUN_SYSTEM(&w, app->pool, TX_READ_ONLY, read(&w, &r, e), e);
    if (r.machines && machines_counted(app->machines).loads > loads)    /* also where what was read after them failed */
        s->machines_us = now + LOAD_US;
    return rc;
}

static enum errc stand_by(const struct app *app, struct arena *a, struct standing *s, int64_t now, struct err *e)
{
    bool more;
    if (now >= s->read_us)
        TRY(follow(app, a, s, now, e));
    if (!waiting_is_whole(app->waiting)) {
        if (!waiting_is_begun(app->waiting)) {
            if (now < s->load_us)
                return ERR_OK;
            s->load_us = now + LOAD_US;
        }
        return waiting_load(app, waiting_one_part, NULL, &more, e);
    }
    return ERR_OK;
}

void loop_stand_by(const struct app *app, struct arena *a, struct standing *s)
{
    struct err e = { 0 };
    if (!app->waiting)
        return;
    arena_reset(a);
    const bool is_ok = stand_by(app, a, s, clock_mono_us(app->clock), &e) == ERR_OK;
    if (!is_ok && !s->is_told)          /* once, not at every look */
        log_err(LOG_WARN, "scheduler.stand_by", &e);
    s->is_told = !is_ok;
}

void loop_lead(const struct app *app)
{
    policies_forget(app->policies);
    waiting_lead(app->waiting);
    if (app->waiting)
        log_event(LOG_INFO, "scheduler.mirror_kept", "jobs", LOG_I(waiting_counted(app->waiting).jobs), "is_whole",
                  LOG_I(waiting_is_whole(app->waiting)), NULL);
}
