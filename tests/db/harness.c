/* SPDX-License-Identifier: Apache-2.0 */
/* harness.c - clusters of PostgreSQL, alive until their test ends. */
#include "tests/db/harness_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/db/pool.h"
#include "core/db/session.h"
#include "migrations/migrate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void end_it(void *h)
{
    pg_harness_free(h);
}

void pg_harness_start(struct pg_harness *h)
{
    char data[160], log[160];
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    snprintf(log, sizeof log, "%s/log", h->child.dir);
    const char *argv[] = { PG_BIN "postgres", "-D", data, "-k", h->child.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                           "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "max_connections=200", "-c",
                           "log_min_error_statement=panic", NULL };
    h->child.pid = harness_spawn(argv, h->child.dir, log);
    struct err e;
    for (int i = 0; i < START_TRIES; i++) {
        struct db_session *s = NULL;
        if (db_session_new(pg_harness_conninfo(h, NULL, NULL), "harness", 0, &s, &e) == ERR_OK) {
            db_session_free(s);
            return;
        }
        usleep(TRY_PAUSE_US);
    }
    fprintf(stderr, "test harness: postgres does not answer: %s; see %s\n", e.detail, log);
    abort();
}

struct pg_harness *pg_harness_new(void)
{
    struct pg_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    char data[160];
    harness_dir(&h->child, "pg");
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    harness_template_copy(data, h->child.dir);
    h->has_schema = true;
    harness_live(h, end_it);
    pg_harness_start(h);
    return h;
}

struct pg_harness *pg_harness_new_cluster(void)
{
    struct pg_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    char data[160], log[160];
    harness_dir(&h->child, "pg");
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    snprintf(log, sizeof log, "%s/initdb.log", h->child.dir);
    harness_run((const char *const[]){ PG_BIN "initdb", "--no-sync", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                                        "--locale=C.UTF-8", "--wal-segsize=1", NULL }, h->child.dir, log);
    harness_live(h, end_it);
    pg_harness_start(h);
    return h;
}

struct pg_harness *pg_harness_standby(struct pg_harness *of)
{
    struct pg_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    char data[160], log[160];
    harness_dir(&h->child, "pg");
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    snprintf(log, sizeof log, "%s/basebackup.log", h->child.dir);
    harness_run((const char *const[]){ PG_BIN "pg_basebackup", "-h", of->child.dir, "-U", "postgres", "-D", data, "-R", "-X",
                                        "stream", "-c", "fast", "--no-sync", NULL }, h->child.dir, log);
    harness_live(h, end_it);
    pg_harness_start(h);
    return h;
}

void pg_harness_promote(struct pg_harness *h)
{
    pg_harness_exec(h, NULL, "DO $$ BEGIN IF NOT pg_promote(true, 60) THEN RAISE EXCEPTION 'not promoted'; END IF; END $$");
}

void pg_harness_restore(struct pg_harness *from, struct pg_harness *to, const char *dbname)
{
    char file[160], log[160], sql[160];
    snprintf(file, sizeof file, "%s/dump.sql", to->child.dir);
    snprintf(log, sizeof log, "%s/restore.log", to->child.dir);
    pg_harness_exec_file(to, NULL, "migrations/roles.sql");
    const bool is_there = !strcmp(dbname, "postgres");
    snprintf(sql, sizeof sql, "%s DATABASE %s OWNER %s falaj_owner", is_there ? "ALTER" : "CREATE", dbname, is_there ? "TO" : "");
    pg_harness_exec(to, NULL, sql);
    harness_run((const char *const[]){ PG_BIN "pg_dump", "-h", from->child.dir, "-U", "postgres", "-f", file, dbname, NULL },
                 to->child.dir, log);
    harness_run((const char *const[]){ PG_BIN "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", to->child.dir, "-U", "postgres",
                                        "-d", dbname, "-f", file, NULL }, to->child.dir, log);
}

void pg_harness_stop(struct pg_harness *h)
{
    harness_end(&h->child, SIGQUIT);
}

void pg_harness_free(struct pg_harness *h)
{
    if (!h)
        return;
    harness_gone(h);
    pg_harness_stop(h);
    if (h->child.owner == getpid())
        harness_remove(h->child.dir);
    for (int i = 0; i < h->nconninfos; i++)
        free(h->conninfos[i]);
    free(h);
}

const char *pg_harness_socket_dir(struct pg_harness *h)
{
    return h->child.dir;
}

