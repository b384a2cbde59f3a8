/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the sealing half of stream.h, and what both halves share.
 *
 * The sealer holds back one full chunk, because only finish knows which chunk is the last. */
#include "core/crypto/stream_int.h"
#include <stdlib.h>
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

static const uint8_t stream_magic[4] = { 'F', 'L', 'J', 'S' };

struct stream_sealer {
    struct stream_core core;
    stream_sink sink;
    void *ctx;
    uint64_t chunk;             /* number of the chunk in `plain` */
    size_t have;                /* bytes in `plain` */
    bool is_over;               /* finished or failed */
    bool has_head;              /* the header is out */
    uint8_t plain[STREAM_CHUNK];
    uint8_t sealed[STREAM_SEALED];
};

enum errc stream_ref_aad(const struct stream_ref *ref, struct aad *ret, struct err *e)
{
    aad_init(ret, "falaj-obj-v1");
    aad_uuid(ret, ref->tenant);
    aad_str(ret, ref->object_kind);
    aad_uuid(ret, ref->object_id);
    aad_u32(ret, ref->object_version);
    aad_uuid(ret, ref->dek_id);
    if (ret->overflow || ref->object_kind.len == 0)
        return FAIL(e, INVALID, "the kind of the object is empty or too long");
    return ERR_OK;
}

void stream_core_key(struct stream_core *c, const struct secret32 *key)
{
    c->key = secret32_new();
    if (!c->key)
        c->key = &c->plain_key;
    *c->key = *key;
}

void stream_core_wipe(struct stream_core *c)
{
    if (c->key != &c->plain_key)
        secret32_free(c->key);
    c->key = NULL;
    secret32_wipe(&c->plain_key);
}

void stream_nonce(const struct stream_core *c, uint32_t chunk, bool is_last, uint8_t nonce[GCM_NONCE])
{
    memcpy(nonce, c->head + 6, STREAM_PREFIX);
    nonce[7] = (uint8_t)(chunk >> 24);
    nonce[8] = (uint8_t)(chunk >> 16);
    nonce[9] = (uint8_t)(chunk >> 8);
    nonce[10] = (uint8_t)chunk;
    nonce[11] = is_last;
}

static enum errc head_make(struct stream_core *c, struct err *e)
{
    memcpy(c->head, stream_magic, 4);
    c->head[4] = STREAM_VERSION;
    c->head[5] = STREAM_CHUNK_LOG2;
    TRY(rand_bytes(c->head + 6, STREAM_PREFIX, e));
    sha256(c->aad.b, c->aad.n, c->head + 6 + STREAM_PREFIX);
    aad_bytes(&c->aad, c->head, STREAM_HEAD);
    return c->aad.overflow ? FAIL(e, INVALID, "the kind of the object is too long") : ERR_OK;
}

enum errc stream_sealer_new(const struct secret32 *key, const struct stream_ref *ref, stream_sink sink, void *ctx,
                            struct stream_sealer **ret, struct err *e)
{
    struct aad aad;
    TRY(stream_ref_aad(ref, &aad, e));
    struct stream_sealer *s = calloc(1, sizeof *s);
    if (!s)
        return FAIL(e, LIMIT, "no memory to encrypt the object");
    s->core.aad = aad;
    s->sink = sink;
    s->ctx = ctx;
    enum errc rc = head_make(&s->core, e);
    if (rc != ERR_OK) {
        free(s);
        return rc;
    }
    stream_core_key(&s->core, key);
    *ret = s;
    return ERR_OK;
}

static enum errc seal_chunk(struct stream_sealer *s, bool is_last, struct err *e)
{
    uint8_t nonce[GCM_NONCE];
    if (!s->has_head)
        TRY(s->sink(s->ctx, s->core.head, STREAM_HEAD, e));
    s->has_head = true;
    if (s->chunk > UINT32_MAX)
        return FAIL(e, TOO_LARGE, "the object has more than 2^32 chunks");
    stream_nonce(&s->core, (uint32_t)s->chunk, is_last, nonce);
    if (!gcm_seal(s->core.key->b, KEY_BYTES, nonce, s->core.aad.b, s->core.aad.n, s->plain, s->have, s->sealed))
        return FAIL(e, INTERNAL, "encryption failed");
    TRY(s->sink(s->ctx, s->sealed, s->have + STREAM_TAG, e));
    s->chunk++;
    s->have = 0;
    return ERR_OK;
}

static enum errc seal_feed(struct stream_sealer *s, const uint8_t *p, size_t n, struct err *e)
{
    while (n > 0) {
        if (s->have == STREAM_CHUNK)
            TRY(seal_chunk(s, false, e));
        size_t part = STREAM_CHUNK - s->have < n ? STREAM_CHUNK - s->have : n;
        memcpy(s->plain + s->have, p, part);
        s->have += part;
        p += part;
        n -= part;
    }
    return ERR_OK;
}

enum errc stream_sealer_feed(struct stream_sealer *s, const void *p, size_t n, struct err *e)
{
    if (s->is_over)
        return FAIL(e, CONFLICT, "the object is already sealed or has failed");
    enum errc rc = seal_feed(s, p, n, e);
    s->is_over = rc != ERR_OK;
    return rc;
}

enum errc stream_sealer_finish(struct stream_sealer *s, struct err *e)
{
    if (s->is_over)
        return FAIL(e, CONFLICT, "the object is already sealed or has failed");
    s->is_over = true;
    return seal_chunk(s, true, e);
}

void stream_sealer_free(struct stream_sealer *s)
{
    if (!s)
        return;
    stream_core_wipe(&s->core);
    secret_wipe(s->plain, sizeof s->plain);
    free(s);
}

void stream_sealer_freep(struct stream_sealer **s)
{
    stream_sealer_free(*s);
    *s = NULL;
}

uint64_t stream_sealed_size(uint64_t plain_size)
{
    uint64_t chunks = plain_size == 0 ? 1 : (plain_size - 1) / STREAM_CHUNK + 1;
    return STREAM_HEAD + plain_size + chunks * STREAM_TAG;
}

bool stream_plain_size(uint64_t sealed_size, uint64_t *ret)
{
    if (sealed_size < STREAM_HEAD + STREAM_TAG)
        return false;
    uint64_t body = sealed_size - STREAM_HEAD, full = body / STREAM_SEALED, rest = body % STREAM_SEALED;
    if (full + (rest > 0) > (uint64_t)UINT32_MAX + 1 || (rest > 0 && rest < STREAM_TAG) || (rest == STREAM_TAG && full > 0))
        return false;
    *ret = full * STREAM_CHUNK + (rest > 0 ? rest - STREAM_TAG : 0);
    return true;
}
