/* SPDX-License-Identifier: Apache-2.0 */
/* pgerr.h - the one map from SQLSTATE to enum errc.
 *
 *   23505 EXISTS   23503 NOT_FOUND (the row pointed to is missing) or CONFLICT (still pointed to)   23502 23514 22xxx INVALID
 *   40001 40P01 42804 55P03 RETRY   57014 25P03 DEADLINE   57P0x 08xxx 53xxx 28xxx 3D000 UNAVAILABLE   anything else INTERNAL
 * Our own SQL functions raise SQLSTATE 'FJnnn', nnn being the HTTP status, with a message fit for the caller:
 *   FJ400 INVALID  FJ403 FORBIDDEN  FJ404 NOT_FOUND  FJ409 CONFLICT  FJ412 PRECONDITION  FJ422 UNPROCESSABLE  FJ429 QUOTA  FJ503 RETRY
 *   RAISE EXCEPTION 'the job has ended' USING ERRCODE = 'FJ409', COLUMN = '/state';     COLUMN that begins with / becomes err.field
 * PostgreSQL's own message text may hold data of a row: it goes to detail (log) only, never to msg. */
#pragma once
#include "core/base/err.h"

/* sqlstate NULL: the connection is gone. primary may be NULL. */
enum errc pgerr_code(const char *sqlstate, const char *primary);
/* Sets e from its parts; any may be NULL. */
enum errc pgerr_fill(struct err *e, const char *sqlstate, const char *primary, const char *constraint, const char *column,
                     const char *stmt_name);
