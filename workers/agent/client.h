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
#include "core/json/jsonvalue.h"
#include "core/table/config.h"
#include "core/wire/release_wire.h"

enum { INPUTS_MAX = 16 };

struct client;

struct node_identity {
    struct uuid node_id, boot_id;
    int64_t heartbeat_ms, lease_ms;
};

struct node_facts {
    struct str name, zone, pool, backend;
    int64_t slots, cpus, memory_bytes, gpus;
    struct uuid boot_id;
};

struct grant_input {
    struct str name, kind, sha256;
    struct uuid object_id;
    int64_t version, size_bytes;
};

struct grant {
    struct uuid tenant_id, attempt_id, job_id;
    int64_t fence;
    struct str kind, name, zone;
    struct str spec;                    /* JSON text */
    int64_t slots, gpus, lease_ms, max_runtime_s;
    struct grant_input inputs[INPUTS_MAX];
    size_t n_inputs;
};

struct report_verdict {
    struct uuid attempt_id;
    bool is_stale, cancel;
    int64_t lease_ms;
};

struct output_place {
    struct uuid object_id, dek_id;
    int64_t version;
    struct secret32 key;                /* wipe after use */
};

struct client *client_new(const struct config *cfg, struct err *e);     /* NULL on error */
void client_free(struct client *c);
void client_freep(struct client **c);

MUST_CHECK enum errc client_register(struct client *c, struct arena *a, const struct node_facts *f, struct node_identity *ret,
                                     struct err *e);
MUST_CHECK enum errc client_next(struct client *c, struct arena *a, const struct node_identity *n, int64_t free_slots,
                                 int64_t wait_ms, struct grant **ret, size_t *ret_n, struct err *e);
/* body: the whole report. Verdicts in the order of its items. */
MUST_CHECK enum errc client_report(struct client *c, struct arena *a, struct str body, struct report_verdict **ret, size_t *ret_n,
                                   struct err *e);
/* The data keys of the grant's inputs, in order; keys has room for n_inputs. Wipe them after use. */
MUST_CHECK enum errc client_keys(struct client *c, struct arena *a, struct uuid node_id, const struct grant *g,
                                 struct release_key *keys, struct err *e);
/* An input's ciphertext into a descriptor. */
MUST_CHECK enum errc client_download(struct client *c, struct arena *a, const struct grant *g, struct uuid object_id, int fd,
                                     struct err *e);
MUST_CHECK enum errc client_output(struct client *c, struct arena *a, struct uuid node_id, const struct grant *g, const char *name,
                                   const char *kind, struct output_place *ret, struct err *e);
/* fd: the ciphertext, from its start. plain_size and sha256 (hex) are those of the plaintext. */
MUST_CHECK enum errc client_upload(struct client *c, struct arena *a, const struct grant *g, struct uuid object_id,
                                   int64_t plain_size, struct str sha256, int fd, struct err *e);

/* The next certificate of this machine, for a request of its key. */
MUST_CHECK enum errc client_renew(struct client *c, struct arena *a, struct str csr_pem, struct str *ret_cert_pem, struct err *e);

/* JSON of a grant list, as leases/next answers; for client_next and tests. */
MUST_CHECK enum errc grants_parse(struct arena *a, const struct jval *list, struct grant **ret, size_t *ret_n, struct err *e);
/* A copy that outlives the arena: one allocation, free() it. */
struct grant *grant_copy_new(const struct grant *g);
/* Milliseconds to wait before try number n (from 0) of a call that failed so; -1: do not try again. */
int client_retry_ms(enum errc rc, int n);
