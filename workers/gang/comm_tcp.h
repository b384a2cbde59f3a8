/* SPDX-License-Identifier: Apache-2.0 */
/* comm_tcp.h - ranks that are processes, on one machine or several: every two of them are joined by one connection of TLS 1.3.
 *
 * A peer is let in by its certificate: signed by the gang's authority, with the one name that is written down for its rank.
 * Rank r calls all ranks below it and is called by those above; both say HELLO with the digest of the run, so ranks of two runs
 * do not mix (CONFLICT), nor those that go on from two checkpoints (UPSTREAM: the next attempt may find the same).
 * Callers are heard side by side, CALLERS_MAX at once, each for at most STRANGER_MS in all; a stranger is sent away and holds up
 * nobody. Where more call, the oldest goes once it has had CALLER_YOUNG_MS.
 * Exchanges go in rounds, in round k with the rank (own xor k), the lower one speaks first: two processes at a time, none in a
 * circle. Sums are comm_sum's, so the bits are those of threads.
 * A rank that is lost (its connection closes, or it is silent for silence_ms while others wait for it) ends all: who finds it
 * says so to the others (ABORT) and every call fails with the first reason that was heard, within silence_ms.
 * Memory: a gradient's worth of bytes for the parts of others, allocated at the first sum. The process ignores SIGPIPE.
 * A lease's sandbox lets no sockets be made: its agent listens and calls for it (docs/adr/0088). Errors: FORBIDDEN, UPSTREAM,
 * DEADLINE (core/crypto/tls.h), BAD_DATA (comm_frame.h), IO. */
#pragma once
#include "core/crypto/tls.h"
#include "workers/compute/train/comm.h"

struct comm_peer {
    struct str host;                    /* an address, not a name */
    int port;
    struct str name;                    /* of its certificate: a URI */
    int connected;                      /* a socket to it that somebody else has opened, taken over; 0: it is called */
};

enum { COMM_TCP_WHAT = 24 };            /* of run */

struct comm_tcp_gang {
    int rank, size;
    const struct comm_peer *peers;      /* by rank, its own too */
    const struct tls_identity *own;
    unsigned char run[32];              /* COMM_TCP_WHAT bytes: digest of what is run; then of where it goes on from */
    int silence_ms;                     /* the longest that a rank waits for another, also for its start */
};

/* listener: listening at peers[rank]; stays the caller's. Returns when all are joined. */
MUST_CHECK enum errc comm_tcp_join(const struct comm_tcp_gang *g, int listener, struct comm **ret, struct err *e);
void comm_tcp_free(struct comm *c);
/* It ended because of another rank: one that is gone, silent, or ended itself. */
bool comm_tcp_was_lost(const struct comm *c);
/* A connected socket to a rank that may not listen yet, tried again until wait_ms have passed: DEADLINE. */
MUST_CHECK enum errc comm_tcp_dial(struct str host, int port, int wait_ms, int *ret_fd, struct err *e);
/* A listening socket on loopback or another address; port 0: any, told in *ret_port. */
MUST_CHECK enum errc comm_tcp_listen(struct str host, int port, int *ret_fd, int *ret_port, struct err *e);
