/* SPDX-License-Identifier: Apache-2.0 */
/* pull.c - manifest, then blobs in their order, each behind its header of a tar whose size is known by then. */
#include "workers/image/pull.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/table/schema.h"
#include "workers/image/oci.h"
#include "workers/image/tar.h"

#define ACCEPT                                                                                                    \
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "                        \
    "application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json"
#define BLOBS "blobs/sha256/"
#define SHA "sha256:"
enum { JSON_LEVELS = 16, LIST_MAX = 512, PLATFORMS_TOLD = 8, LAYOUT_MAX = 4096, PAUSE_MS = 250, STEP_MS = 50,
       INDEX_BYTES = 4096, PATH_MAX_BYTES = 512 };

/* The index of an archive with one image. The names are those of the format. */
struct index_entry { struct str mediaType, digest; int64_t size; };
struct index_file { int64_t schemaVersion; struct slice manifests; };
SCHEMA_OF(index_entry, "The image", FIELD(index_entry, mediaType, F_ALWAYS), FIELD(index_entry, digest, F_ALWAYS),
    FIELD(index_entry, size, F_ALWAYS));
SCHEMA_OF(index_file, "An index", FIELD(index_file, schemaVersion, F_ALWAYS),
    FIELD_LIST(index_file, manifests, &index_entry_schema, F_ALWAYS, .max = 1));
struct layout_file { struct str imageLayoutVersion; };
SCHEMA_OF(layout_file, "A layout", FIELD(layout_file, imageLayoutVersion, F_ALWAYS));

struct pulling {
    const struct image_pull *p;
    struct registry *registry;
    struct arena *a;
    int into;
    uint64_t at, total;                 /* bytes of the archive; of the blobs that are to come */
};

static bool digest_is(struct sha256 *sha, struct str digest)
{
    uint8_t got[SHA256_BYTES], want[SHA256_BYTES];
    sha256_final(sha, got);
    return hex_decode(str_n(digest.ptr + sizeof SHA - 1, digest.len - sizeof SHA + 1), want, sizeof want) &&
           memcmp(got, want, sizeof got) == 0;
}

/* --- the archive --- */

