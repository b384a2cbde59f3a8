/* SPDX-License-Identifier: Apache-2.0 */
/* mux_door.c - the way in to each place that a mux calls: how many calls may open connections there at once.
 *
 * A handshake costs milliseconds of processor on both sides, and all of them together must be over within the time that one may
 * take. Sixty callers who come at once to a place without connections therefore made sixty handshakes that all timed out on a
 * busy machine, and so did the next sixty: nothing was ever answered. So DOOR_OPENING_MAX of them open connections, and the
 * others wait here for one that is free, in the order in which they came. Who waits at one door waits for that place alone: a
 * host that stalls keeps nobody else.
 *
 * curl has a limit of its own (CURLMOPT_MAX_HOST_CONNECTIONS), but that is one of all connections, and its waiters of all hosts
 * are one list. It says when a connection is up (CURLOPT_PREREQFUNCTION), and whether it is a new one. How many are free is
 * taken from calls that ended well; those that the other side has ended since are found out by the first call that has to open
 * one in spite of it. All of it is the loop's thread's. */
#include "core/http/mux_int.h"

#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/clock.h"

struct mux_door {
    struct mux_door *next;
    struct http_target *to;
    int calls;                          /* begun and not over */
    int opening;                        /* of these, without a connection so far, and none was free for them */
    int free;                           /* connections that nobody uses, as far as is known */
    struct mux_call *first, **tail;     /* wait here, by `next` */
    int64_t alive_us;                   /* when a connection was up last */
};

static struct mux_door *door_new(struct http_target *to)
{
    struct mux_door *d = calloc(1, sizeof *d);
    ASSERT(d);
    d->to = http_target_ref(to);
    d->tail = &d->first;
    return d;
}

static struct mux_door *door_of(struct http_mux *m, struct http_target *to)
{
    for (struct mux_door *d = m->doors; d; d = d->next)
        if (d->to == to)
            return d;
    struct mux_door *d = door_new(to);
    d->next = m->doors;
    m->doors = d;
    return d;
}

/* A connection is up for this call, new or kept. */
static int on_up(void *ctx, char *peer, char *own, int peer_port, int own_port)
{
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    struct mux_call *c = ctx;
    long made = 0;
    curl_easy_getinfo(c->run.curl, CURLINFO_NUM_CONNECTS, &made);
    if (made > 0 && !c->is_opening)
        c->door->free = 0;
    c->door->opening -= c->is_opening;
    c->is_opening = false;
    c->door->alive_us = clock_mono_us(&clock_system);
    return CURL_PREREQFUNC_OK;
}

/* --- who may go in --- */

static bool may_pass(const struct mux_door *d)
{
    return d->free > 0 || d->opening < DOOR_OPENING_MAX;
}

static void pass(struct mux_door *d, struct mux_call *c)
{
    c->is_opening = d->free == 0;
    d->opening += c->is_opening;
    d->free -= !c->is_opening;
    d->calls++;
}

bool mux_door_enter(struct http_mux *m, struct mux_call *c)
{
    struct mux_door *d = c->door = door_of(m, c->o.to);
    c->came_us = clock_mono_us(&clock_system);
    if (!d->first && may_pass(d)) {
        pass(d, c);
        return true;
    }
    c->next = NULL;
    *d->tail = c;
    d->tail = &c->next;
    m->waiting++;
    return false;
}

void mux_door_set(CURL *h, struct mux_call *c)
{
    curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, on_up);
    curl_easy_setopt(h, CURLOPT_PREREQDATA, c);
}

void mux_door_leave(struct mux_call *c, bool is_kept)
{
    c->door->opening -= c->is_opening;
    c->is_opening = false;
    c->door->calls--;
    c->door->free += is_kept;
}

static struct mux_call *take_first(struct http_mux *m, struct mux_door *d)
{
    struct mux_call *c = d->first;
    d->first = c->next;
    if (!d->first)
        d->tail = &d->first;
    m->waiting--;
    c->next = NULL;
    return c;
}

struct mux_call *mux_door_next(struct http_mux *m)
{
    for (struct mux_door *d = m->waiting ? m->doors : NULL; d; d = d->next)
        if (d->first && may_pass(d)) {
            struct mux_call *c = take_first(m, d);
            pass(d, c);
            return c;
        }
    return NULL;
}

static int64_t limit_ms(const struct mux_call *c)
{
    int ms = c->o.call.timeout_ms;
    return ms > 0 ? ms : ms < 0 ? INT64_MAX / 1000 : c->o.to->timeout_ms;
}

/* As those are told that try to connect: nothing has come up there for so long. */
static bool is_over(const struct mux_door *d, const struct mux_call *c, int64_t now_us)
{
    int64_t since_us = d->alive_us > c->came_us ? d->alive_us : c->came_us;
    return now_us - since_us >= d->to->connect_timeout_ms * INT64_C(1000) || (now_us - c->came_us) / 1000 >= limit_ms(c);
}

bool mux_door_spend(struct mux_call *c, int64_t now_us)
{
    int64_t waited_ms = (now_us - c->came_us) / 1000;
    if (is_over(c->door, c, now_us))
        return false;
    if (c->o.call.timeout_ms >= 0 && waited_ms > 0)
        c->o.call.timeout_ms = (int)(limit_ms(c) - waited_ms);
    return true;
}

struct mux_call *mux_door_ended(struct http_mux *m, int64_t now_us, const char **ret_why)
{
    for (struct mux_door *d = m->waiting ? m->doors : NULL; d; d = d->next)
        for (struct mux_call **at = &d->first; *at; at = &(*at)->next) {
            struct mux_call *c = *at;
            bool is_unwanted = c->o.is_unwanted && c->o.is_unwanted(c->o.ctx);
            if (!is_unwanted && now_us != INT64_MAX && !is_over(d, c, now_us))
                continue;
            *at = c->next;
            if (!*at)
                d->tail = at;
            m->waiting--;
            *ret_why = is_unwanted ? "Nobody waits for the answer any more" : NULL;
            return c;
        }
    return NULL;
}

void mux_doors_sweep(struct http_mux *m)
{
    for (struct mux_door **at = &m->doors; *at;) {
        struct mux_door *d = *at;
        if (d->calls > 0 || d->first) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        http_target_unref(d->to);
        free(d);
    }
}
