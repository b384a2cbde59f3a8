/* SPDX-License-Identifier: Apache-2.0 */
/* emu_kit.h - the backend cuda-emu opened and closed by a test, which then says that nothing was reported. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/cuda/emu.h"

static inline struct backend_ctx *kit_emu(void)
{
    struct backend_ctx *c;
    struct err e;
    if (backend_cuda_emu.open(&backend_cuda_emu, NULL, &c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return c;
}

static inline void kit_quiet(void)
{
    const char *report = emu_report();
    if (report)
        fail_msg("reported: %s", report);
}

static inline void kit_close(struct backend_ctx *c)
{
    backend_cuda_emu.close(c);
    kit_quiet();
    assert_int_equal(emu_memory_used(), 0);
    assert_int_equal(emu_pinned(), 0);
}
