/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - the falaj-keyd of each zone as functions: make, open, release and rewrap keys; sign.
 *
 * One handle per process, any number of threads; connections are kept (up to 8 per zone) and made anew after a restart of keyd,
 * which a call survives when nothing was answered yet. Every verb may be repeated safely: making a key twice leaves an unused one.
 * Errors: UNAVAILABLE (keyd of the named zone does not answer, or no such zone is configured), SEALED (its provider is), DEADLINE
 * (timeout_ms over), FORBIDDEN (this uid), DAMAGED (a blob does not open at this place), INVALID (a reference). A message of SEALED
 * says why, and may be shown to operators, not to tenants.
 * Plain keys go to struct secret32 of the caller (secret32_new) and nowhere else; the caller wipes them.
 *
 * Upload:    keyd_dek_new -> stream_sealer_new(plain, ref) …     store ret_wrapped beside the object
 * Download:  keyd_dek_open -> stream_opener_new(plain, ref) …
 * Lease:     keyd_release -> send the message to the worker, which calls release_open (core/wire/release_wire.h)
 * Rotation:  keyd_root_new -> keyd_tkek_rewrap of every tenant key -> (backups expired) -> keyd_root_destroy of the old version
 * Own key:   keyd_import_public -> the tenant seals its key (core/crypto/key_import.h) -> keyd_tkek_import
 * Sovereign: keyd_sovereign_new gives a reference that stands wherever a wrapped tenant key does; keyd_sovereign_destroy shreds at
 *            once everything under it */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/crypto/key_import.h"
#include "core/crypto/seal.h"
#include "core/crypto/sign.h"
#include "core/wire/release_wire.h"
#include "keys/attest.h"
#include "keys/hierarchy.h"

struct keyd_client;

/* zones: "ae-dxb-1=/run/falaj/keyd-ae-dxb-1.sock,ae-auh-1=…". Connects lazily: a zone that is down does not stop the start. */
MUST_CHECK enum errc keyd_client_new(struct str zones, int timeout_ms, struct keyd_client **ret, struct err *e);
void keyd_client_free(struct keyd_client *c);
void keyd_client_freep(struct keyd_client **c);
bool keyd_client_has_zone(const struct keyd_client *c, struct str zone);
size_t keyd_client_zones(const struct keyd_client *c);
const char *keyd_client_zone(const struct keyd_client *c, size_t i);      /* as long as the client */

struct keyd_health {
    bool is_sealed;
    bool is_hardware;
    uint32_t root_version, oldest_root_version;
    uint64_t cached_tkeks;
    uint64_t calls;
    char provider[16];
    char zone[KEY_ZONE_MAX + 1];
    char mechanism[16];
    char reason[ATTEST_REASON_MAX];     /* why it is sealed; empty when it is not */
};
MUST_CHECK enum errc keyd_health(struct keyd_client *c, struct str zone, struct keyd_health *ret, struct err *e);

MUST_CHECK enum errc keyd_tkek_new(struct keyd_client *c, const struct tkek_ref *t, struct key_blob *ret, struct err *e);
/* Wrap the same tenant key under the current root version: the zone's, or that of the tenant's own token. ret_version: that
 * version. A sovereign key comes back as it is. */
MUST_CHECK enum errc keyd_tkek_rewrap(struct keyd_client *c, const struct tkek_ref *t, const struct key_blob *tkek,
                                      struct key_blob *ret, uint32_t *ret_version, struct err *e);
/* ret_plain may be NULL: the key is then made and wrapped but not shown (outputs of a job). */
MUST_CHECK enum errc keyd_dek_new(struct keyd_client *c, const struct tkek_ref *t, const struct key_blob *tkek,
                                  const struct dek_ref *d, struct key_blob *ret_wrapped, struct secret32 *ret_plain,
                                  struct err *e);
MUST_CHECK enum errc keyd_dek_open(struct keyd_client *c, const struct tkek_ref *t, const struct key_blob *tkek,
                                   const struct dek_ref *d, const struct key_blob *wrapped, struct secret32 *ret_plain,
                                   struct err *e);
/* Move a wrapped data key from one version of the tenant key to another. */
MUST_CHECK enum errc keyd_dek_rewrap(struct keyd_client *c, const struct tkek_ref *from, const struct key_blob *from_tkek,
                                     const struct tkek_ref *to, const struct key_blob *to_tkek, const struct dek_ref *d,
                                     const struct key_blob *wrapped, struct key_blob *ret, struct err *e);

