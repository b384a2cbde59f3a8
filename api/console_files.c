/* SPDX-License-Identifier: Apache-2.0 */
/* console_files.c - a walk with openat and O_NOFOLLOW, then a sorted list.
 *
 * Other codings are folded into their file after sorting: "X" stands before "X.br" and "X.gz", so one look-up finds the file that a
 * coding belongs to. */
#include "api/console_files.h"
#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512, OVERHEAD = 4 << 20 };

struct console {
    struct arena *arena;
    struct console_file *files;
    size_t n, bytes;
};

static const struct { const char *ending, *type; } types[] = {
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".mjs", "text/javascript; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },
    { ".txt", "text/plain; charset=utf-8" },
    { ".json", "application/json" },
    { ".map", "application/json" },
    { ".webmanifest", "application/manifest+json" },
    { ".wasm", "application/wasm" },
    { ".svg", "image/svg+xml" },
    { ".png", "image/png" },
    { ".jpg", "image/jpeg" },
    { ".jpeg", "image/jpeg" },
    { ".webp", "image/webp" },
    { ".avif", "image/avif" },
    { ".gif", "image/gif" },
    { ".ico", "image/x-icon" },
    { ".woff2", "font/woff2" },
    { ".woff", "font/woff" },
    { ".ttf", "font/ttf" },
};

const char *console_type_of(struct str path)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_ends(path, types[i].ending))
            return types[i].type;
    return "application/octet-stream";
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool console_is_hashed(struct str path)
{
    enum { HASH = 8 };
    if (!str_starts(path, "/assets/"))
        return false;
    size_t at = path.len;
    while (path.ptr[at - 1] != '/')
        at--;
    struct str stem, ending, name = str_n(path.ptr + at, path.len - at);
    if (!str_cut(name, '.', &stem, &ending) || stem.len < HASH + 2 || stem.ptr[stem.len - HASH - 1] != '-')
        return false;
    for (size_t i = stem.len - HASH; i < stem.len; i++)
        if (!is_alnum(stem.ptr[i]) && stem.ptr[i] != '_' && stem.ptr[i] != '-')
            return false;
    return true;
}

/* pchar of RFC 3986 §3.3 without escapes: the name in a URL is the name on disk. */
static bool is_plain_name(const char *name)
{
    for (; *name; name++)
        if (!is_alnum(*name) && !strchr("-._~!$&'()*+,;=:@", *name))
            return false;
    return true;
}

static enum errc read_all(int fd, char *to, size_t n, struct err *e)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = read(fd, to + at, n - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return FAIL(e, IO, "A file of the console changed while it was read");
        at += (size_t)got;
    }
    return ERR_OK;
}

static enum errc add_file(struct console *c, int fd, const struct stat *st, const char *path, struct err *e)
{
    if (c->n == CONSOLE_FILES_MAX)
        return FAIL(e, LIMIT, "The console has more than %d files", CONSOLE_FILES_MAX);
    if (st->st_size < 0 || (size_t)st->st_size > CONSOLE_BYTES_MAX - c->bytes)
        return FAIL(e, LIMIT, "The console has more than %d MiB", CONSOLE_BYTES_MAX >> 20);
    struct console_file *f = &c->files[c->n];
    size_t n = (size_t)st->st_size;
    char *bytes = arena_alloc(c->arena, n + 1);
    TRY(read_all(fd, bytes, n, e));
    uint8_t sha[SHA256_BYTES];
    sha256(bytes, n, sha);
    struct console_body *body = &f->bodies[CODING_IDENTITY];
    body->bytes = str_n(bytes, n);
    body->etag[0] = '"';
    hex_encode(sha, sizeof sha, body->etag + 1);
    memcpy(body->etag + 65, "\"", 2);
    f->path = str_dup(c->arena, str_c(path));
    f->type = console_type_of(f->path);
    f->is_hashed = console_is_hashed(f->path);
    c->bytes += n;
    c->n++;
    return ERR_OK;
}

static enum errc walk(struct console *c, int dir_fd, char path[PATH_BYTES], int depth, struct err *e);

