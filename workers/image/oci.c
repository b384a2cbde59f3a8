/* SPDX-License-Identifier: Apache-2.0 */
/* oci.c - the archive is read once for where its blobs lie; then they are read where the manifest names them. */
#include "workers/image/oci.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"
#include "workers/image/flat.h"
#include "workers/image/gunzip.h"
#include "workers/image/range.h"
#include "workers/image/unpack.h"
#include "workers/image/unzstd.h"

enum { JSON_LEVELS = 16, INDEX_LEVELS = 3, INDEXES_MAX = 32, HEX = 64, PIECE = 65536 };
static const char BLOBS[] = "blobs/sha256/", SHA[] = "sha256:";

/* A blob of the archive: where it lies. */
struct blob {
    char name[sizeof BLOBS + HEX];
    uint64_t at, size;
};
/* What a manifest or an index names. */
struct named {
    struct str digest, media_type;
    int64_t size;
};
struct reading {
    struct arena *a;
    int archive;
    struct str wanted;
    struct blob *blobs;
    size_t n;
    struct named found;             /* the manifest */
    size_t candidates, indexes;
    struct oci_image *image;
    struct unpack unpack;
    struct flat *keep;
};

bool oci_is_digest(struct str s)
{
    uint8_t room[HEX / 2];
    if (s.len != OCI_DIGEST_TEXT || !str_starts(s, SHA))
        return false;
    for (size_t i = sizeof SHA - 1; i < s.len; i++)
        if (s.ptr[i] >= 'A' && s.ptr[i] <= 'F')
            return false;
    return hex_decode(str_n(s.ptr + sizeof SHA - 1, HEX), room, sizeof room);
}

static const struct blob *blob_find(const struct reading *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->blobs[i].name, name))
            return &r->blobs[i];
    return NULL;
}

/* Names are as tools write them, at most with "./" before; what is no part of a layout is passed over. */
static enum errc note_blob(struct reading *r, const struct tar_entry *en, uint64_t at, struct err *e)
{
    const char *name = !strncmp(en->name.ptr, "./", 2) ? en->name.ptr + 2 : en->name.ptr;
    const bool is_blob = !strncmp(name, BLOBS, sizeof BLOBS - 1) && strlen(name) == sizeof BLOBS - 1 + HEX;
    if (en->type != TAR_FILE || (!is_blob && strcmp(name, "oci-layout") != 0 && strcmp(name, "index.json") != 0))
        return ERR_OK;
    if (blob_find(r, name))
        return FAIL(e, BAD_DATA, "the archive has %s twice", name);
    if (r->n == OCI_BLOBS_MAX)
        return FAIL(e, LIMIT, "the archive has more than %d blobs", OCI_BLOBS_MAX);
    struct blob *b = &r->blobs[r->n++];
    snprintf(b->name, sizeof b->name, "%s", name);
    b->at = at;
    b->size = en->size;
    return ERR_OK;
}

static enum errc read_archive(struct reading *r, struct err *e)
{
    struct tar *t = ARENA_NEW(r->a, struct tar);
    struct tar_entry en;
    CLEANUP(range_close) struct range range = { 0 };
    const off_t size = lseek(r->archive, 0, SEEK_END);
    bool more = true;
    r->blobs = ARENA_ARRAY(r->a, struct blob, OCI_BLOBS_MAX);
    tar_begin(t, range_of(&range, r->archive, 0, size > 0 ? (uint64_t)size : 0));
    for (;;) {
        TRY(tar_next(t, &en, &more, e));
        if (!more)
            break;
        TRY(note_blob(r, &en, t->at, e));
        range.at += t->left;                    /* passed over without a look: pread begins behind it */
        range.left -= t->left < range.left ? t->left : range.left;
        t->at += t->left;
        t->left = 0;
    }
    if (!blob_find(r, "oci-layout") || !blob_find(r, "index.json"))
        return FAIL(e, BAD_DATA, "this is no OCI image: an archive with oci-layout and index.json is wanted, as `skopeo copy "
            "IMAGE "
            "oci-archive:FILE` makes one");
    return ERR_OK;
}

