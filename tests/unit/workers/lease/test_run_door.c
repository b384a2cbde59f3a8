/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_door.c - how many are let in. */
#include "inside_kit.h"

static void no_more_than_so_many_are_inside(void **state)
{
    (void)state;
    struct inside_kit k;
    struct inside_ends all[BOX_VISITORS_MAX], more;
    inside_kit_start(&k, "sleep 600", "");
    for (int i = 0; i < BOX_VISITORS_MAX; i++)
        inside_kit_open(&k, "{\"kind\":\"exec\",\"command\":[\"sleep\",\"500\"]}", &all[i]);
    assert_int_equal(inside_open(k.held, STR("{\"kind\":\"shell\"}"), &more, NULL), ERR_CONFLICT);
    for (int i = 0; i < BOX_VISITORS_MAX; i++)
        inside_close(&all[i]);
    inside_kit_open(&k, "{\"kind\":\"exec\",\"command\":[\"true\"]}", &more);    /* their places are free again */
    inside_close(&more);
    inside_kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_so_many_are_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
