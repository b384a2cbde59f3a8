/* SPDX-License-Identifier: Apache-2.0 */
/* flat.c - written in order and read by its end. */
#include "workers/image/flat.h"

#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/table/schema.h"
#include "workers/image/range.h"
#include "workers/image/unpack.h"

#define MAGIC "FJFLAT1\n"
enum { TAIL = 16, LENGTH = 8, ABOUT_MAX = 8 << 20 };

struct flat_part {
    struct str digest;
    int64_t size, bytes, files, length;
};
struct flat_word {
    struct str text;
};
struct flat_about {
    struct str digest;
    int64_t stripped, left_out;
    struct slice env, layers;           /* struct flat_word (a list of texts has short ones alone); struct flat_part */
};
SCHEMA_OF(flat_word, "A variable", FIELD(flat_word, text, F_REQ, .max = OCI_JSON_MAX, .doc = "NAME=VALUE"));
SCHEMA_OF(flat_part, "A layer of a kept image", FIELD(flat_part, digest, F_REQ, .doc = "Of its blob"),
    FIELD(flat_part, size, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the blob"),
    FIELD(flat_part, bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the files that it adds"),
    FIELD(flat_part, files, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Entries that it adds"),
    FIELD(flat_part, length, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of its tar here"));
SCHEMA_OF(flat_about, "What a kept image is", FIELD(flat_about, digest, F_REQ, .doc = "Of its manifest"),
    FIELD(flat_about, stripped, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Files that lost a special bit"),
    FIELD(flat_about, left_out, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Devices that were left out"),
    FIELD_LIST(flat_about, env, &flat_word_schema, F_REQ, .max = OCI_ENV_MAX, .doc = "Its variables"),
    FIELD_LIST(flat_about, layers, &flat_part_schema, F_REQ, .max = OCI_LAYERS_MAX, .doc = "In their order"));

void flat_begin(struct flat *f, int fd, uint64_t most)
{
    *f = (struct flat){ .fd = fd, .most = most };
}

void flat_layer(struct flat *f)
{
    f->is_over |= f->layers == OCI_LAYERS_MAX;
    if (!f->is_over)
        f->at[f->layers++] = f->bytes;
}

void flat_add(struct flat *f, const void *p, size_t n)
{
    f->is_over |= n > f->most - f->bytes;
    for (const char *at = p; n && !f->is_over;) {
        const ssize_t w = write(f->fd, at, n);
        f->is_over |= w <= 0;
        if (w <= 0)
            break;
        at += w;
        n -= (size_t)w;
        f->bytes += (uint64_t)w;
    }
    if (f->is_over)
        (void)!ftruncate(f->fd, 0);     /* what is there is of no use: its memory is */
}

/* Alike in memory, so a list of the one is one of the other. */
_Static_assert(sizeof(struct flat_word) == sizeof(struct str), "a word is its text");

static void about_of(const struct flat *f, const struct oci_image *image, struct flat_about *ret, struct flat_part *parts)
{
    for (size_t i = 0; i < f->layers; i++) {
        const struct oci_layer *l = &image->layer[i];
        const uint64_t end = i + 1 < f->layers ? f->at[i + 1] : f->bytes;
        parts[i] = (struct flat_part){ l->digest, (int64_t)l->size, (int64_t)l->bytes, (int64_t)l->files,
                                       (int64_t)(end - f->at[i]) };
    }
    *ret = (struct flat_about){ image->digest, (int64_t)image->stripped, (int64_t)image->left_out, image->env,
                                { parts, f->layers } };
}

bool flat_end(struct flat *f, const struct oci_image *image)
{
    CLEANUP(buf_releasep) struct buf b = BUF(ABOUT_MAX);
    struct flat_part parts[OCI_LAYERS_MAX];
    struct flat_about about;
    unsigned char tail[TAIL];
    if (f->is_over || f->layers != image->layers)
        return false;
    about_of(f, image, &about, parts);
    json_encode(&flat_about_schema, &about, &b);
    for (int i = 0; i < LENGTH; i++)
        tail[i] = (unsigned char)((uint64_t)b.len >> (8 * i));
    memcpy(tail + LENGTH, MAGIC, TAIL - LENGTH);
    f->is_over |= b.overflow;
    flat_add(f, b.ptr, b.len);
    flat_add(f, tail, sizeof tail);
    return !f->is_over;
}

/* *ret_tars: bytes before what is said of the image. */
static enum errc read_about(int fd, struct arena *a, struct flat_about *ret, uint64_t *ret_tars, struct err *e)
{
    unsigned char tail[TAIL];
    uint64_t n = 0;
    const off_t size = lseek(fd, 0, SEEK_END);
    if (size < TAIL || pread(fd, tail, TAIL, size - TAIL) != TAIL || memcmp(tail + LENGTH, MAGIC, TAIL - LENGTH) != 0)
        return FAIL(e, BAD_DATA, "the image that this machine kept is none");
    for (int i = LENGTH; i-- > 0;)
        n = n << 8 | tail[i];
    if (n > ABOUT_MAX || n > (uint64_t)size - TAIL)
        return FAIL(e, BAD_DATA, "the image that this machine kept is none");
    *ret_tars = (uint64_t)size - TAIL - n;
    char *text = arena_alloc(a, (size_t)n + 1);
    if (pread(fd, text, (size_t)n, (off_t)*ret_tars) != (ssize_t)n ||
        json_decode(&flat_about_schema, str_n(text, (size_t)n), a, ret, e) != ERR_OK)
        return FAIL(e, BAD_DATA, "the image that this machine kept is none");
    return ERR_OK;
}

static void take_about(const struct flat_about *about, struct arena *a, struct oci_image *ret)
{
    const struct flat_part *parts = about->layers.items;
    *ret = (struct oci_image){ .digest = about->digest, .env = about->env, .layers = about->layers.n,
                               .layer = ARENA_ARRAY(a, struct oci_layer, about->layers.n + 1),
                               .stripped = (uint64_t)about->stripped, .left_out = (uint64_t)about->left_out };
    for (size_t i = 0; i < ret->layers; i++)
        ret->layer[i] = (struct oci_layer){ parts[i].digest, (uint64_t)parts[i].size, (uint64_t)parts[i].bytes,
                                            (uint64_t)parts[i].files };
}

enum errc flat_unpack(int fd, int root, const struct oci_limits *most, struct arena *a, struct oci_image *ret, struct err *e)
{
    struct unpack u = { .root = root, .bytes_most = most->bytes, .files_most = most->files, .no_special = most->no_special };
    struct flat_about about;
    struct range r;
    uint64_t tars, at = 0;
    TRY(read_about(fd, a, &about, &tars, e));
    take_about(&about, a, ret);
    const struct flat_part *parts = about.layers.items;
    for (size_t i = 0; i < ret->layers; i++) {
        const uint64_t length = (uint64_t)parts[i].length;
        if (length > tars - at)
            return FAIL(e, BAD_DATA, "the image that this machine kept is cut off");
        if (i)
            TRY(unpack_layer(&u, range_of_trusted(&r, fd, at, length), true, a, e));
        TRY(unpack_layer(&u, range_of_trusted(&r, fd, at, length), false, a, e));
        at += length;
    }
    ret->files = u.files;
    ret->bytes = u.bytes;
    return ERR_OK;
}