const char *pg_harness_conninfo(struct pg_harness *h, const char *user, const char *dbname)
{
    char text[400];
    snprintf(text, sizeof text, "host=%s user=%s dbname=%s", h->child.dir, user ? user : "postgres", dbname ? dbname : "postgres");
    for (int i = 0; i < h->nconninfos; i++)
        if (strcmp(h->conninfos[i], text) == 0)
            return h->conninfos[i];
    ASSERT(h->nconninfos < CONNINFOS_MAX);
    return h->conninfos[h->nconninfos++] = str_dup_heap(str_c(text));
}

void pg_harness_exec(struct pg_harness *h, const char *dbname, const char *sql)
{
    struct err e;
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    if (db_session_new(pg_harness_conninfo(h, NULL, dbname), "harness", 0, &s, &e) != ERR_OK ||
        db_session_exec_script(s, sql, &e) != ERR_OK) {
        fprintf(stderr, "test harness: %s (%s)\n", e.msg, e.detail);
        abort();
    }
}

int64_t pg_harness_number(struct pg_harness *h, const char *dbname, const char *sql)
{
    struct err e = { 0 };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    struct db_text_rows rows;
    int64_t n = 0;
    if (db_session_new(pg_harness_conninfo(h, NULL, dbname), "harness", 30000, &s, &e) != ERR_OK ||
        db_session_query(s, sql, NULL, 0, a, &rows, &e) != ERR_OK || rows.nrows != 1 ||
        !str_to_i64(rows.cells[0], INT64_MIN, INT64_MAX, &n)) {
        fprintf(stderr, "test harness: no number from: %s: %s (%s)\n", sql, e.msg, e.detail);
        abort();
    }
    return n;
}

void pg_harness_go_to(struct pg_harness **h, struct pg_harness *to, const char *dbname, struct db_pool **pool,
                      struct db_pool **other, const struct stmt *const *const *lists)
{
    struct err e;
    db_pool_free(*pool);
    db_pool_free(*other);
    *other = NULL;
    pg_harness_free(*h);
    *h = to;
    *pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(to, "falaj_app", dbname), .size = 3,
                                                .lists = lists });
    if (db_pool_check(*pool, &e) != ERR_OK) {
        fprintf(stderr, "test harness: %s (%s)\n", e.msg, e.detail);
        abort();
    }
}

void pg_harness_exec_file(struct pg_harness *h, const char *dbname, const char *path)
{
    CLEANUP(buf_releasep) struct buf sql = BUF(16 << 20);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char part[65536];
    ssize_t n;
    if (fd < 0)
        harness_die(path);
    while ((n = read(fd, part, sizeof part)) > 0)
        buf_add(&sql, part, (size_t)n);
    pg_harness_exec(h, dbname, sql.ptr ? sql.ptr : "");
}

static void say_nothing(void *ctx, const char *line)
{
    (void)ctx;
    (void)line;
}

void pg_harness_migrate(struct pg_harness *h, const char *dbname)
{
    char sql[160];
    if (h->has_schema) {
        h->has_schema = false;
        snprintf(sql, sizeof sql, "%s ALTER DATABASE " HARNESS_SCHEMA " RENAME TO %s",
                 dbname ? "" : "ALTER DATABASE postgres RENAME TO postgres_before;", dbname ? dbname : "postgres");
        pg_harness_exec(h, "template1", sql);
        /* its first events are as old as the template, and J12 asks after ten minutes who numbers them */
        pg_harness_exec(h, dbname, "SET session_replication_role = replica; UPDATE audit_event SET at = clock_timestamp()");
        return;
    }
    pg_harness_exec_file(h, NULL, "migrations/roles.sql");
    if (dbname) {
        snprintf(sql, sizeof sql, "CREATE DATABASE %s OWNER falaj_owner", dbname);
        pg_harness_exec(h, NULL, sql);
    } else {
        pg_harness_exec(h, NULL, "GRANT CREATE ON DATABASE postgres TO falaj_owner; ALTER SCHEMA public OWNER TO falaj_owner");
    }
    struct err e = { 0 };
    int applied;
    if (migrate_run(pg_harness_conninfo(h, "falaj_migrate", dbname), &schema_embedded, MIGRATE_APPLY, say_nothing, NULL, &applied, &e) != ERR_OK) {
        fprintf(stderr, "test harness: %s (%s)\n", e.msg, e.detail);
        abort();
    }
}
