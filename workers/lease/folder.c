/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - one walk for looking and packing; openat2 keeps every step below the folder (RESOLVE_BENEATH, no links). */
#include "workers/lease/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/wire/type_run.h"

static const char MAGIC[] = "FJFOLDR1";
enum { MAGIC_BYTES = 8, HEAD_BYTES = MAGIC_BYTES + 8, ENTRY_BYTES = 16 };

struct walk {
    struct buf *out;                    /* NULL: look only */
    struct folder_about about;
    char path[RUN_PATH_MAX + 1];
    size_t len;
    int depth;
};

static int open_beneath(int dir, const char *path, int flags)
{
    struct open_how how = { .flags = (__u64)(flags | O_CLOEXEC), .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
        RESOLVE_NO_MAGICLINKS };
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

enum errc folder_open(int dir, struct str path, int *ret_fd, int64_t *ret_size, struct err *e)
{
    char name[RUN_PATH_MAX + 1];
    struct stat st;
    snprintf(name, sizeof name, "%.*s", STR_ARG(path));
    int fd = open_beneath(dir, name, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? FAIL(e, NOT_FOUND, "there is no file %s", name)
                               : FAIL(e, UNPROCESSABLE, "%s is no plain file: %s", name, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return FAIL(e, UNPROCESSABLE, "%s is no plain file", name);
    }
    *ret_fd = fd;
    *ret_size = st.st_size;
    return ERR_OK;
}

static void mark(struct walk *w, const void *p, size_t n)
{
    w->about.mark = w->about.mark * 31 + str_hash(str_n(p, n));
}

static bool add_entry(struct buf *out, struct str path, const struct stat *st)
{
    uint32_t head[2] = { (uint32_t)path.len, st->st_mode & S_IXUSR ? 0755 : 0644 };
    int64_t size = st->st_size;
    return buf_add(out, head, sizeof head) && buf_add(out, &size, sizeof size) && buf_add_str(out, path);
}

/* A file that grows meanwhile is cut, one that shrinks fails: in both cases the mark has changed. */
static enum errc add_bytes(struct buf *out, int fd, int64_t size, struct err *e)
{
    if (!buf_reserve(out, (size_t)size))
        return FAIL(e, LIMIT, "the folder is too large to be kept");
    for (int64_t left = size; left > 0;) {
        ssize_t n = read(fd, out->ptr + out->len, (size_t)left);
        if (n <= 0)
            return FAIL(e, CONFLICT, "a file changed while it was read");
        out->len += (size_t)n;
        left -= n;
    }
    return ERR_OK;
}

static enum errc take_file(struct walk *w, int fd, const struct stat *st, struct err *e)
{
    const struct str path = str_n(w->path, w->len);
    if (++w->about.files > FOLDER_FILES_MAX)
        return FAIL(e, LIMIT, "the folder has more than %d files", FOLDER_FILES_MAX);
    mark(w, path.ptr, path.len);
    mark(w, &st->st_size, sizeof st->st_size);
    mark(w, &st->st_mtim, sizeof st->st_mtim);
    mark(w, &st->st_ino, sizeof st->st_ino);
    if (!w->out)
        return ERR_OK;
    if (!add_entry(w->out, path, st))
        return FAIL(e, LIMIT, "the folder is too large to be kept");
    return add_bytes(w->out, fd, st->st_size, e);
}

static enum errc walk_in(struct walk *w, int fd, struct err *e);

static enum errc take_entry(struct walk *w, int dir, const char *name, struct err *e)
{
    struct stat st;
    size_t before = w->len, n = strlen(name);
    CLEANUP(fd_closep) int fd = open_beneath(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    bool fits = before + n + 1 <= RUN_PATH_MAX && !str_ends(str_c(name), ".tmp");
    if (fd < 0 || fstat(fd, &st) != 0 || !fits || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
        w->about.left_out++;
        return ERR_OK;
    }
    w->len += (size_t)snprintf(w->path + before, sizeof w->path - before, "%s%s", before ? "/" : "", name);
    if (!run_path_is_good(str_n(w->path, w->len)))
        w->about.left_out++;
    else
        TRY(S_ISDIR(st.st_mode) ? walk_in(w, fd, e) : take_file(w, fd, &st, e));
    w->len = before;
    return ERR_OK;
}

static enum errc walk_in(struct walk *w, int fd, struct err *e)
{
    if (w->depth == FOLDER_DEPTH_MAX)
        return FAIL(e, LIMIT, "the folder is deeper than %d", FOLDER_DEPTH_MAX);
    DIR *d = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    enum errc rc = d ? ERR_OK : FAIL(e, IO, "a folder cannot be read");
    w->depth++;
    for (struct dirent *entry; rc == ERR_OK && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = take_entry(w, fd, entry->d_name, e);
    w->depth--;
    if (d)
        closedir(d);
    return rc;
}

enum errc folder_look(int dir, struct folder_about *ret, struct err *e)
{
    struct walk w = { 0 };
    TRY(walk_in(&w, dir, e));
    *ret = w.about;
    return ERR_OK;
}

enum errc folder_pack(int dir, int64_t step, struct buf *out, struct err *e)
{
    struct walk w = { .out = out };
    const uint32_t end = 0;
    buf_add(out, MAGIC, MAGIC_BYTES);
    buf_add(out, &step, sizeof step);
    TRY(walk_in(&w, dir, e));
    return buf_add(out, &end, sizeof end) ? ERR_OK : FAIL(e, LIMIT, "the folder is too large to be kept");
}

void folder_empty(int dir)
{
    DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || unlinkat(dir, entry->d_name, 0) == 0)
            continue;
        CLEANUP(fd_closep) int inner = open_beneath(dir, entry->d_name, O_RDONLY | O_DIRECTORY);
        if (inner >= 0)
            folder_empty(inner);
        (void)unlinkat(dir, entry->d_name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
}

/* The folders on the way to a path, made as they are needed. */
static enum errc make_way(int dir, char *path, struct err *e)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = mkdirat(dir, path, 0755) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return FAIL(e, DAMAGED, "a folder of the checkpoint cannot be made");
    }
    return ERR_OK;
}

static enum errc write_one(int dir, char *path, mode_t mode, struct str bytes, struct err *e)
{
    TRY(make_way(dir, path, e));
    struct open_how how = { .flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, .mode = mode,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
    CLEANUP(fd_closep) int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd < 0)
        return FAIL(e, DAMAGED, "a file of the checkpoint cannot be made: %s", strerror(errno));
    for (size_t at = 0; at < bytes.len;) {
        ssize_t n = write(fd, bytes.ptr + at, bytes.len - at);
        if (n <= 0)
            return FAIL(e, LIMIT, "the checkpoint does not fit into the lease's scratch");
        at += (size_t)n;
    }
    return ERR_OK;
}

static bool take(struct str *rest, void *to, size_t n)
{
    if (rest->len < n)
        return false;
    memcpy(to, rest->ptr, n);
    *rest = str_n(rest->ptr + n, rest->len - n);
    return true;
}

enum errc folder_unpack(int dir, struct str bytes, int64_t *ret_step, struct err *e)
{
    char magic[MAGIC_BYTES], path[RUN_PATH_MAX + 1];
    uint32_t head[2];
    int64_t size;
    if (!take(&bytes, magic, sizeof magic) || memcmp(magic, MAGIC, sizeof magic) != 0 || !take(&bytes, ret_step,
        sizeof *ret_step) ||
        *ret_step < 0)
        return FAIL(e, DAMAGED, "this is no kept folder");
    for (int files = 0; take(&bytes, head, sizeof head[0]); files++) {
        if (head[0] == 0)
            return bytes.len ? FAIL(e, DAMAGED, "there are bytes behind the kept folder's end") : ERR_OK;
        if (files == FOLDER_FILES_MAX || head[0] > RUN_PATH_MAX || !take(&bytes, &head[1], sizeof head[1]) ||
            !take(&bytes, &size, sizeof size) || !take(&bytes, path, head[0]) || size < 0 || (uint64_t)size > bytes.len)
            break;
        path[head[0]] = '\0';
        if (!run_path_is_good(str_n(path, head[0])))
            return FAIL(e, DAMAGED, "a path of the kept folder leads out of it");
        TRY(write_one(dir, path, head[1] & S_IXUSR ? 0755 : 0644, str_n(bytes.ptr, (size_t)size), e));
        bytes = str_n(bytes.ptr + size, bytes.len - (size_t)size);
    }
    return FAIL(e, DAMAGED, "the kept folder is cut");
}
