/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.c - compare what the database has with what this program has, then apply what is missing, one transaction each. The lock is
 * taken first and held by the session, so what is read stays true until the end. */
#include "migrations/migrate.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/db/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOCK_KEY 0x46616c616a4d6967LL      /* "FalajMig" */
enum { ARENA_MAX = 8 << 20, LOCK_TRIES = 600, LOCK_PAUSE_US = 100000 };

struct run {
    struct db_session *session;
    struct arena *arena;
    const struct migration *list;
    size_t n;
    void (*say)(void *ctx, const char *line);
    void *ctx;
    size_t napplied;            /* the first napplied of the list are in the database */
    const struct db_text_rows *rows;
};

static const char create_table[] =
    "CREATE TABLE IF NOT EXISTS public.schema_migration (\n"
    "  version     int         PRIMARY KEY CHECK (version > 0),\n"
    "  name        text        NOT NULL,\n"
    "  checksum    text        NOT NULL CHECK (length(checksum) = 64),\n"
    "  applied_at  timestamptz NOT NULL DEFAULT clock_timestamp(),\n"
    "  duration_ms bigint      NOT NULL\n"
    ")";

static void tell(struct run *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void tell(struct run *r, const char *fmt, ...)
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
    for (size_t i = 0; i < r->n; i++)
        if (r->list[i].version <= (i ? r->list[i - 1].version : 0))
            return FAIL(e, CONFLICT, "migration %s has no number of its own: numbers only grow", r->list[i].name);
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
            tell(r, "waiting for another migration to end");
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
    if (r->napplied > r->n)
        return FAIL(e, CONFLICT, "the database has %zu migrations but this program knows %zu: it is too old for this database",
                    r->napplied, r->n);
    for (size_t i = 0; i < r->napplied; i++) {
        const struct str *row = &r->rows->cells[i * r->rows->ncols];
        int64_t version = 0;
        if (!str_to_i64(row[0], 1, INT32_MAX, &version) || version != r->list[i].version)
            return FAIL(e, CONFLICT, "the database lacks migration %d but has %.*s", r->list[i].version, STR_ARG(row[0]));
        if (!str_eq_c(row[2], r->list[i].sha256))
            return FAIL(e, CONFLICT, "migration %s was changed after it was applied: applied %.*s, now %s", r->list[i].name,
                        STR_ARG(row[2]), r->list[i].sha256);
    }
    return ERR_OK;
}

/* The script and its row, together or not at all. */
static enum errc apply_in_transaction(struct run *r, const struct migration *m, int64_t *ret_ms, struct err *e)
{
    int64_t start = clock_mono_us(&clock_system);
    TRY(db_session_exec_script(r->session, "BEGIN", e));
    TRY(db_session_exec_script(r->session, m->sql, e));
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
    return db_session_exec_script(r->session, "COMMIT", e);
}

static enum errc apply(struct run *r, const struct migration *m, struct err *e)
{
    int64_t ms = 0;
    enum errc rc = apply_in_transaction(r, m, &ms, e);
    if (rc != ERR_OK) {
        struct err ignored;
        (void)!db_session_exec_script(r->session, "ROLLBACK", &ignored);
        return err_note(e, "in migration %s", m->name);
    }
    tell(r, "applied %s in %lld ms", m->name, (long long)ms);
    return ERR_OK;
}

static void show_status(struct run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i >= r->napplied) {
            tell(r, "%s  pending", r->list[i].name);
            continue;
        }
        const struct str *row = &r->rows->cells[i * r->rows->ncols];
        tell(r, "%s  applied %.*s in %.*s ms", r->list[i].name, STR_ARG(row[3]), STR_ARG(row[4]));
    }
}

static enum errc run_locked(struct run *r, enum migrate_mode mode, int *ret_applied, struct err *e)
{
    struct db_text_rows rows;
    TRY(lock(r, e));
    TRY(read_applied(r, &rows, e));
    TRY(compare(r, e));
    if (mode == MIGRATE_STATUS) {
        show_status(r);
        return ERR_OK;
    }
    if (r->napplied == r->n)
        tell(r, "nothing to do: the schema is at %d", r->n ? r->list[r->n - 1].version : 0);
    if (mode == MIGRATE_APPLY && r->napplied < r->n)
        TRY(db_session_exec_script(r->session, create_table, e));
    for (size_t i = r->napplied; i < r->n; i++) {
        if (mode == MIGRATE_DRY_RUN)
            tell(r, "would apply %s (%s)", r->list[i].name, r->list[i].sha256);
        else
            TRY(apply(r, &r->list[i], e));
        ++*ret_applied;
    }
    return ERR_OK;
}

enum errc migrate_run(const char *conninfo, const struct migration *list, size_t n, enum migrate_mode mode,
                      void (*say)(void *ctx, const char *line), void *ctx, int *ret_applied, struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *session = NULL;
    CLEANUP(arena_freep) struct arena *arena = arena_new(ARENA_MAX);
    struct run r = { .arena = arena, .list = list, .n = n, .say = say, .ctx = ctx };
    *ret_applied = 0;
    TRY(check_list(&r, e));
    TRY(db_session_new(conninfo, "falaj-migrate", 30000, &session, e));
    r.session = session;
    return run_locked(&r, mode, ret_applied, e);
}
