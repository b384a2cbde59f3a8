/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy.h - the key hierarchy as data: what a tenant key and a data key are, and what binds each wrapped key to its place.
 *
 * L0 zone root (in the provider) wraps L1 tenant keys (TKEK, one per tenant, purpose and version), which wrap L2 data keys (DEK,
 * one per object version). Associated data (core/crypto/seal.h fields):
 *   L1  "falaj-kek-v1" || zone || tenant || purpose || version
 *   L2  "falaj-dek-v1" || zone || tenant || object_kind || object_id || object_version || dek_id
 * The blob header's version is the root's for L1 and the TKEK's for L2.
 * A sovereign tenant key never leaves the token: where others have a wrapped key, it has a reference, which is the blob header with
 * alg BLOB_TOKEN_OBJECT and the TKEK's version || the random id of the object 32; the label of the object is
 * "falaj-tkek-<zone>-<tenant, 32 hex>-<purpose>-v<version>". Every verb takes either. Pure: no I/O, no key material.
 * The strings are borrowed. The platform's own keys have the nil tenant. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/crypto/seal.h"

enum { KEY_ZONE_MAX = 63, KEY_PURPOSE_MAX = 31, KEY_KIND_MAX = 31 };

#define KEY_PURPOSE_DATA "data"         /* artifacts, datasets, models, checkpoints */
#define KEY_PURPOSE_SECRET "secret"     /* credentials stored for the tenant */
#define KEY_PURPOSE_PII "pii"           /* erasable personal fields of the audit log */

struct tkek_ref {
    struct str zone;
    struct uuid tenant;
    struct str purpose;
    uint32_t version;           /* from 1 */
};

struct dek_ref {
    struct str zone;
    struct uuid tenant;
    struct str object_kind;     /* "dataset", "artifact", "model", … */
    struct uuid object_id;
    uint32_t object_version;    /* from 1 */
    struct uuid dek_id;         /* uuid_v7; never reused */
};

/* INVALID names the member: lengths, [a-z0-9._-] names, version 0, nil ids. */
MUST_CHECK enum errc tkek_ref_check(const struct tkek_ref *t, struct err *e);
MUST_CHECK enum errc dek_ref_check(const struct dek_ref *d, struct err *e);
/* The DEK belongs to the TKEK's zone and tenant. */
MUST_CHECK enum errc dek_under_tkek(const struct dek_ref *d, const struct tkek_ref *t, struct err *e);

/* The root version a wrapped tenant key is under, as its header says: what stands in a database is this and never what keyd's health
 * said a moment before or after. 0: not a wrapped key. */
uint32_t tkek_root_version(const struct key_blob *blob);
void tkek_aad(const struct tkek_ref *t, struct aad *ret);
void dek_aad(const struct dek_ref *d, struct aad *ret);
struct blob_head tkek_head(const struct tkek_ref *t, uint32_t root_version);
struct blob_head dek_head(const struct dek_ref *d, uint32_t tkek_version);
enum { SOVEREIGN_LABEL_MAX = 200, SOVEREIGN_ID = 32, SOVEREIGN_BLOB = BLOB_HEAD + SOVEREIGN_ID };
bool tkek_is_sovereign(const struct key_blob *tkek);
void sovereign_label(const struct tkek_ref *t, char ret[SOVEREIGN_LABEL_MAX]);
void sovereign_make(const struct tkek_ref *t, const uint8_t id[SOVEREIGN_ID], struct key_blob *ret);
/* DAMAGED unless it is a reference made for t. */
MUST_CHECK enum errc sovereign_read(const struct tkek_ref *t, const struct key_blob *tkek, uint8_t ret_id[SOVEREIGN_ID],
                                    struct err *e);
/* Wrap and unwrap a data key under a tenant key: what keyd does, and nothing else may. */
MUST_CHECK enum errc dek_wrap(const struct secret32 *tkek, const struct tkek_ref *t, const struct dek_ref *d,
                              const struct secret32 *dek, struct key_blob *ret, struct err *e);
MUST_CHECK enum errc dek_unwrap(const struct secret32 *tkek, const struct tkek_ref *t, const struct dek_ref *d,
                                const struct key_blob *blob, struct secret32 *ret, struct err *e);
