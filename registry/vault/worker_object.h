/* SPDX-License-Identifier: Apache-2.0 */
/* worker_object.h - what a leased worker does with objects: read declared inputs, get their keys, write outputs. System scope.
 *
 * The caller (api/routes/lease_objects.c) has checked the lease (live, fence, machine) and set w->tenant_id to its tenant; every
 * statement here names tenant and job. Before any key is asked for and any byte is given, the judge of residency is asked again, with facts read in
 * this transaction: a lease that should not have been granted gets nothing. An object that is not a declared
 * input of that job, nor the shared image that it runs in (the one object of another tenant's that a lease may have: docs/adr/0156),
 * is NOT_FOUND; one in another zone than the machine is RESIDENCY. Keys never pass in the clear: falaj-keyd seals them to the worker's key for this lease (core/wire/release_wire.h).
 * An output is WRITING from the start; the lease's succeed report commits it and books its quota (scheduler/engine/lease.h).
 * Memory: w->arena. Errors: NOT_FOUND, RESIDENCY, UNAVAILABLE, SEALED, CONFLICT (an output given twice), BAD_DATA (a part's
 * place). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/release_wire.h"
#include "registry/vault/blob_store.h"

struct worker_lease {
    struct uuid job_id, node_id;
    int64_t fence, not_after_us;
    struct str zone;                    /* of the machine */
    struct str data_class, kind;        /* of the job */
    int64_t rank, nodes;                /* which of so many machines; 0 of 1: the only one */
};

struct worker_release {
    struct bytes message;
    int64_t not_after_us;
    struct str zone;
    struct slice key_ids;               /* struct uuid, in the order of the objects */
};

/* Seal the keys of these objects (1..64) to public_key. The caller commits its audit event before it sends the message on. */
enum errc worker_keys(struct work *w, const struct worker_lease *l, const struct uuid *objects, size_t n, struct str public_key,
                      struct worker_release *ret, struct err *e) MUST_CHECK;
/* Would worker_keys give them? By the same judge; nothing is decrypted, and a zone whose falaj-keyd is sealed is not noticed.
 * NOT_FOUND, RESIDENCY, KEY_DESTROYED, SEALED: no. */
enum errc worker_keys_may(struct work *w, const struct worker_lease *l, const struct uuid *objects, size_t n,
                          struct err *e) MUST_CHECK;
/* Open the ciphertext of an input; its stored size is checked. */
enum errc worker_input_open(struct work *w, const struct worker_lease *l, struct uuid object_id, struct blob_reader **ret, int64_t *ret_size,
                            struct err *e) MUST_CHECK;
/* A new output object and its key; asked again under the same name before anything was uploaded, it is the same object. */
enum errc worker_output_new(struct work *w, const struct worker_lease *l, struct str name, const char *kind, struct str public_key,
                            struct uuid *ret_object, int64_t *ret_version, struct worker_release *ret, struct err *e) MUST_CHECK;

/* Ciphertext of an output: the next part of it, or all. Parts come in order; a repeated one is fine, also after the last. */
struct output_part {
    struct uuid object_id;
    int64_t size_bytes;                 /* of the whole plaintext, as the worker says */
    uint8_t sha256[32];                 /* of the same */
    int64_t offset;                     /* sealed bytes before this part */
    struct str sealed;                  /* 1..LEASE_PART_MAX bytes */
};
/* Calling order: expects (in a transaction) -> unless it is stored: stage (outside) -> if the part ends it: store (in another).
 * expects: does such a part belong there? is_stored: the output is whole already and has these very bytes.
 * CONFLICT: bytes before the part are missing (it says how many are there), or the output was written with other bytes. */
enum errc worker_output_expects(struct work *w, const struct worker_lease *l, const struct output_part *p, bool *ret_is_stored,
                                struct err *e) MUST_CHECK;
bool worker_output_ends(const struct output_part *p);
/* ret_sha256: of all sealed bytes, when the part ends them. */
enum errc worker_output_stage(struct work *w, const struct output_part *p, uint8_t ret_sha256[32], struct err *e) MUST_CHECK;
enum errc worker_output_store(struct work *w, const struct worker_lease *l, const struct output_part *p,
                              const uint8_t stored_sha256[32], struct err *e) MUST_CHECK;
