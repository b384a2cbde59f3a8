/* SPDX-License-Identifier: Apache-2.0 */
/* run_world.c - gang_join, then a tunnel; what is heard there is looked at, never waited for, but at the end. */
#include "workers/lease/run_world.h"

#include <poll.h>
#include <stdio.h>
#include "core/base/clock.h"
#include "core/wire/type_run.h"
#include "workers/gang/tunnel.h"
#include "workers/lease/gang_join.h"
#include "workers/lease/run_lines.h"

enum { LOOK_MS = 20 };

enum errc run_world_join(struct run_world *w, struct child *c, struct box *box, int64_t from, struct err *e)
{
    struct comm *comm;
    *w = (struct run_world){ .c = c };
    if (!lease_grant_is_gang(&c->grant.lease))
        return ERR_OK;
    if (gang_join(c, from, &comm, e) != ERR_OK)
        return gang_failed(NULL, e);
    const int net = box->net;
    box->net = -1;
    return tunnel_new(comm, net, &w->tunnel, e);
}

const char *run_world_stops(struct run_world *w)
{
    if (*w->c->stop) {
        if (w->tunnel && !w->has_said_stop)
            tunnel_say(w->tunnel, PACKET_STOP, "told to stop");
        w->has_said_stop = true;
        return "told to stop";
    }
    if (!w->tunnel)
        return NULL;
    const struct tunnel_sight s = tunnel_look(w->tunnel);
    return s.is_lost || s.is_stopping ? str_z(w->c->arena, str_c(s.why)) : NULL;
}

/* The agent says it for us: nothing at first, and then that the lease is given back (gang_join.h). */
static enum errc ended_by(const struct tunnel_sight *s, struct err *e)
{
    FAIL(e, UPSTREAM, "%s", s->why);
    return gang_failed(NULL, e);
}

/* Until all have ended well, or it is known that they will not. */
static struct tunnel_sight wait_for_all(struct run_world *w, int64_t until_us)
{
    for (;;) {
        const struct tunnel_sight s = tunnel_look(w->tunnel);
        if (s.all_done || s.is_lost)
            return s;
        const bool is_stopping = run_world_stops(w) != NULL;
        if (is_stopping && clock_mono_us(&clock_system) >= until_us)
            return s;
        poll(NULL, 0, LOOK_MS);
    }
}

enum errc run_world_end(struct run_world *w, int code, const char *why, int64_t until_us, int *ret_code,
                        struct err *e)
{
    const bool is_stopped = run_world_stops(w) != NULL, is_good = code == 0 || code == RUN_AGAIN;
    *ret_code = code;
    if (!w->tunnel)
        return ERR_OK;
    struct tunnel_sight s = tunnel_look(w->tunnel);
    if (!is_good && !is_stopped) {
        tunnel_say(w->tunnel, PACKET_FAILED, why);
        return ERR_OK;
    }
    if (!s.is_lost) {
        tunnel_say(w->tunnel, PACKET_DONE, code == RUN_AGAIN ? "again" : NULL);
        s = wait_for_all(w, until_us);
    }
    if (*w->c->stop)
        return ERR_OK;                  /* its end is that of who was told to stop */
    if (s.is_lost || s.is_stopping)
        return ended_by(&s, e);
    *ret_code = s.asks_again ? RUN_AGAIN : code;
    if (!s.asks_again || run_world_gives(w))
        return ERR_OK;
    snprintf(s.why, sizeof s.why, "the program asked to be queued again");
    return ended_by(&s, e);
}

bool run_world_leader_done(const struct run_world *w)
{
    return w->tunnel && tunnel_look(w->tunnel).leader_done;
}

bool run_world_gives(const struct run_world *w)
{
    return !w->c->grant.lease.rank;
}

void run_world_close(struct run_world *w)
{
    tunnel_free(w->tunnel);
    w->tunnel = NULL;
}
