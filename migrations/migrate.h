/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.h - bring a database's schema up, forward only.
 *
 * Numbers only grow; one that was passed over when a later one was applied stays empty. Each runs in one transaction with its row in
 * schema_migration, under one advisory lock, so that two runs at once do the work once. A migration that was applied and has changed
 * since is refused.
 * Calling order: migrate_run, once. Errors: CONFLICT (order, checksum, database newer than this program, another run holds the lock
 * for too long), those of the SQL itself with the migration's name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/err.h"

struct migration {
    int version;
    const char *name;           /* file name: 0001_tenants.sql */
    const char *sql;            /* NUL-terminated */
    const char *sha256;         /* of the file, 64 hex digits */
};

enum migrate_mode { MIGRATE_APPLY, MIGRATE_DRY_RUN, MIGRATE_STATUS };

/* Says what it does through say(ctx, line). list is in order of version. */
MUST_CHECK enum errc migrate_run(const char *conninfo, const struct migration *list, size_t n, enum migrate_mode mode,
                                 void (*say)(void *ctx, const char *line), void *ctx, int *ret_applied, struct err *e);

/* The files of this folder, embedded at build time. */
extern const struct migration migrations_embedded[];
extern const size_t migrations_embedded_count;
