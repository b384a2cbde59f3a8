/* SPDX-License-Identifier: Apache-2.0 */
/* oci.h - an OCI image in one tar file (oci-layout, index.json, blobs/sha256/…) as a folder, and what its configuration says.
 *
 * Every blob is checked against the digest that names it, every layer against the one of its content in the configuration too;
 * a size that differs is refused. What lies in the folder is good only if the call went well: who gets an error throws the
 * folder away.
 * Layers are plain, gzip or zstd. The image is for this machine's processor; where an archive has
 * several for it, its digest must be given.
 * Limits (oci_limits): bytes of contents, files, and OCI_RATIO times what a layer has compressed, at least OCI_RATIO_FROM.
 * Memory: the arena. Errors: BAD_DATA (which layer, which entry), LIMIT, UNPROCESSABLE (not for this machine), IO.
 * Sources: OCI image-spec 1.1: image-layout.md, image-index.md, manifest.md, config.md, layer.md. */
#pragma once
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* What this machine is called in an image. */
#if defined __x86_64__
#define OCI_ARCH "amd64"
#elif defined __aarch64__
#define OCI_ARCH "arm64"
#else
#define OCI_ARCH "unknown"
#endif

enum { OCI_LAYERS_MAX = 128, OCI_BLOBS_MAX = 1024, OCI_JSON_MAX = 4 << 20, OCI_ENV_MAX = 256, OCI_RATIO = 200,
    OCI_RATIO_FROM = 64 << 20,
       OCI_DIGEST_TEXT = 71 /* "sha256:" and 64 hex digits */ };

struct oci_limits {
    uint64_t bytes, files;
    bool no_special;                /* as in unpack.h */
};

struct oci_layer {
    struct str digest;              /* of its blob */
    uint64_t size, bytes, files;    /* of the blob; of what it adds */
};

struct oci_image {
    struct str digest;              /* of the manifest: "sha256:…" */
    struct slice env;               /* struct str NAME=VALUE */
    uint64_t layers, files, bytes;
    struct oci_layer *layer;        /* one for each */
    uint64_t stripped, left_out;    /* as in unpack.h */
};

/* archive: a file that can be read anywhere; root: an empty folder. digest STR_NULL: the only image for this machine. */
MUST_CHECK enum errc oci_unpack(int archive, int root, struct str digest, const struct oci_limits *most, struct arena *a,
                                struct oci_image *ret, struct err *e);
/* The same, and what the layers hold goes into `keep` (flat.h), in which an error leaves nothing of use. */
struct flat;
MUST_CHECK enum errc oci_unpack_keeping(int archive, int root, struct str digest, const struct oci_limits *most,
                                        struct flat *keep, struct arena *a, struct oci_image *ret, struct err *e);
/* "sha256:" and 64 lower-case hex digits. */
bool oci_is_digest(struct str s);
