/* SPDX-License-Identifier: Apache-2.0 */
/* packages.c - both databases are stanzas of lines, a blank line between two; they differ in how a line names its field. */
#include "workers/image/packages.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/cleanup.h"

static const char dpkg_status[] = "var/lib/dpkg/status", dpkg_parts[] = "var/lib/dpkg/status.d", apk_installed[] =
    "lib/apk/db/installed";

enum { PART_ROOM = 4096 };          /* its path beside it */
enum field { FIELD_NAME, FIELD_VERSION, FIELD_ARCH, FIELD_STATUS, FIELDS };
static const char *const dpkg_fields[FIELDS] = { "Package: ", "Version: ", "Architecture: ", "Status: " };
static const char *const apk_fields[FIELDS] = { "P:", "V:", "A:", NULL };

static int open_in(int root, const char *path, uint64_t flags)
{
    const struct open_how how = { .flags = flags | O_CLOEXEC | O_NONBLOCK, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

/* Words that a terminal and a page show as they are. */
static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
            return false;
    return s.len > 0;
}

static void take(struct packages *p, struct str *kept, const struct str *f, struct arena *a)
{
    const bool is_there = !f[FIELD_STATUS].ptr || str_eq_c(f[FIELD_STATUS], "install ok installed") ||
                          str_eq_c(f[FIELD_STATUS], "hold ok installed");
    if (!is_there || !is_plain(f[FIELD_NAME]) || !is_plain(f[FIELD_VERSION]) || p->count == PACKAGES_MAX)
        return;
    const struct str arch = is_plain(f[FIELD_ARCH]) ? f[FIELD_ARCH] : STR("-");
    if (f[FIELD_NAME].len + f[FIELD_VERSION].len + arch.len + 2 > PACKAGE_MAX)
        return;
    kept[p->count++] = str_fmt(a, "%.*s %.*s %.*s", STR_ARG(f[FIELD_NAME]), STR_ARG(f[FIELD_VERSION]), STR_ARG(arch));
}

static void parse(struct str text, bool is_apk, struct packages *p, struct str *kept, struct arena *a)
{
    const char *const *names = is_apk ? apk_fields : dpkg_fields;
    struct str f[FIELDS] = { { 0 } }, line;
    for (bool more = text.len > 0; more;) {
        more = str_cut(text, '\n', &line, &text);
        for (int i = 0; i < FIELDS; i++)
            if (names[i] && str_starts(line, names[i]))
                f[i] = str_n(line.ptr + strlen(names[i]), line.len - strlen(names[i]));
        if (line.len && more)
            continue;
        if (f[FIELD_NAME].ptr)
            take(p, kept, f, a);
        memset(f, 0, sizeof f);
    }
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The first ones by name are kept, as many as have room. */
static void finish(struct packages *p, struct str *kept)
{
    size_t bytes = 0, n = 0;
    qsort(kept, (size_t)p->count, sizeof *kept, by_text);
    while (n < (size_t)p->count && (bytes += kept[n].len + 3) <= PACKAGES_TEXT_MAX)
        n++;
    p->all = (struct slice){ kept, n };
}

void packages_parse(struct str text, bool is_apk, struct arena *a, struct packages *ret)
{
    struct str *kept = ARENA_ARRAY(a, struct str, PACKAGES_MAX);
    *ret = (struct packages){ .source = is_apk ? "apk" : "dpkg" };
    parse(text, is_apk, ret, kept, a);
    finish(ret, kept);
}

/* *ret STR_NULL: there is no such file. */
static enum errc read_file(int root, const char *path, struct arena *a, struct str *ret, struct err *e)
{
    struct stat st;
    CLEANUP(fd_closep) int fd = open_in(root, path, O_RDONLY);
    *ret = STR_NULL;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return ERR_OK;
    if (st.st_size > PACKAGES_FILE_MAX)
        return FAIL(e, LIMIT, "%s has more than %d bytes", path, PACKAGES_FILE_MAX);
    char *p = arena_alloc(a, (size_t)st.st_size + 1);
    const ssize_t n = pread(fd, p, (size_t)st.st_size, 0);
    if (n < 0)
        return FAIL(e, IO, "%s cannot be read", path);
    *ret = str_n(p, (size_t)n);
    return ERR_OK;
}

static enum errc read_part(int root, const char *name, struct arena *a, struct packages *p, struct str *kept, struct err *e)
{
    CLEANUP(arena_freep) struct arena *room = arena_new((size_t)PACKAGES_FILE_MAX + PART_ROOM);
    struct str text;
    TRY(read_file(root, arena_printf(room, "%s/%s", dpkg_parts, name), room, &text, e));
    parse(text, false, p, kept, a);
    p->source = "dpkg";
    return ERR_OK;
}

/* A file for each package, one at a time in memory. */
static enum errc read_parts(int root, struct arena *a, struct packages *p, struct str *kept, struct err *e)
{
    const int fd = open_in(root, dpkg_parts, O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    enum errc rc = ERR_OK;
    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *x; d && rc == ERR_OK && (x = readdir(d));) {
        const size_t n = strlen(x->d_name);
        if (x->d_name[0] == '.' || (n > 8 && !strcmp(x->d_name + n - 8, ".md5sums")))
            continue;
        rc = read_part(root, x->d_name, a, p, kept, e);
    }
    if (d)
        closedir(d);
    return rc;
}

enum errc packages_read(int root, struct arena *a, struct packages *ret, struct err *e)
{
    struct str *kept = ARENA_ARRAY(a, struct str, PACKAGES_MAX), text;
    *ret = (struct packages){ .source = "none" };
    TRY(read_file(root, dpkg_status, a, &text, e));
    if (text.ptr) {
        ret->source = "dpkg";
        parse(text, false, ret, kept, a);
    }
    TRY(read_parts(root, a, ret, kept, e));
    TRY(read_file(root, apk_installed, a, &text, e));
    if (text.ptr) {
        ret->source = "apk";
        parse(text, true, ret, kept, a);
    }
    finish(ret, kept);
    return ERR_OK;
}
