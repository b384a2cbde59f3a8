/* SPDX-License-Identifier: Apache-2.0 */
/* loop_stand.c - an edge: what a scheduler does that does not lead. It reads the changes that a leader reads, and the notes of
 * the leader's plans beside them (scheduler/mirror/waiting_read.c), so its first plan is made from what it knows.
 *
 * It costs the database what changed, once a second, and a slice of the queue for comparing twice a minute. A part of all that
 * waits is read at each look at the lock, so that no look is late; and all of it at most once a minute, since what makes it
 * necessary may come again. */
#include "scheduler/loop_int.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "scheduler/mirror/machines.h"
#include "scheduler/mirror/policies.h"
#include "scheduler/mirror/waiting.h"

enum { READ_US = 1000000, COMPARE_US = 30000000, LOAD_US = 60000000 };

static enum errc follow(const struct app *app, struct arena *a, bool compares, struct err *e)
{
    struct work w = loop_work(app, a);
    return RUN_SYSTEM(&w, app->pool, TX_READ_ONLY, waiting_read(&w, waiting_asked(&w, compares), e), e);
}

static enum errc stand_by(const struct app *app, struct arena *a, struct standing *s, int64_t now, struct err *e)
{
    bool more;
    if (!waiting_is_whole(app->waiting)) {
        if (!waiting_is_begun(app->waiting)) {
            if (now < s->load_us)
                return ERR_OK;
            s->load_us = now + LOAD_US;
        }
        return waiting_load(app, waiting_one_part, NULL, &more, e);
    }
    if (now < s->read_us)
        return ERR_OK;
    const bool compares = now >= s->compare_us;
    s->read_us = now + READ_US;
    if (compares)
        s->compare_us = now + COMPARE_US;
    return follow(app, a, compares, e);
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
    machines_forget(app->machines);
    policies_forget(app->policies);
    waiting_lead(app->waiting);
    if (app->waiting)
        log_event(LOG_INFO, "scheduler.mirror_kept", "jobs", LOG_I(waiting_counted(app->waiting).jobs), "is_whole",
                  LOG_I(waiting_is_whole(app->waiting)), NULL);
}
