/* SPDX-License-Identifier: Apache-2.0 */
/* stream_open.c - the opening half of stream.h: in order (stream_opener) and by chunk (stream_reader).
 *
 * A chunk that does not open is tried once more with the other last flag, only to say what happened: a chunk in the middle that
 * opens as the last one means that data follows the end; a last one that opens as a middle one means that the end is missing. */
#include <stdlib.h>
#include "core/crypto/hash.h"
#include "core/crypto/stream_int.h"

struct stream_opener {
    struct stream_core core;
    stream_sink sink;
    void *ctx;
    uint64_t chunk;             /* number of the chunk in `sealed` */
    size_t head_have, have;
    bool is_over;
    uint8_t sealed[STREAM_SEALED];
    uint8_t plain[STREAM_CHUNK];
};

struct stream_reader {
    struct stream_core core;
    uint64_t sealed_size;
    uint32_t chunks;
};

/* Check the header, then bind it. The hash only serves to tell "another object" from "damaged". */
static enum errc head_accept(struct stream_core *c, struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    if (memcmp(c->head, "FLJS", 4) != 0)
        return FAIL(e, DAMAGED, "the object is not a sealed one");
    if (c->head[4] != STREAM_VERSION || c->head[5] != STREAM_CHUNK_LOG2)
        return FAIL(e, DAMAGED, "the sealed object has version %u and chunks of 2^%u; known are %d and 2^%d", c->head[4],
                    c->head[5], STREAM_VERSION, STREAM_CHUNK_LOG2);
    sha256(c->aad.b, c->aad.n, digest);
    if (!mem_eq_ct(digest, c->head + 6 + STREAM_PREFIX, sizeof digest))
        return FAIL(e, DAMAGED, "the sealed object is not the one that was asked for");
    aad_bytes(&c->aad, c->head, STREAM_HEAD);
    return c->aad.overflow ? FAIL(e, INVALID, "the kind of the object is too long") : ERR_OK;
}

static bool try_chunk(const struct stream_core *c, uint32_t chunk, bool is_last, const void *sealed, size_t n, uint8_t *out)
{
    uint8_t nonce[GCM_NONCE];
    stream_nonce(c, chunk, is_last, nonce);
    return gcm_open(c->key->b, KEY_BYTES, nonce, c->aad.b, c->aad.n, sealed, n, out);
}

static enum errc open_chunk(const struct stream_core *c, uint64_t chunk, bool is_last, const void *sealed, size_t n, uint8_t *out,
                            struct err *e)
{
    if (chunk > UINT32_MAX)
        return FAIL(e, DAMAGED, "the sealed object has more than 2^32 chunks");
    uint32_t number = (uint32_t)chunk;
    if (n < STREAM_TAG || (n == STREAM_TAG && number > 0))
        return FAIL(e, DAMAGED, "the sealed object is cut off in chunk %u", number);
    if (try_chunk(c, number, is_last, sealed, n, out))
        return ERR_OK;
    bool is_other = try_chunk(c, number, !is_last, sealed, n, out);
    secret_wipe(out, n - STREAM_TAG);
    if (is_other && is_last)
        return FAIL(e, DAMAGED, "the sealed object is cut off after chunk %u", number);
    if (is_other)
        return FAIL(e, DAMAGED, "the sealed object goes on after its last chunk %u", number);
    return FAIL(e, DAMAGED, "chunk %u of the sealed object was changed, moved or cut, or the key is another", number);
}

enum errc stream_opener_new(const struct secret32 *key, const struct stream_ref *ref, stream_sink sink, void *ctx,
                            struct stream_opener **ret, struct err *e)
{
    struct aad aad;
    TRY(stream_ref_aad(ref, &aad, e));
    struct stream_opener *s = calloc(1, sizeof *s);
    if (!s)
        return FAIL(e, LIMIT, "no memory to decrypt the object");
    s->core.aad = aad;
    s->sink = sink;
    s->ctx = ctx;
    stream_core_key(&s->core, key);
    *ret = s;
    return ERR_OK;
}

static enum errc opener_step(struct stream_opener *s, bool is_last, struct err *e)
{
    TRY(open_chunk(&s->core, s->chunk, is_last, s->sealed, s->have, s->plain, e));
    size_t plain_len = s->have - STREAM_TAG;
    s->chunk++;
    s->have = 0;
    return plain_len > 0 ? s->sink(s->ctx, s->plain, plain_len, e) : ERR_OK;
}

