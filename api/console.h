/* SPDX-License-Identifier: Apache-2.0 */
/* console.h - what a browser gets of the web console: which file, in which coding, under which headers.
 *
 * Asked only where no route answers and only by GET or HEAD, so no file can stand in front of the API. "/" is index.html; so is every
 * path that is no file, when the caller asks for a page (Accept names text/html) and the path is neither the API's nor below /assets/:
 * the console reads such an address itself. Everything else is left to the pipeline's NOT_FOUND.
 * Caching: hashed files for a year, immutable; everything else is asked for anew each time and answered 304 by its ETag.
 * Codings: the best that Accept-Encoding allows (RFC 9110, 12.5.3), brotli before gzip at equal weight; where nothing is allowed, as it is.
 * Every answer, 304 included, carries CONSOLE_CSP and the headers beside it.
 * Pure: the answer's bytes belong to the console, its headers to the request's arena. */
#pragma once
#include "api/console_files.h"
#include "core/http/server.h"

#define CONSOLE_CSP                                                                                                                  \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; "             \
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/* false: not the console's to answer. */
bool console_pick(const struct console *c, const struct http_request *r, struct str request_id, struct http_response *ret);
/* Is there a file of that path? For "405, Allow: GET, HEAD". */
bool console_has(const struct console *c, struct str path);

enum console_coding console_coding_choose(const struct console_file *f, struct str accept_encoding);
/* May this path be index.html for who accepts this? */
bool console_is_page(struct str path, struct str accept);
