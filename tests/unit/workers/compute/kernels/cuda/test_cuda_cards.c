/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_cards.c - the real cards and library, as far as this machine has any: counted and named alike wherever they are
 * asked. */
#include "emu_kit.h"

#include <string.h>

static void test_cards_are_those_of_the_driver(void **st)
{
    struct gpu_driver d;
    struct err e;
    int n = 0;
    (void)st;
    if (gpu_driver_open("libcuda.so.1", &d, &e) != ERR_OK || d.init(0) || d.device_count(&n))
        n = 0;
    assert_int_equal(cuda_cards.count(), n);
    assert_true(backend_cards(&backend_cuda) == &cuda_cards);
    assert_null(backend_cards(&backend_ref));
}

static void test_a_library_that_is_missing_is_named(void **st)
{
    unsigned char id[CARD_LINK_ID];
    struct nccl lib;
    struct err e = { 0 }, why;
    (void)st;
    bool is_there = nccl_open("libnccl.so.2", &lib, &why) == ERR_OK;
    assert_int_equal(cuda_cards.link_version() > 0, is_there);
    if (is_there)
        return;                         /* whether it can meet by a socket here is not ours to say */
    assert_int_equal(cuda_cards.link_id(id, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "this machine has no NCCL"));
}

static void test_a_card_that_is_not_there(void **st)
{
    struct backend_ctx *c;
    struct err e;
    (void)st;
    cuda_card_use(1);
    enum errc rc = backend_cuda_emu.open(&backend_cuda_emu, NULL, &c, &e);
    cuda_card_use(0);
    assert_int_equal(rc, ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "the GPU driver shows this process 1 card(s), and card 1 is asked for");
    kit_quiet();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cards_are_those_of_the_driver),
        cmocka_unit_test(test_a_library_that_is_missing_is_named),
        cmocka_unit_test(test_a_card_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
