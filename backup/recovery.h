/* SPDX-License-Identifier: Apache-2.0 */
/* recovery.h - the two secrets of a folder of backups.
 *
 * The recovery file opens backups, and is kept away from the servers. It also names the public key that manifests are signed
 * with, so that whoever restores knows the signer from elsewhere than the folder itself:
 *     # …
 *     recovery <64 hex digits: X25519 secret>
 *     signer <64 hex digits: Ed25519 public>
 * The signing file (backup.sign_key) is the Ed25519 seed in hex; the server that makes backups needs it. */
#pragma once
#include "backup/repo.h"

struct recovery {
    struct secret32 secret;
    uint8_t signer[ED25519_PUBLIC];
};
MUST_CHECK enum errc recovery_read(const char *path, struct recovery *ret, struct err *e);
void recovery_wipe(struct recovery *r);         /* for CLEANUP */
MUST_CHECK enum errc signing_read(const char *path, struct secret32 *ret, struct err *e);
/* Writes both files, which must not be there yet, and gives the public halves. */
MUST_CHECK enum errc recovery_make(const char *recovery_path, const char *signing_path, uint8_t ret_recovery[X25519_BYTES],
                                   uint8_t ret_signer[ED25519_PUBLIC], struct err *e);
