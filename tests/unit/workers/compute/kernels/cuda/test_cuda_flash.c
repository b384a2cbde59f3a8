/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_flash.c - attention by wgmma: used on a card of 9.0 that agrees with the twin, and only there; its kernels, run
 * on the processor, against the fp64 reference. */
#include "emu_kit.h"

#include <string.h>

#include "tests/cuda/emu_int.h"
#include "workers/compute/kernels/cuda/cuda_flash.h"
#include "workers/compute/kernels/selftest_int.h"

enum { RIGHT, WRONG, NO_LAUNCH, OLDER, NO_KERNEL };
static int card;
static size_t launches;
static void *own[OWN_COUNT];

static int attribute(int *ret, int what, int device)
{
    *ret = what == GPU_MAJOR ? (card == OLDER ? 8 : 9) : 0;
    return device;
}

static int function(void **ret, void *module, const char *name)
{
    static const char *const names[] = { "kernel_flash_hopper", "kernel_flash_hopper_back_q", "kernel_flash_hopper_back_kv" };
    int code = emu_driver()->module_function(ret, module, name);
    for (int i = 0; i < OWN_COUNT; i++)
        if (!strcmp(name, names[i])) {
            own[i] = *ret;
            return card == NO_KERNEL && i == 2 ? 1 : code;
        }
    return code;
}

/* Wrong: another scale, in the last of the three. */
static int launch(void *f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                  void *stream, void **arguments, void **extra)
{
    bool is_own = false;
    for (int i = 0; i < OWN_COUNT; i++)
        is_own = is_own || f == own[i];
    launches += is_own;
    if (is_own && card == NO_LAUNCH)
        return 1;
    struct flash_back_args a;
    if (is_own && card == WRONG && f == own[2]) {
        memcpy(&a, arguments[0], sizeof a);
        a.s.scale *= 1.02f;
        arguments = (void *[]){ &a };
        return emu_driver()->launch(f, x, y, z, threads, ty, tz, shared, stream, arguments, extra);
    }
    return emu_driver()->launch(f, x, y, z, threads, ty, tz, shared, stream, arguments, extra);
}

static struct backend_ctx *card_of(int kind)
{
    static const struct gpu_image images[] = { { "all", "of the processor" }, { "flash_hopper", "of the card" },
                                               { "flash_keys_hopper", "of the card" }, { NULL, NULL } };
    struct gpu_driver d = *emu_driver();
    struct backend_ctx *c;
    struct err e;
    card = kind;
    d.device_attribute = attribute, d.module_function = function, d.launch = launch;
    if (cuda_open_by(&backend_cuda_emu, &d, images, &c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return c;
}

static void test_which_card(void **st)
{
    (void)st;
    static const struct { int card; const char *says; } all[] = {
        { WRONG, "off its twin's: not used" }, { NO_LAUNCH, "not used" }, { OLDER, "no card of compute capability 9.0" },
        { NO_KERNEL, "or no code for it" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct backend_ctx *c = card_of(all[i].card);
        char line[256] = "";
        assert_false(cuda_flash_use(c, line, sizeof line));
        if (!strstr(line, all[i].says))
            fail_msg("card %d: \"%s\" does not say \"%s\"", all[i].card, line, all[i].says);
        assert_null(c->flash);
        if (all[i].card == NO_LAUNCH)
            (void)emu_report();                     /* that a result was not written */
        kit_close(c);
    }
}

static void test_against_the_reference(void **st)
{
    (void)st;
    static const struct flash_case all[] = { { 1, 1, 1, 1, 64, true }, { 2, 65, 2, 1, 64, true }, { 1, 130, 1, 1, 64, false } };
    struct backend_ctx *c = card_of(RIGHT), *ref;
    char line[256];
    struct err e;
    assert_true(cuda_flash_use(c, line, sizeof line));
    print_message("%s\n", line);
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &ref, &e), ERR_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct flash_result r[2];
        size_t before = launches;
        for (int descends = 0; descends < 2; descends++) {
            emu_set_descending(descends);
            if (flash_check(&backend_cuda_emu, c, ref, &all[i], 7 * i + 1, &r[descends], &e) != ERR_OK)
                fail_msg("case %zu: %s (%s)", i, e.msg, emu_report());
            kit_quiet();
        }
        emu_set_descending(false);
        print_message("%zu tokens: off by %.1e, sums %.1e, backward %.1e\n", all[i].t, r[0].y, r[0].sums, r[0].dx);
        assert_true(r[0].y < 3e-3 && r[0].sums < 1e-6 && r[0].dx < 4e-3 && r[0].hash == r[1].hash);
        assert_int_equal(launches - before, 2 * 3);
    }
    backend_ref.close(ref);
    kit_close(c);
}

static void test_a_batch_beyond_a_grid_is_refused(void **st)
{
    struct backend_ctx *c = card_of(RIGHT);
    const struct flash_back_args a = { .s = { .n = UINT16_MAX + 1 } };
    char line[256];
    struct err e;
    (void)st;
    assert_true(cuda_flash_use(c, line, sizeof line));
    cuda_flash_launch(c, OWN_flash_hopper_back_q, 1, 1, UINT16_MAX + 1, &a);
    assert_int_equal(cuda_sync(c, &e), ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "a smaller batch_size with accumulate makes the same steps"));
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_which_card), cmocka_unit_test(test_against_the_reference),
                                        cmocka_unit_test(test_a_batch_beyond_a_grid_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
