/* SPDX-License-Identifier: Apache-2.0 */
/* test_lt.c - cuBLASLt by its setting: where there is none, the log says so and own kernels make the products; the real library,
 * where this machine has one, has every function of the table, and takes descriptors even without a card. */
#include "lt_kit.h"


static void test_missing(void **st)
{
    (void)st;
    struct lt_api api;
    struct err e;
    assert_int_equal(lt_open("libcublasLt-of-nobody.so", &api, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "this machine has no cuBLASLt (libcublasLt-of-nobody.so: "
                        "cannot open shared object file: No such file or directory)");
    assert_int_equal(lt_open("libm.so.6", &api, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "libm.so.6 has no cublasLtGetProperty");
}

static void test_settings(void **st)
{
    (void)st;
    struct backend_ctx *c = kit_emu();
    char line[200] = "?";
    assert_false(cuda_library.use(c, "off", true, line, sizeof line));
    assert_string_equal(line, "");
    assert_false(cuda_library.use(c, NULL, true, line, sizeof line) || cuda_library.use(c, "", true, line, sizeof line));
    assert_string_equal(line, "");
    assert_false(cuda_library.use(c, "libm.so.6", true, line, sizeof line));
    assert_string_equal(line, "libm.so.6 has no cublasLtGetProperty: products by own kernels");
    assert_null(c->lt);
    emu_lt_reset();
    emu_lt.is_missing = true;
    assert_false(emu_library.use(c, "auto", true, line, sizeof line));
    assert_string_equal(line, "cuBLASLt takes no card of this process (status 1): products by own kernels");
    emu_lt_reset();
    assert_true(emu_library.use(c, "auto", true, line, sizeof line));
    assert_string_equal(line, "products by cuBLASLt 13.0.0 processor-0");
    kit_close(c);
}

/* Numbers and sizes of the table are the library's: it takes each descriptor and each attribute, and no other size. */
static void test_real_library(void **st)
{
    (void)st;
    struct lt_api api;
    struct err e;
    void *product = NULL, *layout = NULL, *wish = NULL, *address = NULL;
    const int32_t turn = 1, batch = 3, type = LT_BF16;
    const uint32_t end = LT_END_GELU_AUX_BIAS, reduction = LT_REDUCTION_FIXED, align = 16;
    const int64_t step = 64;
    const uint64_t room = 1 << 20;
    if (lt_open("auto", &api, &e) != ERR_OK)
        skip();
    assert_int_equal(api.product_new(&product, LT_SUMS_F32, LT_F32), 0);
    assert_int_equal(api.product_set(product, LT_TURN_A, &turn, sizeof turn), 0);
    assert_int_equal(api.product_set(product, LT_TURN_B, &turn, sizeof turn), 0);
    assert_int_equal(api.product_set(product, LT_END, &end, sizeof end), 0);
    assert_int_equal(api.product_set(product, LT_BIAS, &address, sizeof address), 0);
    assert_int_equal(api.product_set(product, LT_BIAS_TYPE, &type, sizeof type), 0);
    assert_int_equal(api.product_set(product, LT_AUX, &address, sizeof address), 0);
    assert_int_equal(api.product_set(product, LT_AUX_STRIDE, &step, sizeof step), 0);
    assert_int_equal(api.product_set(product, LT_AUX_TYPE, &type, sizeof type), 0);
    assert_int_equal(api.product_set(product, LT_END, &end, 1), LT_INVALID);
    assert_int_equal(api.layout_new(&layout, LT_BF16, 8, 4, 8), 0);
    assert_int_equal(api.layout_set(layout, LT_LAYOUT_BATCH, &batch, sizeof batch), 0);
    assert_int_equal(api.layout_set(layout, LT_LAYOUT_STEP, &step, sizeof step), 0);
    assert_int_equal(api.wish_new(&wish), 0);
    assert_int_equal(api.wish_set(wish, LT_WISH_ROOM, &room, sizeof room), 0);
    assert_int_equal(api.wish_set(wish, LT_WISH_REDUCTION, &reduction, sizeof reduction), 0);
    for (int what = LT_WISH_ALIGN_A; what <= LT_WISH_ALIGN_D; what++)
        assert_int_equal(api.wish_set(wish, what, &align, sizeof align), 0);
    assert_int_equal(api.product_free(product), 0);
    assert_int_equal(api.layout_free(layout), 0);
    assert_int_equal(api.wish_free(wish), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_missing), cmocka_unit_test(test_settings),
                                        cmocka_unit_test(test_real_library) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
