/* SPDX-License-Identifier: Apache-2.0 */
/* lease_kit.h - what the agent's tests share: sealed objects, a stand-in for the API's files, and reports read back. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/stream.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/crypto/hash.h"
#include "workers/lease/executor.h"

static inline struct uuid kit_id(int n)
{
    struct uuid u = { { 1, 2, 3 } };
    u.b[15] = (uint8_t)n;
    return u;
}

static inline void kit_text(int n, const char *prefix, char out[64])
{
    struct buf b = BUF(64);
    buf_add_id(&b, prefix, kit_id(n));
    snprintf(out, 64, "%s", b.ptr);
    buf_release(&b);
}

static inline struct lease_grant kit_grant(int n, const char *kind, const char *spec)
{
    return (struct lease_grant){ .tenant_id = kit_id(200), .attempt_id = kit_id(n), .job_id = kit_id(n + 100), .fence = 1, .kind = str_c(kind),
                           .name = STR("test"), .zone = STR("ae-dxb-1"), .spec = { str_c(spec) }, .slots = 1, .lease_ms = 30000 };
}

enum { KIT_PART = 4000 };

/* The objects' side of the API: one sealed input, one output, and checkpoints in the order in which they began. */
enum { KIT_CKPTS_MAX = 64, KIT_CKPT_ID = 70 };
struct kit_ckpt {
    struct buf sealed;
    int64_t size, step;
    char sha[65];
    bool is_kept;
    char name[64];                      /* of an artifact; "": a checkpoint */
};
struct kit_store {
    struct kit_ckpt ckpts[KIT_CKPTS_MAX];
    int n_ckpts;
    bool refuse_ckpts;                  /* as a tenant without room */
    struct secret32 in_key, out_key;
    struct uuid tenant;
    struct buf sealed, uploaded;
    char in_sha[65], out_sha[65];
    int64_t plain_size, out_size;
    int uploads, lose_after;            /* parts that came; after so many all that came is lost, once. 0: never */
};

static inline enum errc kit_to_buf(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)e;
    assert_true(buf_add(ctx, p, n));
    return ERR_OK;
}

static inline void kit_put(struct kit_store *s, const char *kind, const void *p, size_t n)
{
    struct err e = { 0 };
    struct stream_sealer *sealer = NULL;
    const struct stream_ref ref = { kit_id(200), str_c(kind), kit_id(50), 1, kit_id(51) };
    uint8_t digest[32];
    for (int i = 0; i < 32; i++) {
        s->in_key.b[i] = (uint8_t)(i * 7 + 1);
        s->out_key.b[i] = (uint8_t)(i * 5 + 2);
    }
    s->sealed = BUF((size_t)64 << 20);
    s->uploaded = BUF((size_t)64 << 20);
    assert_int_equal(stream_sealer_new(&s->in_key, &ref, kit_to_buf, &s->sealed, &sealer, &e), ERR_OK);
    assert_int_equal(stream_sealer_feed(sealer, p, n, &e), ERR_OK);
    assert_int_equal(stream_sealer_finish(sealer, &e), ERR_OK);
    stream_sealer_free(sealer);
    sha256(p, n, digest);
    hex_encode(digest, 32, s->in_sha);
    s->plain_size = (int64_t)n;
}

static inline void kit_add_input(struct lease_grant *g, const struct kit_store *s, const char *kind)
{
    static struct lease_input in;               /* until the grant is copied into the book */
    in = (struct lease_input){ .name = str_c(kind), .kind = str_c(kind), .sha256 = str_c(s->in_sha), .object_id = kit_id(50), .version = 1,
                               .size_bytes = s->plain_size };
    g->inputs = (struct slice){ &in, 1 };
}

static inline enum errc kit_keys(void *ctx, struct arena *a, const struct lease_grant *g, struct release_key *keys, struct err *e)
{
    (void)a, (void)g, (void)e;
    keys[0] = (struct release_key){ kit_id(51), ((struct kit_store *)ctx)->in_key };
    for (size_t i = 1; i < g->inputs.n; i++)
        keys[i] = (struct release_key){ kit_id(61), ((struct kit_store *)ctx)->out_key };
    return ERR_OK;
}

