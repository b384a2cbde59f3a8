/* SPDX-License-Identifier: Apache-2.0 */
/* migrate_int.h - one run of falaj-migrate, shared by migrate.c (numbered files) and functions.c (files by checksum). */
#pragma once
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/db/session.h"
#include "migrations/migrate.h"

struct run {
    struct db_session *session;
    struct arena *arena;
    const struct schema *schema;
    void (*say)(void *ctx, const char *line);
    void *ctx;
    size_t napplied;                    /* the first napplied migrations are in the database */
    const struct db_text_rows *rows;    /* version, name, checksum, applied_at, duration_ms of those */
    struct db_text_rows files;          /* name, checksum of what is applied by checksum */
};

void run_tell(struct run *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* What the database has of helpers and functions; without the table, nothing. */
MUST_CHECK enum errc functions_read(struct run *r, struct err *e);
/* How many of these files differ from what was applied. */
size_t functions_pending(const struct run *r, const struct migration *files, size_t n);
/* Applies those that differ, inside the caller's transaction; the caller's role is the login's again afterwards. */
MUST_CHECK enum errc functions_apply(struct run *r, const struct migration *files, size_t n, struct err *e);
/* Every function against the tables as they are now, inside the caller's transaction; forgets files that are gone. */
MUST_CHECK enum errc functions_check(struct run *r, struct err *e);
/* What a dry run would apply, or the state of each. */
void functions_show(struct run *r, const struct migration *files, size_t n, bool is_dry);
