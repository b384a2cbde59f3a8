/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.c - compare what the database has with what this program has, then apply what is missing, one transaction each. The lock is
 * taken first and held by the session, so what is read stays true until the end. */
#include "migrations/migrate.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "migrations/migrate_int.h"
#include "migrations/preflight.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOCK_KEY 0x46616c616a4d6967LL      /* "FalajMig" */
enum { ARENA_MAX = 8 << 20, LOCK_TRIES = 600, LOCK_PAUSE_US = 100000, PREFLIGHT_RATE = 100 << 20,
       STEP_TRIES = 120, STEP_PAUSE_US = 200000, STEP_PAUSES_MAX = 10 };

/* Programs of the release before work on while an upgrade runs. Whoever needs a table waits behind a script that waits for its
 * lock, so a try waits this long for each, is taken back, and comes again when what was under way may have ended. */
static const char begin[] = "BEGIN; SET LOCAL lock_timeout = '2s'";

static const char create_tables[] =
    "CREATE TABLE IF NOT EXISTS public.schema_migration (\n"
    "  version     int         PRIMARY KEY CHECK (version > 0),\n"
    "  name        text        NOT NULL,\n"
    "  checksum    text        NOT NULL CHECK (length(checksum) = 64),\n"
    "  applied_at  timestamptz NOT NULL DEFAULT clock_timestamp(),\n"
    "  duration_ms bigint      NOT NULL\n"
    ");\n"
    "CREATE TABLE IF NOT EXISTS public.schema_function (\n"
    "  name        text        PRIMARY KEY,\n"
    "  checksum    text        NOT NULL CHECK (length(checksum) = 64),\n"
    "  applied_at  timestamptz NOT NULL DEFAULT clock_timestamp()\n"
    ")";

void run_tell(struct run *r, const char *fmt, ...)
{
    char line[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    r->say(r->ctx, line);
}

static enum errc check_list(const struct run *r, struct err *e)
{
    for (size_t i = 0; i < r->schema->nmigrations; i++)
        if (r->schema->migrations[i].version <= (i ? r->schema->migrations[i - 1].version : 0))
            return FAIL(e, CONFLICT, "migration %s has no number of its own: numbers only grow", r->schema->migrations[i].name);
    return ERR_OK;
}

static enum errc lock(struct run *r, struct err *e)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        bool is_held = false;
        TRY(db_session_try_lock(r->session, LOCK_KEY, &is_held, e));
        if (is_held)
            return ERR_OK;
        if (i == 0)
            run_tell(r, "waiting for another migration to end");
        usleep(LOCK_PAUSE_US);
    }
    return FAIL(e, CONFLICT, "another migration has been running for a minute");
}

/* Reads what was applied; without the table nothing was. */
static enum errc read_applied(struct run *r, struct db_text_rows *rows, struct err *e)
{
    struct db_text_rows exists;
    *rows = (struct db_text_rows){ 0 };
    TRY(db_session_query(r->session, "SELECT to_regclass('public.schema_migration')", NULL, 0, r->arena, &exists, e));
    if (exists.cells[0].ptr)
        TRY(db_session_query(r->session, "SELECT version, name, checksum, applied_at, duration_ms FROM public.schema_migration ORDER BY version",
                             NULL, 0, r->arena, rows, e));
    r->napplied = rows->nrows;
    r->rows = rows;
    return ERR_OK;
}

static enum errc compare(struct run *r, struct err *e)
{
    if (r->napplied > r->schema->nmigrations)
        return FAIL(e, CONFLICT, "the database has %zu migrations but this program knows %zu: it is too old for this database."
                    " There is no way down: install the newer release, or restore a backup from before (falaj-backup list)",
                    r->napplied, r->schema->nmigrations);
    for (size_t i = 0; i < r->napplied; i++) {
        const struct str *row = &r->rows->cells[i * r->rows->ncols];
        int64_t version = 0;
        if (!str_to_i64(row[0], 1, INT32_MAX, &version) || version != r->schema->migrations[i].version)
            return FAIL(e, CONFLICT, "the database lacks migration %d but has %.*s", r->schema->migrations[i].version, STR_ARG(row[0]));
        if (!str_eq_c(row[2], r->schema->migrations[i].sha256))
            return FAIL(e, CONFLICT, "migration %s was changed after it was applied: applied %.*s, now %s", r->schema->migrations[i].name,
                        STR_ARG(row[2]), r->schema->migrations[i].sha256);
    }
    return ERR_OK;
}

