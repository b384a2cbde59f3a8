/* SPDX-License-Identifier: Apache-2.0 */
/* table_kit.h - an arena for a group of tests, arrays as files, and contents that are refused with a reason. */
#pragma once
#include <string.h>

#include "core/data/data_format.h"
#include "core/data/npy.h"

static struct arena *arena;

/* Two rows; columns 0 to 4. */
static const double CELLS[] = { 17, 1.5, 0, 2, 1, 18, -3, 1, 4, 1 };

static inline struct str cells(const double *p, uint64_t rows, uint64_t cols)
{
    struct buf out = BUF(4096);
    assert_true(npy_write(&out, 'f', 8, 2, (uint64_t[]){ rows, cols }, p, rows * cols * sizeof *p));
    struct str copy = str_dup(arena, buf_str(&out));
    buf_release(&out);
    return copy;
}

static inline void refused(int format, struct str bytes, struct data_schema schema, const char *why)
{
    struct err e = { 0 };
    struct data_found found;
    enum errc rc = data_check(arena, format, &schema, bytes, &found, &e);
    if (rc == ERR_OK || !strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}

static inline int make(void **st)
{
    (void)st;
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static inline int drop(void **st)
{
    (void)st;
    arena_free(arena);
    return 0;
}
