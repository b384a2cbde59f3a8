/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_lines.c - metrics by their mark and their descriptor, and a flood of words. */
#include "run_kit.h"

static void metrics_are_lines_of_a_descriptor_or_marked(void **state)
{
    (void)state;
    struct fixture f;
    run_setup(&f, "x");
    const char *r = run_to_end(&f, run_add(&f, 1, "echo '{\"step\":3,\"loss\":0.5}' >&3; echo '::metric "
        "{\"step\":9,\"loss\":0.25}'; echo '{\"loss\":0.125}' >&3\n"
                               "echo '::metric {\"loss\":\"much\"}'; echo 'no object' >&3; echo '{\"a\":[1]}' "
                                   ">&$FALAJ_METRICS_FD", ""));
    expect(r, "{\"step\":3,\"values\":{\"step\":3,\"loss\":0.5}}");
    expect(r, "{\"step\":9,\"values\":{\"step\":9,\"loss\":0.25}}");
    expect(r, "\"text\":\"::metric {\\\"loss\\\":\\\"much\\\"}\"");
    expect(r, "\"text\":\"no object\"");
    expect(r, "\"text\":\"{\\\"a\\\":[1]}\"");
    teardown(&f);
}

static void a_flood_of_words_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    run_setup(&f, "x");
    const char *r = run_to_end(&f, run_add(&f, 1,
        "yes 0123456789012345678901234567890123456789 | head -n 500000; echo done >&2", ""));
    expect(r, "\"event\":\"succeed\"");
    expect(r, " lines were dropped: an attempt's log holds 16777216 bytes");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_lines_of_a_descriptor_or_marked),
        cmocka_unit_test(a_flood_of_words_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
