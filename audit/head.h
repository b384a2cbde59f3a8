/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - the signed tree head: what a log had come to at a moment, as canonical bytes that are signed with Ed25519.
 *
 * {"v":1,"log_id":…,"zone":…,"size":…,"root":…,"chain":…,"ts_us":…,"prev_sth_hash":…,"key_id":…}; log_id is the tenant's uuid,
 * or "zone" for the head over all tenant heads; prev_sth_hash is SHA-256 of the body of the head before (zeros for the first).
 * Pure. */
#pragma once
#include "audit/chain.h"
#include "core/base/str.h"

enum { AUDIT_KEY_ID = 65, AUDIT_SIG = 64, AUDIT_PUB = 32, AUDIT_ZONE_MAX = 64, HEAD_BODY_MAX = 1024 };

struct audit_head {
    struct uuid tenant_id;
    bool is_zone;                      /* log_id "zone"; tenant_id is then nil */
    char zone[AUDIT_ZONE_MAX + 1];     /* [A-Za-z0-9._-] */
    uint64_t size;
    struct merkle_hash root, chain, prev;
    int64_t ts_us;
    char key_id[AUDIT_KEY_ID];         /* [A-Za-z0-9._:-] */
};

struct audit_key {
    char key_id[AUDIT_KEY_ID];         /* what signs: lower-case hex SHA-256 of the public key */
    uint8_t pub[AUDIT_PUB];
};

/* Append the body; false when zone or key_id hold other characters, or b is full. */
bool audit_head_encode(const struct audit_head *h, struct buf *b);
/* Nobody signs an empty log: a size of 0 is refused. */
bool audit_head_decode(struct str body, struct audit_head *ret);