static enum errc put_at(int fd, uint64_t at, const void *bytes, size_t n, struct err *e)
{
    for (const char *p = bytes; n;) {
        const ssize_t done = pwrite(fd, p, n, (off_t)at);
        if (done <= 0)
            return FAIL(e, LIMIT, "the lease's memory has no room for the image's archive; import it with more (memory_bytes)");
        p += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return ERR_OK;
}

static enum errc put_header(struct pulling *g, const char *name, uint64_t size, struct err *e)
{
    char h[TAR_BLOCK] = "";
    unsigned sum = 0;
    snprintf(h, 100, "%s", name);
    snprintf(h + 100, 8, "%07o", 0644);
    snprintf(h + 108, 8, "%07o", 0);
    snprintf(h + 116, 8, "%07o", 0);
    snprintf(h + 124, 12, "%011llo", (unsigned long long)size);
    snprintf(h + 136, 12, "%011o", 0);
    memset(h + 148, ' ', 8);
    h[156] = '0';
    memcpy(h + 257, "ustar\0" "00", 8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    TRY(put_at(g->into, g->at, h, sizeof h, e));
    g->at += TAR_BLOCK;
    return ERR_OK;
}

/* What lies behind the header has been written: up to the next block. The file is empty there, which reads as zeros. */
static uint64_t padded(uint64_t size)
{
    return (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
}

static enum errc put_file(struct pulling *g, const char *name, struct str content, struct err *e)
{
    TRY(put_header(g, name, content.len, e));
    TRY(put_at(g->into, g->at, content.ptr, content.len, e));
    g->at += padded(content.len);
    return ERR_OK;
}

static const char *blob_name(struct arena *a, struct str digest)
{
    return arena_printf(a, BLOBS "%.*s", (int)(digest.len - sizeof SHA + 1), digest.ptr + sizeof SHA - 1);
}

/* --- blobs --- */

struct blob {
    struct pulling *g;
    struct str digest;
    uint64_t size, have;
    struct sha256 sha;
    struct err why;                     /* of begin and take */
};

static void begin_anew(struct blob *b)
{
    sha256_release(&b->sha);
    sha256_init(&b->sha);
    b->have = 0;
}

static bool blob_begin(void *ctx, const struct http_result *head)
{
    struct blob *b = ctx;
    const struct str range = http_result_header(head, "Content-Range"), length = http_result_header(head, "Content-Length");
    char wanted[64];
    int64_t says;
    snprintf(wanted, sizeof wanted, "bytes %llu-", (unsigned long long)b->have);
    if (head->status != 206)
        begin_anew(b);
    else if (!str_starts(range, wanted)) {
        FAIL(&b->why, BAD_DATA, "the registry gives another part of %.*s than was asked for", STR_ARG(b->digest));
        return false;
    }
    if (length.len && (!str_to_i64(length, 0, INT64_MAX, &says) || (uint64_t)says != b->size - b->have)) {
        FAIL(&b->why, BAD_DATA, "the registry says that %.*s has %.*s bytes, and the manifest that it has %llu",
             STR_ARG(b->digest), STR_ARG(length), (unsigned long long)(b->size - b->have));
        return false;
    }
    return true;
}

static bool blob_take(void *ctx, const char *p, size_t n)
{
    struct blob *b = ctx;
    if (n > b->size - b->have) {
        FAIL(&b->why, BAD_DATA, "%.*s is longer than the %llu bytes that the manifest says", STR_ARG(b->digest),
             (unsigned long long)b->size);
        return false;
    }
    if (put_at(b->g->into, b->g->at + b->have, p, n, &b->why) != ERR_OK)
        return false;
    sha256_add(&b->sha, p, n);
    b->have += n;
    if (b->g->p->tell)
        b->g->p->tell(b->g->p->ctx, b->g->at + b->have, b->g->total);
    return true;
}

static bool is_stopped(const struct pulling *g)
{
    return g->p->place.is_stopped && g->p->place.is_stopped(g->p->place.ctx);
}

/* Longer each time, and no longer than the person waits who cancels. */
static enum errc pause_before(const struct pulling *g, int n, struct err *e)
{
    for (int ms = (g->p->pause_ms ? g->p->pause_ms : PAUSE_MS) << n; ms > 0; ms -= STEP_MS) {
        if (is_stopped(g))
            return FAIL(e, RETRY, "the pull was stopped");
        poll(NULL, 0, ms < STEP_MS ? ms : STEP_MS);
    }
    return ERR_OK;
}

static enum errc try_blob(struct blob *b, const char *path, struct err *e)
{
    struct http_result got;
    const struct registry_body body = { .path = path, .from = b->have, .begin = blob_begin, .take = blob_take, .ctx = b };
    enum errc rc = registry_get(b->g->registry, &body, &got, e);
    if (b->why.code != ERR_OK) {
        *e = b->why;
        return e->code;
    }
    TRY(rc);
    return b->have == b->size ? ERR_OK
         : FAIL(e, UNAVAILABLE, "%.*s ended after %llu of %llu bytes", STR_ARG(b->digest), (unsigned long long)b->have,
                (unsigned long long)b->size);
}

static enum errc take_blob(struct pulling *g, struct str digest, uint64_t size, struct err *e)
{
    struct blob b = { .g = g, .digest = digest, .size = size };
    const char *path = arena_printf(g->a, "/v2/%.*s/blobs/%.*s", STR_ARG(g->p->place.repository), STR_ARG(digest));
    TRY(put_header(g, blob_name(g->a, digest), size, e));
    sha256_init(&b.sha);
    enum errc rc = ERR_UNAVAILABLE;
    for (int n = 0; rc == ERR_UNAVAILABLE && n < PULL_TRIES; n++) {
        rc = n ? pause_before(g, n - 1, e) : ERR_OK;
        if (rc == ERR_OK)
            rc = try_blob(&b, path, e);
    }
    if (rc == ERR_OK && !digest_is(&b.sha, digest))
        rc = FAIL(e, BAD_DATA, "what the registry gives as %.*s has another digest", STR_ARG(digest));
    sha256_release(&b.sha);
    g->at += padded(size);
    return rc;
}

/* --- manifests --- */

struct manifest { struct str text, media_type; const struct jval *json; };

static enum errc get_manifest(struct pulling *g, struct str digest, struct manifest *ret, struct err *e)
{
    const char *path = arena_printf(g->a, "/v2/%.*s/manifests/%.*s", STR_ARG(g->p->place.repository), STR_ARG(digest));
    struct http_result got;
    CLEANUP(sha256_release) struct sha256 sha = { 0 };
    struct err odd = { 0 };
    enum errc rc = ERR_UNAVAILABLE;
    for (int n = 0; rc == ERR_UNAVAILABLE && n < PULL_TRIES; n++) {
        rc = n ? pause_before(g, n - 1, e) : ERR_OK;
        if (rc == ERR_OK)
            rc = registry_text(g->registry, path, ACCEPT, OCI_JSON_MAX, &got, e);
    }
    TRY(rc);
    sha256_init(&sha);
    sha256_add(&sha, got.body.ptr, got.body.len);
    if (!digest_is(&sha, digest))
        return FAIL(e, BAD_DATA, "what the registry gives as manifest %.*s has another digest", STR_ARG(digest));
    ret->text = got.body;
    if (jval_parse(g->a, got.body, JSON_LEVELS, &ret->json, &odd) != ERR_OK || jval_type(ret->json) != JT_OBJECT)
        return FAIL(e, BAD_DATA, "manifest %.*s is no JSON object", STR_ARG(digest));
    ret->media_type = jval_str(jval_get(ret->json, "mediaType"));
    if (!ret->media_type.len)
        ret->media_type = got.content_type;
    return ERR_OK;
}

static bool is_for_us(const struct jval *entry)
{
    const struct jval *on = jval_get(entry, "platform");
    return str_eq_c(jval_str(jval_get(on, "os")), "linux") && str_eq_c(jval_str(jval_get(on, "architecture")), OCI_ARCH);
}

static enum errc refuse_platforms(const struct jval *all, struct arena *a, struct err *e)
{
    struct str there = STR("");
    for (size_t i = 0; i < jval_len(all) && i < PLATFORMS_TOLD; i++) {
        const struct jval *on = jval_get(jval_at(all, i), "platform");
        there = str_fmt(a, "%.*s%s%.20s/%.20s", STR_ARG(there), i ? ", " : "", str_z(a, jval_str(jval_get(on, "os"))),
                        str_z(a, jval_str(jval_get(on, "architecture"))));
    }
    return FAIL(e, UNPROCESSABLE, "the list has no image for linux/" OCI_ARCH "; it has %.*s", STR_ARG(there));
}

/* Of a list the image for this machine; a manifest stays what it is. */
static enum errc choose(struct pulling *g, struct manifest *m, struct str *digest, struct err *e)
{
    const struct jval *all = jval_get(m->json, "manifests"), *ours = NULL;
    if (jval_type(all) != JT_ARRAY)
        return ERR_OK;
    if (jval_len(all) > LIST_MAX)
        return FAIL(e, LIMIT, "the list has more than %d images", LIST_MAX);
    for (size_t i = 0; i < jval_len(all) && !ours; i++)
        ours = is_for_us(jval_at(all, i)) ? jval_at(all, i) : NULL;
    if (!ours)
        return refuse_platforms(all, g->a, e);
    *digest = jval_str(jval_get(ours, "digest"));
    if (!oci_is_digest(*digest))
        return FAIL(e, BAD_DATA, "the list names an image by no digest of the form sha256:…");
    TRY(get_manifest(g, *digest, m, e));
    if (jval_i64(jval_get(ours, "size"), -1) != (int64_t)m->text.len)
        return FAIL(e, BAD_DATA, "manifest %.*s has %zu bytes and should have %lld", STR_ARG(*digest), m->text.len,
                    (long long)jval_i64(jval_get(ours, "size"), -1));
    return jval_type(jval_get(m->json, "manifests")) == JT_ARRAY ? FAIL(e, BAD_DATA, "the list names another list as an image")
                                                                 : ERR_OK;
}

struct part { struct str digest; uint64_t size; };

static enum errc read_part(const struct jval *v, const char *what, struct part *ret, struct err *e)
{
    const int64_t size = jval_i64(jval_get(v, "size"), -1);
    *ret = (struct part){ jval_str(jval_get(v, "digest")), (uint64_t)size };
    if (!oci_is_digest(ret->digest))
        return FAIL(e, BAD_DATA, "%s has no digest of the form sha256:…", what);
    return size >= 0 ? ERR_OK : FAIL(e, BAD_DATA, "the size of %s is missing or below 0", what);
}

/* The configuration and the layers, each once, with the sum of what they take in the archive. */
static enum errc read_parts(struct pulling *g, const struct manifest *m, struct part *parts, size_t *ret_n, struct err *e)
{
    const struct jval *layers = jval_get(m->json, "layers");
    char what[32] = "the configuration";
    size_t n = 0;
    if (jval_type(layers) != JT_ARRAY || !jval_len(layers))
        return FAIL(e, UNPROCESSABLE, "the manifest names no layers: an OCI image or one of Docker's second form is wanted");
    if (jval_len(layers) > OCI_LAYERS_MAX)
        return FAIL(e, LIMIT, "the image has %zu layers; at most %d are taken", jval_len(layers), OCI_LAYERS_MAX);
    g->total = padded(m->text.len) + LAYOUT_MAX;
    for (size_t i = 0; i <= jval_len(layers); i++) {
        bool is_there = false;
        struct part *p = &parts[n];
        if (i)
            snprintf(what, sizeof what, "layer %zu", i);
        TRY(read_part(i ? jval_at(layers, i - 1) : jval_get(m->json, "config"), what, p, e));
        for (size_t k = 0; k < n && !is_there; k++) {
            is_there = str_eq(parts[k].digest, p->digest);
            if (is_there && parts[k].size != p->size)
                return FAIL(e, BAD_DATA, "the manifest says two sizes of %.*s", STR_ARG(p->digest));
        }
        if (is_there)
            continue;
        n++;
        if (p->size > g->p->most || g->total + padded(p->size) + TAR_BLOCK > g->p->most)
            return FAIL(e, LIMIT, "the image has more than %llu bytes up to %s, which is the most that this import takes (the "
                        "zone's row, or half of memory_bytes)", (unsigned long long)g->p->most, what);
        g->total += padded(p->size) + TAR_BLOCK;
    }
    *ret_n = n;
    return ERR_OK;
}

static enum errc put_layout(struct pulling *g, const struct manifest *m, struct str digest, struct err *e)
{
    struct index_entry entry = { m->media_type, digest, (int64_t)m->text.len };
    const struct index_file index = { 2, { &entry, 1 } };
    const struct layout_file layout = { STR("1.0.0") };
    CLEANUP(buf_releasep) struct buf text = BUF(INDEX_BYTES);
    json_encode(&index_file_schema, &index, &text);
    if (text.overflow)
        return FAIL(e, BAD_DATA, "the manifest's type is too long");
    TRY(put_file(g, blob_name(g->a, digest), m->text, e));
    TRY(put_file(g, "index.json", buf_str(&text), e));
    buf_clear(&text);
    json_encode(&layout_file_schema, &layout, &text);
    TRY(put_file(g, "oci-layout", buf_str(&text), e));
    g->at += 2 * (uint64_t)TAR_BLOCK;
    return ftruncate(g->into, (off_t)g->at) == 0 ? ERR_OK : FAIL(e, IO, "the image's archive cannot be written");
}

static enum errc pull(struct pulling *g, struct str *ret, struct err *e)
{
    struct manifest m = { 0 };
    struct str digest = g->p->digest;
    struct part *parts = ARENA_ARRAY(g->a, struct part, OCI_LAYERS_MAX + 2);
    size_t n;
    if (!oci_is_digest(digest))
        return FAIL(e, INVALID, "an image is pulled by a digest of the form sha256:…");
    TRY(get_manifest(g, digest, &m, e));
    TRY(choose(g, &m, &digest, e));
    TRY(read_parts(g, &m, parts, &n, e));
    for (size_t i = 0; i < n; i++)
        TRY(take_blob(g, parts[i].digest, parts[i].size, e));
    *ret = digest;
    return put_layout(g, &m, digest, e);
}

enum errc image_pull(const struct image_pull *p, int into, struct arena *a, struct str *ret, struct err *e)
{
    CLEANUP(registry_freep) struct registry *r = NULL;
    TRY(registry_new(&p->place, a, &r, e));
    struct pulling g = { .p = p, .registry = r, .a = a, .into = into };
    return pull(&g, ret, e);
}
