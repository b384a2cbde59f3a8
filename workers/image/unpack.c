/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.c - each entry by its parent, opened within the root, and its last name, which no call follows. */
#include "workers/image/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/cleanup.h"

enum { DEPTH_MAX = 128, PIECE = 65536, NAME_LONGEST = 255 };
static const char WHITEOUT[] = ".wh.", OPAQUE[] = ".wh..wh..opq";

/* An entry's path, cleaned, and where its last name begins. */
struct place {
    char path[TAR_NAME_MAX];
    size_t last;                        /* 0: it lies in the root */
    bool is_root;
};

static int open_in(int root, const char *path, uint64_t flags)
{
    const struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
}

#define BAD(en, e, why) FAIL(e, BAD_DATA, "entry %.200s: %s", (en)->name.ptr, why)

static enum errc place_of(const struct tar_entry *en, struct str name, struct place *ret, struct err *e)
{
    struct str rest = name, one;
    size_t n = 0, depth = 0;
    ret->last = 0;
    for (bool more = true; more;) {
        more = str_cut(rest, '/', &one, &rest);
        if (!one.len || str_eq_c(one, "."))
            continue;
        if (str_eq_c(one, ".."))
            return BAD(en, e, "its name leads out of the image (\"..\")");
        if (one.len > NAME_LONGEST || ++depth > DEPTH_MAX)
            return BAD(en, e, "its name is too long, or too deep");
        if (n)
            ret->path[n++] = '/';
        ret->last = n;
        memcpy(ret->path + n, one.ptr, one.len);
        n += one.len;
    }
    ret->path[n] = '\0';
    ret->is_root = n == 0;
    return ERR_OK;
}

/* The folder before `at` bytes of the path. */
static int folder_at(int root, const struct place *p, size_t at)
{
    char path[TAR_NAME_MAX];
    memcpy(path, p->path, at);
    path[at ? at - 1 : 0] = '\0';
    return open_in(root, path, O_PATH | O_DIRECTORY);
}

/* Folders that an archive does not name are made. */
static int parent_of(int root, const struct place *p)
{
    const int there = folder_at(root, p, p->last);
    if (there >= 0 || errno != ENOENT)
        return there;
    for (size_t at = 1; at < p->last; at++) {
        if (p->path[at] != '/')
            continue;
        struct place part = *p;
        part.path[at] = '\0';
        const char *slash = strrchr(part.path, '/');
        part.last = slash ? (size_t)(slash - part.path) + 1 : 0;
        CLEANUP(fd_closep) int whole = open_in(root, part.path, O_PATH | O_DIRECTORY);
        CLEANUP(fd_closep) int above = whole < 0 && errno == ENOENT ? folder_at(root, &part, part.last) : -1;
        if (whole < 0 && (above < 0 || mkdirat(above, part.path + part.last, 0755) != 0))
            return -1;
    }
    return folder_at(root, p, p->last);
}

/* All below a folder, or only what is in it. */
static bool empty(int dir)
{
    const int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    bool ok = d != NULL;
    if (!d && copy >= 0)
        close(copy);
    for (struct dirent *x; ok && (x = readdir(d));) {
        if (!strcmp(x->d_name, ".") || !strcmp(x->d_name, "..") || unlinkat(copy, x->d_name, 0) == 0)
            continue;
        CLEANUP(fd_closep) int below = openat(copy, x->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = below >= 0 && empty(below) && unlinkat(copy, x->d_name, AT_REMOVEDIR) == 0;
    }
    if (d)
        closedir(d);
    return ok;
}

/* Whatever bears the name. */
static bool take_away(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    CLEANUP(fd_closep) int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir >= 0 && empty(dir) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static const char *last_of(const struct tar_entry *en)
{
    const char *slash = strrchr(en->name.ptr, '/');
    return slash ? slash + 1 : en->name.ptr;
}

bool unpack_is_whiteout(const struct tar_entry *en)
{
    return strncmp(last_of(en), WHITEOUT, sizeof WHITEOUT - 1) == 0;
}

enum errc unpack_whiteout(struct unpack *u, const struct tar_entry *en, struct err *e)
{
    struct place p;
    TRY(place_of(en, en->name, &p, e));
    const char *name = p.path + p.last, *hidden = name + sizeof WHITEOUT - 1;
    const bool is_opaque = !strcmp(name, OPAQUE);
    if (!is_opaque && (!*hidden || !strcmp(hidden, ".") || !strcmp(hidden, "..") ||
        !strncmp(hidden, WHITEOUT, sizeof WHITEOUT - 1)))
        return BAD(en, e, "it is a whiteout of nothing");
    CLEANUP(fd_closep) int parent = folder_at(u->root, &p, p.last);
    if (parent < 0)
        return ERR_OK;                  /* nothing of a layer before is there */
    CLEANUP(fd_closep) int dir = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir >= 0 && (is_opaque ? empty(dir) : take_away(dir, hidden)) ? ERR_OK :
        BAD(en, e, "what it hides cannot be taken away");
}

static enum errc put_file(struct unpack *u, struct tar *t, const struct tar_entry *en, int parent, const char *name,
    struct err *e)
{
    char room[PIECE];
    size_t n;
    if ((en->mode & 06000) && u->no_special)
        return BAD(en, e, "it has a setuid or setgid bit, which this import does not allow (allow_setuid)");
    if (en->size > u->bytes_most - u->bytes)
        return FAIL(e, LIMIT, "entry %.200s: the image has more than %llu bytes", en->name.ptr,
            (unsigned long long)u->bytes_most);
    CLEANUP(fd_closep) int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return FAIL(e, IO, "entry %.200s cannot be made: %s", en->name.ptr, strerror(errno));
    for (;;) {
        TRY(tar_read(t, room, sizeof room, &n, e));
        if (!n)
            break;
        if (write(fd, room, n) != (ssize_t)n)
            return FAIL(e, LIMIT, "entry %.200s: there is no room for the image: half of the job's memory holds it and its "
                "archive", en->name.ptr);
        u->bytes += n;
    }
    u->stripped += (en->mode & 06000) != 0;
    return fchmod(fd, (en->mode & 0777) | 0400) == 0 ? ERR_OK : FAIL(e, IO, "entry %.200s cannot be made", en->name.ptr);
}

static enum errc put_folder(const struct tar_entry *en, int parent, const char *name, struct err *e)
{
    struct stat st;
    const mode_t mode = (en->mode & 0777) | 0700;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) && unlinkat(parent, name, 0) != 0)
        return BAD(en, e, "it cannot replace what layers before have");
    if (mkdirat(parent, name, mode) != 0 && errno != EEXIST)
        return FAIL(e, IO, "entry %.200s cannot be made: %s", en->name.ptr, strerror(errno));
    return fchmodat(parent, name, mode, 0) == 0 ? ERR_OK : FAIL(e, IO, "entry %.200s cannot be made", en->name.ptr);
}

