/* SPDX-License-Identifier: Apache-2.0 */
/* run_gang.c - a machine of a job on several, on the agent's side: it says where its child listens, waits for the others,
 * calls those of lower ranks for the child, which may make no sockets, and hands it the connections. Who the others are is
 * proven by the child, by their certificates. */
#include "workers/lease/executor_int.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/fault.h"
#include "core/json/encode.h"
#include "workers/gang/comm_tcp.h"

enum { ASK_FIRST_MS = 50, ASK_MOST_MS = 1000, LOOK_MS = 50, DIAL_MS = 30000, DIAL_STEP_MS = 1000, PEERS_BYTES = 16 * 1024 };
static const size_t SCRATCH = (size_t)1 << 20;

static bool is_unwanted(const struct run *r)
{
    return held_is_stale(r->held) || held_is_cancelled(r->held) || held_preempt_us(r->held);
}

/* False: the lease ends. */
static bool pause_ms(const struct run *r, int ms)
{
    for (; ms > 0 && !is_unwanted(r); ms -= LOOK_MS)
        poll(NULL, 0, ms < LOOK_MS ? ms : LOOK_MS);
    return !is_unwanted(r);
}

static enum errc ask(struct run *r, struct arena *a, struct lease_gang_out *ret, struct err *e)
{
    const struct executor_io *io = r->env->io;
    const struct str endpoint = str_c(r->endpoint);
    *ret = (struct lease_gang_out){ .missing = 1 };
    if (FAULT("gang_stays_away"))
        return ERR_OK;
    return io ? io->gang(io->ctx, a, r->g, endpoint, ret, e) : client_gang(r->client, a, r->g, endpoint, ret, e);
}

/* For DIAL_MS, unless the lease ends meanwhile. */
static enum errc dial_on(const struct run *r, struct str host, int port, int *ret, struct err *e)
{
    for (int left = DIAL_MS;; left -= DIAL_STEP_MS) {
        enum errc rc = comm_tcp_dial(host, port, DIAL_STEP_MS, ret, e);
        if (rc == ERR_DEADLINE && is_unwanted(r))
            return FAIL(e, RETRY, "the lease ended while its machine called another one");
        if (rc != ERR_DEADLINE)
            return rc;
        if (left <= DIAL_STEP_MS)
            return FAIL(e, DEADLINE, "nobody answered at port %d within %d ms", port, DIAL_MS);
    }
}

/* host:port of an IPv4 address. */
static enum errc dial(const struct run *r, const struct lease_gang_member *m, int *ret, struct err *e)
{
    size_t at = m->endpoint.len;
    int64_t port = 0;
    while (at && m->endpoint.ptr[at - 1] != ':')
        at--;
    if (!at || !str_to_i64(str_n(m->endpoint.ptr + at, m->endpoint.len - at), 1, 65535, &port))
        return FAIL(e, INVALID, "rank %ld says that it listens at %.*s; expected an address and a port", (long)m->rank,
                    STR_ARG(m->endpoint));
    return dial_on(r, str_n(m->endpoint.ptr, at - 1), (int)port, ret, e);
}

static enum errc hand_over(struct run *r, const struct lease_gang_out *all, struct err *e)
{
    const struct lease_gang_member *m = all->members.items;
    CLEANUP(buf_releasep) struct buf b = BUF(PEERS_BYTES);
    int fds[GANG_NODES_MAX];
    size_t n = 0;
    enum errc rc = (int64_t)all->members.n == r->g->nodes ? ERR_OK : FAIL(e, BAD_DATA, "%zu machines met; the job has %ld",
                                                                          all->members.n, (long)r->g->nodes);
    for (; rc == ERR_OK && (int64_t)n < r->g->rank; n += rc == ERR_OK)
        rc = dial(r, &m[n], &fds[n], e);
    if (rc == ERR_OK) {
        json_encode(&lease_gang_out_schema, all, &b);
        rc = frame_send(r->socket, FRAME_PEERS, STR_NULL, buf_str(&b), fds, n, true, e);
    }
    while (n-- > 0)
        close(fds[n]);
    return rc;
}

enum errc run_meet(struct run *r, struct err *e)
{
    for (int ms = ASK_FIRST_MS, failures = 0;;) {
        CLEANUP(arena_freep) struct arena *scratch = arena_new(SCRATCH);
        struct lease_gang_out all;
        enum errc rc = ask(r, scratch, &all, e);
        if (rc == ERR_OK && !all.missing)
            return hand_over(r, &all, e);
        if (rc != ERR_OK && !run_try_again(r, rc, failures++))
            return rc;
        if (rc == ERR_OK && !pause_ms(r, ms))
            return FAIL(e, RETRY, "the lease ended while %ld of its %ld machines were missing", (long)all.missing,
                        (long)r->g->nodes);
        ms = ms * 2 < ASK_MOST_MS ? ms * 2 : ASK_MOST_MS;
    }
}

/* Its own word would be the first where the other machine is gone: so it waits for as long as that one's lease lives. */
bool run_others_ended_it(const struct run *r)
{
    const int64_t until_us = clock_mono_us(&clock_system) + r->env->node.lease_ms * 2000;
    while (!is_unwanted(r) && clock_mono_us(&clock_system) < until_us)
        poll(NULL, 0, LOOK_MS);
    return held_is_stale(r->held);
}
