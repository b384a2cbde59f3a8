/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - the process that runs one lease: what it gets, what it says, and the jobs it knows.
 *
 * Calling order: child_main (from main, for `falaj-worker --run-lease`) receives the grant and the keys over descriptor 3, enters the
 * sandbox and runs what work_type.h has for its kind. Exit status 0: the job has said how it ended. Not offered: more than one lease. */
#pragma once
#include <stdatomic.h>
#include "workers/lease/child_wire.h"
#include "workers/lease/frame.h"
#include "workers/compute/kernels/backend.h"
#include "workers/compute/pool.h"
#include "core/wire/release_wire.h"

enum { CHILD_INPUTS_MAX = 23 };

struct child_input {
    struct lease_input about;
    int fd;                             /* its ciphertext; -1: a checkpoint, or read already */
    struct release_key key;
};

struct child {
    struct arena *arena;
    const struct backend *backend;
    struct hw hw;
    struct pool *pool;                  /* hw.cores threads, shared by all that computes here; made in the sandbox */
    struct child_grant grant;           /* its texts end with a NUL, as all that is decoded */
    struct child_input inputs[CHILD_INPUTS_MAX];
    size_t n_inputs;
    int output_fd;                      /* where the sealed output goes */
    int listener;                       /* of a kind that listens, opened by the agent; else -1 */
    int door;                           /* of a kind that runs programs: who wants to look inside (run_door.h); else -1 */
    int keeper;                         /* socket to the keeper of its checkpoints (ckpt_link.h); -1: none, or taken over */
    struct child_engine *engine;        /* of a kind that computes models, where one is named (child_engine.h); else NULL */
    const _Atomic bool *stop;           /* SIGTERM came */
    int exit_code;                      /* of this process when the job has said its end; else CHILD_DONE */
};

int child_main(void);
/* One line of the job's log, which says its level ("info: …", "warning: …"); the error that ends the job is written by the agent. A line
 * that finds the agent behind is lost: it must not hold the job. */
void child_log(const struct child *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void child_metric(const struct child *c, int64_t step, struct str values_json);
/* The plaintext of an input, decrypted in memory, checked against its digest. */
MUST_CHECK enum errc child_open_input(struct child *c, size_t i, struct buf *ret, struct err *e);
/* The same into a file, piece by piece. */
MUST_CHECK enum errc child_open_input_to(struct child *c, size_t i, int to, struct err *e);
/* What lies sealed in fd, from where it stands: its size, and its digest unless NULL, are checked. */
struct stream_ref;
MUST_CHECK enum errc child_open_sealed(int fd, const struct stream_ref *ref, const struct secret32 *key, int64_t size,
                                       const uint8_t *digest, struct buf *ret, struct err *e);
/* The agent's answer to who asked for a place: *ret seals content of that kind into *fd; where that is -1, the file comes with
 * the answer. */
struct stream_sealer;
MUST_CHECK enum errc child_take_place(struct child *c, struct str kind, int *fd, struct stream_sealer **ret, struct err *e);
/* Writes all of it; ctx: int *, the file. What a stream of ours writes with. */
MUST_CHECK enum errc child_write(void *ctx, const void *p, size_t n, struct err *e);
/* Ask for a place for an artifact, seal what fd has into it, and hand it over. */
MUST_CHECK enum errc child_give_file(struct child *c, struct str name, int fd, struct err *e);
/* Ask for a place, seal the bytes into output_fd, and say the result. */
MUST_CHECK enum errc child_deliver(struct child *c, struct str plain, struct str result_json, struct err *e);
