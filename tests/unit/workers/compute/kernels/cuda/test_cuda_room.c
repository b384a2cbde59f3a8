/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_room.c - what a context holds of its card beside buffers is told: a library's workspace, windows, scratch memory; and
 * what it asked for and did not get is in the error of the next sync. */
#include "lt_kit.h"

static void test_what_is_held(void **st)
{
    struct card_memory m;
    (void)st;
    struct backend_ctx *c = kit_emu();
    cuda_memory(c, &m);
    assert_true(m.total_bytes && m.free_bytes <= m.total_bytes && !m.library_bytes && !m.scratch_bytes && !m.windows_bytes);
    assert_non_null(cuda_scratch(c, 5000));
    assert_non_null(cuda_gathered(c, 7000));
    const size_t free_bytes = m.free_bytes;
    cuda_memory(c, &m);
    assert_true(m.scratch_bytes == 5000 && m.windows_bytes == 7000 && m.free_bytes == free_bytes - 12000 && !m.refused_bytes);
    kit_close(c);
    emu_lt_reset();
    c = kit_lt(false);
    cuda_memory(c, &m);
    assert_true(m.library_bytes == c->lt->api.room_bytes && m.library_bytes);
    kit_close(c);
}

static void test_what_is_refused(void **st)
{
    struct card_memory m;
    struct err e;
    (void)st;
    struct backend_ctx *c = kit_emu();
    emu_set_memory(emu_memory_used() + (64 << 10));
    assert_null(cuda_scratch(c, 96 << 10));
    cuda_memory(c, &m);
    assert_true(m.refused_bytes == 96 << 10 && !m.refused_is_windows && m.free_bytes == 64 << 10);
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "the card has no more memory: beside the plan 96 KiB of scratch are needed, 64 of "));
    assert_null(cuda_gathered(c, 80 << 10));
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "beside the plan 80 KiB of windows are needed"));
    emu_set_memory(0);
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_held), cmocka_unit_test(test_what_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
