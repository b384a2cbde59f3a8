/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt.c - atomic directories by rename(2), found again by name. */
#include "workers/compute/train/ckpt.h"
#include "core/base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)4 << 30)
enum { STATE_BYTES_MAX = 65536, FOUND_MAX = 64, KEEP = 2, NAME_BYTES = 40 };

static enum errc io_fail(struct err *e, const char *what, const char *name)
{
    int errnum = errno;
    (void)FAIL(e, IO, "the checkpoint cannot be %s", what);
    (void)err_note(e, "%s", name);
    return err_errno(e, errnum), ERR_IO;
}

static void closedirp(DIR **d)
{
    if (*d)
        closedir(*d);
}

static enum errc plain_write(void *ctx, int fd, struct str bytes, struct err *e)
{
    (void)ctx;
    for (size_t at = 0; at < bytes.len;) {
        ssize_t n = write(fd, bytes.ptr + at, bytes.len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_fail(e, "written", "");
        at += (size_t)n;
    }
    return ERR_OK;
}

static enum errc plain_read(void *ctx, int fd, size_t max, struct arena *a, struct str *ret, struct err *e)
{
    (void)ctx;
    struct stat st;
    if (fstat(fd, &st))
        return io_fail(e, "read", "");
    if (st.st_size < 0 || (uint64_t)st.st_size > max)
        return FAIL(e, LIMIT, "a file of the checkpoint is too large");
    size_t size = (size_t)st.st_size, at = 0;
    char *p = arena_try(a, size + 1);
    if (!p)
        return FAIL(e, LIMIT, "the checkpoint does not fit in the memory of this job");
    while (at < size) {
        ssize_t n = read(fd, p + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return io_fail(e, "read", "");
        at += (size_t)n;
    }
    *ret = str_n(p, size);
    return ERR_OK;
}

static const struct ckpt_vault plain = { NULL, plain_write, plain_read };

static enum errc write_file(const struct ckpt_vault *v, int dir, const char *name, struct str bytes, struct err *e)
{
    CLEANUP(fd_closep) int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return io_fail(e, "written", name);
    TRY(v->write(v->ctx, fd, bytes, e));
    return fsync(fd) ? io_fail(e, "written", name) : ERR_OK;
}

static enum errc read_file(const struct ckpt_vault *v, struct arena *a, int dir, const char *name, struct str *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return io_fail(e, "read", name);
    return v->read(v->ctx, fd, FILE_BYTES_MAX, a, ret, e);
}

/* Removes one checkpoint directory; it holds plain files only. Failures leave rubbish, never harm. */
static void remove_dir(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    CLEANUP(closedirp) DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.')
            unlinkat(fd, entry->d_name, 0);
    unlinkat(parent, name, AT_REMOVEDIR);
}

static int descending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a > b ? -1 : a < b;
}

/* Steps of the finished checkpoints, newest first; removes what was left half done if `clean`. */
static size_t list_steps(int parent, bool clean, int64_t steps[FOUND_MAX])
{
    size_t n = 0;
    int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(closedirp) DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        struct str name = str_c(entry->d_name);
        int64_t step;
        if (!str_starts(name, "ckpt-"))
            continue;
        if (str_ends(name, ".tmp") && clean)
            remove_dir(parent, entry->d_name);
        else if (n < FOUND_MAX && str_to_i64(str_n(name.ptr + 5, name.len - 5), 0, INT64_MAX, &step))
            steps[n++] = step;
    }
    qsort(steps, n, sizeof *steps, descending);
    return n;
}

static void dir_name(char out[NAME_BYTES], int64_t step, const char *suffix)
{
    snprintf(out, NAME_BYTES, "ckpt-%012lld%s", (long long)step, suffix);
}

static enum errc open_dir(const char *path, int *ret, struct err *e)
{
    *ret = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret < 0 ? io_fail(e, "reached", path) : ERR_OK;
}

