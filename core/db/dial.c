/* SPDX-License-Identifier: Apache-2.0 */
/* dial.c - attempts under way together, by libpq's asynchronous connecting, which has no time limit of its own. */
#include "core/db/dial.h"
#include "core/base/assert.h"
#include "core/base/clock.h"

#include <poll.h>

enum {
    NEXT_US = 250000,           /* of silence until the next server is asked too */
    AGAIN_US = 500000,          /* between two times that one which refused is asked */
    SLOW_US = 1900000,          /* what failed after so long was ended by a limit of the network, not refused */
};

struct attempt {
    PGconn *pg;                 /* NULL: not under way */
    PostgresPollingStatusType wants;
    int64_t began_us, failed_us;
    bool has_spoken;            /* bytes came: something there runs, however slow it is */
};

struct race {
    struct dial *d;
    struct attempt at[DIAL_MAX];
    int n;
    const char *const *keys, *const *values;
    int64_t timeout_us, now_us;
    struct buf *why;
};

static void begin(struct race *r, int i)
{
    enum { WORDS_MAX = 16 };
    const char *k[WORDS_MAX + 1], *v[WORDS_MAX + 1];
    int n = 0;
    for (; r->keys[n] && n < WORDS_MAX - 2; n++)
        k[n] = r->keys[n], v[n] = r->values[n];
    k[n] = "host", v[n++] = r->d[i].host;
    k[n] = "port", v[n++] = r->d[i].port;
    k[n] = NULL, v[n] = NULL;
    r->at[i] = (struct attempt){ PQconnectStartParams(k, v, 1), PGRES_POLLING_WRITING, r->now_us, 0, false };
    ASSERT(r->at[i].pg);
}

/* A quarter of a second is enough to ask another one, and too little to judge by: a pooler whose own server is slow, or which has
 * much to do, needs longer for its first word. */
static bool is_silent(const struct race *r, int i)
{
    return !r->at[i].has_spoken && r->now_us - r->at[i].began_us > SLOW_US;
}

/* What a server says when it is asked again is what it said before. */
static void fail(struct race *r, int i, const char *text)
{
    if (r->d[i].said == DIAL_NOT_ASKED)
        buf_add_c(r->why, text);
    r->d[i].said = is_silent(r, i) ? DIAL_SILENT : DIAL_REFUSED;
    PQfinish(r->at[i].pg);
    r->at[i].pg = NULL;
    r->at[i].failed_us = r->now_us;
}

/* Whose turn it is to be asked now, for the first time, or again while another one is silent; -1: nobody's. *ret_wait_us becomes
 * no more than until it is somebody's. */
static int next(const struct race *r, int64_t *ret_wait_us)
{
    bool is_any_usual = false;          /* that has not said anything yet */
    int64_t last_us = 0;                /* when the last of those that are asked for the first time was; 0: there is none */
    for (int i = 0; i < r->n; i++) {
        if (r->d[i].said != DIAL_NOT_ASKED)
            continue;
        is_any_usual |= !r->d[i].is_last;
        last_us = r->at[i].pg && r->at[i].began_us > last_us ? r->at[i].began_us : last_us;
    }
    for (int i = 0; i < r->n; i++) {
        bool is_first = r->d[i].said == DIAL_NOT_ASKED;
        if (r->at[i].pg || (is_first ? r->d[i].is_last && is_any_usual : r->d[i].said != DIAL_REFUSED || !last_us))
            continue;
        int64_t wait_us = (is_first ? last_us + NEXT_US : r->at[i].failed_us + AGAIN_US) - r->now_us;
        if (wait_us <= 0 || (is_first && !last_us))
            return i;
        *ret_wait_us = wait_us < *ret_wait_us ? wait_us : *ret_wait_us;
    }
    return -1;
}

static bool is_under_way(const struct race *r)
{
    for (int i = 0; i < r->n; i++)
        if (r->at[i].pg)
            return true;
    return false;
}

/* Waits for a word of any, at most wait_us; has those that said one go on. */
static void step(struct race *r, int64_t wait_us)
{
    struct pollfd f[DIAL_MAX];
    int who[DIAL_MAX], n = 0;
    for (int i = 0; i < r->n; i++) {
        if (!r->at[i].pg)
            continue;
        int64_t left_us = r->at[i].began_us + r->timeout_us - r->now_us;
        wait_us = PQsocket(r->at[i].pg) < 0 ? 0 : left_us < wait_us ? left_us : wait_us;
        f[n] = (struct pollfd){ PQsocket(r->at[i].pg), r->at[i].wants == PGRES_POLLING_READING ? POLLIN : POLLOUT, 0 };
        who[n++] = i;
    }
    (void)poll(f, (nfds_t)n, wait_us > 0 ? (int)(wait_us / 1000) + 1 : 0);
    r->now_us = clock_mono_us(&clock_system);
    for (int k = 0; k < n; k++) {
        struct attempt *a = &r->at[who[k]];
        bool is_word = a->wants == PGRES_POLLING_READING && (f[k].revents & POLLIN);
        if (f[k].fd < 0 || f[k].revents)
            a->wants = PQconnectPoll(a->pg);
        a->has_spoken |= is_word && a->wants != PGRES_POLLING_FAILED;
        if (a->wants == PGRES_POLLING_OK)
            r->d[who[k]].said = DIAL_GOOD;
        else if (a->wants == PGRES_POLLING_FAILED)
            fail(r, who[k], PQerrorMessage(a->pg));
        else if (r->now_us - a->began_us >= r->timeout_us)
            fail(r, who[k], a->has_spoken ? "a server did not finish its answer in time; " : "a server did not answer in time; ");
    }
}

/* The first that is good; the others are given up, and what said nothing for SLOW_US is silent. */
static PGconn *winner(struct race *r)
{
    PGconn *won = NULL;
    for (int i = 0; i < r->n && !won; i++)
        if (r->at[i].pg && r->d[i].said == DIAL_GOOD) {
            won = r->at[i].pg;
            r->at[i].pg = NULL;
        }
    for (int i = 0; won && i < r->n; i++)
        if (r->at[i].pg) {
            r->d[i].said = is_silent(r, i) ? DIAL_SILENT : DIAL_REFUSED;
            PQfinish(r->at[i].pg);
        }
    return won;
}

PGconn *dial_first(struct dial *d, int n, const char *const *keys, const char *const *values, int64_t timeout_us,
                   struct buf *why)
{
    ASSERT(n > 0 && n <= DIAL_MAX);
    struct race r = { .d = d, .n = n, .keys = keys, .values = values, .timeout_us = timeout_us, .why = why,
                      .now_us = clock_mono_us(&clock_system) };
    for (;;) {
        int64_t wait_us = timeout_us;
        for (int i; (i = next(&r, &wait_us)) >= 0;)
            begin(&r, i);
        if (!is_under_way(&r))
            return NULL;
        step(&r, wait_us);
        PGconn *won = winner(&r);
        if (won)
            return won;
    }
}
