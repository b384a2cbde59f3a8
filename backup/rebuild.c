/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.c - the steps of a restore: first everything is looked at, then written under other names, then named. */
#include "backup/rebuild.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/table/config.h"
#include "registry/vault/blob_store.h"
#include "registry/vault/inventory.h"

enum { ANSWER_MS = 600000, ROLES_MAX = 1 << 20, PIECE = 1 << 16, NAMED = 20 };

const char *admin_words(const struct backup *b, const char *database)
{
    return arena_printf(b->arena, "%s dbname=%s", b->admin, database);
}

enum errc admin_session(const struct backup *b, const struct account *a, const char *database, struct db_session **ret,
                        struct err *e)
{
    account_enter(a);
    enum errc rc = db_session_new(admin_words(b, database), "falaj-backup", ANSWER_MS, ret, e);
    account_leave(a);
    return rc == ERR_OK ? rc : err_note(e, "as PostgreSQL's superuser (--admin)");
}

static enum errc folder_is_empty(const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    bool is_full = false;
    if (!d)
        return errno == ENOENT ? ERR_OK : err_errno((FAIL(e, IO, "%s cannot be read", dir), e), errno);
    for (struct dirent *f; (f = readdir(d));)
        is_full |= strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0 && strcmp(f->d_name, "tmp") != 0;
    closedir(d);
    return is_full ? FAIL(e, CONFLICT,
                          "%s is not empty: a restore writes into an empty place only. Move it away, or name another "
                          "(--blob.dir)", dir)
                   : ERR_OK;
}

enum errc rebuild_is_empty(const struct backup *b, const struct account *a, const char *blobs, struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *s = NULL, *in = NULL;
    struct db_text_rows rows;
    TRY(folder_is_empty(blobs, e));
    TRY(admin_session(b, a, "postgres", &s, e));
    TRY(db_session_query(s, "SELECT 1 FROM pg_database WHERE datname = $1", &b->database, 1, b->arena, &rows, e));
    if (rows.nrows == 0)
        return ERR_OK;
    TRY(admin_session(b, a, b->database, &in, e));
    TRY(db_session_query(in,
                         "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = "
                         "'public'", NULL, 0,
                         b->arena, &rows, e));
    return str_eq_c(rows.cells[0], "0") ? ERR_OK :
        FAIL(e, CONFLICT, "the database %s has tables: a restore makes a database anew only. Rename it "
                                                        "(ALTER DATABASE), or name another (--database)", b->database);
}

static enum errc to_child(void *ctx, const void *p, size_t n, struct err *e)
{
    return write_all(((struct child *)ctx)->in, p, n, e);
}

static enum errc fill(struct backup *b, const struct account *a, const struct set *s, const struct recovery *key,
                      const char *database,
                      struct err *e)
{
    struct child child;
    struct err ended;
    const char *argv[] = { "pg_restore", "--exit-on-error", "--no-password", "--dbname=service=falaj", NULL };
    TRY(child_start(b->arena, argv, &(struct child_opts){ .words = admin_words(b, database), .has_in = true, .account = *a },
                    &child, e));
    enum errc rc = part_open(arena_printf(b->arena, "%s.fbk", repo_set_path(b->arena, &b->repo, s, "database")), s->id,
                             "database",
                             &key->secret, to_child, &child, e);
    enum errc last = child_wait(&child, &ended);
    if (last == ERR_OK || (rc != ERR_OK && rc != ERR_IO))
        return rc;
    *e = ended;                 /* it ended, so writing to it failed */
    return last;
}

static enum errc run_sql(struct db_session *s, const struct backup *b, const char *fmt, const char *from, const char *to,
                         struct err *e)
{
    struct db_text_rows none;
    return db_session_query(s, arena_printf(b->arena, "%s%s%s%s", fmt, from, *to ? " " : "", to), NULL, 0, b->arena, &none, e);
}

/* The rights on the database itself, which no dump has. */
static const char database_rights[] =
    "GRANT CONNECT ON DATABASE %s TO falaj_migrate, falaj_app, falaj_worker_api, falaj_scheduler, falaj_sequencer, "
    "falaj_retention, "
    "falaj_backup";

enum errc rebuild_database(struct backup *b, const struct account *a, const struct set *s, const struct recovery *key,
                           struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *at = NULL;
    struct str roles;
    const char *tmp = arena_printf(b->arena, "%s_restoring", b->database);
    TRY(file_get(b->arena, b->roles, ROLES_MAX, &roles, e));
    TRY(admin_session(b, a, "postgres", &at, e));
    TRY(db_session_exec_script(at, str_z(b->arena, roles), e));
    TRY(run_sql(at, b, "DROP DATABASE IF EXISTS ", tmp, "", e));
    TRY(run_sql(at, b, "CREATE DATABASE ", tmp, "OWNER falaj_owner TEMPLATE template0 ENCODING 'UTF8'", e));
    TRY(fill(b, a, s, key, tmp, e));
    TRY(run_sql(at, b, "DROP DATABASE IF EXISTS ", b->database, "", e));     /* rebuild_is_empty has seen that it is */
    TRY(run_sql(at, b, "ALTER DATABASE ", tmp, arena_printf(b->arena, "RENAME TO %s", b->database), e));
    TRY(run_sql(at, b, "REVOKE ALL ON DATABASE ", b->database, "FROM PUBLIC", e));
    return run_sql(at, b, arena_printf(b->arena, database_rights, b->database), "", "", e);
}

