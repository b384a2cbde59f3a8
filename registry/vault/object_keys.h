/* SPDX-License-Identifier: Apache-2.0 */
/* object_keys.h - the place of an object's data key in the hierarchy, for the files of this room. */
#pragma once
#include "core/crypto/stream.h"
#include "core/table/schema.h"
#include "keys/client.h"
#include "registry/vault/object.h"

/* An object with its data key and the tenant key above it. */
struct object_keys {
    struct uuid tenant_id;
    struct object object;
    struct uuid dek_id;
    int64_t key_version;
    struct bytes dek, tkek;
    struct str key_state;
};

enum errc key_blob_from(struct bytes wrapped, struct key_blob *ret, struct err *e) MUST_CHECK;
/* Where the keys of a stored object stand; strings are borrowed from k. */
enum errc object_release_item(struct uuid tenant, const struct object_keys *k, struct keyd_release_item *ret, struct err *e) MUST_CHECK;
struct stream_ref object_stream_ref(struct uuid tenant, const struct object_keys *k);

/* An output or a checkpoint of a live lease, its row locked. */
struct worker_lease;
struct output_file {
    struct str kind;
    int64_t stored_bytes;
    struct bytes stored_sha256;         /* no bytes: not all has come */
};
enum errc worker_output_find(struct work *w, const struct worker_lease *l, struct uuid object_id, struct output_file *ret,
                             struct err *e) MUST_CHECK;
/* The last of three independent judgements of residency, for what this lease is about to write. */
enum errc worker_object_judge(struct work *w, const struct worker_lease *l, struct err *e) MUST_CHECK;
/* The keys of items, sealed to public_key for this lease. */
struct worker_release;
enum errc worker_object_release(struct work *w, const struct worker_lease *l, const struct keyd_release_item *items, size_t n,
                                struct str public_key, struct worker_release *ret, struct err *e) MUST_CHECK;