static enum errc write_state(const struct ckpt_vault *v, int dir, const struct ckpt_file *files, size_t file_count, const struct st_pair *state,
                             size_t state_count, struct err *e)
{
    char text[CKPT_FILES_MAX][40];
    struct st_pair all[CKPT_STATE_MAX + CKPT_FILES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < state_count && n < CKPT_STATE_MAX; i++)
        all[n++] = state[i];
    for (size_t i = 0; i < file_count; i++) {
        snprintf(text[i], sizeof text[i], "%zu:%016llx", files[i].bytes.len, (unsigned long long)str_hash(files[i].bytes));
        all[n++] = (struct st_pair){ str_c(files[i].name), str_c(text[i]) };
    }
    CLEANUP(buf_releasep) struct buf json = BUF(STATE_BYTES_MAX);
    if (!st_write_pairs(&json, all, n))
        return FAIL(e, LIMIT, "the checkpoint's state is too long");
    return write_file(v, dir, "state.json", buf_str(&json), e);
}

enum errc ckpt_save(const struct ckpt_vault *vault, const char *dir, int64_t step, const struct ckpt_file *files, size_t file_count, const struct st_pair *state,
                    size_t state_count, struct err *e)
{
    char tmp[NAME_BYTES], done[NAME_BYTES];
    int64_t steps[FOUND_MAX];
    CLEANUP(fd_closep) int parent = -1;
    CLEANUP(fd_closep) int fd = -1;
    const struct ckpt_vault *v = vault ? vault : &plain;
    TRY(open_dir(dir, &parent, e));
    dir_name(tmp, step, ".tmp");
    dir_name(done, step, "");
    remove_dir(parent, tmp);
    if (mkdirat(parent, tmp, 0700) || (fd = openat(parent, tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return io_fail(e, "written", tmp);
    for (size_t i = 0; i < file_count; i++)
        TRY(write_file(v, fd, files[i].name, files[i].bytes, e));
    TRY(write_state(v, fd, files, file_count, state, state_count, e));
    if (fsync(fd))
        return io_fail(e, "written", tmp);
    remove_dir(parent, done);       /* the same step again, from a run that was resumed */
    if (renameat(parent, tmp, parent, done) || fsync(parent))
        return io_fail(e, "written", done);
    size_t n = list_steps(parent, true, steps);
    for (size_t i = KEEP; i < n; i++) {
        dir_name(done, steps[i], "");
        remove_dir(parent, done);
    }
    return ERR_OK;
}

static enum errc load_one(const struct ckpt_vault *v, struct arena *a, int parent, int64_t step, const char *const *names, size_t name_count, struct ckpt *ret,
                          struct err *e)
{
    char name[NAME_BYTES], want[40];
    struct ckpt c = { .step = step };
    struct str json;
    dir_name(name, step, "");
    CLEANUP(fd_closep) int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return io_fail(e, "read", name);
    TRY(read_file(v, a, fd, "state.json", &json, e));
    TRY(st_parse_pairs(a, json, &c.state, &c.state_count, e));
    for (size_t i = 0; i < name_count; i++) {
        TRY(read_file(v, a, fd, names[i], &c.files[i], e));
        snprintf(want, sizeof want, "%zu:%016llx", c.files[i].len, (unsigned long long)str_hash(c.files[i]));
        if (!str_eq_c(st_pair_get(c.state, c.state_count, names[i]), want))
            return FAIL(e, DAMAGED, "the checkpoint's file %s is not what was written", names[i]);
    }
    *ret = c;
    return ERR_OK;
}

enum errc ckpt_load(const struct ckpt_vault *vault, struct arena *a, const char *dir, const char *const *names, size_t name_count, struct ckpt *ret, struct err *e)
{
    int64_t steps[FOUND_MAX];
    CLEANUP(fd_closep) int parent = -1;
    TRY(open_dir(dir, &parent, e));
    size_t n = list_steps(parent, false, steps);
    ret->step = -1;
    for (size_t i = 0; i < n; i++) {
        enum errc rc = load_one(vault ? vault : &plain, a, parent, steps[i], names, name_count, ret, e);
        if (rc == ERR_OK || rc == ERR_LIMIT)
            return rc;
    }
    return ERR_OK;
}

void ckpt_clear(const char *dir)
{
    char name[NAME_BYTES];
    int64_t steps[FOUND_MAX];
    CLEANUP(fd_closep) int parent = -1;
    struct err ignored = { 0 };         /* what is not there need not be removed */
    if (open_dir(dir, &parent, &ignored) != ERR_OK)
        return;
    for (size_t n = list_steps(parent, true, steps); n-- > 0;) {
        dir_name(name, steps[n], "");
        remove_dir(parent, name);
    }
}
