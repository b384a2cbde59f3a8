/* SPDX-License-Identifier: Apache-2.0 */
/* test_idle.c - when a machine says that a lease is idle, and used again: by processor time, by cards of the tests' NVML, and not
 * at all where nothing is measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "cards_kit.h"
#include "workers/agent/idle.h"

static const int64_t LOOK = IDLE_LOOK_US;

/* One look after the other, each with so much processor time; what was told, or -1. */
static int64_t after(struct idle *i, const struct cards *c, int looks, int64_t cpu_each_us, int64_t *cpu_us, int64_t *now_us)
{
    int64_t told = -1, ms;
    for (int n = 0; n < looks; n++) {
        *now_us += LOOK;
        *cpu_us = cpu_each_us == IDLE_UNKNOWN ? IDLE_UNKNOWN : *cpu_us + cpu_each_us;
        if (idle_look(i, c, *cpu_us, *now_us, &ms))
            told = ms;
    }
    return told;
}

static void processors_are_used_from_so_much_time_on(void **state)
{
    (void)state;
    struct idle i;
    int64_t now = 1000000, cpu = 0;
    const int64_t enough = LOOK * IDLE_CPU_PERCENT / 100;
    idle_begin(&i, 0, now);
    assert_int_equal(after(&i, NULL, 100, enough, &cpu, &now), -1);
    assert_int_equal(after(&i, NULL, 3, enough - 1, &cpu, &now), -1);
    assert_int_equal(after(&i, NULL, 1, enough - 1, &cpu, &now), 20000);
    assert_int_equal(after(&i, NULL, 3, 0, &cpu, &now), -1);                /* not at each look */
    assert_int_equal(after(&i, NULL, 1, 0, &cpu, &now), 40000);
    assert_int_equal(after(&i, NULL, 1, enough, &cpu, &now), 0);            /* used again */
    assert_int_equal(after(&i, NULL, 3, enough, &cpu, &now), -1);           /* said once */
    assert_int_equal(after(&i, NULL, 4, 0, &cpu, &now), 20000);
}

static void what_is_not_measured_is_said_by_nobody(void **state)
{
    (void)state;
    struct idle i;
    int64_t now = 1000000, cpu = 0;
    idle_begin(&i, 0, now);
    assert_int_equal(after(&i, NULL, 50, IDLE_UNKNOWN, &cpu, &now), -1);
    cpu = 0;
    assert_int_equal(after(&i, NULL, 5, 0, &cpu, &now), 20000);
    assert_int_equal(after(&i, NULL, 1, IDLE_UNKNOWN, &cpu, &now), 0);      /* what was said is taken back */
    idle_begin(&i, 1, now);                                                 /* a card, and nobody who knows it */
    cpu = 0;
    assert_int_equal(after(&i, NULL, 50, 0, &cpu, &now), -1);
}

static void use_is(const char *text)
{
    FILE *f = fopen(getenv("FAKE_NVML_USE"), "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void cards_are_used_while_one_of_them_computes(void **state)
{
    (void)state;
    struct idle i, none;
    struct cards *c = NULL;
    struct err e = { 0 };
    kit_cards("GPU-1|Tesla T4|16000000000|0|40|0|0\nGPU-2|Tesla T4|16000000000|1|40|0|0\n");
    assert_int_equal(cards_new(FAKE_NVML_PATH, &c, &e), ERR_OK);
    cards_offer(c);
    char path[] = "/tmp/falaj-use-XXXXXX";
    int64_t now = 1000000, cpu = 0;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    setenv("FAKE_NVML_USE", path, 1);
    use_is("0");
    idle_begin(&i, 3, now);
    assert_int_equal(after(&i, c, 4, LOOK, &cpu, &now), 20000);             /* its processors do not count */
    use_is("1");
    assert_int_equal(after(&i, c, 1, 0, &cpu, &now), 0);
    use_is("no number");
    idle_begin(&none, 3, now);
    assert_int_equal(after(&none, c, 20, 0, &cpu, &now), -1);
    unlink(path);
    unsetenv("FAKE_NVML_USE");
    cards_free(c);
    kit_no_cards();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_used_from_so_much_time_on),
        cmocka_unit_test(what_is_not_measured_is_said_by_nobody),
        cmocka_unit_test(cards_are_used_while_one_of_them_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