static enum errc opener_feed(struct stream_opener *s, const uint8_t *p, size_t n, struct err *e)
{
    while (n > 0 && s->head_have < STREAM_HEAD) {
        s->core.head[s->head_have++] = *p++;
        n--;
        if (s->head_have == STREAM_HEAD)
            TRY(head_accept(&s->core, e));
    }
    while (n > 0) {
        if (s->have == STREAM_SEALED)
            TRY(opener_step(s, false, e));
        size_t part = STREAM_SEALED - s->have < n ? STREAM_SEALED - s->have : n;
        memcpy(s->sealed + s->have, p, part);
        s->have += part;
        p += part;
        n -= part;
    }
    return ERR_OK;
}

enum errc stream_opener_feed(struct stream_opener *s, const void *p, size_t n, struct err *e)
{
    if (s->is_over)
        return FAIL(e, CONFLICT, "the object is already open or has failed");
    enum errc rc = opener_feed(s, p, n, e);
    s->is_over = rc != ERR_OK;
    return rc;
}

enum errc stream_opener_finish(struct stream_opener *s, struct err *e)
{
    if (s->is_over)
        return FAIL(e, CONFLICT, "the object is already open or has failed");
    s->is_over = true;
    if (s->head_have < STREAM_HEAD)
        return FAIL(e, DAMAGED, "the sealed object is cut off in its header");
    return opener_step(s, true, e);
}

void stream_opener_free(struct stream_opener *s)
{
    if (!s)
        return;
    stream_core_wipe(&s->core);
    secret_wipe(s->plain, sizeof s->plain);
    free(s);
}

void stream_opener_freep(struct stream_opener **s)
{
    stream_opener_free(*s);
    *s = NULL;
}

enum errc stream_reader_new(const struct secret32 *key, const struct stream_ref *ref, const uint8_t head[STREAM_HEAD],
                            uint64_t sealed_size, struct stream_reader **ret, struct err *e)
{
    struct stream_core core = { 0 };
    uint64_t plain_size;
    TRY(stream_ref_aad(ref, &core.aad, e));
    memcpy(core.head, head, STREAM_HEAD);
    TRY(head_accept(&core, e));
    if (!stream_plain_size(sealed_size, &plain_size))
        return FAIL(e, DAMAGED, "%llu bytes is no size of a sealed object", (unsigned long long)sealed_size);
    struct stream_reader *r = calloc(1, sizeof *r);
    if (!r)
        return FAIL(e, LIMIT, "no memory to decrypt the object");
    r->core = core;
    r->sealed_size = sealed_size;
    r->chunks = (uint32_t)(plain_size == 0 ? 1 : (plain_size - 1) / STREAM_CHUNK + 1);
    stream_core_key(&r->core, key);
    *ret = r;
    return ERR_OK;
}

uint32_t stream_reader_chunks(const struct stream_reader *r)
{
    return r->chunks;
}

void stream_chunk_at(const struct stream_reader *r, uint32_t chunk, uint64_t *ret_offset, size_t *ret_len)
{
    uint64_t offset = STREAM_HEAD + (uint64_t)chunk * STREAM_SEALED;
    uint64_t left = offset < r->sealed_size ? r->sealed_size - offset : 0;
    *ret_offset = offset;
    *ret_len = (size_t)(left < STREAM_SEALED ? left : STREAM_SEALED);
}

enum errc stream_open_chunk(const struct stream_reader *r, uint32_t chunk, const void *sealed, size_t n, void *out,
                            size_t *ret_len, struct err *e)
{
    uint64_t offset;
    size_t want;
    stream_chunk_at(r, chunk, &offset, &want);
    if (chunk >= r->chunks || n != want)
        return FAIL(e, INVALID, "chunk %u of %u has %zu bytes, not %zu", chunk, r->chunks, want, n);
    TRY(open_chunk(&r->core, chunk, chunk + 1 == r->chunks, sealed, n, out, e));
    *ret_len = n - STREAM_TAG;
    return ERR_OK;
}

void stream_reader_free(struct stream_reader *r)
{
    if (!r)
        return;
    stream_core_wipe(&r->core);
    free(r);
}

void stream_reader_freep(struct stream_reader **r)
{
    stream_reader_free(*r);
    *r = NULL;
}
