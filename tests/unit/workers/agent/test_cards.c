/* SPDX-License-Identifier: Apache-2.0 */
/* test_cards.c - cards found by a library of the tests': names, order, what a lease gets of them, and which are taken out
 * when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cards_kit.h"
#include "workers/agent/cards.h"

#define A "GPU-aaaa|NVIDIA H100 80GB HBM3|85520809984|3|40|0|0\n"
#define B "GPU-bbbb|NVIDIA H100 80GB HBM3|85520809984|1|"
#define C "GPU-cccc|NVIDIA T4|15000000000|0|40|0|0\n"

static struct cards *open_cards(const char *lines)
{
    struct cards *c;
    struct err e;
    kit_cards(lines);
    if (cards_new(FAKE_NVML_PATH, &c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return c;
}

/* One model only; bits count what is offered; nodes are the library's minors, not its order. */
static void test_found(void **st)
{
    (void)st;
    char text[CARDS_VISIBLE_MAX];
    struct cards *c = open_cards(A C B "40|0|0\n");
    assert_int_equal(c->count, 3);
    assert_int_equal(c->offered_count, 2);
    assert_string_equal(c->offered[1]->uuid, "GPU-bbbb");
    assert_string_equal(c->offered[0]->model, "H100-80GB-HBM3");
    assert_true(c->offered[0]->memory_bytes == 85520809984);
    assert_true(cards_minors(c, 3) == (1 << 3 | 1 << 1) && cards_minors(c, 2) == 1 << 1);
    assert_string_equal(cards_visible(c, 3, text), "CUDA_VISIBLE_DEVICES=GPU-aaaa,GPU-bbbb");
    assert_string_equal(cards_visible(c, 2, text), "CUDA_VISIBLE_DEVICES=GPU-bbbb");
    assert_true(cards_can_give(c, 3) && !cards_can_give(c, 4));
    assert_false(cards_check(c));
    cards_free(c);
    kit_no_cards();
}

/* Cards that settings name: their numbers are all that is known. */
static void test_by_number(void **st)
{
    (void)st;
    char text[CARDS_VISIBLE_MAX];
    assert_true(cards_minors(NULL, 0x405) == 0x405 && cards_can_give(NULL, 0x405));
    assert_string_equal(cards_visible(NULL, 0x405, text), "CUDA_VISIBLE_DEVICES=0,2,10");
    assert_string_equal(cards_visible(NULL, 0, text), "CUDA_VISIBLE_DEVICES=");
}

static void expect_out(const char *line, const char *why, bool is_for_good)
{
    struct cards *c = open_cards(A B "40|0|0\n");
    char lines[256];
    assert_int_equal(c->offered_count, 2);
    snprintf(lines, sizeof lines, A B "%s\n", line);
    kit_cards(lines);
    bool changed = cards_check(c);
    changed = cards_check(c) || changed;            /* heat counts when it is seen twice */
    assert_true(changed == (why != NULL));
    assert_string_equal(c->all[1].fault, why ? why : "");
    assert_true(cards_can_give(c, 1) && cards_can_give(c, 2) == !why);
    cards_offer(c);
    assert_int_equal(c->offered_count, why ? 1 : 2);
    kit_cards(A B "40|0|0\n");
    assert_true(cards_check(c) == (why && !is_for_good));
    cards_offer(c);
    assert_int_equal(c->offered_count, why && is_for_good ? 1 : 2);
    cards_free(c);
    kit_no_cards();
}

static void test_taken_out(void **st)
{
    (void)st;
    expect_out("40|0|79", "XID 79", true);          /* it has fallen off the bus */
    expect_out("999|0|0", "it is lost", true);      /* without an event */
    expect_out("40|0|31", NULL, false);             /* a program's own fault */
    expect_out("40|2|0", "2 uncorrected memory errors", true);
    expect_out("91|0|0", "91 degrees, it slows down at 90", false);
    expect_out("89|0|0", NULL, false);
}

static void test_no_library(void **st)
{
    (void)st;
    struct cards *c;
    struct err e;
    assert_int_equal(cards_new("libnvidia-of-nobody.so", &c, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "this machine has no NVML (libnvidia-of-nobody.so: "
                        "cannot open shared object file: No such file or directory)");
    assert_int_equal(cards_new("libm.so.6", &c, &e), ERR_UNAVAILABLE);
    assert_string_equal(e.msg, "libm.so.6 has no nvmlInit_v2");
    assert_int_equal(cards_new(FAKE_NVML_PATH, &c, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "does not begin (9): is the driver loaded?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_found), cmocka_unit_test(test_by_number),
                                        cmocka_unit_test(test_taken_out), cmocka_unit_test(test_no_library) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
