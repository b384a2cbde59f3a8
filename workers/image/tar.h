/* SPDX-License-Identifier: Apache-2.0 */
/* tar.h - a strict reader of tar archives, one entry after another: ustar, pax (path, linkpath, size) and GNU's long names.
 *
 * Every header's sum is checked; what a reader would have to guess is refused: sparse files, archives in several volumes,
 * sizes below 0, names with NUL in them, a pax record of another length than it says. The archive ends at a block of zeros.
 * Calling order: tar_begin -> (tar_next -> tar_read*)*; what was not read of an entry is passed over by the next tar_next.
 * Memory: names lie in the reader and change with the next entry. Errors: BAD_DATA with the number of the entry.
 * Sources: POSIX.1-2017 pax, "ustar Interchange Format" and "pax Interchange Format"; GNU tar's manual, "Basic Tar Format". */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"
#include "workers/image/source.h"

enum { TAR_NAME_MAX = 4096, TAR_BLOCK = 512 };
enum tar_type { TAR_FILE, TAR_LINK, TAR_SYMLINK, TAR_DIR, TAR_DEVICE, TAR_FIFO };

struct tar_entry {
    enum tar_type type;
    struct str name, link;          /* NUL-ended; link: of TAR_LINK and TAR_SYMLINK */
    uint32_t mode;                  /* 07777 of it */
    uint64_t size;                  /* of TAR_FILE; else 0 */
};

struct tar {
    struct source from;
    uint64_t at, left, padding;     /* bytes read; of the entry that are to come, and behind it */
    uint64_t entries;
    bool is_over;
    char name[TAR_NAME_MAX], link[TAR_NAME_MAX];
};

void tar_begin(struct tar *t, struct source from);
/* false: the archive is over. */
MUST_CHECK enum errc tar_next(struct tar *t, struct tar_entry *ret, bool *ret_more, struct err *e);
/* *ret 0: the entry is over. */
MUST_CHECK enum errc tar_read(struct tar *t, void *p, size_t n, size_t *ret, struct err *e);
