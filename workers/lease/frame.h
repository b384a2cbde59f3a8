/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - messages between the agent and the child that runs a lease, over one socket pair (SOCK_SEQPACKET, descriptor 3).
 *
 * One frame is one packet: u32 type, then its body; descriptors travel beside it. Keys travel only here: never by argument,
 * environment or file.
 * Agent to child: GRANT (once, first: JSON, descriptors: output, inputs without checkpoints, the listener of a kind that
 * listens, the socket to the keeper of one that keeps checkpoints, the door of one that runs programs), KEYS
 * (release_key array), OUTPUT (struct frame_output, after
 * WANT), CERT (PEM, after CSR and at each renewal; of such a kind).
 * To and from the keeper, over a second pair (keeper.h): CKPT_PLACE -> OUTPUT with a file; CKPT_DONE (struct frame_ckpt) ->
 * CKPT_OK; CKPT_READ (u32, which input) -> CKPT_OK with a file; CKPT_NO (why) in place of any answer.
 * Child to agent: LOG (text), METRIC (i64 step, JSON), CSR (PEM, once; of a kind that listens), READY (after CERT: it answers),
 * WANT (plain size i64; train), RESULT (struct frame_result, JSON), FAILED (text).
 * Of a job on several machines: CSR and CERT as of a kind that listens, then PEERS to the child (JSON: lease_gang_out;
 * descriptors: sockets to the lower ranks, in their order); ALONE (why) from it: another machine ended it.
 * ENERGY (nothing) asks what the lease has taken, of a kind that starts no programs -> ENERGY (i64 millijoules, -1: not
 * measured).
 * Of a program in an image: IMAGE (a descriptor: what it unpacked, for the next lease; once, where the grant asks for it).
 * Of a kind that makes artifacts: LINE (a letter of its stream: o, e or s; text), PLACE (name) -> OUTPUT with a file for
 * each artifact, then GIVEN (struct frame_result); at the end ENDED (JSON), or AGAIN (why it is to be queued again).
 * DIAL (HOST:PORT), of a kind that may -> DIALLED (a descriptor: a connected socket), or FAILED (why there is none).
 * Through the door, to the child: ENTER (a descriptor: a helper's socket; run_door.h). On that: ASK to the helper -> INSIDE
 * (descriptors) or FAILED, then ENDED (box_enter.h). ATTACH (a descriptor: a socket with the watcher) -> INSIDE (what writes
 * to the program's standard input) or FAILED; then ENDED from the agent (there is no more input), or from the watcher (nobody
 * reads it any more; JSON).
 * Errors: IO (the other side is gone), LIMIT (too large), DAMAGED (a short frame). */
#pragma once
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/secmem.h"

enum { FRAME_MAX = 160 * 1024, FRAME_FDS_MAX = 27, FRAME_FD = 3 };
enum frame_type {
    FRAME_GRANT = 1, FRAME_KEYS, FRAME_OUTPUT, FRAME_LOG, FRAME_METRIC, FRAME_READY, FRAME_WANT, FRAME_RESULT, FRAME_FAILED,
    FRAME_CERT, FRAME_CSR, FRAME_LINE, FRAME_PLACE, FRAME_GIVEN, FRAME_ENDED, FRAME_AGAIN, FRAME_PEERS, FRAME_ALONE,
    FRAME_CKPT_PLACE, FRAME_CKPT_DONE, FRAME_CKPT_READ, FRAME_CKPT_OK, FRAME_CKPT_NO, FRAME_IMAGE, FRAME_ENERGY,
    FRAME_ENTER, FRAME_ASK, FRAME_INSIDE, FRAME_ATTACH, FRAME_DIAL, FRAME_DIALLED
};

struct frame_output {
    struct uuid tenant_id, object_id, dek_id;
    uint32_t version;
    struct secret32 key;
};

struct frame_result {
    int64_t plain_size;
    uint8_t sha256[32];             /* of the plaintext */
};

struct frame_ckpt {
    struct frame_result about;
    int64_t step;
};

struct frame {
    enum frame_type type;
    struct str body;                /* in the buffer given */
    int fds[FRAME_FDS_MAX];
    size_t nfds;
};

/* wait false: a full socket is LIMIT at once. */
MUST_CHECK enum errc frame_send(int fd, enum frame_type type, struct str head, struct str body, const int *fds, size_t nfds, bool wait,
                                struct err *e);
/* Blocks. buf has FRAME_MAX bytes. A closed socket is IO. */
MUST_CHECK enum errc frame_receive(int fd, char *buf, struct frame *ret, struct err *e);
void frame_close_fds(struct frame *f);
