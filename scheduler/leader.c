/* SPDX-License-Identifier: Apache-2.0 */
/* leader.c - the advisory lock, asked after at most twice a second. */
#include "scheduler/leader.h"
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/db/session.h"

#include <stdlib.h>

#define LEADER_KEY INT64_C(4630123711)
enum { PAUSE_US = 500000, ANSWER_MS = 2000 };

struct leader {
    char *conninfo;
    const struct clock *clock;
    struct db_session *session;
    bool is_leading;
    int64_t next_us;
};

struct leader *leader_new(const char *conninfo, const struct clock *clock)
{
    struct leader *l = calloc(1, sizeof *l);
    ASSERT(l);
    l->conninfo = str_dup_heap(str_c(conninfo));
    l->clock = clock;
    return l;
}

void leader_free(struct leader *l)
{
    if (!l)
        return;
    db_session_free(l->session);
    free(l->conninfo);
    free(l);
}

static enum errc look(struct leader *l, struct err *e)
{
    if (!l->session)
        TRY(db_session_new(l->conninfo, "falaj-scheduler-leader", ANSWER_MS, &l->session, e));
    if (l->is_leading)
        return db_session_alive(l->session, e);
    bool held = false;
    TRY(db_session_try_lock(l->session, LEADER_KEY, &held, e));
    if (held)
        log_event(LOG_INFO, "scheduler.leading", NULL);
    l->is_leading = held;
    return ERR_OK;
}

bool leader_check(struct leader *l)
{
    struct err e = { 0 };
    int64_t now = clock_mono_us(l->clock);
    if (now < l->next_us)
        return l->is_leading;
    l->next_us = now + PAUSE_US;
    if (look(l, &e) != ERR_OK) {
        log_err(LOG_WARN, "scheduler.leader_session", &e);
        db_session_free(l->session);
        l->session = NULL;
        l->is_leading = false;
    }
    return l->is_leading;
}
