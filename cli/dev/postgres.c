/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.c - the PostgreSQL 15 cluster of `falaj dev`: made once, Unix socket only, passwords by SCRAM, full durability.
 *
 * initdb writes into pg.new, which is renamed when it is whole: a start that was killed half-way leaves nothing that looks like a
 * cluster. Roles come from migrations/roles.sql; passwords are set at every start from the secrets, so the two cannot differ. */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "cli/embed.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/db/session.h"

enum { STEP_MS = 15 };

static const char *const roles[] = { "falaj_migrate", "falaj_app", "falaj_worker_api", "falaj_scheduler", "falaj_sequencer", "falaj_retention", "falaj_backup", NULL };

static enum errc run_initdb(struct dev *d, struct err *e)
{
    const char *fresh = arena_printf(d->arena, "%s/new", d->pg), *password_file = arena_printf(d->arena, "%s/pg-password", d->run);
    TRY(files_write(d, password_file, str_c(d->pg_password), d->pg_uid, d->pg_gid, e));
    files_remove_tree(fresh);
    struct child initdb = { .name = "initdb", .log_path = arena_printf(d->arena, "%s/initdb.log", d->logs), .uid = d->pg_uid, .gid = d->pg_gid, .stop_signal = SIGTERM,
        .argv = { arena_printf(d->arena, "%s/initdb", d->pg_bin), "-D", fresh, "-U", "postgres", "--auth=scram-sha-256",
                  arena_printf(d->arena, "--pwfile=%s", password_file), "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C.UTF-8", NULL } };
    enum errc rc = supervise_run_once(d, &initdb, DEV_START_MS, NULL, e);
    unlink(password_file);
    if (rc != ERR_OK)
        return rc;
    if (rename(fresh, arena_printf(d->arena, "%s/cluster", d->pg)) < 0)
        return err_errno((FAIL(e, IO, "the new cluster cannot be put in place"), e), errno);
    return ERR_OK;
}

static enum errc write_settings(struct dev *d, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(8192);
    buf_printf(&b, "# Written by falaj dev at every start.\nlisten_addresses = ''\nport = %d\nunix_socket_directories = '%s'\nunix_socket_permissions = 0700\n", DEV_PG_PORT, d->run);
    buf_add_c(&b, "max_connections = 120\nshared_buffers = 128MB\nfsync = on\nfull_page_writes = on\nsynchronous_commit = on\nmax_wal_size = 2GB\nwal_buffers = 16MB\ncheckpoint_timeout = 15min\n"
                  "password_encryption = scram-sha-256\nlogging_collector = off\nlog_destination = stderr\nlog_line_prefix = '%m [%p] %u '\n"
                  "log_min_duration_statement = 1000\ntimezone = 'UTC'\nlog_timezone = 'UTC'\njit = off\nautovacuum_naptime = 10s\n");
    TRY(files_write(d, arena_printf(d->arena, "%s/cluster/postgresql.conf", d->pg), buf_str(&b), d->pg_uid, d->pg_gid, e));
    return files_write(d, arena_printf(d->arena, "%s/cluster/pg_hba.conf", d->pg), STR("local all all scram-sha-256\n"), d->pg_uid, d->pg_gid, e);
}

enum errc postgres_prepare(struct dev *d, struct err *e)
{
    struct stat st;
    TRY(files_secret(d, "pg-postgres", &d->pg_password, e));
    if (stat(arena_printf(d->arena, "%s/cluster/PG_VERSION", d->pg), &st) < 0)
        TRY(run_initdb(d, e));
    return write_settings(d, e);
}

static enum errc connect_to(struct dev *d, const char *database, struct db_session **ret, struct err *e)
{
    return db_session_new(config_db_url(d, "postgres", database, d->pg_password), "falaj dev", 10000, ret, e);
}

enum errc postgres_wait(struct dev *d, struct err *e)
{
    int64_t end = clock_mono_us(&clock_system) + INT64_C(1000) * DEV_START_MS;
    for (;;) {
        CLEANUP(db_session_freep) struct db_session *s = NULL;
        if (connect_to(d, "postgres", &s, e) == ERR_OK)
            return ERR_OK;
        if (clock_mono_us(&clock_system) > end)
            return err_note(e, "PostgreSQL did not come up");
        TRY(supervise_pause(d, STEP_MS, e));
    }
}

enum errc postgres_setup(struct dev *d, struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    struct db_text_rows rows;
    TRY(connect_to(d, "postgres", &s, e));
    TRY(db_session_exec_script(s, str_z(d->arena, embed_roles_sql()), e));
    CLEANUP(buf_releasep) struct buf b = BUF(16384);
    for (int i = 0; roles[i]; i++) {
        const char *password;
        TRY(files_secret(d, arena_printf(d->arena, "pg-%s", roles[i]), &password, e));
        buf_printf(&b, "ALTER ROLE %s PASSWORD '%s';\n", roles[i], password);
    }
    TRY(db_session_exec_script(s, b.ptr, e));
    TRY(db_session_query(s, "SELECT 1 FROM pg_database WHERE datname = 'falaj'", NULL, 0, d->arena, &rows, e));
    if (rows.nrows == 0)            /* as a script, since a busy disk takes longer than an answer may */
        TRY(db_session_exec_script(s, "CREATE DATABASE falaj OWNER falaj_owner", e));
    TRY(db_session_exec_script(s, "REVOKE ALL ON DATABASE falaj FROM PUBLIC; GRANT CONNECT ON DATABASE falaj TO falaj_migrate, falaj_app, falaj_worker_api, "
                                  "falaj_scheduler, falaj_sequencer, falaj_retention, falaj_backup", e));
    return ERR_OK;
}

enum errc postgres_guard(struct dev *d, struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    TRY(connect_to(d, "falaj", &s, e));
    return db_session_exec_script(s, str_z(d->arena, embed_superuser_sql()), e);
}
