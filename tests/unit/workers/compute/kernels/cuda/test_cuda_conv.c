/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_conv.c - convolutions by gathered windows against the fp64 reference: channels in eights and not, strides, all images
 * at once and one by one, in both orders of threads with the same bits. */
#include "emu_kit.h"

#include "workers/compute/kernels/selftest_int.h"

static bool is_gathered(const struct net_case *k)
{
    return (k->op == OP_CONV2D || k->op == OP_CONV2D_BWD_X || k->op == OP_CONV2D_BWD_W) && (k->attr.flags & OP_BF16);
}

/* The kinds of the self-test's list at one size; how many launches they took. */
static size_t check(struct backend_ctx *c, struct backend_ctx *ref, const struct net_size *s, uint64_t hash[NET_CASES_MAX])
{
    struct net_case k[NET_CASES_MAX];
    struct err e;
    size_t n = net_cases(s, k), before = emu_launches(), ran = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_gathered(&k[i]))
            continue;
        if (net_check(&backend_cuda_emu, c, ref, &k[i], i + 1, 1e-5, &hash[ran++], &e) != ERR_OK)
            fail_msg("side %zu: %s", s->side, e.msg);
        kit_quiet();
    }
    assert_int_equal(ran, 4);           /* one forward, one by the input, two by the weights */
    return emu_launches() - before;
}

static void test_gathered(void **st)
{
    (void)st;
    static const struct net_size sizes[] = {
        { .n = 3, .t = 1, .heads = 1, .kv_heads = 1, .d = 2, .side = 12, .window = 3, .stride = 1, .pad = 1, .in = 8, .out = 24,
          .groups = 1 },
        { .n = 3, .t = 1, .heads = 1, .kv_heads = 1, .d = 2, .side = 15, .window = 5, .stride = 2, .pad = 2, .in = 3, .out = 40,
          .groups = 1 },
        { .n = 3, .t = 1, .heads = 1, .kv_heads = 1, .d = 2, .side = 14, .window = 1, .stride = 1, .pad = 0, .in = 40, .out = 31,
          .groups = 1 },
    };
    struct backend_ctx *c = kit_emu(), *ref;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t hash[2][NET_CASES_MAX], each[NET_CASES_MAX];
        size_t launches = 0;
        for (int descends = 0; descends < 2; descends++) {
            emu_set_descending(descends);
            launches = check(c, ref, &sizes[i], hash[descends]);
        }
        emu_set_descending(false);
        assert_memory_equal(hash[0], hash[1], 4 * sizeof **hash);
        assert_true(launches >= 12);                    /* gathered: the simple kernels take one each */
        size_t most = c->gathered_most;
        c->gathered_most = 1;                           /* one image at a time */
        assert_true(check(c, ref, &sizes[i], each) > launches);
        c->gathered_most = most;
        assert_memory_equal(hash[0], each, 2 * sizeof *each);       /* a row has the same bits in any batch */
    }
    backend_ref.close(ref);
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_gathered) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