static inline enum errc kit_download(void *ctx, struct arena *a, const struct lease_grant *g, struct uuid id, int fd, struct err *e)
{
    (void)a, (void)g, (void)e;
    struct kit_store *s = ctx;
    const struct buf *b = uuid_eq(id, kit_id(50)) ? &s->sealed : &s->ckpts[id.b[15] - KIT_CKPT_ID].sealed;
    assert_int_equal(write(fd, b->ptr, b->len), b->len);
    return ERR_OK;
}

static inline enum errc kit_place(void *ctx, struct arena *a, const struct lease_grant *g, struct str name,
                                   enum lease_output_kind kind, struct output_place *ret, struct err *e)
{
    (void)a, (void)g, (void)e;
    struct kit_store *s = ctx;
    if (kind == LO_ARTIFACT || kind == LO_DATASET) {          /* lies among the checkpoints, under its name */
        assert_true(s->n_ckpts < KIT_CKPTS_MAX);
        s->ckpts[s->n_ckpts].sealed = BUF((size_t)64 << 20);
        snprintf(s->ckpts[s->n_ckpts].name, sizeof s->ckpts[0].name, "%.*s", STR_ARG(name));
        *ret = (struct output_place){ kit_id(KIT_CKPT_ID + s->n_ckpts++), kit_id(61), 1, KIT_PART, s->out_key };
        return ERR_OK;
    }
    assert_true(str_eq_c(name, "model"));
    assert_int_equal(kind, LO_MODEL);
    *ret = (struct output_place){ kit_id(60), kit_id(61), 1, KIT_PART, ((struct kit_store *)ctx)->out_key };
    return ERR_OK;
}

static inline enum errc kit_checkpoint(void *ctx, struct arena *a, const struct lease_grant *g, struct output_place *ret,
                                       struct err *e)
{
    (void)a, (void)g;
    struct kit_store *s = ctx;
    if (s->refuse_ckpts)
        return FAIL(e, QUOTA, "there is no room");
    assert_true(s->n_ckpts < KIT_CKPTS_MAX);
    s->ckpts[s->n_ckpts].sealed = BUF((size_t)64 << 20);
    *ret = (struct output_place){ kit_id(KIT_CKPT_ID + s->n_ckpts++), kit_id(61), 1, KIT_PART, s->out_key };
    return ERR_OK;
}

static inline enum errc kit_checkpoint_keep(void *ctx, struct arena *a, const struct lease_grant *g, struct uuid id, int64_t step,
                                            struct err *e)
{
    (void)a, (void)g, (void)e;
    struct kit_ckpt *k = &((struct kit_store *)ctx)->ckpts[id.b[15] - KIT_CKPT_ID];
    k->step = step;
    k->is_kept = true;
    return ERR_OK;
}

static inline enum errc kit_ckpt_part(struct kit_store *s, const struct upload_part *p)
{
    char room[KIT_PART];
    struct kit_ckpt *k = &s->ckpts[p->object_id.b[15] - KIT_CKPT_ID];
    assert_int_equal(p->offset, k->sealed.len);
    assert_int_equal(pread(p->fd, room, (size_t)p->bytes, p->offset), p->bytes);
    buf_add(&k->sealed, room, (size_t)p->bytes);
    k->size = p->plain_size;
    snprintf(k->sha, sizeof k->sha, "%.*s", STR_ARG(p->sha256));
    return ERR_OK;
}

