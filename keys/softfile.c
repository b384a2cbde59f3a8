/* SPDX-License-Identifier: Apache-2.0 */
/* softfile.c - the development key store: the zone's root keys and its signing key in one 0600 file.
 *
 * File: "FLJROOT1" | SHA-256 of the zone name 32 | Ed25519 seed 32 | u32 n (1..16, big endian) | n x root key 32, version 1
 * first | SHA-256 of all that 32. It is opened without following links and must be a regular file of exactly that size, owned
 * by the process and closed to everyone else. It is made whole under another name and then linked, so it never exists in part.
 * Keys live in the locked heap. Not for production: whoever reads the disk has the keys. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "keys/provider.h"

enum { ROOTS_MAX = 16, HEAD = 8 + 32 + 32 + 4, FILE_MAX = HEAD + ROOTS_MAX * KEY_BYTES + SHA256_BYTES, PATH_MAX_BYTES = 4000 };

struct softfile_keys {
    struct secret32 seed;
    struct secret32 roots[ROOTS_MAX];
};

struct softfile {
    struct softfile_keys *keys;         /* locked heap */
    uint32_t n_roots;
    uint8_t public_key[ED25519_PUBLIC];
};

static enum errc fail_io(struct err *e, const char *path, const char *what)
{
    int saved = errno;
    (void)FAIL(e, IO, "the key file %s cannot be %s", path, what);
    (void)err_errno(e, saved);
    return ERR_IO;
}

static size_t image_make(const struct provider_config *c, const struct softfile *s, uint8_t out[FILE_MAX])
{
    size_t n = HEAD + (size_t)s->n_roots * KEY_BYTES;
    memcpy(out, "FLJROOT1", 8);
    sha256(c->zone.ptr, c->zone.len, out + 8);
    memcpy(out + 40, s->keys->seed.b, KEY_BYTES);
    memset(out + 72, 0, 3);
    out[75] = (uint8_t)s->n_roots;
    memcpy(out + HEAD, s->keys->roots, (size_t)s->n_roots * KEY_BYTES);
    sha256(out, n, out + n);
    return n + SHA256_BYTES;
}