/* To a file of this image, by the same rules; not to a link, which could lead anywhere later. */
static enum errc put_link(struct unpack *u, const struct tar_entry *en, int parent, const char *name, struct err *e)
{
    struct place to;
    struct stat st;
    TRY(place_of(en, en->link, &to, e));
    CLEANUP(fd_closep) int above = to.is_root ? -1 : folder_at(u->root, &to, to.last);
    if (above < 0 || fstatat(above, to.path + to.last, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return BAD(en, e, "it is a link to what is not there");
    if (!S_ISREG(st.st_mode))
        return BAD(en, e, "it is a link to what is no file");
    return linkat(above, to.path + to.last, parent, name, 0) == 0 ? ERR_OK : BAD(en, e, "its link cannot be made");
}

/* Devices and pipes. */
static enum errc leave_out(struct unpack *u, const struct tar_entry *en, const struct place *p, struct err *e)
{
    if (strncmp(p->path, "dev/", 4) != 0)
        return BAD(en, e, en->type == TAR_FIFO ? "an image has no pipes" : "an image has no devices");
    u->left_out++;
    return ERR_OK;
}

static enum errc put(struct unpack *u, struct tar *t, const struct tar_entry *en, const struct place *p, struct err *e)
{
    const char *name = p->path + p->last;
    CLEANUP(fd_closep) int parent = parent_of(u->root, p);
    if (parent < 0)
        return BAD(en, e, "its folder is none, or leads nowhere");
    CLEANUP(fd_closep) int dir = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return BAD(en, e, "its folder cannot be opened");
    if (en->type == TAR_DIR)
        return put_folder(en, dir, name, e);
    if (!take_away(dir, name))
        return BAD(en, e, "it cannot replace what layers before have");
    if (en->type == TAR_FILE)
        return put_file(u, t, en, dir, name, e);
    if (en->type == TAR_LINK)
        return put_link(u, en, dir, name, e);
    return en->link.len && symlinkat(en->link.ptr, dir, name) == 0 ? ERR_OK : BAD(en, e, "its link cannot be made");
}

enum errc unpack_entry(struct unpack *u, struct tar *t, const struct tar_entry *en, struct err *e)
{
    struct place p;
    TRY(place_of(en, en->name, &p, e));
    if (p.is_root)
        return en->type == TAR_DIR ? ERR_OK : BAD(en, e, "it has no name");
    if (++u->files > u->files_most)
        return FAIL(e, LIMIT, "entry %.200s: the image has more than %llu files", en->name.ptr,
            (unsigned long long)u->files_most);
    return en->type == TAR_DEVICE || en->type == TAR_FIFO ? leave_out(u, en, &p, e) : put(u, t, en, &p, e);
}

enum errc unpack_layer(struct unpack *u, struct source from, bool whiteouts, struct arena *a, struct err *e)
{
    struct tar *t = ARENA_NEW(a, struct tar);
    struct tar_entry en;
    bool more;
    tar_begin(t, from);
    for (;;) {
        TRY(tar_next(t, &en, &more, e));
        if (!more)
            return ERR_OK;
        if (unpack_is_whiteout(&en) && whiteouts)
            TRY(unpack_whiteout(u, &en, e));
        else if (!unpack_is_whiteout(&en) && !whiteouts)
            TRY(unpack_entry(u, t, &en, e));
    }
}

enum errc unpack_place(struct unpack *u, const char *path, bool is_folder, struct err *e)
{
    struct place p;
    struct stat st;
    const struct tar_entry en = { .name = str_c(path) };
    TRY(place_of(&en, en.name, &p, e));
    CLEANUP(fd_closep) int dir = dup(u->root);
    for (char *at = p.path, *end; dir >= 0; at = end + 1) {
        end = strchr(at, '/');
        if (end)
            *end = '\0';
        const bool wants_folder = end || is_folder, is_there = fstatat(dir, at, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (is_there && (wants_folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode)) && !take_away(dir, at))
            return FAIL(e, IO, "%s of the image cannot be made", path);
        if (wants_folder)
            (void)!mkdirat(dir, at, 0755);
        const int next = wants_folder ? openat(dir, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                      : openat(dir, at, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        close(dir);
        dir = next;
        if (!end)
            break;
    }
    return dir >= 0 ? ERR_OK : FAIL(e, IO, "%s of the image cannot be made", path);
}
