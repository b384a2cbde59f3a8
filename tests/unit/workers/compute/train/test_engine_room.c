/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_room.c - a training on a card (its form on the processor) that has room for the plan and not for what operations
 * take beside it: the error says so, and the batch that it names does run there. */
#include "../kernels/cuda/emu_kit.h"

#include "run_kit.h"

static size_t most;                     /* bytes of the card in use behind a step, all steps */

static void on_step(void *ctx, const struct train_step *s)
{
    (void)ctx, (void)s;
    most = emu_memory_used() > most ? emu_memory_used() : most;
}

static enum errc run(struct arena *a, const struct train_job *s, const struct train_data *d, const char *library,
                     size_t max_bytes, struct err *e)
{
    static const struct train_observer o = { .on_step = on_step };
    const struct train_task task = { .spec = s, .data = d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                     .dataset_digest = STR("sha256:kit"), .library = library, .memory_max_bytes = max_bytes };
    struct train_result r;
    enum errc rc = train_run(a, &task, &o, &r, e);
    if (rc == ERR_OK)
        train_result_release(&r);
    return rc;
}

static struct train_job spec_of(int64_t batch_size)
{
    struct train_job s = kit_spec();
    s.batch_size = batch_size;
    s.max_steps = 2;
    s.holdout = 0;
    return s;
}

static void test_scratch_that_does_not_fit_names_a_batch_that_does(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = spec_of(256);
    struct train_data d = kit_digits(a, &s);
    struct err e = { 0 };
    unsigned long batch = 0, steps = 0;
    (void)st;
    most = 0;
    assert_int_equal(run(a, &s, &d, NULL, 0, &e), ERR_OK);
    const size_t before = most;
    emu_set_memory(before - 1);         /* the last that was asked for is refused */
    assert_int_equal(run(a, &s, &d, NULL, 0, &e), ERR_LIMIT);
    print_message("%s\n", e.msg);
    assert_non_null(strstr(e.msg, "the card has no more memory: beside the plan "));
    const char *told = strstr(e.msg, "; batch_size ");
    assert_non_null(told);
    assert_int_equal(sscanf(told, "; batch_size %lu fits, and accumulate %lu makes the same steps of it", &batch, &steps), 2);
    assert_true(batch * steps == 256 && batch < 256);
    s.batch_size = (int64_t)batch;
    s.accumulate = (int64_t)steps;
    if (run(a, &s, &d, NULL, 0, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    emu_set_memory(0);
}

/* The library's workspace is there before the net is planned: a card with room for the plan and half of it refuses the plan. */
static void test_the_librarys_workspace_is_counted(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = spec_of(256);
    struct train_data d = kit_digits(a, &s);
    struct err e = { 0 };
    size_t low = 0, high = (size_t)4 << 20;
    s.max_steps = 1;
    (void)st;
    while (high - low > 2048) {         /* the least that will do without the library */
        const size_t at = low + (high - low) / 2;
        if (run(a, &s, &d, NULL, at, &e) == ERR_OK)
            high = at;
        else
            low = at;
    }
    assert_int_equal(run(a, &s, &d, "auto", high, &e), ERR_LIMIT);
    print_message("%s\n", e.msg);
    assert_non_null(strstr(e.msg, "MiB that the card's operations hold are more than the"));
    assert_non_null(strstr(e.msg, "; batch_size "));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_scratch_that_does_not_fit_names_a_batch_that_does),
                                        cmocka_unit_test(test_the_librarys_workspace_is_counted) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
