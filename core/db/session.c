/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - a connection of its own, without pipeline. Answers are waited for with a limit, so that a leader whose network is
 * dead learns it in time; a session that missed the limit is closed, because its answer may still come. */
#include "core/db/session.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/db/conn_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_TIMEOUT_MS = 3600 * 1000 };

struct db_session {
    PGconn *pg;
    int64_t timeout_us;
    bool is_broken;
};

enum errc db_session_new(const char *conninfo, const char *app_name, int64_t timeout_ms, struct db_session **ret, struct err *e)
{
    PGconn *pg;
    TRY(pg_open(conninfo, app_name, 0, false, &pg, e));
    struct db_session *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->pg = pg;
    s->timeout_us = (timeout_ms ? timeout_ms : 2000) * 1000;
    *ret = s;
    return ERR_OK;
}

void db_session_free(struct db_session *s)
{
    if (!s)
        return;
    PQfinish(s->pg);
    free(s);
}

void db_session_freep(struct db_session **s)
{
    db_session_free(*s);
    *s = NULL;
}

static enum errc lost(struct db_session *s, const PGresult *res, struct err *e)
{
    s->is_broken = true;
    FAIL(e, UNAVAILABLE, "the connection to the database was lost");
    return err_note(e, "%s", res ? PQresultErrorMessage(res) : PQerrorMessage(s->pg));
}

/* Reads until the command is done; *ret is its last result, and the first error wins. */
static enum errc answer(struct db_session *s, int64_t timeout_us, PGresult **ret, struct err *e)
{
    PGresult *last = NULL;
    for (;;) {
        PGresult *res = NULL;
        if (pg_wait(s->pg, timeout_us) != PG_READY || PQstatus(s->pg) != CONNECTION_OK) {
            enum errc rc = lost(s, NULL, e);
            PQclear(last);
            return rc;
        }
        if (!(res = PQgetResult(s->pg)))
            break;
        if (last && PQresultStatus(last) == PGRES_FATAL_ERROR) {
            PQclear(res);
            continue;
        }
        PQclear(last);
        last = res;
    }
    enum errc rc = ERR_OK;
    if (!last || PQresultStatus(last) == PGRES_FATAL_ERROR)
        rc = PQstatus(s->pg) == CONNECTION_OK ? pg_fail(e, s->pg, last, NULL) : lost(s, last, e);
    if (rc != ERR_OK) {
        PQclear(last);
        return rc;
    }
    *ret = last;
    return ERR_OK;
}

static enum errc query(struct db_session *s, const char *sql, const char *const *params, int nparams, int64_t timeout_us,
                       PGresult **ret, struct err *e)
{
    if (s->is_broken)
        return FAIL(e, UNAVAILABLE, "the connection to the database was lost");
    if (!PQsendQueryParams(s->pg, sql, nparams, NULL, params, NULL, NULL, 0))
        return lost(s, NULL, e);
    return answer(s, timeout_us, ret, e);
}

static enum errc query_bool(struct db_session *s, const char *sql, int64_t key, bool *ret, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)key);
    PGresult *res;
    TRY(query(s, sql, (const char *const[]){ text }, 1, s->timeout_us, &res, e));
    bool is_true = PQntuples(res) == 1 && *PQgetvalue(res, 0, 0) == 't';
    PQclear(res);
    *ret = is_true;
    return ERR_OK;
}

enum errc db_session_try_lock(struct db_session *s, int64_t key, bool *ret_held, struct err *e)
{
    return query_bool(s, "SELECT pg_try_advisory_lock($1::int8)", key, ret_held, e);
}

enum errc db_session_end_after(struct db_session *s, int64_t silence_ms, struct err *e)
{
    bool is_set;
    return query_bool(s, "SELECT set_config('idle_session_timeout', $1::int8::text, false) IS NOT NULL", silence_ms, &is_set, e);
}

/* pg_locks shows a key of 64 bits as two halves, and objsubid 1. */
enum errc db_session_end_holders(struct db_session *s, int64_t key, bool *ret_some, struct err *e)
{
    return query_bool(s, "SELECT coalesce(bool_or(pg_terminate_backend(l.pid)), false)\n"
                         "  FROM pg_locks l JOIN pg_stat_activity a USING (pid)\n"
                         " WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.pid <> pg_backend_pid()\n"
                         "   AND (l.classid::int8 << 32 | l.objid::int8) = $1::int8\n"
                         "   AND a.usename = current_user AND a.datname = current_database()", key, ret_some, e);
}

enum errc db_session_unlock(struct db_session *s, int64_t key, struct err *e)
{
    bool was_held;
    TRY(query_bool(s, "SELECT pg_advisory_unlock($1::int8)", key, &was_held, e));
    return was_held ? ERR_OK : FAIL(e, CONFLICT, "the lock was not held");
}

enum errc db_session_alive(struct db_session *s, struct err *e)
{
    bool is_true;
    return query_bool(s, "SELECT $1::int8 = 0", 0, &is_true, e);
}

enum errc db_session_exec_script(struct db_session *s, const char *sql, struct err *e)
{
    if (s->is_broken)
        return FAIL(e, UNAVAILABLE, "the connection to the database was lost");
    if (!PQsendQuery(s->pg, sql))
        return lost(s, NULL, e);
    PGresult *res;
    TRY(answer(s, SCRIPT_TIMEOUT_MS * 1000LL, &res, e));
    PQclear(res);
    return ERR_OK;
}

enum errc db_session_query(struct db_session *s, const char *sql, const char *const *params, int nparams, struct arena *arena,
                           struct db_text_rows *ret, struct err *e)
{
    PGresult *res;
    TRY(query(s, sql, params, nparams, s->timeout_us, &res, e));
    int nrows = PQntuples(res), ncols = PQnfields(res);
    struct str *cells = arena_try(arena, sizeof *cells * (size_t)nrows * (size_t)ncols + 1);
    bool ok = cells;
    for (int r = 0; ok && r < nrows; r++)
        for (int c = 0; ok && c < ncols; c++) {
            if (PQgetisnull(res, r, c))
                continue;
            size_t len = (size_t)PQgetlength(res, r, c);
            char *copy = arena_try(arena, len + 1);
            ok = copy;
            if (!ok)
                break;
            memcpy(copy, PQgetvalue(res, r, c), len);
            cells[r * ncols + c] = str_n(copy, len);
        }
    PQclear(res);
    if (!ok)
        return FAIL(e, LIMIT, "the answer is larger than one call may use");
    *ret = (struct db_text_rows){ (size_t)nrows, (size_t)ncols, cells };
    return ERR_OK;
}
