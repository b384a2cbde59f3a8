/* SPDX-License-Identifier: Apache-2.0 */
/* softfile_image.c - the file of the development key store, read and written whole.
 *
 * "FLJROOT2" | SHA-256 of the zone name 32 | Ed25519 seed 32 | P-256 import scalar 32 | u32 n (1..16, big endian) | n x (u32 version,
 * rising | root key 32) | SHA-256 of all that 32. It is opened without following links and must be a regular file of exactly that
 * size, owned by the process and closed to everyone else. It is made whole under another name and then linked, or renamed over the
 * old one, so it never exists in part. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "keys/softfile_int.h"

enum {
    HEAD = 8 + 32 + 32 + 32 + 4,
    ROOT = 4 + KEY_BYTES,
    FILE_MAX = HEAD + SOFTFILE_ROOTS_MAX * ROOT + SHA256_BYTES,
    PATH_MAX_BYTES = 4000
};

static enum errc fail_io(struct err *e, const char *path, const char *what)
{
    int saved = errno;
    (void)FAIL(e, IO, "the key file %s cannot be %s", path, what);
    (void)err_errno(e, saved);
    return ERR_IO;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t image_make(const struct softfile *s, uint8_t out[FILE_MAX])
{
    size_t n = HEAD + (size_t)s->n_roots * ROOT;
    memcpy(out, "FLJROOT2", 8);
    sha256(s->config.zone.ptr, s->config.zone.len, out + 8);
    memcpy(out + 40, s->keys->seed.b, KEY_BYTES);
    memcpy(out + 72, s->keys->import_scalar.b, KEY_BYTES);
    put_u32(out + 104, s->n_roots);
    for (uint32_t i = 0; i < s->n_roots; i++) {
        put_u32(out + HEAD + i * ROOT, s->versions[i]);
        memcpy(out + HEAD + i * ROOT + 4, s->keys->roots[i].b, KEY_BYTES);
    }
    sha256(out, n, out + n);
    return n + SHA256_BYTES;
}

static enum errc image_read(const uint8_t *b, size_t n, struct softfile *s, struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    const char *path = s->config.path;
    uint32_t roots = n >= HEAD ? get_u32(b + 104) : 0;
    if (n < HEAD || memcmp(b, "FLJROOT2", 8) != 0 || roots < 1 || roots > SOFTFILE_ROOTS_MAX || n != HEAD + roots * ROOT + SHA256_BYTES)
        return FAIL(e, DAMAGED, "the key file %s is not one, or has the wrong size", path);
    sha256(b, n - SHA256_BYTES, digest);
    if (!mem_eq_ct(digest, b + n - SHA256_BYTES, sizeof digest))
        return FAIL(e, DAMAGED, "the key file %s is damaged", path);
    sha256(s->config.zone.ptr, s->config.zone.len, digest);
    if (!mem_eq_ct(digest, b + 8, sizeof digest))
        return FAIL(e, INVALID, "the key file %s is not that of zone %.*s", path, STR_ARG(s->config.zone));
    memcpy(s->keys->seed.b, b + 40, KEY_BYTES);
    memcpy(s->keys->import_scalar.b, b + 72, KEY_BYTES);
    for (uint32_t i = 0; i < roots; i++) {
        s->versions[i] = get_u32(b + HEAD + i * ROOT);
        memcpy(s->keys->roots[i].b, b + HEAD + i * ROOT + 4, KEY_BYTES);
        if (s->versions[i] == 0 || (i > 0 && s->versions[i] <= s->versions[i - 1]))
            return FAIL(e, DAMAGED, "the key file %s has root versions that do not rise", path);
    }
    s->n_roots = roots;
    return ERR_OK;
}

static enum errc file_check(int fd, const char *path, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_io(e, path, "examined");
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
        return FAIL(e, FORBIDDEN, "the key file %s is not a regular file with one name", path);
    if (st.st_uid != geteuid())
        return FAIL(e, FORBIDDEN, "the key file %s belongs to another user", path);
    if ((st.st_mode & 077) != 0)
        return FAIL(e, FORBIDDEN, "the key file %s is open to others (mode %o); make it 0600", path, st.st_mode & 07777u);
    return ERR_OK;
}

enum errc softfile_read(struct softfile *s, struct err *e)
{
    const struct provider_config *c = &s->config;
    uint8_t image[FILE_MAX + 1];
    size_t n = 0;
    ssize_t got = 1;
    CLEANUP(fd_closep) int fd = open(c->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ELOOP)
        return FAIL(e, FORBIDDEN, "the key file %s is a symbolic link", c->path);
    if (fd < 0 && errno == ENOENT)
        return FAIL(e, NOT_FOUND, "there is no key file %s", c->path);
    if (fd < 0)
        return fail_io(e, c->path, "opened");
    TRY(file_check(fd, c->path, e));
    while (got > 0 && n < sizeof image) {
        got = read(fd, image + n, sizeof image - n);
        n += got > 0 ? (size_t)got : 0;
    }
    enum errc rc = got < 0 ? fail_io(e, c->path, "read") : image_read(image, n, s, e);
    secret_wipe(image, sizeof image);
    return rc;
}

/* Write the image beside the path; then link (new file only) or rename (replace). */
enum errc softfile_write(const struct softfile *s, bool is_new, struct err *e)
{
    const struct provider_config *c = &s->config;
    uint8_t image[FILE_MAX];
    char temp[PATH_MAX_BYTES + 32], dir[PATH_MAX_BYTES + 2];
    if (strlen(c->path) > PATH_MAX_BYTES)
        return FAIL(e, INVALID, "the path of the key file is too long");
    snprintf(temp, sizeof temp, "%s.new.%ld", c->path, (long)getpid());
    const char *slash = strrchr(c->path, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - c->path + 1) : 1, slash ? c->path : ".");
    (void)unlink(temp);
    CLEANUP(fd_closep) int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_io(e, temp, "made");
    size_t n = image_make(s, image);
    bool ok = write(fd, image, n) == (ssize_t)n && fsync(fd) == 0;
    secret_wipe(image, sizeof image);
    ok = ok && (is_new ? link(temp, c->path) == 0 : rename(temp, c->path) == 0);
    enum errc rc = ok ? ERR_OK
                   : is_new && errno == EEXIST ? FAIL(e, EXISTS, "the key file %s exists already", c->path)
                                               : fail_io(e, c->path, "written");
    if (is_new || !ok)
        (void)unlink(temp);
    CLEANUP(fd_closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rc == ERR_OK && (dir_fd < 0 || fsync(dir_fd) != 0))
        return fail_io(e, dir, "synchronised");
    return rc;
}