static enum errc read_json(const struct reading *r, const struct blob *b, const struct jval **ret, struct err *e)
{
    CLEANUP(range_close) struct range range = { 0 };
    const struct source s = range_of(&range, r->archive, b->at, b->size);
    if (b->size > OCI_JSON_MAX)
        return FAIL(e, LIMIT, "%s has more than %d bytes", b->name, OCI_JSON_MAX);
    char *text = arena_alloc(r->a, (size_t)b->size + 1);
    TRY(source_need(&s, text, (size_t)b->size, b->name, e));
    uint8_t sha[SHA256_BYTES], wanted[SHA256_BYTES];
    sha256_final(&range.sha, sha);
    if (!strncmp(b->name, BLOBS, sizeof BLOBS - 1) &&
        (!hex_decode(str_c(b->name + sizeof BLOBS - 1), wanted, sizeof wanted) || memcmp(sha, wanted, sizeof sha) != 0))
        return FAIL(e, BAD_DATA, "%s is not what its name says: its content has another digest", b->name);
    if (jval_parse(r->a, str_n(text, (size_t)b->size), JSON_LEVELS, ret, e) != ERR_OK || jval_type(*ret) != JT_OBJECT)
        return FAIL(e, BAD_DATA, "%s is no JSON object", b->name);
    return ERR_OK;
}

/* The blob of what is named; its size must be as said. */
static enum errc blob_of(const struct reading *r, const struct named *d, const char *what, const struct blob **ret, struct err *e)
{
    char name[sizeof BLOBS + HEX];
    if (!oci_is_digest(d->digest))
        return FAIL(e, BAD_DATA, "%s has no digest of the form sha256:…", what);
    snprintf(name, sizeof name, "%s%.*s", BLOBS, HEX, d->digest.ptr + sizeof SHA - 1);
    *ret = blob_find(r, name);
    if (!*ret)
        return FAIL(e, BAD_DATA, "%s is missing: the archive has no %s", what, name);
    return d->size >= 0 && (uint64_t)d->size == (*ret)->size ? ERR_OK :
        FAIL(e, BAD_DATA, "%s (%.*s) has %llu bytes and should have %lld",
        what, STR_ARG(d->digest), (unsigned long long)(*ret)->size, (long long)d->size);
}

static struct named named_of(const struct jval *v)
{
    return (struct named){ jval_str(jval_get(v, "digest")), jval_str(jval_get(v, "mediaType")),
        jval_i64(jval_get(v, "size"), -1) };
}

static bool ends_with(struct str s, const char *tail)
{
    const size_t n = strlen(tail);
    return s.len >= n && !memcmp(s.ptr + s.len - n, tail, n);
}

static bool is_for_us(const struct jval *platform)
{
    return !platform || (str_eq_c(jval_str(jval_get(platform, "os")), "linux") &&
                         str_eq_c(jval_str(jval_get(platform, "architecture")), OCI_ARCH));
}

static enum errc look_in_index(struct reading *r, const struct jval *index, int level, struct err *e)
{
    const struct jval *all = jval_get(index, "manifests"), *below;
    const struct blob *b;
    if (jval_type(all) != JT_ARRAY || level > INDEX_LEVELS)
        return FAIL(e, BAD_DATA, "an index of the image names no manifests");
    for (size_t i = 0; i < jval_len(all); i++) {
        const struct named d = named_of(jval_at(all, i));
        const bool is_index = ends_with(d.media_type, "image.index.v1+json") || ends_with(d.media_type, "manifest.list.v2+json");
        if (is_index) {
            if (++r->indexes > INDEXES_MAX)     /* each may name the next one many times */
                return FAIL(e, LIMIT, "the archive has more than %d indexes within each other", INDEXES_MAX);
            TRY(blob_of(r, &d, "an index of the image", &b, e));
            TRY(read_json(r, b, &below, e));
            TRY(look_in_index(r, below, level + 1, e));
        } else if (r->wanted.len ? str_eq(d.digest, r->wanted) : is_for_us(jval_get(jval_at(all, i), "platform"))) {
            r->candidates += !r->candidates || !str_eq(r->found.digest, d.digest);      /* two names of one are one image */
            r->found = d;
        }
    }
    return ERR_OK;
}