struct objects {
    struct backup *b;
    struct blob_store *store;
    struct arena *page;
    int64_t step, seen, written, bad;
};

static enum errc copy_in(struct objects *k, const struct set_object *o, int fd, struct err *e)
{
    struct blob_writer *w;
    uint8_t piece[PIECE], sha[SHA256_BYTES];
    uint64_t size;
    ssize_t n;
    enum errc rc = ERR_OK;
    TRY(blob_writer_new(k->store, o->tenant, o->object, &w, e));
    CLEANUP(sha256_release) struct sha256 sum = { 0 };
    sha256_init(&sum);
    while (rc == ERR_OK && (n = read(fd, piece, sizeof piece)) > 0) {
        sha256_add(&sum, piece, (size_t)n);
        rc = blob_write(w, piece, (size_t)n, e);
    }
    sha256_final(&sum, sha);
    if (rc == ERR_OK && (n < 0 || memcmp(sha, o->sum.sha256, sizeof sha) != 0))
        rc = FAIL(e, DAMAGED, "its bytes in the backup are not those that were stored");
    if (rc == ERR_OK)
        return blob_commit(w, &size, NULL, e);
    blob_abort(w);
    return rc;
}

static enum errc write_one(void *ctx, const struct set_object *o, struct err *e)
{
    struct objects *k = ctx;
    struct err why = { 0 };
    char t[UUID_TEXT], id[UUID_TEXT];
    if (o->state != OBJECT_PRESENT || k->seen++ % k->step)
        return ERR_OK;
    arena_reset(k->page);
    CLEANUP(fd_closep) int fd = open(repo_pool_path(k->page, &k->b->repo, o->sum.sha256), O_RDONLY | O_CLOEXEC);
    enum errc rc = fd < 0 ? FAIL(&why, NOT_FOUND, "its bytes are missing from the pool") : copy_in(k, o, fd, &why);
    k->written += rc == ERR_OK;
    if (rc == ERR_OK)
        return rc;
    uuid_text(o->tenant, t);
    uuid_text(o->object, id);
    if (k->bad++ < NAMED)
        report_row(&k->b->report, REPORT_FAIL, "object", "obj_%s of tenant %s: %s %s", id, t, why.msg, why.detail);
    if (rc == ERR_NOT_FOUND || rc == ERR_DAMAGED)
        return k->b->accepts_missing ? ERR_OK :
            FAIL(e, DAMAGED, "the backup is not whole: %s. With --accept-missing the rest is restored", why.msg);
    *e = why;
    return rc;
}

enum errc rebuild_objects(struct backup *b, const struct set *s, const char *dir, int64_t step, int64_t *ret_n, struct err *e)
{
    struct objects k = { .b = b, .page = arena_new(1 << 20), .step = step > 0 ? step : 1 };
    enum errc rc = blob_store_open_local(dir, &k.store, e);
    if (rc == ERR_OK)
        rc = set_objects(b->arena, &b->repo, s, write_one, &k, e);
    blob_store_free(k.store);
    arena_free(k.page);
    if (rc == ERR_OK)
        *ret_n = k.written;
    return rc;
}

static const struct account *giving_to;     /* nftw hands no context on; one thread, set around one call */

static int give_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return lchown(path, giving_to->uid, giving_to->gid);
}

void tree_give(const char *dir, const struct account *owner)
{
    giving_to = owner;
    if (owner->is_set)
        (void)!nftw(dir, give_one, 16, FTW_PHYS);       /* as root it fails only where the files are gone */
}

enum errc rebuild_store(struct backup *b, const struct set *s, const char *dir, const struct account *owner, int64_t *ret_n,
                        struct err *e)
{
    const char *tmp = arena_printf(b->arena, "%s.restoring", dir);
    tree_remove(tmp);
    TRY(rebuild_objects(b, s, tmp, 1, ret_n, e));
    tree_give(tmp, owner);
    (void)!rmdir(arena_printf(b->arena, "%s/tmp", dir));    /* what an empty store has; anything else is seen by rename */
    (void)!rmdir(dir);
    return rename(tmp, dir) < 0 ? err_errno((FAIL(e, IO, "%s cannot be given its name", dir), e), errno) : ERR_OK;
}
