/* SPDX-License-Identifier: Apache-2.0 */
/* console_files.h - the built files of the web console, read into memory once, at the start.
 *
 * A folder is taken as a whole or not at all. Only regular files below it count; a link, a special file, or a name that would need an
 * escape in a URL is refused, and names that begin with a dot are passed over. X.br and X.gz beside X are other codings of X and no files
 * of their own. Nothing is read after the start, so what changes on disk later is served by the next start, and no request can name a
 * path on disk at all: it can only equal a name in this list.
 * Hashed: below assets/ and "name-HASH.ext" with eight characters of [A-Za-z0-9_-], as the bundler writes names that change with
 * their content. An ETag is the SHA-256 of the bytes that are sent, so each coding has its own.
 * Memory: one arena, until console_free; nobody may be answering from it then.
 * Errors: INVALID (no folder, no index.html, a link, a bad name), LIMIT (CONSOLE_FILES_MAX, CONSOLE_BYTES_MAX, depth), IO. */
#pragma once
#include <stdbool.h>
#include "core/base/err.h"
#include "core/base/str.h"

enum { CONSOLE_FILES_MAX = 2000, CONSOLE_BYTES_MAX = 64 << 20, CONSOLE_DEPTH_MAX = 8 };
enum console_coding { CODING_IDENTITY, CODING_GZIP, CODING_BR, CODING_COUNT };

struct console_body {
    struct str bytes;               /* ptr NULL: there is none */
    char etag[67];                  /* with its quotes */
};

struct console_file {
    struct str path;                /* as in a URL: "/assets/main-Bx3_9aQk.js" */
    const char *type;               /* Content-Type */
    bool is_hashed;
    struct console_body bodies[CODING_COUNT];
};

struct console;

enum errc console_open(const char *dir, struct console **ret, struct err *e) MUST_CHECK;
void console_free(struct console *c);                           /* NULL is fine */
const struct console_file *console_find(const struct console *c, struct str path);      /* NULL: no such file */
size_t console_count(const struct console *c, size_t *ret_bytes);

const char *console_type_of(struct str path);
bool console_is_hashed(struct str path);
