/* SPDX-License-Identifier: Apache-2.0 */
/* repo.c - the folder of backups: made, opened, locked, listed. */
#include "backup/repo.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/child.h"
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"

enum { HEAD_BYTES = 4096, SETS_MAX = 10000 };

enum errc dir_sync(const char *path, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? err_errno((FAIL(e, IO, "%s cannot be synced", path), e), errno) : ERR_OK;
}

enum errc file_put(const char *path, struct str text, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ? FAIL(e, INVALID, "%s is there already", path)
                               : err_errno((FAIL(e, IO, "%s cannot be made", path), e), errno);
    TRY(write_all(fd, text.ptr, text.len, e));
    return fsync(fd) < 0 ? err_errno((FAIL(e, IO, "%s cannot be synced", path), e), errno) : ERR_OK;
}

enum errc file_get(struct arena *a, const char *path, size_t max, struct str *ret, struct err *e)
{
    struct stat st;
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return errno == ENOENT ? FAIL(e, NOT_FOUND, "%s is missing", path) :
            err_errno((FAIL(e, IO, "%s cannot be read", path), e), errno);
    char *text = (size_t)st.st_size <= max ? arena_try(a, (size_t)st.st_size + 1) : NULL;
    if (!text)
        return FAIL(e, LIMIT, "%s has %lld bytes; %zu is the most", path, (long long)st.st_size, max);
    ssize_t n = pread(fd, text, (size_t)st.st_size, 0);
    if (n != st.st_size)
        return FAIL(e, IO, "%s cannot be read whole", path);
    *ret = str_n(text, (size_t)n);
    return ERR_OK;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    (void)!remove(path);            /* what stays is seen by whoever makes the folder anew */
    return 0;
}

void tree_remove(const char *path)
{
    (void)!nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n <= 2;
}

enum errc repo_make(const char *dir, const uint8_t recovery[X25519_BYTES], const uint8_t signer[ED25519_PUBLIC], struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    CLEANUP(buf_releasep) struct buf b = BUF(HEAD_BYTES);
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_errno((FAIL(e, IO, "%s cannot be made", dir), e), errno);
    if (!is_empty(dir))
        return FAIL(e, INVALID, "%s is not empty: a folder of backups begins as an empty one", dir);
    for (int i = 0; i < 2; i++) {
        const char *below = arena_printf(a, "%s/%s", dir, i ? "sets" : "pool");
        if (mkdir(below, 0700) < 0)
            return err_errno((FAIL(e, IO, "%s cannot be made", below), e), errno);
    }
    buf_add_c(&b, "{\"format\":1,\"recovery_key\":\"");
    buf_add_hex(&b, recovery, X25519_BYTES);
    buf_add_c(&b, "\",\"signer\":\"");
    buf_add_hex(&b, signer, ED25519_PUBLIC);
    buf_add_c(&b, "\"}\n");
    TRY(file_put(arena_printf(a, "%s/falaj-backup.json", dir), buf_str(&b), e));
    return dir_sync(dir, e);
}

enum errc repo_open(struct arena *a, const char *dir, struct repo *ret, struct err *e)
{
    struct str text;
    const struct jval *v;
    if (!*dir)
        return FAIL(e, INVALID, "backup.dir names no folder of backups");
    if (file_get(a, arena_printf(a, "%s/falaj-backup.json", dir), HEAD_BYTES, &text, e) != ERR_OK)
        return FAIL(e, INVALID, "%s is no folder of backups, or cannot be read; falaj-backup init makes one", dir);
    *ret = (struct repo){ .dir = dir, .lock_fd = -1 };
    TRY(jval_parse(a, text, 0, &v, e));
    if (jval_i64(jval_get(v, "format"), 0) != 1)
        return FAIL(e, INVALID, "%s has another format than this program knows (1)", dir);
    if (!hex_decode(jval_str(jval_get(v, "recovery_key")), ret->recovery, X25519_BYTES) ||
        !hex_decode(jval_str(jval_get(v, "signer")), ret->signer, ED25519_PUBLIC))
        return FAIL(e, DAMAGED, "%s/falaj-backup.json names no keys", dir);
    return ERR_OK;
}

enum errc repo_lock(struct repo *r, struct err *e)
{
    r->lock_fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->lock_fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be opened", r->dir), e), errno);
    return flock(r->lock_fd, LOCK_EX | LOCK_NB) < 0 ? FAIL(e, CONFLICT, "another backup writes to %s now", r->dir) : ERR_OK;
}

void repo_close(struct repo *r)
{
    if (r->dir)
        fd_closep(&r->lock_fd);
}

const char *repo_pool_path(struct arena *a, const struct repo *r, const uint8_t sha256[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    hex_encode(sha256, SHA256_BYTES, hex);
    return arena_printf(a, "%s/pool/%.2s/%s", r->dir, hex, hex);
}

const char *repo_set_path(struct arena *a, const struct repo *r, const struct set *s, const char *file)
{
    return arena_printf(a, "%s/sets/%.*s%s%s%s", r->dir, STR_ARG(s->name), s->is_partial ? ".partial" : "", *file ? "/" : "",
                        file);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

enum errc repo_sets(struct arena *a, const struct repo *r, struct str **ret, size_t *ret_n, struct err *e)
{
    const char *path = arena_printf(a, "%s/sets", r->dir);
    size_t n = 0;
    DIR *d = opendir(path);
    if (!d)
        return err_errno((FAIL(e, IO, "%s cannot be read", path), e), errno);
    struct str *names = ARENA_ARRAY(a, struct str, SETS_MAX);
    for (struct dirent *f; n < SETS_MAX && (f = readdir(d));)
        if (*f->d_name != '.')
            names[n++] = str_dup(a, str_c(f->d_name));
    closedir(d);
    qsort(names, n, sizeof *names, by_name);
    *ret = names;
    *ret_n = n;
    return ERR_OK;
}

void repo_drop_partials(struct arena *a, const struct repo *r)
{
    struct str *names;
    size_t n;
    struct err ignored;
    if (repo_sets(a, r, &names, &n, &ignored) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++)
        if (str_ends(names[i], ".partial"))
            tree_remove(arena_printf(a, "%s/sets/%.*s", r->dir, STR_ARG(names[i])));
}
