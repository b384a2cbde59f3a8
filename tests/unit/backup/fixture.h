/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a folder for a test's files, and what its tests ask of them. */
#pragma once
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "backup/repo.h"
#include "core/base/cleanup.h"

static char fx_dir[64];
static struct arena *fx_arena;
static struct err e;

#define OK(call)                                                                     \
    do {                                                                             \
        if ((call) != ERR_OK)                                                        \
            fail_msg("%s: %s (%s)", #call, e.msg, e.detail);                         \
    } while (0)
#define FAILS(call, CODE, word)                                                      \
    do {                                                                             \
        assert_int_equal((call), ERR_##CODE);                                        \
        if (!strstr(e.msg, (word)))                                                  \
            fail_msg("%s says \"%s\", not \"%s\"", #call, e.msg, (word));            \
    } while (0)

static inline int fx_setup(void **state)
{
    (void)state;
    strcpy(fx_dir, "/tmp/falaj-backup-XXXXXX");
    fx_arena = arena_new(64 << 20);
    return mkdtemp(fx_dir) ? 0 : -1;
}
static inline int fx_teardown(void **state)
{
    (void)state;
    tree_remove(fx_dir);
    arena_free(fx_arena);
    return access(fx_dir, F_OK) == 0 ? -1 : 0;      /* and so tree_remove is tested */
}
static inline const char *fx_path(const char *name)
{
    return arena_printf(fx_arena, "%s/%s", fx_dir, name);
}
