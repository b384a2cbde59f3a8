/* SPDX-License-Identifier: Apache-2.0 */
/* test_engines.c - a machine says which engines it has: what opens, with its version; what does not is not said, and why is told
 * in the log. FALAJ_ONNXRUNTIME: the real library (tests/e2e/onnxruntime.sh); else the stand-in. */
#include "lease_kit.h"

#include "../compute/ort/ort_kit.h"
#include "core/wire/lease_wire.h"
#include "workers/lease/engines.h"

static void says(const char *path, const char *begins)
{
    struct config *cfg = config_new_default();
    struct err e = { 0 };
    char engines[ENGINES_TEXT];
    const char *why;
    assert_int_equal(config_set(cfg, "worker.onnxruntime", path, &e), ERR_OK);
    engines_here(cfg, engines);
    assert_true(check_engines(str_c(engines), &why));
    if (strncmp(engines, begins, strlen(begins)) != 0 || (!begins[0] && engines[0]))
        fail_msg("%s: \"%s\"", path, engines);
    config_free(cfg);
}

static void what_opens_is_said_with_its_version(void **state)
{
    (void)state;
    const char *real = getenv("FALAJ_ONNXRUNTIME");
    says(real ? real : kit_fake_path(), "onnxruntime 1.");
}

static void what_does_not_open_is_not_said(void **state)
{
    (void)state;
    says("", "");
    says("/nowhere/libonnxruntime.so.1", "");
    says("/proc/self/exe", "");             /* no library */
    says("libm.so.6", "");                  /* another one */
}

static void one_more_is_said_behind_them(void **state)
{
    (void)state;
    char list[ENGINES_TEXT] = "";
    const char *why;
    engines_add(list, "falaj-rank 1");
    assert_string_equal(list, "falaj-rank 1");
    engines_add(list, "other 2");
    assert_string_equal(list, "falaj-rank 1,other 2");
    memset(list, 'a', sizeof list - 4);
    list[sizeof list - 4] = 0;
    engines_add(list, "b 2");                   /* four bytes are left with the end: a comma and three do not go in */
    assert_int_equal(strlen(list), sizeof list - 4);
    engines_add(list, "b2");                    /* two do */
    assert_int_equal(strlen(list), sizeof list - 1);
    assert_true(check_engines(str_c(list), &why));
}

static void words_of_engines_are_checked(void **state)
{
    (void)state;
    const char *why;
    static const char *const good[] = { "", "onnxruntime", "onnxruntime 1.30.0", "a 1.0-rc1+x,b 2" };
    static const char *const bad[] = { ",", "a,", "a,,b", " a", "a ", "A 1", "a;b", "a\n", "-a" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(check_engines(str_c(good[i]), &why));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(check_engines(str_c(bad[i]), &why));
    char many[257];
    memset(many, 'a', 256);
    assert_true(check_engines(str_n(many, 255), &why));
    assert_false(check_engines(str_n(many, 256), &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_opens_is_said_with_its_version),
                                        cmocka_unit_test(what_does_not_open_is_not_said),
                                        cmocka_unit_test(one_more_is_said_behind_them),
                                        cmocka_unit_test(words_of_engines_are_checked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
