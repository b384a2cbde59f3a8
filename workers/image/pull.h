/* SPDX-License-Identifier: Apache-2.0 */
/* pull.h - an image from a registry into an archive with an OCI layout, as oci.h reads one.
 *
 * The digest is compared before what has it is parsed: of the manifest, or of a list of manifests, of which the one for
 * linux and this machine's processor is taken; then of the configuration and of each layer, with the sizes that their manifest
 * says. Nothing is written before all sizes are known to fit. A body that is longer than its size ends the pull; a connection
 * that breaks is asked for the rest (Range), PULL_TRIES times for a blob, and the digest is of all of it.
 * What lies in the file is good only if the call went well. Memory: the arena, and the manifests. Errors: those of registry.h;
 * BAD_DATA (a digest, a size), LIMIT (sizes), UNPROCESSABLE (no image for this machine: which there are), IO.
 * Source: OCI image-spec 1.1; Docker's "Image Manifest Version 2, Schema 2", whose lists and manifests are taken, too. */
#pragma once
#include "workers/image/registry.h"

enum { PULL_TRIES = 4 };

struct image_pull {
    struct registry_place place;        /* its repository among it */
    struct str digest;                  /* of the manifest, or of a list */
    uint64_t most;                      /* bytes of the archive */
    int pause_ms;                       /* before a second try, then twice as long; 0: 250 */
    /* So many bytes of so many lie in the file; may be NULL. */
    void (*tell)(void *ctx, uint64_t bytes, uint64_t of);
    void *ctx;
};

/* into: an empty file. ret: the manifest's digest. */
MUST_CHECK enum errc image_pull(const struct image_pull *p, int into, struct arena *a, struct str *ret, struct err *e);
