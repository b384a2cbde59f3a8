/* SPDX-License-Identifier: Apache-2.0 */
/* blob_local.c - sealed objects in a local directory: <dir>/<tt>/<tenant hex>/<oo>/<object hex>, files 0600, folders 0700.
 *
 * tt and oo are the last two digits of the ids: the first ones of a UUIDv7 are its time and would put everything into one folder.
 * A writer fills <dir>/tmp/<object hex>.<random>; commit fsyncs it, links it to its name (link(2) refuses to replace, where
 * rename(2)
 * would not), fsyncs the folder and removes the temporary name. A crash between leaves a second name, which the sweep removes. */
#include "registry/vault/blob_local_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/rand.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_EVERY = 64 << 20 /* a large blob's commit must not wait for all of it at once */ };

struct local_writer {
    struct blob_writer face;
    struct local_store *store;
    struct uuid tenant, object;
    char tmp[BLOB_PATH];
    int fd;
    uint64_t synced;
};

struct local_reader {
    struct blob_reader face;
    int fd;
};

/* The path up to depth 1 (tt), 2 (tenant), 3 (oo) or 4 (the file). */
static void path_of(const struct local_store *s, struct uuid tenant, struct uuid object, int depth, char out[BLOB_PATH])
{
    char t[UUID_HEX], o[UUID_HEX];
    hex_encode(tenant.b, 16, t);
    hex_encode(object.b, 16, o);
    if (depth == 1)
        snprintf(out, BLOB_PATH, "%s/%s", s->dir, t + 30);
    else if (depth == 2)
        snprintf(out, BLOB_PATH, "%s/%s/%s", s->dir, t + 30, t);
    else if (depth == 3)
        snprintf(out, BLOB_PATH, "%s/%s/%s/%s", s->dir, t + 30, t, o + 30);
    else
        snprintf(out, BLOB_PATH, "%s/%s/%s/%s/%s", s->dir, t + 30, t, o + 30, o);
}

enum errc blob_io_error(struct err *e, const char *what, const char *path)
{
    int num = errno;
    if (num == ENOSPC || num == EDQUOT)
        FAIL(e, LIMIT, "The blob store is full");
    else
        FAIL(e, IO, "The blob store failed");
    err_note(e, "%s %s", what, path);
    return err_errno(e, num);
}

static enum errc sync_dir(const char *path, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? blob_io_error(e, "sync", path) : ERR_OK;
}

static enum errc make_dir(const char *path, bool *ret_made, struct err *e)
{
    *ret_made = mkdir(path, 0700) == 0;
    return *ret_made || errno == EEXIST ? ERR_OK : blob_io_error(e, "mkdir", path);
}