static enum errc image_read(const struct provider_config *c, const uint8_t *b, size_t n, struct softfile *s, struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    size_t roots = n >= HEAD ? b[75] : 0;
    if (n < HEAD || memcmp(b, "FLJROOT1", 8) != 0 || b[72] || b[73] || b[74] || roots < 1 || roots > ROOTS_MAX
        || n != HEAD + roots * KEY_BYTES + SHA256_BYTES)
        return FAIL(e, DAMAGED, "the key file %s is not one, or has the wrong size", c->path);
    sha256(b, n - SHA256_BYTES, digest);
    if (!mem_eq_ct(digest, b + n - SHA256_BYTES, sizeof digest))
        return FAIL(e, DAMAGED, "the key file %s is damaged", c->path);
    sha256(c->zone.ptr, c->zone.len, digest);
    if (!mem_eq_ct(digest, b + 8, sizeof digest))
        return FAIL(e, INVALID, "the key file %s is not that of zone %.*s", c->path, STR_ARG(c->zone));
    memcpy(s->keys->seed.b, b + 40, KEY_BYTES);
    memcpy(s->keys->roots, b + HEAD, roots * KEY_BYTES);
    s->n_roots = (uint32_t)roots;
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

static enum errc file_read(const struct provider_config *c, struct softfile *s, struct err *e)
{
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
    enum errc rc = got < 0 ? fail_io(e, c->path, "read") : image_read(c, image, n, s, e);
    secret_wipe(image, sizeof image);
    return rc;
}

/* Write the image beside the path; then link (new file only) or rename (replace). */
static enum errc file_write(const struct provider_config *c, const struct softfile *s, bool is_new, struct err *e)
{
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
    size_t n = image_make(c, s, image);
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

static enum errc keys_make(struct softfile *s, struct err *e)
{
    TRY(rand_key(s->keys->seed.b, KEY_BYTES, e));
    TRY(rand_key(s->keys->roots[0].b, KEY_BYTES, e));
    s->n_roots = 1;
    return ERR_OK;
}

static enum errc file_load(const struct provider_config *c, struct softfile *s, struct err *e)
{
    enum errc rc = file_read(c, s, e);
    if (rc == ERR_NOT_FOUND && c->is_init) {
        TRY(keys_make(s, e));
        rc = file_write(c, s, true, e);
        if (rc == ERR_EXISTS)           /* another process was faster: its keys count */
            rc = file_read(c, s, e);
    }
    TRY(rc);
    if (!c->is_rotate)
        return ERR_OK;
    if (s->n_roots == ROOTS_MAX)
        return FAIL(e, LIMIT, "the key file %s has all %d root versions it can hold", c->path, ROOTS_MAX);
    TRY(rand_key(s->keys->roots[s->n_roots].b, KEY_BYTES, e));
    s->n_roots++;
    return file_write(c, s, false, e);
}

static void softfile_close(void *p)
{
    struct softfile *s = p;
    if (!s)
        return;
    secret_free(s->keys, sizeof *s->keys);
    free(s);
}

static enum errc softfile_open(const struct provider_config *c, void **ret, struct err *e)
{
    if (!c->path)
        return FAIL(e, INVALID, "the soft key store needs a file");
    struct softfile *s = calloc(1, sizeof *s);
    if (s)
        s->keys = secret_alloc(sizeof *s->keys);
    if (!s || !s->keys) {
        softfile_close(s);
        return FAIL(e, LIMIT, "no locked memory for the root keys");
    }
    enum errc rc = file_load(c, s, e);
    if (rc == ERR_OK)
        rc = ed25519_public(&s->keys->seed, s->public_key, e);
    if (rc != ERR_OK) {
        softfile_close(s);
        return rc;
    }
    *ret = s;
    return ERR_OK;
}

static enum errc softfile_health(void *p, struct err *e)
{
    struct softfile *s = p;
    return s->n_roots > 0 ? ERR_OK : FAIL(e, SEALED, "the soft key store has no root key");
}

static enum errc softfile_root_info(void *p, struct root_info *ret, struct err *e)
{
    const struct softfile *s = p;
    (void)e;
    *ret = (struct root_info){ .current_version = s->n_roots, .oldest_version = 1, .mechanism = "aes-256-gcm" };
    return ERR_OK;
}

static enum errc softfile_wrap(void *p, struct blob_head head, const struct aad *binding, const struct secret32 *key,
                               struct key_blob *ret, struct err *e)
{
    const struct softfile *s = p;
    size_t n = 0;
    head.version = s->n_roots;
    TRY(blob_seal(&s->keys->roots[s->n_roots - 1], &head, binding, key->b, KEY_BYTES, ret->b, sizeof ret->b, &n, e));
    ret->n = (uint16_t)n;
    return ERR_OK;
}

static enum errc softfile_unwrap(void *p, struct blob_head head, const struct aad *binding, const struct key_blob *blob,
                                 struct secret32 *ret, struct err *e)
{
    const struct softfile *s = p;
    struct blob_head seen;
    size_t n = 0;
    TRY(blob_parse(blob->b, blob->n, &seen, e));
    if (blob->n != BLOB_OVERHEAD + KEY_BYTES || seen.version == 0 || seen.version > s->n_roots)
        return FAIL(e, DAMAGED, "the wrapped tenant key does not open at this place");
    head.version = seen.version;
    return blob_open(&s->keys->roots[seen.version - 1], &head, binding, blob->b, blob->n, ret->b, KEY_BYTES, &n, e);
}

static enum errc softfile_sign(void *p, const void *bytes, size_t n, uint8_t ret_sig[ED25519_SIG], struct err *e)
{
    const struct softfile *s = p;
    return ed25519_sign(&s->keys->seed, bytes, n, ret_sig, e);
}

static enum errc softfile_public_key(void *p, uint8_t ret_public[ED25519_PUBLIC], struct err *e)
{
    const struct softfile *s = p;
    (void)e;
    memcpy(ret_public, s->public_key, ED25519_PUBLIC);
    return ERR_OK;
}

static enum errc softfile_random(void *p, void *out, size_t n, struct err *e)
{
    (void)p;
    return rand_key(out, n, e);
}

const struct key_provider provider_softfile = {
    .name = "softfile",
    .is_for_production = false,
    .open = softfile_open,
    .close = softfile_close,
    .health = softfile_health,
    .root_info = softfile_root_info,
    .wrap = softfile_wrap,
    .unwrap = softfile_unwrap,
    .sign = softfile_sign,
    .public_key = softfile_public_key,
    .random = softfile_random,
};