static enum errc find_manifest(struct reading *r, const struct jval **ret, struct err *e)
{
    const struct jval *index;
    const struct blob *b;
    TRY(read_json(r, blob_find(r, "index.json"), &index, e));
    TRY(look_in_index(r, index, 1, e));
    if (!r->candidates)
        return r->wanted.len ? FAIL(e, BAD_DATA, "the archive has no image %.*s", STR_ARG(r->wanted))
                             : FAIL(e, UNPROCESSABLE, "the archive has no image for linux/" OCI_ARCH);
    if (r->candidates > 1 && !r->wanted.len)
        return FAIL(e, UNPROCESSABLE, "the archive has %zu images for linux/" OCI_ARCH ": name one by its digest", r->candidates);
    TRY(blob_of(r, &r->found, "the image's manifest", &b, e));
    r->image->digest = r->found.digest;
    return read_json(r, b, ret, e);
}

static enum errc take_config(struct reading *r, const struct jval *config, struct err *e)
{
    const struct jval *env = jval_get(jval_get(config, "config"), "Env");
    if (!is_for_us(config))
        return FAIL(e, UNPROCESSABLE, "the image is for %s/%s; this machine runs linux/" OCI_ARCH,
                    str_z(r->a, jval_str(jval_get(config, "os"))), str_z(r->a, jval_str(jval_get(config, "architecture"))));
    if (jval_len(env) > OCI_ENV_MAX)
        return FAIL(e, LIMIT, "the image sets more than %d variables", OCI_ENV_MAX);
    struct str *list = ARENA_ARRAY(r->a, struct str, jval_len(env) + 1), name, value;
    size_t n = 0;
    for (size_t i = 0; i < jval_len(env); i++) {
        list[n] = jval_str(jval_at(env, i));
        if (!list[n].ptr || !str_cut(list[n], '=', &name, &value) || !name.len || memchr(list[n].ptr, '\0', list[n].len))
            return FAIL(e, BAD_DATA, "variable %zu of the image has not the form NAME=VALUE", i + 1);
        n += !str_starts(name, "FALAJ_");
    }
    r->image->env = (struct slice){ list, n };
    return ERR_OK;
}

/* A layer as a source of its tar, whose bytes are added to a digest too. */
struct layer {
    size_t number;
    struct named named;
    struct str diff;                    /* digest of its content */
    const struct blob *blob;
    struct range packed, plain;         /* plain: for its digest alone */
    struct source content;
    struct flat *keep;                  /* what is read goes there, too; NULL: nowhere */
};

static enum errc layer_read(void *ctx, void *p, size_t n, size_t *ret, struct err *e)
{
    struct layer *l = ctx;
    TRY(l->content.read(l->content.ctx, p, n, ret, e));
    sha256_add(&l->plain.sha, p, *ret);
    if (l->keep)
        flat_add(l->keep, p, *ret);
    return ERR_OK;
}

static bool digest_is(struct range *r, struct str wanted)
{
    uint8_t got[SHA256_BYTES], want[SHA256_BYTES];
    sha256_final(&r->sha, got);
    return oci_is_digest(wanted) && hex_decode(str_n(wanted.ptr + sizeof SHA - 1, HEX), want, sizeof want) &&
           memcmp(got, want, sizeof got) == 0;
}

/* To its end, whatever stands behind the archive: the digests are of all of it. */
static enum errc drain(struct layer *l, struct err *e)
{
    char room[PIECE];
    size_t n;
    do
        TRY(layer_read(l, room, sizeof room, &n, e));
    while (n);
    do
        TRY(range_read(&l->packed, room, sizeof room, &n, e));
    while (n);
    if (!digest_is(&l->packed, l->named.digest))
        return FAIL(e, BAD_DATA, "its content has another digest than its name");
    return digest_is(&l->plain, l->diff) ? ERR_OK : FAIL(e, BAD_DATA,
        "unpacked it has another digest than the configuration says");
}

static enum errc walk(struct reading *r, struct layer *l, bool whiteouts, struct err *e)
{
    (void)range_of(&l->plain, -1, 0, 0);
    l->keep = whiteouts ? NULL : r->keep;
    if (l->keep)
        flat_layer(l->keep);
    TRY(unpack_layer(&r->unpack, (struct source){ layer_read, l }, whiteouts, r->a, e));
    return drain(l, e);
}

