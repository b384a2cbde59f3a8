/* SPDX-License-Identifier: Apache-2.0 */
/* test_net_params.c - parts of a model that ranks share: together they are the whole, each number once or the same on all, and
 * what a rank begins with is its part of what one rank would begin with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "workers/compute/train/net.h"

static struct train_job small(bool is_llama)
{
    struct train_job s = { .family = TRAIN_GPT, .layers = 2, .width = 16, .heads = 4, .context = 6 };
    if (is_llama) {
        s.rms_norm = s.rotary = s.gated = true;
        s.kv_heads = 2;
    }
    return s;
}

static enum errc nobody(void *ctx, void *numbers, enum elem type, size_t n, struct err *e)
{
    (void)ctx, (void)numbers, (void)type, (void)n;
    return FAIL(e, INTERNAL, "nobody runs here");
}

static const struct run_ranks over = { NULL, nobody };

static struct net *net_of(struct backend_ctx *c, const struct train_job *s, int rank, int ranks)
{
    const struct net_spec spec = { .type = ELEM_F32, .job = s, .shape = { 6, 11, NET_CLASSES }, .max_rows = 1, .has_update = true,
                                   .tensor_rank = rank, .tensor_ranks = ranks, .over = &over };
    struct net *n;
    struct err e;
    if (net_new(&backend_ref, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    net_init(n, 5);
    return n;
}

static void check(bool is_llama, int ranks)
{
    const struct train_job s = small(is_llama);
    struct backend_ctx *c;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    struct net *one = net_of(c, &s, 0, 0);
    float *whole = calloc(one->whole, sizeof *whole), *back = calloc(one->whole, sizeof *back);
    assert_int_equal(one->whole, one->numbers);
    for (int r = 0; r < ranks; r++) {
        struct net *part = net_of(c, &s, r, ranks);
        const float *here = run_region(part->run, REGION_PARAMS)->ptr;
        assert_int_equal(part->whole, one->whole);
        assert_int_equal(part->tensor_count, one->tensor_count);
        assert_true(part->numbers < one->numbers);
        net_give(part, r, here, whole);
        float *again = calloc(part->numbers, sizeof *again);
        net_take(part, r, whole, again);
        assert_memory_equal(again, here, part->numbers * sizeof *again);
        free(again);
        net_free(part);
    }
    /* Tensor by tensor, by name: the order of declaration may be another. */
    struct net *part = net_of(c, &s, 0, ranks);
    const float *want = run_region(one->run, REGION_PARAMS)->ptr;
    for (size_t i = 0; i < one->tensor_count; i++) {
        size_t k = 0;
        while (strcmp(part->tensors[k].name, one->tensors[i].name) != 0)
            assert_true(++k < part->tensor_count);
        assert_int_equal(part->tensors[k].count, one->tensors[i].count);
        if (memcmp(whole + part->tensors[k].at, want + one->tensors[i].at, one->tensors[i].count * sizeof *want) != 0)
            fail_msg("%d ranks begin with another %s", ranks, one->tensors[i].name);
    }
    print_message("%s on %d: %zu of %zu numbers on each\n", is_llama ? "llama" : "gpt-2", ranks, part->numbers, one->numbers);
    net_free(part);
    net_free(one);
    free(whole);
    free(back);
    backend_ref.close(c);
}

static void test_parts_are_the_whole(void **st)
{
    (void)st;
    check(false, 2);
    check(false, 4);
    check(true, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts_are_the_whole) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