/* The functions as they are in this program, checked against the tables; what migration says is new in them is in this transaction too. */
static enum errc apply_functions(struct run *r, struct err *e)
{
    size_t n = functions_pending(r, r->schema->functions, r->schema->nfunctions);
    TRY(functions_apply(r, r->schema->functions, r->schema->nfunctions, e));
    TRY(functions_check(r, e));
    if (n)
        run_tell(r, "applied %zu of %zu functions", n, r->schema->nfunctions);
    return ERR_OK;
}

/* The script and its row, together or not at all; with the last one, the functions. */
static enum errc apply_in_transaction(struct run *r, const struct migration *m, int64_t *ret_ms, struct err *e)
{
    int64_t start = clock_mono_us(&clock_system);
    TRY(db_session_exec_script(r->session, begin, e));
    if (db_session_exec_script(r->session, m->sql, e) != ERR_OK)
        return err_note(e, "in migration %s", m->name);
    /* A savepoint is refused outside a transaction. The script may have taken on a role; the record is written by the login. */
    if (db_session_exec_script(r->session, "SAVEPOINT still_inside; SET LOCAL ROLE NONE", e) != ERR_OK)
        return FAIL(e, CONFLICT, "a migration must not end its transaction by itself");
    *ret_ms = (clock_mono_us(&clock_system) - start) / 1000;
    char version[16], ms[24];
    snprintf(version, sizeof version, "%d", m->version);
    snprintf(ms, sizeof ms, "%lld", (long long)*ret_ms);
    const char *params[] = { version, m->name, m->sha256, ms };
    struct db_text_rows none;
    TRY(db_session_query(r->session, "INSERT INTO public.schema_migration (version, name, checksum, duration_ms) VALUES ($1, $2, $3, $4)",
                         params, 4, r->arena, &none, e));
    if (m == &r->schema->migrations[r->schema->nmigrations - 1])
        TRY(apply_functions(r, e));
    return db_session_exec_script(r->session, "COMMIT", e);
}

static enum errc apply(struct run *r, const struct migration *m, struct err *e)
{
    int64_t ms = 0;
    TRY(apply_in_transaction(r, m, &ms, e));
    run_tell(r, "applied %s in %lld ms", m->name, (long long)ms);
    return ERR_OK;
}

static enum errc functions_alone(struct run *r, const struct migration *none, struct err *e)
{
    (void)none;
    TRY(db_session_exec_script(r->session, begin, e));
    TRY(apply_functions(r, e));
    return db_session_exec_script(r->session, "COMMIT", e);
}

static enum errc helpers_alone(struct run *r, const struct migration *none, struct err *e)
{
    (void)none;
    TRY(db_session_exec_script(r->session, begin, e));
    TRY(functions_apply(r, r->schema->helpers, r->schema->nhelpers, e));
    return db_session_exec_script(r->session, "COMMIT", e);
}

/* One transaction until it is through, or fails by more than meeting others; nothing of a try is left. */
static enum errc step(struct run *r, enum errc (*act)(struct run *r, const struct migration *m, struct err *e),
                      const struct migration *m, struct err *e)
{
    for (int i = 1;; i++) {
        enum errc rc = act(r, m, e);
        if (rc == ERR_OK)
            return ERR_OK;
        struct err ignored;
        (void)!db_session_exec_script(r->session, "ROLLBACK", &ignored);
        if (rc != ERR_RETRY || i == STEP_TRIES)
            return rc;
        if (i == 1)
            run_tell(r, "%s waits for calls that are under way", m ? m->name : "the functions");
        usleep(STEP_PAUSE_US * (unsigned)(i < STEP_PAUSES_MAX ? i : STEP_PAUSES_MAX));
        *e = (struct err){ 0 };
    }
}

static enum errc apply_all(struct run *r, size_t nhelpers, size_t nfunctions, struct err *e)
{
    const struct schema *s = r->schema;
    TRY(db_session_exec_script(r->session, create_tables, e));
    if (nhelpers)
        TRY(step(r, helpers_alone, NULL, e));
    for (size_t i = r->napplied; i < s->nmigrations; i++)
        TRY(step(r, apply, &s->migrations[i], e));
    return r->napplied == s->nmigrations && nfunctions ? step(r, functions_alone, NULL, e) : ERR_OK;
}

static void show(struct run *r, enum migrate_mode mode)
{
    const struct schema *s = r->schema;
    bool is_dry = mode == MIGRATE_DRY_RUN;
    functions_show(r, s->helpers, s->nhelpers, is_dry);
    for (size_t i = is_dry ? r->napplied : 0; i < s->nmigrations; i++) {
        const struct str *row = i < r->napplied ? &r->rows->cells[i * r->rows->ncols] : NULL;
        if (is_dry)
            run_tell(r, "would apply %s (%s)", s->migrations[i].name, s->migrations[i].sha256);
        else if (!row)
            run_tell(r, "%s  pending", s->migrations[i].name);
        else
            run_tell(r, "%s  applied %.*s in %.*s ms", s->migrations[i].name, STR_ARG(row[3]), STR_ARG(row[4]));
    }
    functions_show(r, s->functions, s->nfunctions, is_dry);
}

