/* SPDX-License-Identifier: Apache-2.0 */
/* conn_int.h - one PostgreSQL connection in pipeline mode and the answers it still owes; only for core/db.
 *
 * Everything sent is noted in a ring in order; conn_next reads the answer of the oldest note. Notes that are left when a transaction
 * gives the connection back (a read-only COMMIT, a ROLLBACK) become `old`: the next user reads over them.
 * Invariants: the ring ends with a SYNC whenever the connection is idle; a connection that is_broken is closed, never reused.
 * Errors of sending only set is_broken: the reader reports them, so that a sequence of sends needs no checks. */
#pragma once
#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/db/arg.h"
#include "core/db/row_int.h"
#include "core/db/stmt.h"

enum note_kind { NOTE_PREPARE, NOTE_DESCRIBE, NOTE_QUERY, NOTE_SYNC };

struct note {
    enum note_kind kind;
    bool must_affect;
    bool is_target;             /* the statement whose rows the caller waits for */
    bool is_asked;              /* its rows are kept until they are told */
    int slot;                   /* of the statement */
};

enum { NOTES_MAX = 1024 };

struct db_conn {
    PGconn *pg;
    struct arena *arena;        /* row maps */
    const struct stmt *const *stmts;        /* the pool's, by slot */
    int nstmts;
    bool *is_prepared;          /* by slot */
    struct row_map **maps;      /* by slot */
    struct note notes[NOTES_MAX];
    int first, count, old;      /* ring; the first `old` notes belong to an earlier transaction */
    bool is_broken;
    struct buf scratch;
    int64_t wait_us;            /* longest silence while an answer is owed */
    atomic_int *silences;       /* of the pool, NULL: none; another number than when the connection was made makes it suspect */
    int born;
    const atomic_int *server;   /* as silences, of the server (servers.h): at rest with another number it is not used again */
    int server_born;
    atomic_llong *asked_us;     /* of the pool: when one of those that wait asked whether the server is there */
    struct db_conn *next;       /* in the pool's list of idle ones */
};

/* Opens a libpq connection with our options; NULL statement timeout (0) leaves the server's. Shared with session.c and check.c. */
MUST_CHECK enum errc pg_open(const char *conninfo, const char *app_name, int64_t statement_timeout_ms, bool is_batch, PGconn **ret,
                             struct err *e);
/* Waits until a result can be read without blocking, or is known to come no more, or wait_us are over. */
enum pg_waited { PG_READY, PG_LOST, PG_SILENT };
enum pg_waited pg_wait(PGconn *pg, int64_t wait_us);
/* Fills e from a failed result, or from the connection when res is NULL. */
enum errc pg_fail(struct err *e, PGconn *pg, const PGresult *res, const char *stmt_name);

MUST_CHECK enum errc conn_new(const char *conninfo, const char *app_name, int64_t statement_timeout_ms, bool is_batch,
                              const struct stmt *const *stmts, int nstmts, struct db_conn **ret, struct err *e);
void conn_free(struct db_conn *c);

/* Sends the statement (and, the first time, its preparation). LIMIT: the values are too large; nothing was sent then. */
MUST_CHECK enum errc conn_send(struct db_conn *c, int slot, const struct arg *args, int nargs, struct note as, struct err *e);
void conn_sync(struct db_conn *c);
bool conn_is_synced(const struct db_conn *c);       /* nothing was sent after the last SYNC */
bool conn_has_room(const struct db_conn *c);        /* for one statement and what goes around it */
/* The answer of the oldest note; false when the connection is broken. *ret_res: to be cleared by the caller. */
bool conn_next(struct db_conn *c, struct note *ret_note, PGresult **ret_res, bool *ret_is_old);
/* Since it was made another one of its pool was silent for as long as it may. */
bool conn_is_suspect(const struct db_conn *c);
/* Reads what has come for old notes without waiting; false: the connection is of no use any more. */
bool conn_is_usable(struct db_conn *c);
