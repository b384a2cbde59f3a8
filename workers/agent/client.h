/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - calls of a worker to the API's worker listener, typed.
 *
 * One client is one connection and one thread's. When worker.cert is another file than before (a renewal), it connects anew. Every call over mutual TLS with the worker's certificate (worker.cert, key, ca).
 * Calling order: client_new -> client_register -> (client_next | client_report | client_keys …)* -> client_free.
 * Memory: results live in the arena given. Errors: those of core/http/client.h; a problem document becomes its own code (STALE,
 * NOT_FOUND …). client_retry tells whether and how long to wait before the same call again. */
#pragma once
#include "core/base/arena.h"
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/hpke.h"
#include "core/table/config.h"
#include "core/wire/lease_wire.h"
#include "core/wire/release_wire.h"

enum { INPUTS_MAX = 23 };              /* of one lease, by this worker */

struct client;

struct node_identity {
    struct uuid node_id, boot_id;
    int64_t heartbeat_ms, lease_ms;
};

struct output_place {
    struct uuid object_id, dek_id;
    int64_t version, part_bytes_max;
    struct secret32 key;                /* wipe after use */
};

struct client *client_new(const struct config *cfg, struct err *e);     /* NULL on error */
/* From now on its calls end with UNAVAILABLE soon after this becomes true, even those that wait. */
void client_until(struct client *c, bool (*is_unwanted)(void *ctx), void *ctx);
void client_free(struct client *c);
void client_freep(struct client **c);

MUST_CHECK enum errc client_register(struct client *c, struct arena *a, const struct node_register *f, struct node_identity *ret,
                                     struct err *e);
/* told: struct uuid, at most LEASE_NOTICES_MAX. */
MUST_CHECK enum errc client_next(struct client *c, struct arena *a, const struct node_identity *n, struct uuid after,
                                 struct slice told, int64_t free_slots, int64_t wait_ms, struct lease_next_out *ret,
                                 struct err *e);
/* body: a struct lease_report_in as text (book_collect). Verdicts in the order of its items. */
MUST_CHECK enum errc client_report(struct client *c, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e);
/* The data keys of the grant's inputs, in order; keys has room for n_inputs. Wipe them after use. */
MUST_CHECK enum errc client_keys(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g,
                                 struct release_key *keys, struct err *e);
/* An input's ciphertext into a descriptor. */
MUST_CHECK enum errc client_download(struct client *c, struct arena *a, const struct lease_grant *g, struct uuid object_id, int fd,
                                     struct err *e);
MUST_CHECK enum errc client_output(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g, struct str name,
                                   enum lease_output_kind kind, struct output_place *ret, struct err *e);
/* The next part of a sealed output. CONFLICT: the API has not all that comes before it, or it was written already. */
struct upload_part {
    struct uuid object_id;
    int64_t plain_size;                 /* of the whole plaintext */
    struct str sha256;                  /* of the same, hex */
    int fd;                             /* the ciphertext; its position is not used */
    int64_t offset, bytes;              /* where the part begins, and how much it is */
};
MUST_CHECK enum errc client_upload(struct client *c, struct arena *a, const struct lease_grant *g, const struct upload_part *p,
                                   struct err *e);

/* A certificate for the process that serves the grant, for a request of its key. */
/* A place for a checkpoint; when all of it was sent, it counts. */
MUST_CHECK enum errc client_checkpoint(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g,
                                       struct output_place *ret, struct err *e);
MUST_CHECK enum errc client_checkpoint_keep(struct client *c, struct arena *a, const struct lease_grant *g,
                                            struct uuid object_id, int64_t step,
                                            struct err *e);
MUST_CHECK enum errc client_certificate(struct client *c, struct arena *a, const struct lease_grant *g, struct str csr_pem,
                                        struct str *ret_cert_pem, struct err *e);

/* Where this machine of a job on several listens, and where the others do; ret->members: none while some are missing. */
MUST_CHECK enum errc client_gang(struct client *c, struct arena *a, const struct lease_grant *g, struct str endpoint,
                                 struct lease_gang_out *ret, struct err *e);
/* Those of the images that this machine may keep. */
MUST_CHECK enum errc client_kept(struct client *c, struct arena *a, const struct lease_kept_in *kept, struct lease_kept_out *ret,
                                 struct err *e);
/* The next certificate of this machine, for a request of its key. */
MUST_CHECK enum errc client_renew(struct client *c, struct arena *a, struct str csr_pem, struct str *ret_cert_pem, struct err *e);

/* Milliseconds to wait before try number n (from 0) of a call that failed so; -1: do not try again. */
int client_retry_ms(enum errc rc, int n);
