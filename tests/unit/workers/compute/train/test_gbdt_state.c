/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_state.c - a checkpoint of trees that was changed is passed over or refused, never gone on from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "gbdt_kit.h"

static bool stop_now(void *ctx)
{
    (void)ctx;
    return true;
}

static void test_a_changed_state_is_not_taken(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    char dir[] = "/tmp/falaj-ckpt-XXXXXX", path[96];
    struct train_job s = kit_trees(5);
    struct train_data d = kit_friedman(a, &s, TARGET_CLASS, 300);
    struct train_result r;
    struct err e = { 0 };
    const struct train_observer stops = { .should_stop = stop_now };
    assert_non_null(mkdtemp(dir));
    assert_int_equal(kit_run_in(a, &s, &d, dir, 0, &stops, &r, &e), ERR_OK);
    assert_true(r.end == TRAIN_PREEMPTED && r.steps == 1);
    train_result_release(&r);
    snprintf(path, sizeof path, "%s/ckpt-%012d/model.safetensors", dir, 1);
    FILE *f = fopen(path, "r+e");
    if (!f)
        fail_msg("%s is not there", path);
    assert_int_equal(fseek(f, -8, SEEK_END), 0);
    assert_int_equal(fputc(0x55, f), 0x55);
    fclose(f);
    assert_int_equal(kit_run_in(a, &s, &d, dir, 0, NULL, &r, &e), ERR_OK);
    assert_int_equal(r.resumed_at_step, -1);        /* its sum is another: from the start */
    train_result_release(&r);
    ckpt_clear(dir);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_changed_state_is_not_taken) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
