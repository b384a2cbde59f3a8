/* SPDX-License-Identifier: Apache-2.0 */
/* image_kit.h - archives and images by hand: right ones, and ones in which one thing is wrong. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "workers/image/oci.h"
#include "workers/image/tar.h"
#include "workers/image/unpack.h"

enum { KIT_TAR_MAX = 32 << 20 };

/* A source that gives `piece` bytes at a time at most; 0: as many as are asked for. */
struct bytes_at { struct str s; size_t at, piece; };

static inline enum errc read_bytes(void *ctx, void *p, size_t n, size_t *ret, struct err *e)
{
    struct bytes_at *b = ctx;
    (void)e;
    *ret = b->piece && n > b->piece ? b->piece : n;
    if (*ret > b->s.len - b->at)
        *ret = b->s.len - b->at;
    memcpy(p, b->s.ptr + b->at, *ret);
    b->at += *ret;
    return ERR_OK;
}

static inline void tar_sum(char h[TAR_BLOCK])
{
    unsigned sum = 0;
    memset(h + 148, ' ', 8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
}

static inline void tar_pad(struct buf *b)
{
    while (b->len % TAR_BLOCK)
        buf_add_char(b, '\0');
}

static inline void tar_put(struct buf *b, char type, const char *name, const char *link, unsigned mode, const void *p, size_t n)
{
    char h[TAR_BLOCK] = "";
    memcpy(h, name, strlen(name) < 100 ? strlen(name) : 100);
    snprintf(h + 100, 8, "%07o", mode);
    assert_in_range(n, 0, INT32_MAX);
    snprintf(h + 124, 12, "%011o", (unsigned)n);
    h[156] = type;
    memcpy(h + 157, link, strlen(link) < 100 ? strlen(link) : 100);
    memcpy(h + 257, "ustar\0" "00", 8);
    tar_sum(h);
    buf_add(b, h, sizeof h);
    buf_add(b, p, n);
    tar_pad(b);
}

static inline void tar_text(struct buf *b, const char *name, const char *text)
{
    tar_put(b, '0', name, "", 0644, text, strlen(text));
}

static inline void tar_end(struct buf *b)
{
    static const char zeros[2 * TAR_BLOCK];
    buf_add(b, zeros, sizeof zeros);
}

static inline void gzip(struct str plain, struct buf *ret)
{
    z_stream z = { .next_in = (unsigned char *)(uintptr_t)plain.ptr, .avail_in = (unsigned)plain.len };
    unsigned char room[65536];
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    int rc;
    do {
        z.next_out = room;
        z.avail_out = sizeof room;
        rc = deflate(&z, Z_FINISH);
        buf_add(ret, room, sizeof room - z.avail_out);
    } while (rc == Z_OK);
    assert_int_equal(rc, Z_STREAM_END);
    deflateEnd(&z);
}

static inline void zstd(struct str plain, struct buf *ret)
{
    const size_t most = ZSTD_compressBound(plain.len);
    char *room = malloc(most);
    assert_non_null(room);
    const size_t n = ZSTD_compress(room, most, plain.ptr, plain.len, 3);
    assert_false(ZSTD_isError(n));
    buf_add(ret, room, n);
    free(room);
}

static inline void digest_text(struct str s, char out[OCI_DIGEST_TEXT + 1])
{
    uint8_t sha[SHA256_BYTES];
    sha256(s.ptr, s.len, sha);
    memcpy(out, "sha256:", 7);
    hex_encode(sha, sizeof sha, out + 7);
    out[OCI_DIGEST_TEXT] = '\0';
}

static inline void blob_put(struct buf *out, struct str content, char digest[OCI_DIGEST_TEXT + 1])
{
    char name[100];
    digest_text(content, digest);
    snprintf(name, sizeof name, "blobs/sha256/%s", digest + 7);
    tar_put(out, '0', name, "", 0644, content.ptr, content.len);
}

/* What is not as it should be. */
struct image_odd {
    const char *arch, *media_type, *env;    /* NULL: as usual */
    bool wrong_diff, wrong_size, no_layer, plain, zstd;
    bool two_names;             /* the index names the manifest twice */
    int indexes;                /* the index names an index so often, and this one the manifest */
};

/* The text of an index that names one blob so often. */
static inline void index_of(const char *type, const char *digest, size_t size, int times, struct buf *text)
{
    buf_clear(text);
    buf_add_c(text, "{\"schemaVersion\":2,\"manifests\":[");
    for (int i = 0; i < times; i++)
        buf_printf(text, "%s{\"mediaType\":\"application/vnd.oci.image.%s.v1+json\",\"digest\":\"%s\",\"size\":%zu}",
                   i ? "," : "", type, digest, size);
    buf_add_c(text, "]}");
}

/* An image of these layers (tars) as one archive. */
static inline void image_make(const struct str *layers, size_t n, const struct image_odd *odd, struct buf *out,
    char manifest_digest[72])
{
    char digest[72], diff[72], config_digest[72];
    struct buf diffs = BUF(1 << 16), list = BUF(1 << 16), text = BUF(1 << 16);
    for (size_t i = 0; i < n; i++) {
        struct buf packed = BUF(KIT_TAR_MAX);
        odd->plain ? (void)buf_add_str(&packed, layers[i]) : odd->zstd ? zstd(layers[i], &packed) : gzip(layers[i], &packed);
        digest_text(odd->wrong_diff ? STR("x") : layers[i], diff);
        if (odd->no_layer)
            digest_text(buf_str(&packed), digest);
        else
            blob_put(out, buf_str(&packed), digest);
        buf_printf(&diffs, "%s\"%s\"", i ? "," : "", diff);
        buf_printf(&list, "%s{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu}", i ? "," : "",
                   odd->media_type ? odd->media_type : odd->plain ? "application/vnd.oci.image.layer.v1.tar"
                                                                  : odd->zstd ? "application/vnd.oci.image.layer.v1.tar+zstd"
                                                                  : "application/vnd.oci.image.layer.v1.tar+gzip",
                   digest, packed.len + odd->wrong_size);
        buf_release(&packed);
    }
    buf_printf(&text, "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Env\":[%s]},"
               "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%.*s]}}",
               odd->arch ? odd->arch : "amd64", odd->env ? odd->env : "\"PATH=/bin\",\"IN_IMAGE=yes\"", STR_ARG(buf_str(&diffs)));
    blob_put(out, buf_str(&text), config_digest);
    const size_t config_size = text.len;
    buf_clear(&text);
    buf_printf(&text, "{\"schemaVersion\":2,\"config\":{\"digest\":\"%s\",\"size\":%zu},\"layers\":[%.*s]}", config_digest,
        config_size,
               STR_ARG(buf_str(&list)));
    blob_put(out, buf_str(&text), manifest_digest);
    index_of("manifest", manifest_digest, text.len, odd->two_names ? 2 : 1, &text);
    if (odd->indexes) {
        char below[72];
        blob_put(out, buf_str(&text), below);
        index_of("index", below, text.len, odd->indexes, &text);
    }
    tar_put(out, '0', "index.json", "", 0644, text.ptr, text.len);
    tar_text(out, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
    tar_end(out);
    buf_release(&diffs);
    buf_release(&list);
    buf_release(&text);
}

static inline int archive_file(struct str content)
{
    int fd = memfd_create("archive", 0);
    assert_int_equal(write(fd, content.ptr, content.len), content.len);
    return fd;
}

/* An empty folder, and its end. */
static inline int folder_make(char path[64])
{
    snprintf(path, 64, "/tmp/falaj-image-XXXXXX");
    assert_non_null(mkdtemp(path));
    return open(path, O_RDONLY | O_DIRECTORY);
}

static inline void folder_end(const char *path, int fd)
{
    char cmd[160];
    close(fd);
    snprintf(cmd, sizeof cmd, "chmod -R u+rwx %s; rm -rf %s", path, path);
    assert_int_equal(system(cmd), 0);
}

static inline void expect_text(const char *folder, const char *path, const char *text)
{
    char full[256], got[256] = "";
    snprintf(full, sizeof full, "%s/%s", folder, path);
    FILE *f = fopen(full, "r");
    if (!f)
        fail_msg("there is no %s", full);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

static inline bool is_there(const char *folder, const char *path)
{
    char full[256];
    struct stat st;
    snprintf(full, sizeof full, "%s/%s", folder, path);
    return lstat(full, &st) == 0;
}
