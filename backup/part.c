/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - sealing and opening the files of a backup. */
#include "backup/part.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "backup/child.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/rand.h"

enum { MAGIC = 8, SEALED_KEY = KEY_BYTES + HPKE_OVERHEAD, HEAD = MAGIC + 16 + X25519_BYTES + SEALED_KEY, PIECE = 1 << 16,
      NAME_MAX_ = 64 };
static const char magic[MAGIC + 1] = "FLJBKP1\n";

struct part_writer {
    int fd;
    uint64_t bytes;
    struct sha256 sum;
    struct stream_sealer *sealer;
};

static struct stream_ref ref_of(struct uuid set, const char *name)
{
    return (struct stream_ref){ .object_kind = str_c(name), .object_id = set, .object_version = 1 };
}

/* What the file's key is bound to: everything before it, and the name. */
static struct str bound(const uint8_t head[HEAD], const char *name, uint8_t out[HEAD + NAME_MAX_])
{
    size_t n = HEAD - SEALED_KEY, len = strlen(name);
    ASSERT(len <= NAME_MAX_);
    memcpy(out, head, n);
    memcpy(out + n, name, len);
    return str_n((const char *)out, n + len);
}

static enum errc put(void *ctx, const void *p, size_t n, struct err *e)
{
    struct part_writer *w = ctx;
    sha256_add(&w->sum, p, n);
    w->bytes += n;
    enum errc rc = write_all(w->fd, p, n, e);
    return rc != ERR_OK && errno == ENOSPC ? FAIL(e, LIMIT, "the place of the backups is full") : rc;
}

static enum errc begin(struct part_writer *w, struct uuid set, const char *name, const uint8_t to[X25519_BYTES], struct err *e)
{
    struct secret32 key CLEANUP(secret32_wipe) = { 0 };
    uint8_t head[HEAD], text[HEAD + NAME_MAX_];
    struct stream_ref ref = ref_of(set, name);
    TRY(rand_key(key.b, KEY_BYTES, e));
    memcpy(head, magic, MAGIC);
    memcpy(head + MAGIC, set.b, 16);
    memcpy(head + MAGIC + 16, to, X25519_BYTES);
    TRY(hpke_seal(HPKE_AES256_GCM, to, STR("falaj-backup-v1"), bound(head, name, text), key.b, KEY_BYTES,
                  head + HEAD - SEALED_KEY, e));
    TRY(put(w, head, HEAD, e));
    return stream_sealer_new(&key, &ref, put, w, &w->sealer, e);
}

enum errc part_writer_new(const char *path, struct uuid set, const char *name, const uint8_t to[X25519_BYTES],
                          struct part_writer **ret, struct err *e)
{
    struct part_writer *w = calloc(1, sizeof *w);
    ASSERT(w);
    sha256_init(&w->sum);
    w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum errc rc = w->fd < 0 ? err_errno((FAIL(e, IO, "%s cannot be made", path), e), errno) : begin(w, set, name, to, e);
    if (rc != ERR_OK)
        part_drop(w);
    else
        *ret = w;
    return rc;
}

enum errc part_write(struct part_writer *w, const void *p, size_t n, struct err *e)
{
    return stream_sealer_feed(w->sealer, p, n, e);
}

enum errc part_finish(struct part_writer *w, struct part_sum *ret, struct err *e)
{
    enum errc rc = stream_sealer_finish(w->sealer, e);
    if (rc == ERR_OK && fsync(w->fd) < 0)
        rc = err_errno((FAIL(e, IO, "a file of the backup cannot be synced"), e), errno);
    if (rc == ERR_OK) {
        ret->bytes = w->bytes;
        sha256_final(&w->sum, ret->sha256);
    }
    part_drop(w);
    return rc;
}

void part_drop(struct part_writer *w)
{
    if (!w)
        return;
    sha256_release(&w->sum);
    stream_sealer_free(w->sealer);
    fd_closep(&w->fd);
    free(w);
}

/* Fills p as far as the file goes. */
static enum errc read_some(int fd, void *p, size_t n, size_t *ret, struct err *e)
{
    size_t have = 0;
    while (have < n) {
        ssize_t k = read(fd, (char *)p + have, n - have);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_errno((FAIL(e, IO, "a file of the backup cannot be read"), e), errno);
        if (k == 0)
            break;
        have += (size_t)k;
    }
    *ret = have;
    return ERR_OK;
}

static enum errc open_key(const uint8_t head[HEAD], struct uuid set, const char *name, const struct secret32 *recovery,
                          struct secret32 *ret, struct err *e)
{
    uint8_t mine[X25519_BYTES], text[HEAD + NAME_MAX_];
    size_t len;
    if (memcmp(head, magic, MAGIC) != 0)
        return FAIL(e, DAMAGED, "%s is no file of a backup", name);
    if (memcmp(head + MAGIC, set.b, 16) != 0)
        return FAIL(e, DAMAGED, "%s is a file of another backup", name);
    TRY(x25519_public(recovery, mine, e));
    if (memcmp(head + MAGIC + 16, mine, X25519_BYTES) != 0)
        return FAIL(e, FORBIDDEN,
                    "this is not the recovery key of this backup: it was made for %02x%02x%02x%02x…, the key given is "
                    "%02x%02x%02x%02x…",
                    head[MAGIC + 16], head[MAGIC + 17], head[MAGIC + 18], head[MAGIC + 19], mine[0], mine[1], mine[2], mine[3]);
    if (hpke_open(HPKE_AES256_GCM, recovery, STR("falaj-backup-v1"), bound(head, name, text), head + HEAD - SEALED_KEY,
                  SEALED_KEY,
                  ret->b, &len, e) != ERR_OK || len != KEY_BYTES)
        return FAIL(e, DAMAGED, "%s does not open: its head was changed", name);
    return ERR_OK;
}

enum errc part_open(const char *path, struct uuid set, const char *name, const struct secret32 *recovery, stream_sink sink,
                    void *ctx, struct err *e)
{
    struct secret32 key CLEANUP(secret32_wipe) = { 0 };
    CLEANUP(stream_opener_freep) struct stream_opener *opener = NULL;
    uint8_t head[HEAD], piece[PIECE];
    size_t n;
    struct stream_ref ref = ref_of(set, name);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? FAIL(e, NOT_FOUND, "%s is missing", path) :
            err_errno((FAIL(e, IO, "%s cannot be read", path), e), errno);
    TRY(read_some(fd, head, HEAD, &n, e));
    if (n != HEAD)
        return FAIL(e, DAMAGED, "%s is cut: it has no head", name);
    TRY(open_key(head, set, name, recovery, &key, e));
    TRY(stream_opener_new(&key, &ref, sink, ctx, &opener, e));
    do {
        TRY(read_some(fd, piece, PIECE, &n, e));
        if (n)
            TRY(stream_opener_feed(opener, piece, n, e));
    } while (n == PIECE);
    return stream_opener_finish(opener, e);
}

enum errc part_sum_of(const char *path, struct part_sum *ret, struct err *e)
{
    CLEANUP(sha256_release) struct sha256 sum = { 0 };
    uint8_t piece[PIECE];
    size_t n;
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? FAIL(e, NOT_FOUND, "%s is missing", path) :
            err_errno((FAIL(e, IO, "%s cannot be read", path), e), errno);
    sha256_init(&sum);
    *ret = (struct part_sum){ 0 };
    do {
        TRY(read_some(fd, piece, PIECE, &n, e));
        sha256_add(&sum, piece, n);
        ret->bytes += n;
    } while (n == PIECE);
    sha256_final(&sum, ret->sha256);
    return ERR_OK;
}
