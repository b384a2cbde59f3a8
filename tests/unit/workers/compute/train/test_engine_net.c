/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_net.c - a net that does not fit in the memory of its job is refused with the batch that would. */
#include "engine_kit.h"

/* Refused with the plan, what may be used, and the batch that does fit: which then is true. */
static void test_a_batch_that_would_fit_is_told(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct train_job s = kit_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_task task = { .spec = &s, .data = &d, .backend = kit_backend(), .clock = &clock_system,
                               .dataset_digest = STR("sha256:kit"), .memory_max_bytes = (size_t)600 << 10 };
    struct train_result r;
    struct err e = { 0 };
    unsigned long batch = 0, steps = 0;
    s.max_steps = 1;
    s.batch_size = 1024;
    assert_int_equal(train_run(a, &task, NULL, &r, &e), ERR_LIMIT);
    const char *told = strstr(e.msg, "; batch_size ");
    print_message("%s\n", e.msg);
    assert_true(strstr(e.msg, "does not fit in 0 MiB") && told);
    assert_int_equal(sscanf(told, "; batch_size %lu fits, and accumulate %lu makes the same steps of it", &batch, &steps), 2);
    assert_true(batch * steps == 1024 && batch < 1024);
    s.batch_size = (int64_t)batch;
    s.accumulate = (int64_t)steps;
    assert_int_equal(train_run(a, &task, NULL, &r, &e), ERR_OK);
    train_result_release(&r);
    task.memory_max_bytes = 1000;
    assert_int_equal(train_run(a, &task, NULL, &r, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "with one row, too: fewer parameters or more memory are needed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_batch_that_would_fit_is_told),
    };
    return cmocka_run_group_tests(tests, load_digits, drop_digits);
}
