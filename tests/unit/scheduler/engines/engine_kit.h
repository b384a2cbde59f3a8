/* SPDX-License-Identifier: Apache-2.0 */
/* engine_kit.h - what the tests of engines share: an arena for their program's time, and the id of a run as names have it. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/arena.h"

#define RUN "0123456789abcdef0123456789abcdef"

static struct arena *arena;

static int arena_up(void **state)
{
    (void)state;
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static int arena_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}
