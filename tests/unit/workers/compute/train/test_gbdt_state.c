/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_state.c - a checkpoint of trees that was changed is passed over or refused, never gone on from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gbdt_kit.h"
#include "store_kit.h"

static bool stop_now(void *ctx)
{
    (void)ctx;
    return true;
}

static void test_a_changed_state_is_not_taken(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct kit_store kept;
    struct train_job s = kit_trees(5);
    struct train_data d = kit_friedman(a, &s, TARGET_CLASS, 300);
    struct train_result r;
    struct err e = { 0 };
    const struct train_observer stops = { .should_stop = stop_now };
    const struct ckpt_store *store = kit_store_init(&kept);
    assert_int_equal(kit_run_in(a, &s, &d, store, 0, &stops, &r, &e), ERR_OK);
    assert_true(r.end == TRAIN_PREEMPTED && r.steps == 1);
    train_result_release(&r);
    kept.kept[0].ptr[kept.kept[0].len / 3] ^= 0x15;         /* in its header */
    assert_int_equal(kit_run_in(a, &s, &d, store, 0, NULL, &r, &e), ERR_DAMAGED);
    assert_non_null(strstr(e.msg, "none of the 1 checkpoints of this job can be used: "));
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_changed_state_is_not_taken) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