/* One table that a pending migration touches: who waits, and for how much. */
static enum errc tell_touch(struct run *r, const struct table_touch *t, struct err *e)
{
    static const char *const locks[] = { "rows alone", "writers wait", "everybody waits" };
    struct db_text_rows size;
    int64_t bytes = 0;
    TRY(db_session_query(r->session, "SELECT pg_total_relation_size(c.oid), greatest(c.reltuples, 0)::bigint FROM pg_class c"
                         " WHERE c.oid = to_regclass('public.' || quote_ident($1)) AND c.relkind IN ('r', 'p')",
                         (const char *const[]){ t->table }, 1, r->arena, &size, e));
    if (size.nrows == 0 || !str_to_i64(size.cells[0], 0, INT64_MAX, &bytes)) {
        run_tell(r, "  %-28s %s; not there yet", t->table, locks[t->lock]);
        return ERR_OK;
    }
    run_tell(r, "  %-28s %s; %lld MiB, about %.*s rows; %s", t->table, locks[t->lock], (long long)(bytes >> 20),
             STR_ARG(size.cells[1]),
             !t->reads_all ? "no row is read"
                           : bytes < PREFLIGHT_RATE ? "all rows, under a second" : "all rows, read below");
    if (t->reads_all && bytes >= PREFLIGHT_RATE)
        run_tell(r, "  %-28s about %lld s at %d MiB a second", "", (long long)(bytes / PREFLIGHT_RATE), PREFLIGHT_RATE >> 20);
    return ERR_OK;
}

/* By the text of each pending migration; nothing is run. */
static enum errc preflight(struct run *r, struct err *e)
{
    struct table_touch *t = ARENA_ARRAY(r->arena, struct table_touch, TOUCHES_MAX);
    int who_waits[3] = { 0 };
    for (size_t i = r->napplied; i < r->schema->nmigrations; i++) {
        size_t n = preflight_touches(r->schema->migrations[i].sql, t, TOUCHES_MAX);
        run_tell(r, "%s: %zu tables that hold rows", r->schema->migrations[i].name, n);
        for (size_t k = 0; k < n; k++) {
            TRY(tell_touch(r, &t[k], e));
            who_waits[t[k].lock]++;
        }
    }
    run_tell(r, "%zu migrations pending: everybody waits at %d tables, writers at %d, nobody at %d; each is one transaction",
             r->schema->nmigrations - r->napplied, who_waits[LOCK_ALL], who_waits[LOCK_WRITERS], who_waits[LOCK_ROWS]);
    run_tell(r, "before: falaj-backup create. What functions do that a migration calls is not seen here");
    return ERR_OK;
}

static enum errc run_locked(struct run *r, enum migrate_mode mode, int *ret_applied, struct err *e)
{
    const struct schema *s = r->schema;
    struct db_text_rows rows;
    TRY(lock(r, e));
    TRY(read_applied(r, &rows, e));
    TRY(functions_read(r, e));
    TRY(compare(r, e));
    size_t nhelpers = functions_pending(r, s->helpers, s->nhelpers), nfunctions = functions_pending(r, s->functions, s->nfunctions);
    size_t n = nhelpers + nfunctions + s->nmigrations - r->napplied;
    if (mode != MIGRATE_STATUS && !n)
        run_tell(r, "nothing to do: the schema is at %d", s->nmigrations ? s->migrations[s->nmigrations - 1].version : 0);
    if (mode == MIGRATE_PREFLIGHT)
        TRY(preflight(r, e));
    else if (mode != MIGRATE_APPLY)
        show(r, mode);
    else if (n)
        TRY(apply_all(r, nhelpers, nfunctions, e));
    if (mode != MIGRATE_STATUS)
        *ret_applied = (int)n;
    return ERR_OK;
}

enum errc migrate_run(const char *conninfo, const struct schema *schema, enum migrate_mode mode, void (*say)(void *ctx, const char *line),
                      void *ctx, int *ret_applied, struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *session = NULL;
    CLEANUP(arena_freep) struct arena *arena = arena_new(ARENA_MAX);
    struct run r = { .arena = arena, .schema = schema, .say = say, .ctx = ctx };
    *ret_applied = 0;
    TRY(check_list(&r, e));
    TRY(db_session_new(conninfo, "falaj-migrate", 30000, &session, e));
    r.session = session;
    return run_locked(&r, mode, ret_applied, e);
}