/* One more input of the lease: head and content, sealed as this kind. Before kit_add_checkpoints. */
static inline void kit_add_sealed(struct lease_grant *g, struct kit_store *s, const char *name, const char *kind, struct str head,
                                  struct str content)
{
    static struct lease_input in[24];           /* until the grant is copied into the book */
    static char names[24][80];
    struct err e = { 0 };
    struct stream_sealer *sealer = NULL;
    struct kit_ckpt *k = &s->ckpts[s->n_ckpts];
    const struct stream_ref ref = { kit_id(200), str_c(kind), kit_id(KIT_CKPT_ID + s->n_ckpts), 1, kit_id(61) };
    struct sha256 sha;
    uint8_t digest[32];
    k->sealed = BUF((size_t)64 << 20);
    assert_int_equal(stream_sealer_new(&s->out_key, &ref, kit_to_buf, &k->sealed, &sealer, &e), ERR_OK);
    assert_int_equal(stream_sealer_feed(sealer, head.ptr, head.len, &e), ERR_OK);
    assert_int_equal(stream_sealer_feed(sealer, content.ptr, content.len, &e), ERR_OK);
    assert_int_equal(stream_sealer_finish(sealer, &e), ERR_OK);
    stream_sealer_free(sealer);
    sha256_init(&sha);
    sha256_add(&sha, head.ptr, head.len);
    sha256_add(&sha, content.ptr, content.len);
    sha256_final(&sha, digest);
    hex_encode(digest, 32, k->sha);
    const size_t at = g->inputs.n;
    if (at && g->inputs.items != in)
        memcpy(in, g->inputs.items, at * sizeof *in);
    snprintf(names[at], sizeof names[at], "%s", name);
    in[at] = (struct lease_input){ .name = str_c(names[at]), .kind = str_c(kind), .sha256 = str_c(k->sha), .version = 1,
                                   .object_id = kit_id(KIT_CKPT_ID + s->n_ckpts++),
                                       .size_bytes = (int64_t)(head.len + content.len) };
    g->inputs = (struct slice){ in, at + 1 };
}

/* A value of a secret; name: "secret:env:TOKEN". */
static inline void kit_add_secret(struct lease_grant *g, struct kit_store *s, const char *name, const void *value, size_t n)
{
    kit_add_sealed(g, s, name, "secret", STR("noise before what is of interest"), str_n(value, n));
}

/* The two newest that were kept, as the next lease has them. */
static inline void kit_add_checkpoints(struct lease_grant *g, const struct kit_store *s)
{
    static struct lease_input in[3];            /* until the grant is copied into the book */
    in[0] = ((const struct lease_input *)g->inputs.items)[0];
    size_t n = 1;
    for (int i = s->n_ckpts - 1; i >= 0 && n < 3; i--)
        if (s->ckpts[i].is_kept)
            in[n++] = (struct lease_input){ .name = STR("checkpoint"), .kind = STR("checkpoint"),
                                           .sha256 = str_c(s->ckpts[i].sha),
                                            .object_id = kit_id(KIT_CKPT_ID + i), .version = 1, .size_bytes = s->ckpts[i].size };
    g->inputs = (struct slice){ in, n };
}

static inline enum errc kit_upload(void *ctx, struct arena *a, const struct lease_grant *g, const struct upload_part *p,
                                   struct err *e)
{
    (void)a, (void)g;
    struct kit_store *s = ctx;
    char room[KIT_PART];
    if (!uuid_eq(p->object_id, kit_id(60)))
        return kit_ckpt_part(s, p);
    assert_in_range(p->bytes, 1, KIT_PART);
    if (s->lose_after && s->uploads == s->lose_after) {
        s->lose_after = 0;
        buf_clear(&s->uploaded);
    }
    if (p->offset != (int64_t)s->uploaded.len)
        return FAIL(e, CONFLICT, "%zu bytes are here", s->uploaded.len);
    assert_int_equal(pread(p->fd, room, (size_t)p->bytes, p->offset), p->bytes);
    buf_add(&s->uploaded, room, (size_t)p->bytes);
    s->uploads++;
    s->out_size = p->plain_size;
    snprintf(s->out_sha, sizeof s->out_sha, "%.*s", STR_ARG(p->sha256));
    return ERR_OK;
}

static inline struct executor_io kit_io(struct kit_store *s)
{
    return (struct executor_io){ s, kit_keys, kit_download, kit_place, kit_upload, kit_checkpoint, kit_checkpoint_keep };
}

#include "tests/unit/workers/lease/lease_read.h"
