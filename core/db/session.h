/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - one PostgreSQL connection of its own, held for long: advisory locks (leader election, migrations).
 *
 * A session lock lives exactly as long as the connection, so a leader asks db_session_alive before each round and stops leading when
 * it fails. A broken session stays broken: free it and make a new one.
 * Calling order: db_session_new -> db_session_try_lock -> db_session_alive* -> db_session_free (which lets the locks go).
 * Errors: UNAVAILABLE (no connection, or no answer in the timeout), and those of pgerr.h. One thread at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct db_session;

/* timeout_ms: how long any answer may take; 0: 2 000. */
MUST_CHECK enum errc db_session_new(const char *conninfo, const char *app_name, int64_t timeout_ms, struct db_session **ret,
                                    struct err *e);
void db_session_free(struct db_session *s);
void db_session_freep(struct db_session **s);           /* for CLEANUP */

MUST_CHECK enum errc db_session_try_lock(struct db_session *s, int64_t key, bool *ret_held, struct err *e);
/* The server ends a session from which it hears nothing for so long, and lets its locks go: whose process is frozen, or whose
 * network is cut, holds them no longer than that. */
MUST_CHECK enum errc db_session_end_after(struct db_session *s, int64_t silence_ms, struct err *e);
/* Ends the other sessions of this role in this database that hold the advisory lock `key`. The server ends them even while they
 * wait for the rest of a message that will never come, which no timeout of its does. *ret_some: there were some. */
MUST_CHECK enum errc db_session_end_holders(struct db_session *s, int64_t key, bool *ret_some, struct err *e);
MUST_CHECK enum errc db_session_unlock(struct db_session *s, int64_t key, struct err *e);
/* A round trip: UNAVAILABLE when the connection, and with it every lock, is gone. */
MUST_CHECK enum errc db_session_alive(struct db_session *s, struct err *e);

/* For falaj-migrate and tests only. A script is many statements without parameters; outside BEGIN it is one transaction. */
MUST_CHECK enum errc db_session_exec_script(struct db_session *s, const char *sql, struct err *e);

struct db_text_rows {
    size_t nrows, ncols;
    const struct str *cells;        /* row by row, in the arena; NULL is ptr NULL */
};
/* One statement with text parameters (NULL element: NULL). */
MUST_CHECK enum errc db_session_query(struct db_session *s, const char *sql, const char *const *params, int nparams,
                                      struct arena *arena, struct db_text_rows *ret, struct err *e);