struct keyd_release_item {
    struct tkek_ref tkek;               /* items may be under different versions, never different tenants */
    struct key_blob tkek_blob;
    struct dek_ref dek;
    struct key_blob wrapped;
};
/* Seal 1..64 data keys to a worker. The caller has checked the lease and COMMITTED the audit event before it sends *message on.
 * message has room for RELEASE_MESSAGE_MAX bytes. */
MUST_CHECK enum errc keyd_release(struct keyd_client *c, const struct release_terms *terms, const struct keyd_release_item *items,
                                  size_t n, uint8_t *message, size_t *ret_len, struct err *e);

/* A certificate of the zone's authority for a machine or, with lease, for the process of one lease (keys/zone_ca.h has the
 * rules), and that authority's own certificate; PEM in the arena.
 * INVALID: the request asks for what keyd does not sign. */
struct keyd_ca_request {
    struct str pool, name, lease, csr_pem;
    uint32_t lifetime_s;
};
MUST_CHECK enum errc keyd_ca_sign(struct keyd_client *c, struct arena *a, struct str zone, const struct keyd_ca_request *r,
                                  struct str *ret_pem, struct err *e);
MUST_CHECK enum errc keyd_ca_certificate(struct keyd_client *c, struct arena *a, struct str zone, struct str *ret_pem, struct err *e);

/* Ed25519 with the zone's signing key; n <= 64 KiB. */
MUST_CHECK enum errc keyd_sign(struct keyd_client *c, struct str zone, const void *bytes, size_t n, uint8_t ret_sig[ED25519_SIG],
                               uint8_t ret_key_id[KEY_ID_BYTES], struct err *e);
MUST_CHECK enum errc keyd_public_key(struct keyd_client *c, struct str zone, uint8_t ret_public[ED25519_PUBLIC],
                                     uint8_t ret_key_id[KEY_ID_BYTES], struct err *e);

/* The zone's root, or with tenant not nil the root in that tenant's own token (NOT_FOUND: it has none). Calling keyd_root_new twice
 * leaves a version that nothing was wrapped with. keyd_root_destroy: CONFLICT for the current version, NOT_FOUND above it;
 * *ret_was_there (may be NULL) is false when it was gone already. keyd forgets all cached tenant keys. */
MUST_CHECK enum errc keyd_root_new(struct keyd_client *c, struct str zone, struct uuid tenant, uint32_t *ret_version, struct err *e);
MUST_CHECK enum errc keyd_root_destroy(struct keyd_client *c, struct str zone, struct uuid tenant, uint32_t version,
                                       bool *ret_was_there, struct err *e);
/* The zone's import key; what to do with it is told in core/crypto/key_import.h. The opened key comes back wrapped by the root. */
MUST_CHECK enum errc keyd_import_public(struct keyd_client *c, struct str zone, uint8_t ret_point[P256_POINT], struct err *e);
MUST_CHECK enum errc keyd_tkek_import(struct keyd_client *c, const struct tkek_ref *t, const uint8_t ephemeral[P256_POINT],
                                      const uint8_t sealed[IMPORT_SEALED], struct key_blob *ret, struct err *e);
/* A tenant key as an object of the token (the tenant's own, or the zone's). Made once per reference: a second call finds the first's
 * object. UNPROCESSABLE: this zone's key store has no objects. After destroy every data key under it is lost: NOT_FOUND. */
MUST_CHECK enum errc keyd_sovereign_new(struct keyd_client *c, const struct tkek_ref *t, struct key_blob *ret, struct err *e);
MUST_CHECK enum errc keyd_sovereign_destroy(struct keyd_client *c, const struct tkek_ref *t, bool *ret_was_there, struct err *e);
/* What the zone's key store is and holds. Answers also when it is sealed. *ret is large: not for small stacks. */
MUST_CHECK enum errc keyd_attest(struct keyd_client *c, struct str zone, struct attest *ret, struct err *e);
/* Drop every cached tenant key at once, so that one that was disabled opens nothing any more. */
MUST_CHECK enum errc keyd_forget(struct keyd_client *c, struct str zone, struct err *e);
