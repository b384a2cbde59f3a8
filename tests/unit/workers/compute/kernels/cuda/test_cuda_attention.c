/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_attention.c - attention over bf16 on tensor cores, run on the processor, against the fp64 reference: ragged
 * ends, groups of heads, both widths, one that has no kernels of its own; the same bits in both orders of threads. */
#include "emu_kit.h"

#include <math.h>

#include "workers/compute/kernels/selftest_int.h"
#include "workers/compute/rng.h"

enum { T = 64, D = 64 };

static double half(double x)
{
    return (double)bf16_to_f32(bf16_of((float)x));
}

/* One head of random numbers, no mask: how far, of its norm, an evaluation is from the exact one that rounds scores, weights,
 * sums and results to bf16. */
static double plain_error(void)
{
    static double x[3][T][D];
    double diff = 0, norm = 0;
    for (size_t i = 0; i < 3 * T * D; i++)
        x[i / (T * D)][i / D % T][i % D] = half(4 * (double)philox(3, 0, i).v[0] / 0x1p32 - 2);
    for (size_t i = 0; i < T; i++) {
        double exact[D + 1] = { 0 }, plain[D + 1] = { 0 };
        for (size_t j = 0; j < T; j++) {
            double score = 0;
            for (size_t l = 0; l < D; l++)
                score += x[0][i][l] * x[1][j][l] / 8;
            double w = exp(score), rounded = half(exp(half(score)));
            exact[D] += w;
            plain[D] = half(plain[D] + rounded);
            for (size_t l = 0; l < D; l++) {
                exact[l] += w * x[2][j][l];
                plain[l] = half(plain[l] + half(rounded * x[2][j][l]));
            }
        }
        for (size_t l = 0; l < D; l++) {
            double y = exact[l] / exact[D], off = half(plain[l] / plain[D]) - y;
            diff += off * off;
            norm += y * y;
        }
    }
    return sqrt(diff / norm);
}

static void check(const struct flash_case *all, size_t count)
{
    struct backend_ctx *c = kit_emu(), *ref;
    struct err e;
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (size_t i = 0; i < count; i++) {
        const struct flash_case *k = &all[i];
        struct flash_result r[2];
        for (int descends = 0; descends < 2; descends++) {
            emu_set_descending(descends);
            if (flash_check(&backend_cuda_emu, c, ref, k, 7 * i + 1, &r[descends], &e) != ERR_OK)
                fail_msg("case %zu: %s (%s)", i, e.msg, emu_report());
            kit_quiet();
        }
        emu_set_descending(false);
        print_message("%zu x %zu tokens, %zu heads (%zu) of %zu%s: off by %.1e, sums %.1e, backward %.1e\n", k->n, k->t, k->heads,
                      k->kv_heads, k->d, k->is_causal ? ", causal" : "", r[0].y, r[0].sums, r[0].dx);
        assert_true(r[0].y < 3e-3 && r[0].sums < 1e-6 && r[0].dx < 4e-3);
        assert_true(r[0].hash == r[1].hash);
    }
    backend_ref.close(ref);
    kit_close(c);
}

/* Sums are fp32 and nothing but weights and results is rounded: nearer than plain bf16, by far. */
static void test_against_plain_bf16(void **st)
{
    (void)st;
    double plain = plain_error();
    print_message("plain bf16 is off by %.1e\n", plain);
    assert_true(plain > 3 * 3e-3 && plain < 0.2);       /* 3e-3: what check() allows */
}

/* One token; the edges of a tile; more than a block's rows. */
static void test_ragged(void **st)
{
    (void)st;
    static const struct flash_case all[] = {
        { 1, 1, 1, 1, 64, true },  { 2, 63, 2, 1, 64, true },  { 1, 64, 1, 1, 64, false }, { 1, 65, 2, 2, 64, true },
        { 1, 200, 1, 1, 64, true }, { 1, 65, 1, 1, 64, false }, { 1, 1, 1, 1, 128, false }, { 1, 65, 2, 1, 128, true },
        { 1, 64, 1, 1, 128, false },
    };
    check(all, sizeof all / sizeof *all);
}

/* Widths without kernels of their own go through fp32. */
static void test_other_widths(void **st)
{
    (void)st;
    static const struct flash_case all[] = { { 2, 33, 2, 1, 6, true }, { 1, 9, 3, 3, 80, false } };
    check(all, sizeof all / sizeof *all);
}

/* A card whose blocks have too little shared memory for these kernels: through fp32, too. */
static void test_small_blocks(void **st)
{
    (void)st;
    static const struct flash_case one = { 1, 5, 1, 1, 64, true };
    emu_set_shared(48 << 10);
    size_t before = emu_launches();
    check(&one, 1);
    assert_int_equal(emu_launches() - before, 2 * (3 + 7));
    emu_set_shared(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ragged), cmocka_unit_test(test_against_plain_bf16),
                                        cmocka_unit_test(test_other_widths), cmocka_unit_test(test_small_blocks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
