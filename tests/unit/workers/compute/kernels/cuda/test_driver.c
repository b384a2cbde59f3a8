/* SPDX-License-Identifier: Apache-2.0 */
/* test_driver.c - the driver's table from a library: its functions by name, and a clear word where there is none. The program
 * is the library here: it carries the test form's functions under the driver's names. */
#include "emu_kit.h"

#include <string.h>

static void test_functions_by_name(void **st)
{
    (void)st;
    struct gpu_driver d;
    struct err e;
    int count = 0, version = 0;
    const char *text = "";
    if (gpu_driver_open(NULL, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(!d.about && !d.done && !d.forget);
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.device_count(&count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(d.version(&version), 0);
    assert_int_equal(version, 12000);
    assert_int_equal(d.text(GPU_NO_MEMORY, &text), 0);
    assert_string_equal(text, "out of memory");
    const struct gpu_driver *own = emu_driver();
#define CALL(name, symbol, arguments) assert_true((void *)(uintptr_t)d.name == (void *)(uintptr_t)own->name);
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL
}

static void test_no_driver(void **st)
{
    (void)st;
    struct gpu_driver d;
    struct err e;
    assert_int_equal(gpu_driver_open("libcuda-of-nobody.so.1", &d, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "this machine has no GPU driver (libcuda-of-nobody.so.1: "
                        "cannot open shared object file: No such file or directory)");
    assert_int_equal(gpu_driver_open("libm.so.6", &d, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "the GPU driver libm.so.6 has no cuInit; a newer driver is needed");
}

/* The GPU code is part of the program wherever clang or nvcc was there when it was built. */
static void test_images(void **st)
{
    (void)st;
#if defined(HAS_GPU_IMAGES)
    for (const struct gpu_image *i = gpu_images; i->name; i++)
        assert_non_null(strstr(i->text, ".entry kernel_"));
    assert_non_null(gpu_images[0].name);
#else
    assert_null(gpu_images[0].name);
#endif
}

/* A card is used by name alone, where there is one; who goes through the variants of the processor does not meet it. */
static void test_by_name_alone(void **st)
{
    (void)st;
    const struct backend *be;
    struct hw hw;
    struct err e;
    hw_read(&hw);
    for (const struct backend *const *it = backend_list(); *it; it++)
        assert_false((*it)->properties & BE_DEVICE);
    assert_int_equal(backend_choose("auto", &hw, NULL, NULL, &be, &e), ERR_OK);
    assert_false(be->properties & BE_DEVICE);
    enum errc rc = backend_choose("cuda", &hw, NULL, NULL, &be, &e);
    assert_int_equal(rc, backend_cuda.probe(&hw) ? ERR_OK : ERR_UNAVAILABLE);
    assert_true(rc == ERR_OK || !strcmp(e.msg, "worker.backend is \"cuda\", which this machine cannot run"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_functions_by_name), cmocka_unit_test(test_no_driver),
                                        cmocka_unit_test(test_images),           cmocka_unit_test(test_by_name_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
