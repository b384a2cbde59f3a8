/* SPDX-License-Identifier: Apache-2.0 */
/* work_dir.c - removing directories of leases. A run holds a shared lock on its own (flock), which the kernel drops when its agent dies. */
#include "workers/lease/work_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/id.h"
#include "core/base/str.h"

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
    (void)st, (void)what, (void)at;
    remove(path);
    return 0;
}

void work_dir_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* By descriptors: what a child has left behind under these names is judged and given in one step. */
static bool give_one(int at, const char *name, uid_t uid, gid_t gid)
{
    struct stat st;
    CLEANUP(fd_closep) int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENXIO))          /* a link, a socket: nothing that anybody reads */
        return true;
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    if (!S_ISDIR(st.st_mode) && (!S_ISREG(st.st_mode) || st.st_nlink != 1))
        return true;
    if (fchown(fd, uid, gid) != 0)
        return false;
    DIR *d = S_ISDIR(st.st_mode) ? fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 3)) : NULL;
    bool ok = true;
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = give_one(fd, entry->d_name, uid, gid) && ok;
    if (d)
        closedir(d);
    return ok;
}

bool work_dir_give(const char *path, uid_t uid, gid_t gid)
{
    return give_one(AT_FDCWD, path, uid, gid);
}

/* The later of the two: a checkpoint changes the directory inside. */
static time_t touched_at(int fd)
{
    struct stat own, inner;
    if (fstat(fd, &own) != 0)
        return INT64_MAX;
    return fstatat(fd, "ckpt", &inner, AT_SYMLINK_NOFOLLOW) == 0 && inner.st_mtime > own.st_mtime ? inner.st_mtime : own.st_mtime;
}

/* The folder may be shared, as /tmp is. */
static bool is_ours(const char *name)
{
    struct uuid id;
    struct str s = str_c(name);
    size_t skip = str_starts(s, "lease-") ? 6 : str_starts(s, "job-") ? 4 : 0;
    return skip && hex_decode(str_n(name + skip, s.len - skip), id.b, sizeof id.b);
}

size_t work_dir_sweep(const char *work_dir, int64_t keep_s)
{
    size_t n = 0;
    char path[4096];
    DIR *d = opendir(work_dir);
    if (!d)
        return 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        if (!is_ours(entry->d_name))
            continue;
        CLEANUP(fd_closep) int fd = openat(dirfd(d), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 || touched_at(fd) > time(NULL) - keep_s || flock(fd, LOCK_EX | LOCK_NB) != 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", work_dir, entry->d_name) < (int)sizeof path) {
            work_dir_remove(path);
            n++;
        }
    }
    closedir(d);
    return n;
}
