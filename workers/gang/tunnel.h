/* SPDX-License-Identifier: Apache-2.0 */
/* tunnel.h - the network of a program that runs on several machines: packets of its interface to the other machines and back,
 * over the connections by which the machines have joined (comm_tcp.h), and nowhere else.
 *
 *   program - its interface (a TUN device) - this thread ==TLS 1.3== that of each other machine - its interface - its program
 *
 * What a program sends to no rank, or as another rank, is dropped, and so is what comes from a machine that it is not of. While a
 * connection is slow nothing is taken from the interface: the program is held up, nothing is lost here and memory is bounded
 * (TUNNEL_ROOM for each machine and way).
 * The machines tell each other how their programs end, in the same order as the packets: a network lives until all have ended,
 * so what one sent as its last is read by the others.
 * One thread of its own; the functions may be called by any other. Memory: a handle. */
#pragma once
#include "workers/compute/train/comm.h"
#include "workers/gang/packet.h"

enum { TUNNEL_ROOM = 512 * 1024 };

struct tunnel;

/* What is known of the others. */
struct tunnel_sight {
    bool all_done, asks_again;          /* every program has ended well; one of them, ours too, asks to be queued again */
    bool leader_done;                   /* rank 0's program has ended well */
    bool is_lost;                       /* a machine is gone, or its program failed */
    bool is_stopping;                   /* a machine was told to stop its program */
    char why[PACKET_WORDS_MAX + 64];    /* of the last two, the first that was heard */
};

/* Takes both over, also where it fails: what comm_tcp_join gave, and a descriptor that gives and takes one packet at a time and
 * does not block. IO: no thread. */
MUST_CHECK enum errc tunnel_new(struct comm *joined, int device, struct tunnel **ret, struct err *e);
/* To all others. words: as text; of PACKET_DONE "again", or NULL. */
void tunnel_say(struct tunnel *t, enum packet_kind kind, const char *words);
struct tunnel_sight tunnel_look(struct tunnel *t);
/* Sends what was said, for at most a second, and closes all. NULL is fine. */
void tunnel_free(struct tunnel *t);