static enum errc local_writer_new(struct blob_store *face, struct uuid tenant, struct uuid object, struct blob_writer **ret,
                                  struct err *e)
{
    struct local_store *s = local_of(face);
    uint8_t random[8];
    char o[UUID_HEX], r[17];
    struct local_writer *w = calloc(1, sizeof *w);
    ASSERT(w);
    w->face.ops = face->ops;
    hex_encode(object.b, 16, o);
    if (rand_bytes(random, sizeof random, e) != ERR_OK) {
        free(w);
        return e->code;
    }
    hex_encode(random, sizeof random, r);
    w->store = s;
    w->tenant = tenant;
    w->object = object;
    snprintf(w->tmp, sizeof w->tmp, "%s/tmp/%s.%s", s->dir, o, r);
    w->fd = open(w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (w->fd < 0) {
        blob_io_error(e, "create", w->tmp);
        free(w);
        return e->code;
    }
    *ret = &w->face;
    return ERR_OK;
}

static enum errc local_write(struct blob_writer *face, const void *p, size_t n, struct err *e)
{
    struct local_writer *w = (struct local_writer *)face;
    const char *at = p;
    while (n > 0) {
        ssize_t k = write(w->fd, at, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return blob_io_error(e, "write", w->tmp);
        at += k;
        n -= (size_t)k;
    }
    if (face->size - w->synced < SYNC_EVERY)
        return ERR_OK;
    w->synced = face->size;
    return fdatasync(w->fd) < 0 ? blob_io_error(e, "sync", w->tmp) : ERR_OK;
}

static void local_abort(struct blob_writer *face)
{
    struct local_writer *w = (struct local_writer *)face;
    if (w->fd >= 0)
        close(w->fd);
    unlink(w->tmp);
    free(w);
}

static enum errc make_parents(const struct local_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    char path[BLOB_PATH], above[BLOB_PATH];
    bool made;
    snprintf(above, sizeof above, "%s", s->dir);
    for (int depth = 1; depth <= 3; depth++) {
        path_of(s, tenant, object, depth, path);
        TRY(make_dir(path, &made, e));
        if (made)
            TRY(sync_dir(above, e));
        memcpy(above, path, sizeof above);
    }
    return ERR_OK;
}

enum errc blob_local_link(const struct local_store *s, const char *tmp, struct uuid tenant, struct uuid object, struct err *e)
{
    char path[BLOB_PATH];
    TRY(make_parents(s, tenant, object, e));
    path_of(s, tenant, object, 4, path);
    if (link(tmp, path) < 0)
        return errno == EEXIST ? FAIL(e, EXISTS, "The object is stored already") : blob_io_error(e, "link", path);
    path_of(s, tenant, object, 3, path);
    return sync_dir(path, e);
}

static enum errc local_commit(struct blob_writer *face, struct err *e)
{
    struct local_writer *w = (struct local_writer *)face;
    if (fsync(w->fd) < 0)
        return blob_io_error(e, "sync", w->tmp);
    if (close(TAKE_FD(w->fd)) < 0)
        return blob_io_error(e, "close", w->tmp);
    return blob_local_link(w->store, w->tmp, w->tenant, w->object, e);
}

static enum errc local_reader_open(struct blob_store *s, struct uuid tenant, struct uuid object, struct blob_reader **ret,
                                   uint64_t *ret_size, struct err *e)
{
    char path[BLOB_PATH];
    struct stat st;
    path_of(local_of(s), tenant, object, 4, path);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? FAIL(e, NOT_FOUND, "There is no such blob") : blob_io_error(e, "open", path);
    if (fstat(fd, &st) < 0)
        return blob_io_error(e, "stat", path);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    struct local_reader *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->face.ops = s->ops;
    r->fd = TAKE_FD(fd);
    *ret = &r->face;
    *ret_size = (uint64_t)st.st_size;
    return ERR_OK;
}

static ssize_t local_read(struct blob_reader *face, void *p, size_t n)
{
    struct local_reader *r = (struct local_reader *)face;
    for (;;) {
        ssize_t k = read(r->fd, p, n);
        if (k >= 0 || errno != EINTR)
            return k < 0 ? -1 : k;
    }
}

static enum errc local_seek(struct blob_reader *face, uint64_t offset, struct err *e)
{
    return lseek(((struct local_reader *)face)->fd, (off_t)offset, SEEK_SET) < 0 ? blob_io_error(e, "seek", "a blob") : ERR_OK;
}

static void local_reader_close(struct blob_reader *face)
{
    struct local_reader *r = (struct local_reader *)face;
    close(r->fd);
    free(r);
}

static enum errc local_delete(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    char path[BLOB_PATH];
    path_of(local_of(s), tenant, object, 4, path);
    if (unlink(path) == 0)
        return ERR_OK;
    return errno == ENOENT ? FAIL(e, NOT_FOUND, "There is no such blob") : blob_io_error(e, "unlink", path);
}

static int local_sweep(struct blob_store *s, int64_t age_s)
{
    char path[BLOB_PATH];
    int n = 0;
    snprintf(path, sizeof path, "%s/tmp", local_of(s)->dir);
    DIR *d = opendir(path);
    if (!d)
        return 0;
    int64_t before = (int64_t)time(NULL) - age_s;
    for (struct dirent *f; (f = readdir(d));) {
        struct stat st;
        if (fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_mtime <= before &&
            unlinkat(dirfd(d), f->d_name, 0) == 0)
            n++;
    }
    closedir(d);
    return n;
}

struct walk {
    int64_t before_s;
    blob_seen fn;
    void *ctx;
    struct uuid tenant;
    bool stopped;
};

/* Depth 0: tt, 1: tenant, 2: oo, 3: files. Names that are not of their depth (tmp) are passed over. */
static void walk_dir(struct walk *k, int dir_fd, int depth)
{
    DIR *d = fdopendir(dir_fd);
    if (!d) {
        close(dir_fd);
        return;
    }
    for (struct dirent *f; !k->stopped && (f = readdir(d));) {
        struct uuid id;
        struct stat st;
        bool is_id = strlen(f->d_name) == 32 && uuid_parse(str_c(f->d_name), &id);
        bool is_pair = strlen(f->d_name) == 2 && strspn(f->d_name, "0123456789abcdef") == 2;
        if (depth % 2 ? !is_id : !is_pair)
            continue;
        if (depth == 3) {
            if (fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_mtime <= k->before_s)
                k->stopped = !k->fn(k->ctx, k->tenant, id);
            continue;
        }
        if (depth == 1)
            k->tenant = id;
        int below = openat(dirfd(d), f->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            walk_dir(k, below, depth + 1);
    }
    closedir(d);
}

static enum errc local_each(struct blob_store *s, int64_t age_s, blob_seen fn, void *ctx, struct err *e)
{
    const char *dir = local_of(s)->dir;
    struct walk k = { (int64_t)time(NULL) - age_s, fn, ctx, UUID_NIL, false };
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return blob_io_error(e, "open", dir);
    walk_dir(&k, fd, 0);
    return ERR_OK;
}

static void local_free(struct blob_store *s)
{
    free(s);
}

static const struct blob_ops local_ops = {
    .free = local_free, .writer_new = local_writer_new, .write = local_write, .commit = local_commit, .abort = local_abort,
    .reader_open = local_reader_open, .read = local_read, .seek = local_seek, .reader_close = local_reader_close,
    .stage_put = blob_local_stage_put, .stage_hash = blob_local_stage_hash, .stage_commit = blob_local_stage_commit,
    .remove = local_delete, .sweep = local_sweep, .each = local_each,
};

enum errc blob_store_open_local(const char *dir, struct blob_store **ret, struct err *e)
{
    char tmp[BLOB_PATH];
    bool made;
    if (!*dir || strlen(dir) >= BLOB_DIR)
        return FAIL(e, INVALID, "blob.dir names no directory");
    TRY(make_dir(dir, &made, e));
    snprintf(tmp, sizeof tmp, "%s/tmp", dir);
    TRY(make_dir(tmp, &made, e));
    TRY(sync_dir(dir, e));
    struct local_store *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->face.ops = &local_ops;
    snprintf(s->dir, sizeof s->dir, "%s", dir);
    *ret = &s->face;
    return ERR_OK;
}
