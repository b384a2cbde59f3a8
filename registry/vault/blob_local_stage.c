/* SPDX-License-Identifier: Apache-2.0 */
/* blob_local_stage.c - a blob that comes in parts: <dir>/tmp/<object hex>.parts until it is whole.
 *
 * The file's size is the count of what has come, so no row is needed for a part and any falaj-api on the same store takes the
 * next one. A part that comes twice is written twice to the same place. Each part is synced before its answer: the size never
 * speaks of bytes that a power cut took. */
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "registry/vault/blob_local_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 * 1024 };

static void stage_path(struct blob_store *s, struct uuid object, char out[BLOB_PATH])
{
    char o[UUID_HEX];
    hex_encode(object.b, 16, o);
    snprintf(out, BLOB_PATH, "%s/tmp/%s.parts", local_of(s)->dir, o);
}

static enum errc write_at(int fd, const char *path, uint64_t offset, struct str part, struct err *e)
{
    for (size_t done = 0; done < part.len;) {
        ssize_t k = pwrite(fd, part.ptr + done, part.len - done, (off_t)(offset + done));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return blob_io_error(e, "write", path);
        done += (size_t)k;
    }
    return fdatasync(fd) < 0 ? blob_io_error(e, "sync", path) : ERR_OK;
}

enum errc blob_local_stage_put(struct blob_store *s, struct uuid object, uint64_t offset, struct str part, struct err *e)
{
    char path[BLOB_PATH];
    struct stat st;
    stage_path(s, object, path);
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return blob_io_error(e, "create", path);
    if (flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0)
        return blob_io_error(e, "lock", path);
    if (offset > (uint64_t)st.st_size)
        return FAIL(e, CONFLICT, "The part begins at byte %lu, but only %lu bytes have come; send from there",
                    (unsigned long)offset,
                    (unsigned long)st.st_size);
    /* The first part begins anew: what an earlier try left behind it must not lengthen the whole. */
    if (offset == 0 && ftruncate(fd, 0) < 0)
        return blob_io_error(e, "truncate", path);
    return write_at(fd, path, offset, part, e);
}

enum errc blob_local_stage_hash(struct blob_store *s, struct uuid object, struct arena *scratch, uint64_t size,
                                uint8_t ret_sha256[32], struct err *e)
{
    char path[BLOB_PATH];
    struct stat st;
    struct sha256 h;
    ssize_t k;
    stage_path(s, object, path);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) < 0)
        return errno == ENOENT ? FAIL(e, CONFLICT, "No part of the object is here; send from byte 0") : blob_io_error(e, "open",
                                                                                                                      path);
    if ((uint64_t)st.st_size != size)
        return FAIL(e, CONFLICT, "%lu bytes came, %lu were announced; send from byte 0", (unsigned long)st.st_size,
                    (unsigned long)size);
    char *piece = arena_alloc(scratch, PIECE);
    sha256_init(&h);
    while ((k = read(fd, piece, PIECE)) > 0 || (k < 0 && errno == EINTR))
        if (k > 0)
            sha256_add(&h, piece, (size_t)k);
    sha256_final(&h, ret_sha256);
    return k < 0 ? blob_io_error(e, "read", path) : ERR_OK;
}

enum errc blob_local_stage_commit(struct blob_store *s, struct uuid tenant, struct uuid object, struct err *e)
{
    char path[BLOB_PATH];
    stage_path(s, object, path);
    TRY(blob_local_link(local_of(s), path, tenant, object, e));
    (void)unlink(path);                 /* left by a crash, the sweep takes it */
    return ERR_OK;
}
