/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - files that are applied by checksum: helpers and functions. Their table remembers a name and a checksum, no text: a release
 * that is rolled back brings its own functions again by running its own falaj-migrate. */
#include "core/base/str.h"
#include "migrations/migrate_int.h"

#include <stdio.h>
#include <string.h>

enum { LIST_MAX = 1 << 20, SQL_MAX = 256 };

enum errc functions_read(struct run *r, struct err *e)
{
    struct db_text_rows exists;
    r->files = (struct db_text_rows){ 0 };
    TRY(db_session_query(r->session, "SELECT to_regclass('public.schema_function')", NULL, 0, r->arena, &exists, e));
    if (!exists.cells[0].ptr)
        return ERR_OK;
    return db_session_query(r->session, "SELECT name, checksum FROM public.schema_function", NULL, 0, r->arena, &r->files, e);
}

static bool is_pending(const struct run *r, const struct migration *f)
{
    for (size_t i = 0; i < r->files.nrows; i++)
        if (str_eq_c(r->files.cells[i * 2], f->name))
            return !str_eq_c(r->files.cells[i * 2 + 1], f->sha256);
    return true;
}

size_t functions_pending(const struct run *r, const struct migration *files, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += is_pending(r, &files[i]);
    return k;
}

/* names and checksums of files as texts of arrays; they hold nothing that needs quotes. */
static void arrays_of(const struct migration *files, size_t n, const bool *taken, struct buf *names, struct buf *sums)
{
    buf_add_char(names, '{');
    buf_add_char(sums, '{');
    for (size_t i = 0, k = 0; i < n; i++)
        if (taken[i]) {
            buf_printf(names, "%s%s", k ? "," : "", files[i].name);
            buf_printf(sums, "%s%s", k++ ? "," : "", files[i].sha256);
        }
    buf_add_char(names, '}');
    buf_add_char(sums, '}');
}

static enum errc execute(struct run *r, const struct migration *f, struct err *e)
{
    if (db_session_exec_script(r->session, f->sql, e) != ERR_OK)
        return err_note(e, "in %s", f->name);
    /* A savepoint is refused outside a transaction. */
    if (db_session_exec_script(r->session, "SAVEPOINT still_inside; RELEASE SAVEPOINT still_inside", e) != ERR_OK)
        return FAIL(e, CONFLICT, "%s must not end its transaction by itself", f->name);
    return ERR_OK;
}

static enum errc take_role(struct run *r, struct err *e)
{
    char sql[SQL_MAX];
    if (!r->schema->owner)
        return ERR_OK;
    snprintf(sql, sizeof sql, "SET LOCAL ROLE %s", r->schema->owner);
    return db_session_exec_script(r->session, sql, e);
}

enum errc functions_apply(struct run *r, const struct migration *files, size_t n, struct err *e)
{
    CLEANUP(buf_releasep) struct buf names = BUF(LIST_MAX), sums = BUF(LIST_MAX);
    bool *taken = arena_alloc(r->arena, n + 1);
    TRY(take_role(r, e));
    TRY(db_session_exec_script(r->session, "SET LOCAL check_function_bodies = off", e));
    for (size_t i = 0; i < n; i++)
        if ((taken[i] = is_pending(r, &files[i])))
            TRY(execute(r, &files[i], e));
    TRY(db_session_exec_script(r->session, "SET LOCAL ROLE NONE", e));
    arrays_of(files, n, taken, &names, &sums);
    struct db_text_rows none;
    return db_session_query(r->session, "INSERT INTO public.schema_function (name, checksum) SELECT * FROM unnest($1::text[], $2::text[])\n"
                            "ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = clock_timestamp()",
                            (const char *const[]){ names.ptr, sums.ptr }, 2, r->arena, &none, e);
}

/* The bodies of SQL functions are read against the tables, those of PL/pgSQL for their grammar. */
static const char check_bodies[] =
    "DO $$\n"
    "DECLARE f record;\n"
    "BEGIN\n"
    "  SET LOCAL check_function_bodies = on;\n"
    "  FOR f IN SELECT p.oid, p.oid::regprocedure AS name, l.lanname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang\n"
    "            WHERE p.pronamespace = 'public'::regnamespace AND l.lanname IN ('sql', 'plpgsql')\n"
    "              AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e') LOOP\n"
    "    BEGIN\n"
    "      IF f.lanname = 'sql' THEN PERFORM fmgr_sql_validator(f.oid); ELSE PERFORM plpgsql_validator(f.oid); END IF;\n"
    "    EXCEPTION WHEN OTHERS THEN\n"
    "      RAISE EXCEPTION 'function % does not fit the schema: %', f.name, SQLERRM USING ERRCODE = SQLSTATE;\n"
    "    END;\n"
    "  END LOOP;\n"
    "END $$";

enum errc functions_check(struct run *r, struct err *e)
{
    CLEANUP(buf_releasep) struct buf names = BUF(LIST_MAX);
    buf_add_char(&names, '{');
    for (size_t i = 0; i < r->schema->nhelpers; i++)
        buf_printf(&names, "%s%s", i ? "," : "", r->schema->helpers[i].name);
    for (size_t i = 0; i < r->schema->nfunctions; i++)
        buf_printf(&names, "%s%s", i || r->schema->nhelpers ? "," : "", r->schema->functions[i].name);
    buf_add_char(&names, '}');
    struct db_text_rows none;
    TRY(db_session_query(r->session, "DELETE FROM public.schema_function WHERE name <> ALL ($1::text[])", (const char *const[]){ names.ptr }, 1,
                         r->arena, &none, e));
    TRY(take_role(r, e));
    TRY(db_session_exec_script(r->session, check_bodies, e));
    return db_session_exec_script(r->session, "SET LOCAL ROLE NONE", e);
}

void functions_show(struct run *r, const struct migration *files, size_t n, bool is_dry)
{
    for (size_t i = 0; i < n; i++)
        if (!is_dry)
            run_tell(r, "%s  %s", files[i].name, is_pending(r, &files[i]) ? "pending" : "applied");
        else if (is_pending(r, &files[i]))
            run_tell(r, "would apply %s (%s)", files[i].name, files[i].sha256);
}
