/* SPDX-License-Identifier: Apache-2.0 */
/* create_objects.c - the objects of a backup: each once into the pool, and the set's list of them.
 *
 * Objects are written once and their rows have the digest of the stored bytes, so the pool needs each once, ever, and copying
 * checks it. They are copied twice: before the snapshot, which takes long and holds nothing up, and after it, what came in
 * between. An object that is deleted after the snapshot and before its copy is `gone`: its row is in the backup and its bytes are
 * not, as in the original a moment later. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/create_int.h"
#include "core/base/cleanup.h"
#include "registry/vault/inventory.h"

enum { PIECE = 1 << 16, NAMED = 20 };

/* Into a temporary name of the pool, checked, synced. */
static enum errc copy_bytes(struct blob_reader *from, const char *tmp, const struct inventory_object *o, struct err *e)
{
    CLEANUP(sha256_release) struct sha256 sum = { 0 };
    uint8_t piece[PIECE], is[SHA256_BYTES];
    ssize_t n;
    CLEANUP(fd_closep) int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be made", tmp), e), errno);
    sha256_init(&sum);
    while ((n = blob_read(from, piece, sizeof piece)) > 0) {
        sha256_add(&sum, piece, (size_t)n);
        TRY(write_all(fd, piece, (size_t)n, e));
    }
    if (n < 0)
        return FAIL(e, DAMAGED, "its bytes cannot be read");
    sha256_final(&sum, is);
    if (memcmp(is, o->stored_sha256, sizeof is) != 0)
        return FAIL(e, DAMAGED, "its bytes are not those that were stored");
    return fsync(fd) < 0 ? err_errno((FAIL(e, IO, "%s cannot be synced", tmp), e), errno) : ERR_OK;
}

static enum errc pool_add(struct create *c, const struct inventory_object *o, const char *path, struct err *e)
{
    struct blob_reader *from = NULL;
    uint64_t size;
    const char *dir = arena_strndup(c->page, path, (size_t)(strrchr(path, '/') - path)), *tmp =
        arena_printf(c->page, "%s.tmp", path);
    TRY(blob_reader_open(c->store, o->tenant, o->object, &from, &size, e));
    if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
        blob_reader_close(from);
        return err_errno((FAIL(e, IO, "%s cannot be made", dir), e), errno);
    }
    enum errc rc = copy_bytes(from, tmp, o, e);
    blob_reader_close(from);
    if (rc == ERR_OK && rename(tmp, path) < 0)
        rc = err_errno((FAIL(e, IO, "%s cannot be given its name", path), e), errno);
    if (rc != ERR_OK) {
        unlink(tmp);
        return rc;
    }
    c->copied += (int64_t)size;
    return dir_sync(dir, e);
}

/* NOT_FOUND and DAMAGED are about this object; all else ends the backup. */
static enum errc pool_have(struct create *c, const struct inventory_object *o, struct err *e)
{
    struct stat st;
    const char *path = repo_pool_path(c->page, &c->b->repo, o->stored_sha256);
    if (stat(path, &st) == 0 && (uint64_t)st.st_size == o->stored_bytes)
        return ERR_OK;
    return pool_add(c, o, path, e);
}

static enum errc each_object(struct create *c, enum errc (*fn)(struct create *c, const struct inventory_object *o, struct err *e),
                             struct err *e)
{
    struct uuid tenant = UUID_NIL, object = UUID_NIL;
    for (size_t n = INVENTORY_PAGE; n == INVENTORY_PAGE;) {
        struct inventory_object *list;
        arena_reset(c->page);
        TRY(inventory_page(c->session, c->page, tenant, object, &list, &n, e));
        for (size_t i = 0; i < n; i++) {
            tenant = list[i].tenant;
            object = list[i].object;
            TRY(fn(c, &list[i], e));
        }
    }
    return ERR_OK;
}

static enum errc copy_ahead(struct create *c, const struct inventory_object *o, struct err *e)
{
    enum errc rc = pool_have(c, o, e);
    return rc == ERR_NOT_FOUND || rc == ERR_DAMAGED ? ERR_OK : rc;     /* the pass in the snapshot judges */
}

