/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_host.c - pinned memory: puts from it are the card's until the next sync, which the test form judges; where there is
 * none, a put goes as ever; and a training keeps its batches there. */
#include "emu_kit.h"

#include <string.h>

#include "tests/unit/workers/compute/train/run_kit.h"
#include "workers/compute/kernels/cards.h"

enum { N = 96, BYTES = N * sizeof(float) };

static void test_puts_from_pinned_memory(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct err e;
    struct buffer *b = be->alloc(c, BYTES);
    float *x = backend_host_alloc(be, c, BYTES), y[N];
    size_t copies = emu_pinned_copies();
    assert_non_null(x);
    assert_int_equal(emu_pinned(), BYTES);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i + round);
        be->put(c, QUEUE_COPY, b, 0, x, BYTES);
        assert_int_equal(be->sync(c, &e), ERR_OK);
        be->get(c, QUEUE_COPY, b, 0, y, BYTES);
        assert_int_equal(be->sync(c, &e), ERR_OK);
        assert_memory_equal(x, y, BYTES);
    }
    assert_int_equal(emu_pinned_copies(), copies + 2);
    be->put(c, QUEUE_COPY, b, 0, x, BYTES);
    backend_cards(be)->host_free(c, x);                 /* waits */
    backend_cards(be)->host_free(c, NULL);
    assert_int_equal(be->sync(c, &e), ERR_OK);
    be->free(c, b);
    kit_close(c);
}

static void test_what_changes_too_early_is_found(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct err e;
    struct buffer *b = be->alloc(c, BYTES);
    float *x = backend_host_alloc(be, c, BYTES);
    memset(x, 0, BYTES);
    be->put(c, QUEUE_COPY, b, 0, x, BYTES);
    x[7] = 1;
    assert_int_equal(be->sync(c, &e), ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "its 384 bytes of pinned memory were changed before the host has waited"));
    assert_non_null(emu_report());
    assert_int_equal(be->sync(c, &e), ERR_OK);
    be->put(c, QUEUE_COPY, b, 0, x, BYTES);
    assert_int_not_equal(emu_driver()->host_free(x), 0);
    assert_string_equal(emu_report(), "pinned memory is given back while queue 2 reads it");
    backend_cards(be)->host_free(c, x);
    be->free(c, b);
    kit_close(c);
}

/* Too much, none on this machine, no card: NULL, and nothing has failed. */
static void test_none(void **st)
{
    (void)st;
    const struct backend *be = &backend_cuda_emu;
    struct backend_ctx *c = kit_emu();
    struct err e;
    assert_null(backend_host_alloc(be, c, 0));
    assert_null(backend_host_alloc(be, c, CARD_HOST_MOST + (size_t)1));
    assert_null(backend_host_alloc(&backend_ref, NULL, BYTES));
    emu_set_pinned(false);
    assert_null(backend_host_alloc(be, c, BYTES));
    emu_set_pinned(true);
    assert_int_equal(be->sync(c, &e), ERR_OK);          /* who asked was told */
    kit_close(c);
}

/* With batches in pinned memory and without: the same model, and nothing was changed too early. */
static void test_training(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    static int64_t width = 12;
    struct train_job s = kit_spec();
    s.hidden = (struct slice){ &width, 1 };
    s.epochs = 1;
    s.max_steps = 4;
    s.batch_size = 6;
    struct train_data d = kit_digits(a, &s);
    struct train_result r[2];
    struct err e = { 0 };
    d.holdout_count = 12;               /* few: the processor runs each thread of a card */
    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        const struct train_task task = { .spec = &s, .data = &d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                         .dataset_digest = STR("sha256:kit"), .prefetches = true };
        size_t copies = emu_pinned_copies();
        emu_set_pinned(is_pinned);
        if (train_run(a, &task, NULL, &r[is_pinned], &e) != ERR_OK)
            fail_msg("%s", e.msg);
        assert_true(is_pinned ? emu_pinned_copies() >= copies + 2 * 6 : emu_pinned_copies() == copies);
        assert_int_equal(emu_pinned(), 0);
        kit_quiet();
    }
    assert_int_equal(r[0].model.len, r[1].model.len);
    assert_memory_equal(r[0].model.ptr, r[1].model.ptr, r[0].model.len);
    train_result_release(&r[0]);
    train_result_release(&r[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_puts_from_pinned_memory),
                                        cmocka_unit_test(test_what_changes_too_early_is_found), cmocka_unit_test(test_none),
                                        cmocka_unit_test(test_training) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
