/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - a head that must be the same to the byte, a table whose parts must lie within the file. A new file gets its name
 * once it is whole and on the disk, so who maps the old one keeps it, and a lost machine leaves no zeros for weights. */
#include "workers/tool/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const char FORM[] = "falaj packed weights 1\n";

static const struct packed_part *part_of(const struct packed *p, size_t i)
{
    return i < PACKED_PARTS_MAX ? (const struct packed_part *)(const void *)(p->map.ptr + PACKED_HEAD) + i : NULL;
}

static const void *find(void *ctx, size_t i, size_t bytes)
{
    const struct packed *p = ctx;
    const struct packed_part *part = p->map.ptr ? part_of(p, i) : NULL;
    if (!part || part->bytes != bytes || part->offset % PAGE || part->offset > p->map.len || bytes > p->map.len - part->offset)
        return NULL;
    pages_bring(p->map.ptr + part->offset, bytes, false);
    return p->map.ptr + part->offset;
}

/* Whatever else has that name is not written over: a model, for one. */
static enum errc check_place(const char *path, const struct tool_map *map, struct err *e)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? ERR_OK : FAIL(e, INVALID, "--packed %.150s: it cannot be looked at", path);
    if (!S_ISREG(st.st_mode) || (st.st_size && (map->len < sizeof FORM - 1 || memcmp(map->ptr, FORM, sizeof FORM - 1))))
        return FAIL(e, INVALID, "--packed %.100s: there is something else than packed weights; name a file that is not there",
                    path);
    if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return FAIL(e, INVALID, "--packed %.100s: others may write it, so it is not computed with; remove it", path);
    return ERR_OK;
}

enum errc packed_open(const char *path, const char *model, const char *tier, struct packed *ret, struct err *e)
{
    struct stat st;
    struct err none;
    *ret = (struct packed){ .path = path };
    if (!path)
        return ERR_OK;
    if (stat(model, &st) != 0)
        return FAIL(e, INVALID, "%.100s: it cannot be looked at", model);
    snprintf(ret->head, sizeof ret->head,
             "%srelease %s\ntier %s\nmodel %llu:%llu, %lld bytes, written %lld.%09ld, changed %lld.%09ld\n", FORM, FALAJ_VERSION,
             tier, (unsigned long long)st.st_dev, (unsigned long long)st.st_ino, (long long)st.st_size,
             (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
    (void)tool_map(path, &ret->map, &none);
    TRY(check_place(path, &ret->map, e));
    if (ret->map.ptr && (ret->map.len < PACKED_HEAD + PACKED_PARTS_MAX * sizeof(struct packed_part)
                         || memcmp(ret->map.ptr, ret->head, PACKED_HEAD))) {
        tool_unmap(&ret->map);
        ret->map = (struct tool_map){ NULL, 0 };
    }
    ret->kept = (struct plan_kept){ find, ret };
    return ERR_OK;
}

static bool write_at(int fd, const void *from, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t w = pwrite(fd, (const char *)from + done, n - done, (off_t)(at + done));
        if (w <= 0)
            return false;
        done += (size_t)w;
    }
    return true;
}

/* ret_fits: all of it lies in the mapped file already. */
static size_t lay(const struct packed *p, const struct infer_model *m, struct packed_part *parts, bool *ret_fits)
{
    uint64_t at = (PACKED_HEAD + PACKED_PARTS_MAX * sizeof *parts + PAGE - 1) / PAGE * PAGE;
    const void *bytes;
    size_t count = 0;
    *ret_fits = true;
    for (size_t n; count < PACKED_PARTS_MAX && (n = infer_model_packed(m, count, &bytes)); count++) {
        parts[count] = (struct packed_part){ at, n };
        at = (at + n + PAGE - 1) / PAGE * PAGE;
        *ret_fits = *ret_fits && p->map.ptr && (const char *)bytes >= p->map.ptr && (const char *)bytes < p->map.ptr + p->map.len;
    }
    return count;
}

enum errc packed_keep(struct packed *p, const struct infer_model *m, struct err *e)
{
    struct packed_part parts[PACKED_PARTS_MAX] = { { 0 } };
    char path[600];
    bool fits;
    size_t count = p->path ? lay(p, m, parts, &fits) : 0;
    if (!count || fits)
        return ERR_OK;
    if (snprintf(path, sizeof path, "%s.XXXXXX", p->path) >= (int)sizeof path)
        return FAIL(e, INVALID, "--packed: a path of at most %zu bytes is expected", sizeof path - sizeof ".XXXXXX");
    CLEANUP(fd_closep) int fd = mkostemp(path, O_CLOEXEC);      /* 0600; two may share a process number */
    bool ok = fd >= 0 && write_at(fd, p->head, PACKED_HEAD, 0) && write_at(fd, parts, sizeof parts, PACKED_HEAD);
    for (size_t i = 0; i < count && ok; i++) {
        const void *bytes;
        ok = infer_model_packed(m, i, &bytes) == parts[i].bytes && write_at(fd, bytes, parts[i].bytes, parts[i].offset);
    }
    ok = ok && fsync(fd) == 0 && rename(path, p->path) == 0;
    if (!ok && fd >= 0)
        (void)unlink(path);             /* what cannot be written is not left in part; the error says so */
    return ok ? ERR_OK : FAIL(e, IO, "%.200s: packed weights cannot be written", p->path);
}

void packed_closep(struct packed **p)
{
    tool_unmap(&(*p)->map);
}
