/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl.c - NCCL's table from a library, a link of one rank, and what becomes of one whose peers do not come. */
#include "emu_kit.h"

#include <string.h>

static void test_no_library(void **st)
{
    struct nccl lib;
    struct err e;
    (void)st;
    assert_int_equal(nccl_open("libnccl-of-nobody.so.2", &lib, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "this machine has no NCCL (libnccl-of-nobody.so.2: "
                        "cannot open shared object file: No such file or directory)");
    assert_int_equal(nccl_open("libm.so.6", &lib, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "libm.so.6 has no ncclGetVersion; NCCL 2.14 or later is needed");
}

/* The real one, where it is installed: it makes a meeting place without a card. */
static void test_the_real_library(void **st)
{
    struct nccl lib;
    struct err e;
    int version = 0;
    struct nccl_id id = { { 0 } };
    (void)st;
    if (nccl_open("libnccl.so.2", &lib, &e) != ERR_OK) {
        print_message("not here: %s\n", e.msg);
        return;
    }
    assert_int_equal(lib.version(&version), 0);
    assert_true(version >= 21400);
    assert_string_equal(lib.text(0), "no error");
    print_message("NCCL %d, a meeting place: %d\n", version, lib.id(&id));
}

static struct card_link *link_of(struct backend_ctx *c, int size, int64_t patience_ms, bool (*is_over)(void *), struct err *e)
{
    struct card_link_spec s = { .rank = 0, .size = size, .patience_ms = patience_ms, .is_over = is_over };
    struct card_link *l = NULL;
    assert_int_equal(nccl_link_id(emu_nccl(), s.id, e), ERR_OK);
    return nccl_link_new(emu_nccl(), c, &s, &l, e) == ERR_OK ? l : NULL;
}

static void test_one_rank_sends_to_itself(void **st)
{
    struct backend_ctx *c = kit_emu();
    struct err e;
    struct buffer *b = backend_cuda_emu.alloc(c, 64);
    struct card_link *l = link_of(c, 1, 1000, NULL, &e);
    float x[16];
    (void)st;
    for (int i = 0; i < 16; i++)
        x[i] = (float)i;
    backend_cuda_emu.put(c, QUEUE_COMPUTE, b, 0, x, sizeof x);
    const struct card_part parts[] = { { 0, b, 0, 32, true }, { 0, b, 32, 32, false }, { 0, b, 0, 0, true } };
    assert_non_null(l);
    assert_int_equal(nccl_exchange(l, "halves", parts, 3, &e), ERR_OK);
    backend_cuda_emu.get(c, QUEUE_COMPUTE, b, 0, x, sizeof x);
    assert_int_equal(backend_cuda_emu.sync(c, &e), ERR_OK);
    for (int i = 0; i < 16; i++)
        assert_true(x[i] == (float)(i % 8));
    nccl_link_free(l);
    backend_cuda_emu.free(c, b);
    kit_close(c);
    assert_int_equal(emu_nccl_links(), 0);
}

static void test_what_is_taken_was_sent_so(void **st)
{
    struct backend_ctx *c = kit_emu();
    struct err e;
    struct buffer *b = backend_cuda_emu.alloc(c, 64);
    struct card_link *l = link_of(c, 1, 1000, NULL, &e);
    const struct card_part parts[] = { { 0, b, 0, 32, true }, { 0, b, 32, 16, false } };
    (void)st;
    assert_int_equal(nccl_exchange(l, "parts", parts, 2, &e), ERR_UPSTREAM);
    assert_string_equal(e.msg, "NCCL: parts: invalid usage (5)");
    assert_int_equal(nccl_exchange(l, "parts", parts, 2, &e), ERR_UPSTREAM);        /* it is dead from then on */
    assert_string_equal(e.msg, "the cards exchange nothing any more");
    nccl_link_free(l);
    backend_cuda_emu.free(c, b);
    kit_close(c);
}

static bool yes(void *ctx)
{
    (void)ctx;
    return true;
}

static void test_who_waits_for_nobody_is_told(void **st)
{
    struct backend_ctx *c = kit_emu();
    struct err e;
    (void)st;
    assert_null(link_of(c, 2, 20, NULL, &e));
    assert_int_equal(e.code, ERR_UPSTREAM);
    assert_string_equal(e.msg, "an exchange of ranks between cards did not end in 20 ms");
    assert_null(link_of(c, 2, 1000 * 1000, yes, &e));
    assert_string_equal(e.msg, "another rank ended during an exchange of ranks");
    assert_int_equal(emu_nccl_links(), 0);
    kit_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_the_real_library),
        cmocka_unit_test(test_one_rank_sends_to_itself),
        cmocka_unit_test(test_what_is_taken_was_sent_so),
        cmocka_unit_test(test_who_waits_for_nobody_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