static enum errc take(struct console *c, int dir_fd, const char *name, char path[PATH_BYTES], int depth, struct err *e)
{
    size_t at = strlen(path), len = strlen(name);
    struct stat st;
    if (at + len + 2 > PATH_BYTES || !is_plain_name(name))
        return FAIL(e, INVALID, "The console has a file whose name a URL would have to escape, or whose path is too long");
    path[at] = '/';
    memcpy(path + at + 1, name, len + 1);
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    CLEANUP(fd_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        return errno == ELOOP ? FAIL(e, INVALID, "The console holds a link: %s", path) : FAIL(e, IO, "%s of the console cannot be read: %s", path, strerror(errno));
    enum errc rc;
    if (S_ISDIR(st.st_mode))
        rc = walk(c, TAKE_FD(fd), path, depth + 1, e);
    else if (S_ISREG(st.st_mode))
        rc = add_file(c, fd, &st, path, e);
    else
        rc = FAIL(e, INVALID, "%s of the console is neither a file nor a folder", path);
    path[at] = '\0';
    return rc;
}

static void dir_closep(DIR **d)
{
    if (*d)
        closedir(*d);
}

/* Takes dir_fd. */
static enum errc walk(struct console *c, int dir_fd, char path[PATH_BYTES], int depth, struct err *e)
{
    CLEANUP(dir_closep) DIR *d = fdopendir(dir_fd);
    if (!d) {
        close(dir_fd);
        return FAIL(e, IO, "A folder of the console cannot be listed");
    }
    if (depth > CONSOLE_DEPTH_MAX)
        return FAIL(e, LIMIT, "The console's folders are deeper than %d", CONSOLE_DEPTH_MAX);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(d);
        if (!entry)
            return errno ? FAIL(e, IO, "A folder of the console cannot be listed") : ERR_OK;
        if (entry->d_name[0] != '.')
            TRY(take(c, dirfd(d), entry->d_name, path, depth, e));
    }
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct console_file *)a)->path, ((const struct console_file *)b)->path);
}

static struct console_file *find(const struct console *c, struct str path)
{
    const struct console_file key = { .path = path };
    return c->n ? bsearch(&key, c->files, c->n, sizeof key, by_path) : NULL;
}

static void fold_codings(struct console *c)
{
    static const struct { const char *ending; enum console_coding coding; } codings[] = { { ".gz", CODING_GZIP }, { ".br", CODING_BR } };
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < 2; k++) {
            struct console_file *f = &c->files[i];
            struct console_file *of = str_ends(f->path, codings[k].ending) ? find(c, str_n(f->path.ptr, f->path.len - 3)) : NULL;
            if (of)
                of->bodies[codings[k].coding] = f->bodies[CODING_IDENTITY];
        }
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++)
        if (!str_ends(c->files[i].path, ".gz") && !str_ends(c->files[i].path, ".br"))
            c->files[kept++] = c->files[i];
    c->n = kept;
}

static enum errc load(struct console *c, const char *dir, struct err *e)
{
    char path[PATH_BYTES] = "";
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(e, INVALID, "The console's folder cannot be opened: %s", strerror(errno));
    TRY(walk(c, fd, path, 0, e));
    qsort(c->files, c->n, sizeof *c->files, by_path);
    fold_codings(c);
    return find(c, STR("/index.html")) ? ERR_OK : FAIL(e, INVALID, "The console's folder has no index.html; it is the folder that its build writes");
}

enum errc console_open(const char *dir, struct console **ret, struct err *e)
{
    struct console *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->arena = arena_new((size_t)CONSOLE_BYTES_MAX + OVERHEAD);
    c->files = ARENA_ARRAY(c->arena, struct console_file, CONSOLE_FILES_MAX);
    enum errc rc = load(c, dir, e);
    if (rc == ERR_OK)
        *ret = c;
    else
        console_free(c);
    return rc;
}

void console_free(struct console *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    free(c);
}

const struct console_file *console_find(const struct console *c, struct str path)
{
    return find(c, path);
}

size_t console_count(const struct console *c, size_t *ret_bytes)
{
    *ret_bytes = c->bytes;
    return c->n;
}
