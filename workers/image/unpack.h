/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.h - the entries of an image's layers onto a folder that is to become a program's root.
 *
 * Nothing is written outside of the folder, whatever an archive says: names with ".." are refused, and the kernel resolves every
 * parent within the folder (openat2, RESOLVE_IN_ROOT), links of earlier entries among them. No owner is set, no special bit
 * (they are counted), no device and no pipe: below dev/ they are left out, since a program has a /dev of its own; elsewhere
 * they are refused. A whiteout takes away what layers before have, so all of a layer's come before its other entries (two
 * readings).
 * Errors: BAD_DATA (the entry), LIMIT (bytes or files), IO. Sources: OCI image-spec, layer.md; openat2(2). */
#pragma once
#include "workers/image/tar.h"

struct unpack {
    int root;                           /* borrowed */
    uint64_t bytes_most, files_most;
    bool no_special;                    /* setuid and setgid bits are refused instead of taken off */
    uint64_t bytes, files;              /* of contents; of entries of every kind */
    uint64_t stripped, left_out;        /* files that lost a special bit; devices and pipes below dev/ */
};

/* Is the entry a whiteout? Its last name begins with ".wh.". */
bool unpack_is_whiteout(const struct tar_entry *en);
MUST_CHECK enum errc unpack_whiteout(struct unpack *u, const struct tar_entry *en, struct err *e);
/* Any other; a file's content is read from t. */
MUST_CHECK enum errc unpack_entry(struct unpack *u, struct tar *t, const struct tar_entry *en, struct err *e);
/* Of a whole layer all whiteouts, or all other entries. Memory: one tar of the arena. */
struct arena;
MUST_CHECK enum errc unpack_layer(struct unpack *u, struct source from, bool whiteouts, struct arena *a, struct err *e);
/* A folder, or an empty file, at a path without links: what stands there otherwise goes. For places that the box puts
 * something on. */
MUST_CHECK enum errc unpack_place(struct unpack *u, const char *path, bool is_folder, struct err *e);
