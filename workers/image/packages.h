/* SPDX-License-Identifier: Apache-2.0 */
/* packages.h - what is installed in an unpacked image, by the databases of its package manager.
 *
 * Read are dpkg's (var/lib/dpkg/status, and var/lib/dpkg/status.d/ of images without dpkg) and apk's (lib/apk/db/installed),
 * all within the image's folder, whatever links it has (openat2, RESOLVE_IN_ROOT). What they say is the image's own word: it is
 * shown to people and decides nothing. Each package is one text, "NAME VERSION ARCHITECTURE", of printable ASCII, sorted; texts
 * are kept up to PACKAGES_TEXT_MAX bytes in all, and counted beyond.
 * Memory: the arena. Errors: LIMIT (a database of more than PACKAGES_FILE_MAX bytes), IO.
 * Sources: deb-control(5), dpkg-query(1); Alpine's "Apk spec", installed database. */
#pragma once
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum { PACKAGES_FILE_MAX = 16 << 20, PACKAGES_TEXT_MAX = 96 << 10, PACKAGES_MAX = 20000, PACKAGE_MAX = 200 };

struct packages {
    const char *source;             /* "dpkg", "apk", or "none" */
    struct slice all;               /* struct str */
    int64_t count;                  /* those that were not kept among them */
};
MUST_CHECK enum errc packages_read(int root, struct arena *a, struct packages *ret, struct err *e);
/* One database's text; for tests and for packages_read. is_apk: apk's, else dpkg's. */
void packages_parse(struct str text, bool is_apk, struct arena *a, struct packages *ret);
