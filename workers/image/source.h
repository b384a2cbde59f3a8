/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - bytes that are read in order, whatever they come from: part of a file, an inflated stream, a test. */
#pragma once
#include <stddef.h>
#include "core/base/err.h"

/* *ret 0: the end. Reads at most n, which is not 0. */
struct source {
    enum errc (*read)(void *ctx, void *p, size_t n, size_t *ret, struct err *e);
    void *ctx;
};
/* All n bytes, or BAD_DATA that says what they were to be. */
MUST_CHECK enum errc source_need(const struct source *s, void *p, size_t n, const char *what, struct err *e);