enum errc create_copy_ahead(struct create *c, struct err *e)
{
    return each_object(c, copy_ahead, e);
}

static enum errc list_one(struct create *c, const struct inventory_object *o, struct err *e)
{
    char t[UUID_TEXT], id[UUID_TEXT], hex[2 * SHA256_BYTES + 1];
    struct err why = { 0 };
    enum errc rc = pool_have(c, o, &why);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND && rc != ERR_DAMAGED) {
        *e = why;
        return rc;
    }
    uuid_text(o->tenant, t);
    uuid_text(o->object, id);
    hex_encode(o->stored_sha256, SHA256_BYTES, hex);
    c->set.objects++;
    c->set.object_bytes += (int64_t)o->stored_bytes;
    c->set.missing += rc != ERR_OK;
    if (rc != ERR_OK && c->set.missing <= NAMED)
        report_row(&c->b->report, REPORT_WARN, "object", "obj_%s of tenant %s: %s", id, t, why.msg);
    if (fprintf(c->list, "%s %s %llu %s %s\n", t, id, (unsigned long long)o->stored_bytes, hex,
                set_object_states[rc == ERR_OK ? OBJECT_PRESENT : OBJECT_MISSING]) < 0)
        return FAIL(e, IO, "the list of objects cannot be written");
    return ERR_OK;
}

/* What has no bytes and, by now, no row either was deleted while we worked: nothing is wrong with it. */
static enum errc judge_one(void *ctx, const struct set_object *o, struct err *e)
{
    struct create *c = ctx;
    char t[UUID_TEXT], id[UUID_TEXT], hex[2 * SHA256_BYTES + 1];
    enum set_object_state state = o->state;
    if (state == OBJECT_MISSING) {
        bool is_there;
        arena_reset(c->page);
        TRY(inventory_has(c->session, c->page, o->tenant, o->object, &is_there, e));
        state = is_there ? OBJECT_MISSING : OBJECT_GONE;
        c->set.missing -= !is_there;
        c->set.gone += !is_there;
    }
    uuid_text(o->tenant, t);
    uuid_text(o->object, id);
    hex_encode(o->sum.sha256, SHA256_BYTES, hex);
    return fprintf(c->list, "%s %s %llu %s %s\n", t, id, (unsigned long long)o->sum.bytes, hex, set_object_states[state]) < 0
               ? FAIL(e, IO, "the list of objects cannot be written") : ERR_OK;
}

static enum errc list_open(struct create *c, const char *path, struct err *e)
{
    c->list = fopen(path, "wxe");
    return c->list ? ERR_OK : err_errno((FAIL(e, IO, "%s cannot be made", path), e), errno);
}

static enum errc list_close(struct create *c, struct err *e)
{
    bool is_good = fflush(c->list) == 0 && fsync(fileno(c->list)) == 0;
    fclose(c->list);
    c->list = NULL;
    return is_good ? ERR_OK : err_errno((FAIL(e, IO, "the list of objects cannot be synced"), e), errno);
}

enum errc create_list_objects(struct create *c, struct err *e)
{
    TRY(list_open(c, repo_set_path(c->b->arena, &c->b->repo, &c->set, "objects"), e));
    TRY(each_object(c, list_one, e));
    return list_close(c, e);
}

enum errc create_judge_missing(struct create *c, struct err *e)
{
    struct arena *a = c->b->arena;
    const char *path = repo_set_path(a, &c->b->repo, &c->set, "objects"), *next = arena_printf(a, "%s.next", path);
    if (c->set.missing) {
        TRY(list_open(c, next, e));
        TRY(set_objects(a, &c->b->repo, &c->set, judge_one, c, e));
        TRY(list_close(c, e));
        if (rename(next, path) < 0)
            return err_errno((FAIL(e, IO, "%s cannot be given its name", path), e), errno);
    }
    return part_sum_of(path, &c->set.list, e);
}
