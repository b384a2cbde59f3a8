/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt_seal.c - sealing on the way to the file, opening on the way back; plaintext is never written. */
#include "workers/lease/ckpt_seal.h"

#include <errno.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/key_import.h"
#include "core/crypto/rand.h"
#include "core/crypto/stream.h"

enum { SALT = 16, READ_BYTES = 1 << 18 };

void ckpt_seal_init(struct ckpt_seal *s, const struct release_key *of, struct uuid tenant_id, struct uuid job_id)
{
    uint8_t info[32];
    memcpy(info, tenant_id.b, 16);
    memcpy(info + 16, job_id.b, 16);
    s->tenant_id = tenant_id;
    s->job_id = job_id;
    hkdf_sha256(STR("falaj-ckpt-v1"), of->key.b, sizeof of->key.b, info, sizeof info, s->key.b, sizeof s->key.b);
}

void ckpt_seal_release(struct ckpt_seal *s)
{
    secret_wipe(&s->key, sizeof s->key);
}

static struct secret32 file_key(const struct ckpt_seal *s, const uint8_t salt[SALT])
{
    struct secret32 k;
    hkdf_sha256(str_n((const char *)salt, SALT), s->key.b, sizeof s->key.b, "file", 4, k.b, sizeof k.b);
    return k;
}

static struct stream_ref ref_of(const struct ckpt_seal *s, const uint8_t salt[SALT])
{
    struct stream_ref ref = { .tenant = s->tenant_id, .object_kind = STR("checkpoint"), .object_id = s->job_id, .object_version = 1 };
    memcpy(ref.dek_id.b, salt, SALT);
    return ref;
}

static enum errc into_file(void *ctx, const void *p, size_t n, struct err *e)
{
    for (const char *at = p; n;) {
        ssize_t w = write(*(int *)ctx, at, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0) {
            FAIL(e, IO, "the checkpoint cannot be written");
            return err_errno(e, errno);
        }
        at += w;
        n -= (size_t)w;
    }
    return ERR_OK;
}

static enum errc seal(void *ctx, int fd, struct str plain, struct err *e)
{
    const struct ckpt_seal *s = ctx;
    uint8_t salt[SALT];
    CLEANUP(stream_sealer_freep) struct stream_sealer *sealer = NULL;
    TRY(rand_bytes(salt, sizeof salt, e));
    CLEANUP(secret32_wipe) struct secret32 key = file_key(s, salt);
    const struct stream_ref ref = ref_of(s, salt);
    TRY(into_file(&fd, salt, sizeof salt, e));
    TRY(stream_sealer_new(&key, &ref, into_file, &fd, &sealer, e));
    TRY(stream_sealer_feed(sealer, plain.ptr, plain.len, e));
    return stream_sealer_finish(sealer, e);
}

static ssize_t read_some(int fd, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

struct target {
    char *at;
    size_t n, max;
};

static enum errc into_memory(void *ctx, const void *p, size_t n, struct err *e)
{
    struct target *t = ctx;
    if (n > t->max - t->n)
        return FAIL(e, DAMAGED, "a file of the checkpoint is longer than it should be");
    memcpy(t->at + t->n, p, n);
    t->n += n;
    return ERR_OK;
}

static enum errc open_sealed(void *ctx, int fd, size_t max, struct arena *a, struct str *ret, struct err *e)
{
    const struct ckpt_seal *s = ctx;
    uint8_t salt[SALT];
    uint64_t plain;
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < SALT || lseek(fd, 0, SEEK_SET) != 0 || read_some(fd, salt, sizeof salt) != SALT ||
        !stream_plain_size((uint64_t)size - SALT, &plain))
        return FAIL(e, DAMAGED, "a file of the checkpoint was cut");
    if (plain > max)
        return FAIL(e, LIMIT, "a file of the checkpoint is too large");
    struct target t = { arena_try(a, plain + 1), 0, plain };
    char *room = arena_try(a, READ_BYTES);
    if (!t.at || !room)
        return FAIL(e, LIMIT, "the checkpoint does not fit in the memory of this job");
    CLEANUP(stream_opener_freep) struct stream_opener *o = NULL;
    CLEANUP(secret32_wipe) struct secret32 key = file_key(s, salt);
    const struct stream_ref ref = ref_of(s, salt);
    TRY(stream_opener_new(&key, &ref, into_memory, &t, &o, e));
    for (ssize_t n; (n = read_some(fd, room, READ_BYTES)) != 0;) {
        if (n < 0)
            return FAIL(e, IO, "the checkpoint cannot be read");
        TRY(stream_opener_feed(o, room, (size_t)n, e));
    }
    TRY(stream_opener_finish(o, e));
    *ret = str_n(t.at, t.n);
    return ERR_OK;
}

struct ckpt_vault ckpt_seal_vault(struct ckpt_seal *s)
{
    return (struct ckpt_vault){ s, seal, open_sealed };
}
