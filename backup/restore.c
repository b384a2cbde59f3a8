/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c - a backup into an empty place, by the steps of rebuild.c, and what that makes of the journal of erasures and of
 * files. */
#include "backup/rebuild.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/check.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/table/config.h"
#include "registry/vault/blob_store.h"
#include "registry/vault/inventory.h"

enum { PAGE_BYTES = 4 << 20, PIECE = 1 << 16, NAMED = 20 };

static enum errc to_fd(void *ctx, const void *p, size_t n, struct err *e)
{
    return write_all(*(int *)ctx, p, n, e);
}

/* Is what stands at `path` the beginning of what stands at `longer`? */
static bool is_beginning(const char *path, const char *longer)
{
    char a[PIECE], b[PIECE];
    CLEANUP(fd_closep) int x = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP(fd_closep) int y = open(longer, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    while (x >= 0 && (n = read(x, a, sizeof a)) > 0)
        if (read(y, b, (size_t)n) != n || memcmp(a, b, (size_t)n) != 0)
            return false;
    return n == 0;
}

/* The newest journal there is in the folder, whichever backup is restored: an older one would forget erasures. */
static enum errc erasures(struct backup *b, const struct recovery *key, const struct account *owner, struct err *e)
{
    const char *dir = b->cfg->audit_erasure_dir;
    struct set last;
    TRY(set_read(b->arena, &b->repo, STR_NULL, key->signer, &last, e));
    const struct set_part *p = set_part_find(&last, "erasures");
    if (!p || !*dir) {
        report_row(&b->report, p ? REPORT_WARN : REPORT_OK, "erasures", p ?
                   "audit.erasure_dir is not set: the journal was not put back" : "nobody was erased");
        return ERR_OK;
    }
    const char *path = arena_printf(b->arena, "%s/falaj-erasures.jsonl", dir), *tmp =
        arena_printf(b->arena, "%s.restoring", path);
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_errno((FAIL(e, IO, "%s cannot be made", dir), e), errno);
    unlink(tmp);
    CLEANUP(fd_closep) int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be made", tmp), e), errno);
    TRY(part_open(arena_printf(b->arena, "%s.fbk", repo_set_path(b->arena, &b->repo, &last, "erasures")), last.id, "erasures",
                  &key->secret,
                  to_fd, &fd, e));
    if (access(path, F_OK) == 0 && !is_beginning(path, tmp)) {
        unlink(tmp);
        report_row(&b->report, REPORT_OK, "erasures", "%s goes further than the backup's: it stays", path);
        return ERR_OK;
    }
    if (fsync(fd) < 0 || rename(tmp, path) < 0)
        return err_errno((FAIL(e, IO, "%s cannot be written", path), e), errno);
    tree_give(dir, owner);
    report_row(&b->report, REPORT_OK, "erasures", "%s, of %.*s; falaj-api erases again whom only it knows", path,
               STR_ARG(last.name));
    return ERR_OK;
}

static enum errc files(struct backup *b, const struct set *s, const struct recovery *key, struct err *e)
{
    struct child child;
    struct err ended;
    if (!set_part_find(s, "files") || !b->files_to) {
        report_row(&b->report, REPORT_OK, "files", set_part_find(s, "files") ?
                   "left in the backup; --files-to DIR unpacks them" : "there are none");
        return ERR_OK;
    }
    if (mkdir(b->files_to, 0700) < 0)
        return errno == EEXIST ?
            FAIL(e, CONFLICT, "%s is there already: settings are unpacked into a new folder, to be compared", b->files_to)
                               : err_errno((FAIL(e, IO, "%s cannot be made", b->files_to), e), errno);
    const char *argv[] = { "tar", "--extract", "--file=-", "--numeric-owner",
                          arena_printf(b->arena, "--directory=%s", b->files_to), NULL };
    TRY(child_start(b->arena, argv, &(struct child_opts){ .has_in = true }, &child, e));
    enum errc rc = part_open(arena_printf(b->arena, "%s.fbk", repo_set_path(b->arena, &b->repo, s, "files")), s->id, "files",
                             &key->secret,
                             to_fd, &child.in, e);
    if (child_wait(&child, &ended) != ERR_OK && (rc == ERR_OK || rc == ERR_IO)) {
        *e = ended;
        return e->code;
    }
    if (rc == ERR_OK)
        report_row(&b->report, REPORT_OK, "files", "in %s", b->files_to);
    return rc;
}

struct agreement {
    struct backup *b;
    struct blob_store *store;
    struct db_session *session;
    struct arena *page;
    int64_t rows, missing, blobs, orphans;
    struct err *e;
    enum errc rc;
};

static enum errc rows_have_blobs(struct agreement *g, struct err *e)
{
    struct uuid tenant = UUID_NIL, object = UUID_NIL;
    char t[UUID_TEXT], id[UUID_TEXT];
    for (size_t n = INVENTORY_PAGE; n == INVENTORY_PAGE;) {
        struct inventory_object *list;
        arena_reset(g->page);
        TRY(inventory_page(g->session, g->page, tenant, object, &list, &n, e));
        for (size_t i = 0; i < n; i++) {
            struct blob_reader *r = NULL;
            uint64_t size = 0;
            struct err why;
            tenant = list[i].tenant;
            object = list[i].object;
            g->rows++;
            if (blob_reader_open(g->store, tenant, object, &r, &size, &why) == ERR_OK && size == list[i].stored_bytes) {
                blob_reader_close(r);
                continue;
            }
            blob_reader_close(r);
            uuid_text(tenant, t);
            uuid_text(object, id);
            if (g->missing++ < NAMED)
                report_row(&g->b->report, REPORT_WARN, "missing", "obj_%s of tenant %s has a row and no bytes", id, t);
        }
    }
    return ERR_OK;
}

static bool blob_has_row(void *ctx, struct uuid tenant, struct uuid object)
{
    struct agreement *g = ctx;
    bool is_there = false;
    char t[UUID_TEXT], id[UUID_TEXT];
    arena_reset(g->page);
    g->blobs++;
    g->rc = inventory_has(g->session, g->page, tenant, object, &is_there, g->e);
    uuid_text(tenant, t);
    uuid_text(object, id);
    if (g->rc == ERR_OK && !is_there && g->orphans++ < NAMED)
        report_row(&g->b->report, REPORT_WARN, "orphan", "obj_%s of tenant %s has bytes and no row; falaj-api sweeps it", id, t);
    return g->rc == ERR_OK;
}

/* Do database and folder agree? Asked of what was restored, not of what the backup says. */
static enum errc agree(struct agreement *g, const struct account *a, struct err *e)
{
    TRY(admin_session(g->b, a, g->b->database, &g->session, e));
    TRY(blob_store_open_local(g->b->cfg->blob_dir, &g->store, e));
    TRY(rows_have_blobs(g, e));
    TRY(blob_each(g->store, 0, blob_has_row, g, e));
    return g->rc;
}

static enum errc agreement(struct backup *b, const struct account *a, const struct account *owner, struct err *e)
{
    struct agreement g = { .b = b, .page = arena_new(PAGE_BYTES), .e = e };
    enum errc rc = agree(&g, a, e);
    tree_give(b->cfg->blob_dir, owner);
    db_session_free(g.session);
    blob_store_free(g.store);
    arena_free(g.page);
    if (rc == ERR_OK)
        report_row(&b->report, g.missing ? REPORT_FAIL : REPORT_OK, "agreement",
                   "%lld objects in the database, %lld in the folder: %lld missing, "
                   "%lld orphans", (long long)g.rows, (long long)g.blobs, (long long)g.missing, (long long)g.orphans);
    return rc;
}

enum errc backup_restore(struct backup *b, struct err *e)
{
    struct recovery key CLEANUP(recovery_wipe) = { 0 };
    struct account admin = { 0 }, owner = { 0 };
    struct set s;
    int64_t n, start = clock_mono_us(&clock_system);
    if (!b->recovery_file)
        return FAIL(e, INVALID, "--recovery-key FILE is needed: nobody reads a backup without it");
    if (!*b->cfg->blob_dir)
        return FAIL(e, INVALID, "blob.dir is not set: where the sealed objects shall lie");
    TRY(recovery_read(b->recovery_file, &key, e));
    TRY(set_read(b->arena, &b->repo, b->set, key.signer, &s, e));
    TRY(check_files(b, &s, &key, e));
    /* who it asks for */
    TRY(account_find(strstr(b->admin, "host=/") && !strstr(b->admin, "password=") ? "postgres" : "", &admin, e));
    TRY(account_find(b->account, &owner, e));
    TRY(rebuild_is_empty(b, &admin, b->cfg->blob_dir, e));
    report_row(&b->report, REPORT_OK, "from", "%.*s", STR_ARG(s.name));
    TRY(rebuild_store(b, &s, b->cfg->blob_dir, &owner, &n, e));
    report_row(&b->report, REPORT_OK, "objects", "%lld in %s", (long long)n, b->cfg->blob_dir);
    TRY(erasures(b, &key, &owner, e));
    TRY(files(b, &s, &key, e));
    TRY(rebuild_database(b, &admin, &s, &key, e));
    report_row(&b->report, REPORT_OK, "database", "%s, of %.1f h ago", b->database,
               (double)(clock_wall_us(&clock_system) - s.snapshot_us) / 3.6e9);
    TRY(agreement(b, &admin, &owner, e));
    for (size_t i = 0; i < s.nzones; i++)
        report_row(&b->report, REPORT_OK, "root key", "zone %.*s needs version %lld of its root key (%.*s)%s",
                   STR_ARG(s.zones[i].zone),
                   (long long)s.zones[i].root_version, STR_ARG(s.zones[i].provider),
                   str_eq_c(s.zones[i].provider, "pkcs11") ? ": restore the token by its maker's own steps" : "");
    report_row(&b->report, REPORT_OK, "next",
               "set the roles' passwords, start falaj-keyd, falaj-scheduler, falaj-api, then falaj doctor; took %.1f s",
               (double)(clock_mono_us(&clock_system) - start) / 1e6);
    return ERR_OK;
}