static enum errc read_layer(struct reading *r, struct layer *l, bool whiteouts, struct err *e)
{
    const struct source packed = range_of(&l->packed, r->archive, l->blob->at, l->blob->size);
    const uint64_t by_ratio = l->blob->size < UINT64_MAX / OCI_RATIO ? l->blob->size * OCI_RATIO : UINT64_MAX;
    const uint64_t most = by_ratio > OCI_RATIO_FROM ? by_ratio : OCI_RATIO_FROM;
    CLEANUP(gunzip_freep) struct gunzip *g = NULL;
    CLEANUP(unzstd_freep) struct unzstd *z = NULL;
    l->content = packed;
    if (ends_with(l->named.media_type, "gzip")) {
        TRY(gunzip_new(packed, most, &g, e));
        l->content = gunzip_source(g);
    } else if (ends_with(l->named.media_type, "zstd")) {
        TRY(unzstd_new(packed, most, &z, e));
        l->content = unzstd_source(z);
    } else if (!ends_with(l->named.media_type, ".tar")) {
        return FAIL(e, BAD_DATA, "its type %s is not read", str_z(r->a, l->named.media_type));
    }
    return walk(r, l, whiteouts, e);
}

static void layer_close(struct layer *l)
{
    range_close(&l->packed);
    range_close(&l->plain);
}

static enum errc take_layer(struct reading *r, struct layer *l, struct err *e)
{
    const char *what = arena_printf(r->a, "layer %zu of the image", l->number);
    TRY(blob_of(r, &l->named, what, &l->blob, e));
    enum errc rc = l->number > 1 ? read_layer(r, l, true, e) : ERR_OK;
    layer_close(l);
    if (rc == ERR_OK)
        rc = read_layer(r, l, false, e);
    layer_close(l);
    if (rc != ERR_OK && rc != ERR_IO) {
        const char *why = arena_printf(r->a, "%s", e->msg);
        FAIL(e, BAD_DATA, "%s (%.*s…): %s", what, 19, l->named.digest.ptr, why);
        e->code = rc;
    }
    return rc;
}

enum errc oci_unpack(int archive, int root, struct str digest, const struct oci_limits *most, struct arena *a,
                     struct oci_image *ret, struct err *e)
{
    return oci_unpack_keeping(archive, root, digest, most, NULL, a, ret, e);
}

enum errc oci_unpack_keeping(int archive, int root, struct str digest, const struct oci_limits *most, struct flat *keep,
                             struct arena *a, struct oci_image *ret, struct err *e)
{
    struct reading r = { .a = a, .archive = archive, .wanted = digest, .image = ret, .keep = keep,
                         .unpack = { .root = root, .bytes_most = most->bytes, .files_most = most->files,
                                     .no_special = most->no_special } };
    const struct jval *manifest, *config;
    const struct blob *b;
    *ret = (struct oci_image){ 0 };
    TRY(read_archive(&r, e));
    TRY(find_manifest(&r, &manifest, e));
    const struct named c = named_of(jval_get(manifest, "config"));
    TRY(blob_of(&r, &c, "the image's configuration", &b, e));
    TRY(read_json(&r, b, &config, e));
    TRY(take_config(&r, config, e));
    const struct jval *layers = jval_get(manifest, "layers"), *diffs = jval_get(jval_get(config, "rootfs"), "diff_ids");
    if (jval_type(layers) != JT_ARRAY || jval_len(layers) > OCI_LAYERS_MAX || jval_len(layers) != jval_len(diffs))
        return FAIL(e, BAD_DATA, "the manifest names %zu layers, the configuration %zu; at most %d are taken", jval_len(layers),
                    jval_len(diffs), OCI_LAYERS_MAX);
    ret->layer = ARENA_ARRAY(a, struct oci_layer, jval_len(layers) + 1);
    for (size_t i = 0; i < jval_len(layers); i++) {
        const uint64_t bytes = r.unpack.bytes, files = r.unpack.files;
        struct layer l = { .number = i + 1, .named = named_of(jval_at(layers, i)), .diff = jval_str(jval_at(diffs, i)) };
        TRY(take_layer(&r, &l, e));
        ret->layer[i] = (struct oci_layer){ l.named.digest, l.blob->size, r.unpack.bytes - bytes, r.unpack.files - files };
    }
    ret->layers = jval_len(layers);
    ret->files = r.unpack.files;
    ret->bytes = r.unpack.bytes;
    ret->stripped = r.unpack.stripped;
    ret->left_out = r.unpack.left_out;
    return ERR_OK;
}
