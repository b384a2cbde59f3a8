/* SPDX-License-Identifier: Apache-2.0 */
/* backup.h - the commands of falaj-backup. Each reports what it did and saw; an error ends it, and says so itself.
 *
 * What a command needs from its caller: secmem_init done, SIGPIPE ignored, one thread.
 * Errors: those of the parts. Besides: `report` has failures where something is damaged or missing that did not stop it. */
#pragma once
#include "backup/child.h"
#include "backup/repo.h"
#include "backup/report.h"
#include "core/crypto/secmem.h"

struct config;

struct backup {
    const struct config *cfg;
    struct arena *arena;
    struct report report;
    struct repo repo;
    struct str set;             /* STR_NULL: the newest */
    const char *recovery_file;  /* NULL: none at hand */
    const char *admin;          /* words of PostgreSQL's superuser */
    const char *database;       /* the one that a restore makes */
    const char *files_to, *roles, *scratch, *account, *signer;
    int64_t sample, keep;
    bool accepts_missing;
};

MUST_CHECK enum errc backup_init(struct backup *b, struct err *e);
MUST_CHECK enum errc backup_create(struct backup *b, struct err *e);
MUST_CHECK enum errc backup_list(struct backup *b, struct err *e);
MUST_CHECK enum errc backup_verify(struct backup *b, struct err *e);
MUST_CHECK enum errc backup_restore(struct backup *b, struct err *e);
MUST_CHECK enum errc backup_drill(struct backup *b, struct err *e);
MUST_CHECK enum errc backup_prune(struct backup *b, struct err *e);
