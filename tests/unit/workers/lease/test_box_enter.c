/* SPDX-License-Identifier: Apache-2.0 */
/* test_box_enter.c - people in the box of a program that runs, through the real watcher and helper. */
#include "inside_kit.h"

static void a_command_has_its_own_streams_and_status(void **state)
{
    (void)state;
    struct inside_kit k;
    inside_kit_start(&k, "sleep 600", "");
    static const char ask[] = "{\"kind\":\"exec\",\"command\":[\"sh\",\"-c\",\"cat; echo bad >&2; exit 7\"]}";
    const struct inside_said s = inside_kit_run(&k, ask, "over\n");
    assert_string_equal(s.out, "over\n");
    assert_string_equal(s.err, "bad\n");
    assert_int_equal(s.exit_code, 7);
    inside_kit_end(&k);
}

static void who_leaves_takes_the_command_along(void **state)
{
    (void)state;
    struct inside_kit k;
    struct inside_ends i;
    inside_kit_start(&k, "sleep 600", "");
    inside_kit_open(&k, "{\"kind\":\"exec\",\"command\":[\"sh\",\"-c\",\"trap '' HUP; echo in; sleep 700\"]}", &i);
    char first[8] = "";
    inside_kit_wait(i.out);
    assert_true(read(i.out, first, sizeof first - 1) > 0);
    inside_close(&i);
    WAIT_WHILE(inside_kit_counts(&k, "sleep 700"));
    inside_kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_has_its_own_streams_and_status),
        cmocka_unit_test(who_leaves_takes_the_command_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
