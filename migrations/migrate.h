/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.h - bring a database's schema up, forward only.
 *
 * Three kinds of SQL, in this order:
 *   helpers/          functions that migrations call; applied first, again whenever their text changed;
 *   NNNN_name.sql     numbered migrations: tables, columns, indexes, policies, grants. Each is applied once, in its own transaction with
 *                    its row in schema_migration. Numbers only grow; one that was passed over when a later one was applied stays
 *                    empty. A migration that was applied and has changed since is refused;
 *   functions/        today's functions, triggers and views, one thing per file; applied last, again whenever their text changed.
 * The functions are applied in the transaction of the last pending migration, so no other session sees the new tables without the
 * functions that go with them. They are applied by name with checks of bodies off and every function of the schema is checked after
 * the last one, so they need no order among themselves, and a migration that takes a column from an SQL function fails as a whole.
 * A file that is gone leaves its function behind for the release before; a later migration drops it.
 * All is done under one advisory lock, so that two runs at once do the work once.
 * Calling order: migrate_run, once. Errors: CONFLICT (order, checksum, database newer than this program, another run holds the lock
 * for too long), those of the SQL itself with the file's name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/err.h"

struct migration {
    int version;                /* 0: a file of helpers/ or functions/ */
    const char *name;           /* file name: 0001_tenants.sql, functions/authn_token.sql */
    const char *sql;            /* NUL-terminated */
    const char *sha256;         /* of the file, 64 hex digits */
};

struct schema {
    const struct migration *migrations; size_t nmigrations;     /* in order of version */
    const struct migration *helpers; size_t nhelpers;
    const struct migration *functions; size_t nfunctions;
    const char *owner;          /* the role that helpers and functions are made as; NULL: the login */
};

/* PREFLIGHT: what the pending migrations will lock, and how large that is (preflight.h). */
enum migrate_mode { MIGRATE_APPLY, MIGRATE_DRY_RUN, MIGRATE_STATUS, MIGRATE_PREFLIGHT };

/* Says what it does through say(ctx, line). ret_applied: how many files of any kind were (or would be) applied; 0 after a failure. */
MUST_CHECK enum errc migrate_run(const char *conninfo, const struct schema *schema, enum migrate_mode mode,
                                 void (*say)(void *ctx, const char *line), void *ctx, int *ret_applied, struct err *e);

/* The files of this folder, embedded at build time. */
extern const struct schema schema_embedded;
