/* SPDX-License-Identifier: Apache-2.0 */
/* text_file.h - small files that an operator gives: certificates, passwords.
 *
 * Errors: IO (it cannot be read; the detail has the reason), INVALID (empty, or more than the buffer takes). A message names the
 * file, never what is in it. */
#pragma once
#include <stddef.h>
#include "core/base/err.h"
#include "core/base/str.h"

/* All of it, at most ret's maximum; what is in ret stays in front. */
MUST_CHECK enum errc text_file_read(const char *path, struct buf *ret, struct err *e);
/* Its first line without the end of the line, as a C string of at most cap - 1 bytes; who reads secrets wipes it. */
MUST_CHECK enum errc text_file_line(const char *path, char *ret, size_t cap, struct err *e);
