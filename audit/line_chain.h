/* SPDX-License-Identifier: Apache-2.0 */
/* line_chain.h - a file of lines outside the database that is only appended to: what is kept there outlives whatever becomes of
 * the database.
 *
 * Each line is {"v":1,<members>,"prev":"<hex>"}; prev is the SHA-256 of the line before without its newline (zeros for the
 * first), so a line that is cut out or changed shows. What a crash left of a line counts as a line. O_APPEND, locked, and synced
 * with its folder before the call returns. Any thread, any process of the machine. */
#pragma once
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/crypto/hash.h"

enum { LINE_CHAIN_MAX = 4096 };    /* bytes of a line with its newline */

/* members: canonical JSON without braces. ret_line: the SHA-256 of the new line. IO: the file is as it was, or ends in a part of
 * a line. */
MUST_CHECK enum errc line_chain_append(const char *dir, const char *name, struct str members, uint8_t ret_line[SHA256_BYTES],
                                       struct err *e);
