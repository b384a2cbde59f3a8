/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the checks at start: is the role one that row-level security binds, and does the database's own description of every
 * statement agree with the code? A connection of its own, in lock step, because each answer is looked at.
 *
 * libpq sends our parameter types with Parse, so a type that does not fit is refused by the server itself; what is left to
 * compare here is the number of $n and the columns of the result. */
#include "core/db/pool_int.h"
#include "core/base/cleanup.h"
#include "core/db/param_int.h"

#include <stdlib.h>
#include <string.h>

enum { CHECK_ARENA_MAX = 4 << 20, SERVER_MIN = 150000 };

static void finish_pg(PGconn **pg)
{
    PQfinish(*pg);
}

static void clear_result(PGresult **res)
{
    PQclear(*res);
}

static enum errc check_role(const struct db_pool *p, PGconn *pg, struct err *e)
{
    static const char sql[] =
        "SELECT current_user, r.rolsuper, r.rolbypassrls,\n"
        "       (SELECT min(c.oid::regclass::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace\n"
        "         WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')\n"
        "           AND n.nspname !~ '^pg_' AND pg_has_role(current_user, c.relowner, 'MEMBER'))\n"
        "  FROM pg_roles r WHERE r.rolname = current_user";
    CLEANUP(clear_result) PGresult *res = PQexec(pg, sql);
    if (PQresultStatus(res) != PGRES_TUPLES_OK || PQntuples(res) != 1)
        return pg_fail(e, pg, res, "check of the role");
    const char *user = PQgetvalue(res, 0, 0);
    if (*PQgetvalue(res, 0, 1) == 't' && !(p->role_allow & DB_ALLOW_SUPERUSER))
        return FAIL(e, INTERNAL, "database role %s is a superuser: row-level security would not bind it", user);
    if (*PQgetvalue(res, 0, 2) == 't' && !(p->role_allow & DB_ALLOW_BYPASSRLS))
        return FAIL(e, INTERNAL, "database role %s has BYPASSRLS: row-level security would not bind it", user);
    if (!PQgetisnull(res, 0, 3) && !(p->role_allow & DB_ALLOW_OWNER))
        return FAIL(e, INTERNAL, "database role %s owns %s: an owner can switch row-level security off", user, PQgetvalue(res, 0,
            3));
    return ERR_OK;
}

/* The highest $n of a statement; string literals are not skipped, so do not write '$1' in one. */
static int highest_param(const char *sql)
{
    int max = 0;
    for (const char *at = strchr(sql, '$'); at; at = strchr(at + 1, '$')) {
        long n = strtol(at + 1, NULL, 10);
        if (n > max && n <= DB_PARAMS_MAX)
            max = (int)n;
    }
    return max;
}

/* Every column that we take for an enum type must be one. */
static enum errc check_enums(const struct stmt *st, const struct row_map *map, PGconn *pg, struct err *e)
{
    for (int i = 0; i < map->ncols; i++) {
        if (map->cols[i].oid < 16384)
            continue;
        char oid[16];
        snprintf(oid, sizeof oid, "%u", map->cols[i].oid);
        const char *values[] = { oid };
        CLEANUP(clear_result) PGresult *res = PQexecParams(
            pg,
                    "SELECT 1 FROM pg_type t LEFT JOIN pg_type el ON el.oid = t.typelem WHERE t.oid = $1::oid AND 'e' IN (t.typtype, el.typtype)",
            1, NULL, values, NULL, NULL, 0);
        if (PQresultStatus(res) != PGRES_TUPLES_OK)
            return pg_fail(e, pg, res, st->name);
        if (PQntuples(res) == 0)
            return FAIL(e, INTERNAL, "statement %s: column %s has a type that cannot be read", st->name,
                        map->cols[i].field->name);
    }
    return ERR_OK;
}

static enum errc check_stmt(const struct stmt *st, PGconn *pg, struct arena *a, struct err *e)
{
    const char *letters = st->params ? st->params : "";
    Oid types[DB_PARAMS_MAX];
    int n = (int)strlen(letters);
    if (n > DB_PARAMS_MAX)
        return FAIL(e, INTERNAL, "statement %s has more than %d parameters", st->name, DB_PARAMS_MAX);
    for (int i = 0; i < n; i++)
        if (!(types[i] = param_oid(letters[i])))
            return FAIL(e, INTERNAL, "statement %s: %c is no parameter type", st->name, letters[i]);
    if (highest_param(st->sql) != n)
        return FAIL(e, INTERNAL, "statement %s has parameters up to $%d but params \"%s\"", st->name, highest_param(st->sql),
                    letters);
    CLEANUP(buf_releasep) struct buf text = BUF(STMT_TEXT_MAX);
    CLEANUP(clear_result) PGresult *made = PQprepare(pg, "", stmt_text(st, &text), n, types);
    if (PQresultStatus(made) != PGRES_COMMAND_OK) {
        struct err why;
        pg_fail(&why, pg, made, st->name);
        const char *primary = PQresultErrorField(made, PG_DIAG_MESSAGE_PRIMARY);
        if (why.code == ERR_UNAVAILABLE) {
            if (e)
                *e = why;
            return why.code;
        }
        return FAIL(e, INTERNAL, "statement %s does not fit the database: %s", st->name, primary ? primary : "no reason given");
    }
    CLEANUP(clear_result) PGresult *desc = PQdescribePrepared(pg, "");
    if (PQresultStatus(desc) != PGRES_COMMAND_OK)
        return pg_fail(e, pg, desc, st->name);
    if (PQnparams(desc) != n)
        return FAIL(e, INTERNAL, "statement %s takes %d parameters but params is \"%s\"", st->name, PQnparams(desc), letters);
    for (int i = 0; i < n; i++)
        if (PQparamtype(desc, i) != types[i])
            return FAIL(e, INTERNAL, "statement %s: parameter $%d is not of type %c", st->name, i + 1, letters[i]);
    if (st->row && st->card == CARD_NONE)
        return FAIL(e, INTERNAL, "statement %s has a row schema but CARD_NONE", st->name);
    struct row_map *map;
    TRY(row_map_build(st, desc, a, &map, e));
    return check_enums(st, map, pg, e);
}

enum errc db_pool_check(struct db_pool *p, struct err *e)
{
    CLEANUP(finish_pg) PGconn *pg = NULL;
    CLEANUP(arena_freep) struct arena *a = arena_new(CHECK_ARENA_MAX);
    TRY(pg_open(p->conninfo, p->app_name, p->statement_timeout_ms, p->is_batch, &pg, e));
    if (PQserverVersion(pg) < SERVER_MIN)
        return FAIL(e, INTERNAL, "PostgreSQL is version %d, but 15 or newer is needed", PQserverVersion(pg) / 10000);
    TRY(check_role(p, pg, e));
    for (int i = SLOT_OWN_COUNT; i < p->nstmts; i++)
        TRY(check_stmt(p->stmts[i], pg, a, e));
    return ERR_OK;
}
