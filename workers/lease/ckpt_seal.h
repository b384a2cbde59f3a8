/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt_seal.h - the vault of a train job's checkpoints on this machine's disk: only a lease of the same job opens them.
 *
 * The key is derived (HKDF-SHA256) from the data key of the job's first input, which falaj-keyd releases to each lease anew, bound to tenant
 * and job. So it is never at rest, the next attempt has it as soon as it has its lease, and it is gone when the data set's key is destroyed.
 * A file is: salt 16 | a sealed object (core/crypto/stream.h) under HKDF(key, salt), so that no two files share a key.
 * Calling order: ckpt_seal_init (while the input's key is there) -> ckpt_seal_vault -> ckpt_save | ckpt_load -> ckpt_seal_release.
 * Errors: DAMAGED (not of this job, or changed), IO, LIMIT. */
#pragma once
#include "core/wire/release_wire.h"
#include "workers/compute/train/ckpt.h"

struct ckpt_seal {
    struct secret32 key;
    struct uuid tenant_id, job_id;
};

void ckpt_seal_init(struct ckpt_seal *s, const struct release_key *of, struct uuid tenant_id, struct uuid job_id);
void ckpt_seal_release(struct ckpt_seal *s);        /* wipes the key */
struct ckpt_vault ckpt_seal_vault(struct ckpt_seal *s);
