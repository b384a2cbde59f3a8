/* SPDX-License-Identifier: Apache-2.0 */
/* leader.c - the advisory lock, asked after at most four times a second. A thread of its own says a word now and then while a
 * round takes long, so that only a process that is frozen or cut off falls silent.
 *
 * Who begins to lead ends what the one before may have left: a session of a planner that is frozen, or whose link was cut, in the
 * middle of a transaction holds the planners' lock for longer than others may wait, and in the middle of a message for as long as
 * the server's look at connections takes. What it had not committed is planned again. */
#include "scheduler/leader.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/session.h"
#include "scheduler/plan_apply.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LEADER_KEY INT64_C(4630123711)
/* Two of the five seconds that a loss may take are left for planning what waits and for the machine. */
enum { ANSWER_MS = 2000, WORD_US = 500000 };
_Static_assert(LEADER_SILENCE_MS * 1000 + 2 * LEADER_LOOK_US <= 3000000, "another one leads well within five seconds");
_Static_assert(LEADER_SILENCE_MS * 1000 >= WORD_US + ANSWER_MS * 1000, "who waits for one answer is not silent");

struct leader {
    char *conninfo;
    const struct clock *clock;
    pthread_mutex_t lock;               /* guards session, is_leading, is_told */
    struct db_session *session;
    bool is_leading, is_told;
    atomic_bool is_connected;
    int64_t next_us, term;              /* of the thread that asks */
    struct beat *words;
};

/* The lock is held. */
static void lose(struct leader *l, const struct err *e)
{
    if (l->session || !l->is_told)      /* a database that is away is told of once, not four times a second */
        log_err(LOG_WARN, "scheduler.leader_session", e);
    l->is_told = true;
    db_session_free(l->session);
    l->session = NULL;
    atomic_store(&l->is_connected, false);
    l->is_leading = false;
}

static int64_t say_word(void *ctx, bool is_woken)
{
    struct leader *l = ctx;
    struct err e = { 0 };
    (void)is_woken;
    pthread_mutex_lock(&l->lock);
    if (l->is_leading && db_session_alive(l->session, &e) != ERR_OK)
        lose(l, &e);
    pthread_mutex_unlock(&l->lock);
    return WORD_US;
}

struct leader *leader_new(const char *conninfo, const struct clock *clock)
{
    struct leader *l = calloc(1, sizeof *l);
    ASSERT(l);
    l->conninfo = str_dup_heap(str_c(conninfo));
    l->clock = clock;
    pthread_mutex_init(&l->lock, NULL);
    l->words = beat_new("leader", WORD_US, say_word, l);
    return l;
}

void leader_free(struct leader *l)
{
    if (!l)
        return;
    beat_free(l->words);
    db_session_free(l->session);
    pthread_mutex_destroy(&l->lock);
    free(l->conninfo);
    free(l);
}

static enum errc look(struct leader *l, struct err *e)
{
    if (!l->session) {
        TRY(db_session_new(l->conninfo, "falaj-scheduler-leader", ANSWER_MS, &l->session, e));
        TRY(db_session_end_after(l->session, LEADER_SILENCE_MS, e));
        atomic_store(&l->is_connected, true);
        l->is_told = false;
    }
    if (l->is_leading)
        return db_session_alive(l->session, e);
    bool held = false, was_left = false;
    TRY(db_session_try_lock(l->session, LEADER_KEY, &held, e));
    if (!held)
        return ERR_OK;
    TRY(db_session_end_holders(l->session, PLAN_TURN_KEY, &was_left, e));
    log_event(LOG_INFO, "scheduler.leading", "ended_planner", LOG_I(was_left), NULL);
    l->is_leading = true;
    l->term++;
    return ERR_OK;
}

bool leader_is_connected(const struct leader *l)
{
    return atomic_load(&l->is_connected);
}

int64_t leader_term(const struct leader *l)
{
    return l->term;
}

bool leader_check(struct leader *l)
{
    struct err e = { 0 };
    int64_t now = clock_mono_us(l->clock);
    pthread_mutex_lock(&l->lock);
    if (now >= l->next_us) {
        l->next_us = now + LEADER_LOOK_US;
        if (look(l, &e) != ERR_OK)
            lose(l, &e);
    }
    bool is_leading = l->is_leading;
    pthread_mutex_unlock(&l->lock);
    return is_leading;
}
