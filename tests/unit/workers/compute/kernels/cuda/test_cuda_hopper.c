/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_hopper.c - the host's side of products by wgmma: they are used on a card of 9.0 that agrees with the strips, and only
 * there. The card is the processor's with another name, its kernels plain loops over the same arguments, right or wrong. */
#include "emu_kit.h"

#include <string.h>

#include "tests/cuda/emu_int.h"
#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/cuda/cuda_hopper.h"
#include "workers/compute/rng.h"

enum { RIGHT, WRONG_END, WRONG_TURN, NO_LAUNCH, OLDER, NEWER, NO_KERNEL };
static int card;
static size_t launches;
static char ways[4];                    /* their addresses are the kernels */

static int attribute(int *ret, int what, int device)
{
    *ret = what == GPU_PROCESSORS ? 7 : what == GPU_MAJOR ? (card == OLDER ? 8 : card == NEWER ? 10 : 9) : 0;
    return device;
}

static int function(void **ret, void *module, const char *name)
{
    static const char *const names[] = { "rows_cols", "rows_rows", "cols_cols", "cols_rows" };
    for (int i = 0; i < 4; i++)
        if (!strncmp(name, "kernel_hopper_", 14) && !strcmp(name + 14, names[i])) {
            *ret = &ways[i];
            return card == NO_KERNEL && i == 3;
        }
    return emu_driver()->module_function(ret, module, name);
}

static bool is_own(const void *f) { return (const char *)f >= ways && (const char *)f < ways + 4; }

static int set(void *f, int what, int value)
{
    return is_own(f) ? what != GPU_SHARED_MOST || value != 197632 : emu_driver()->function_set(f, what, value);
}

static void plain(const struct product_hopper_args *h, bool a_across, bool b_across)
{
    const struct product_strip_args *p = &h->p;
    assert_true(p->is_wide && h->blocks >= 1 && h->blocks <= 7 && h->count >= h->blocks);
    for (size_t part = 0; part * p->k_each < p->k; part++)
        for (size_t i = 0; i < p->m; i++)
            for (size_t j = 0; j < p->n; j++) {
                size_t from = part * p->k_each, end = p->k - from < p->k_each ? p->k : from + p->k_each;
                size_t at = part * p->out_batch + i * p->out_stride + j;
                float sum = p->accumulate ? ((float *)p->out)[at] : 0;
                for (size_t k = from; k < end; k++)
                    sum += bf16_to_f32(p->a[a_across ? k * p->a_stride + i : i * p->a_stride + k])
                           * bf16_to_f32(p->b[b_across != (card == WRONG_TURN && a_across) ? k * p->b_stride + j
                                                                                            : j * p->b_stride + k]);
                sum += p->bias ? p->bias[j] : 0;
                sum = p->relu && sum < 0 ? 0 : sum;
                if (card == WRONG_END && i == p->m - 1)
                    sum = 0;
                if (p->is_narrow)
                    ((uint16_t *)p->out)[at] = bf16_of(sum);
                else
                    ((float *)p->out)[at] = sum;
            }
}

static int launch(void *f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                  void *stream, void **arguments, void **extra)
{
    if (!is_own(f))
        return emu_driver()->launch(f, x, y, z, threads, ty, tz, shared, stream, arguments, extra);
    const struct product_hopper_args *h = arguments[0];
    if (x != h->blocks || y * z != 1 || threads != 256 || shared != 197632 || card == NO_LAUNCH)
        return 1;
    launches++;
    plain(h, (char *)f - ways >= 2, ((char *)f - ways) % 2);
    return 0;
}

static struct backend_ctx *card_of(int kind)
{
    static const struct gpu_image images[] = { { HOPPER_IMAGE, "of the card" }, { "all", "of the processor" }, { NULL, NULL } };
    struct gpu_driver d = *emu_driver();
    struct backend_ctx *c;
    struct err e;
    card = kind;
    d.device_attribute = attribute, d.module_function = function, d.function_set = set, d.launch = launch;
    if (cuda_open_by(&backend_cuda_emu, &d, images, &c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return c;
}

static void test_which_card(void **st)
{
    (void)st;
    static const struct { int card; const char *says; } all[] = {
        { WRONG_END, "comparison 0 is" }, { WRONG_TURN, "comparison 2 is" },
        { NO_LAUNCH, "not used" }, { OLDER, "products by strips: no card of compute capability 9.0" },
        { NEWER, "products by strips: no card of" }, { NO_KERNEL, "or no code for it" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct backend_ctx *c = card_of(all[i].card);
        char line[256] = "";
        assert_false(cuda_hopper_use(c, line, sizeof line));
        if (!strstr(line, all[i].says))
            fail_msg("card %d: \"%s\" does not say \"%s\"", all[i].card, line, all[i].says);
        kit_close(c);
    }
    struct backend_ctx *c = kit_emu();              /* a build that has no such image */
    char line[256] = "";
    assert_false(cuda_hopper_use(c, line, sizeof line));
    kit_close(c);
}

/* By n alone: a narrow result, a batch, and what no 16 bytes hold stay with the strips. */
static void test_which_products(void **st)
{
    (void)st;
    enum { M = 24, N = 136, K = 1096 };
    static const struct { size_t m, n, k; unsigned flags; size_t by_wgmma; } all[] = {
        { M, N, 72, MM_TRANS_B, 1 }, { 1, N, 72, MM_TRANS_B | MM_BIAS, 1 }, { M, N, K, MM_TRANS_A, 1 }, { M, 120, 72, 0, 0 },
        { M, 129, 72, MM_TRANS_B, 0 }, { M, N, 70, MM_TRANS_B, 0 },
    };
    static uint16_t a[M * K], b[N * K];
    static float y[M * N], bias[N];
    struct backend_ctx *c = card_of(RIGHT);
    c->tries_hopper = true;             /* found out before the first product */
    for (size_t i = 0; i < M * K; i++)
        a[i] = bf16_of((float)philox_normal(1, 0, i));
    for (size_t i = 0; i < N * K; i++)
        b[i] = bf16_of((float)philox_normal(2, 0, i));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t m = all[i].m, n = all[i].n, k = all[i].k, before = launches + (i == 0 ? 6 : 0);
        bool ta = all[i].flags & MM_TRANS_A, tb = all[i].flags & MM_TRANS_B;
        struct mat A = mat_host(a, ELEM_BF16, ta ? k : m, ta ? m : k), B = mat_host(b, ELEM_BF16, tb ? n : k, tb ? k : n);
        struct mat Y = mat_host(y, ELEM_F32, m, n), bias_of = mat_host(bias, ELEM_F32, 1, n);
        call_matmul(&backend_cuda_emu, c, all[i].flags, &A, &B, &bias_of, &Y);
        kit_quiet();
        assert_int_equal(launches - before, all[i].by_wgmma);
        assert_true(c->hopper && !c->tries_hopper);
        for (size_t e = 0; e < m * n; e++) {
            double want = 0, row = e / n, col = e % n;
            for (size_t j = 0; j < k; j++)
                want += (double)bf16_to_f32(a[ta ? j * m + (size_t)row : (size_t)row * k + j])
                        * (double)bf16_to_f32(b[tb ? (size_t)col * k + j : j * n + (size_t)col]);
            assert_true((double)y[e] - want < 1e-3 && want - (double)y[e] < 1e-3);
        }
    }
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_which_card), cmocka_unit_test(test_which_products) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
