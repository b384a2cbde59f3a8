/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h - runs one train or serve lease from grant to finish, on a thread of its own, in a child process.
 *
 * The agent's side does all that touches the network and the control plane: data keys, download of ciphertext, upload of
 * ciphertext. The child (child.h) holds keys only in memory, decrypts, works, and seals what it made.
 * What a kind keeps for the next attempt goes through a keeper on a thread of its own (keeper.h).
 * A stale lease kills the child at once and says nothing; a cancelled one gets SIGTERM and, after grace_ms, SIGKILL.
 * Memory: the run owns its arena. Every way out finishes the lease in the book exactly once, unless it is stale. */
#pragma once
#include "core/table/config.h"
#include "workers/agent/book.h"
#include "workers/agent/cards.h"
#include "workers/agent/energy.h"
#include "workers/lease/isolation.h"

struct executor_env {
    const struct config *config;
    struct node_identity node;
    const char *work_dir;           /* exists, ours */
    const char *program;            /* NULL: /proc/self/exe; tests: a path to falaj-worker */
    const struct cards *cards;      /* borrowed; NULL: the settings say what GPUs there are */
    struct energy *energy;          /* borrowed; NULL: nothing is measured */
    struct isolation *isolation;    /* borrowed; NULL: leases share the account nobody and the network */
    struct image_cache *images;     /* borrowed; NULL: every lease unpacks its image */
    struct otlp *otlp;              /* borrowed; NULL: leases are not told as spans */
    const _Atomic bool *stopping;   /* the agent ends: leases go back to the queue */
    /* Tests put files in the place of the API; NULL: a client by config. */
    const struct executor_io *io;
};

struct executor_io {
    void *ctx;
    enum errc (*keys)(void *ctx, struct arena *a, const struct lease_grant *g, struct release_key *keys, struct err *e);
    enum errc (*download)(void *ctx, struct arena *a, const struct lease_grant *g, struct uuid object_id, int fd, struct err *e);
    enum errc (*output)(void *ctx, struct arena *a, const struct lease_grant *g, struct str name, enum lease_output_kind kind,
                        struct output_place *ret, struct err *e);
    enum errc (*upload)(void *ctx, struct arena *a, const struct lease_grant *g, const struct upload_part *p, struct err *e);
    enum errc (*checkpoint)(void *ctx, struct arena *a, const struct lease_grant *g, struct output_place *ret, struct err *e);
    enum errc (*checkpoint_keep)(void *ctx, struct arena *a, const struct lease_grant *g, struct uuid object_id, int64_t step,
                                 struct err *e);
    enum errc (*certificate)(void *ctx, struct arena *a, const struct lease_grant *g, struct str csr_pem,
                             struct str *ret_cert_pem,
                             struct err *e);
    enum errc (*gang)(void *ctx, struct arena *a, const struct lease_grant *g, struct str endpoint, struct lease_gang_out *ret,
                      struct err *e);
};

/* Blocks until the lease has ended; takes the reference. */
void executor_run(const struct executor_env *env, struct held *h);
