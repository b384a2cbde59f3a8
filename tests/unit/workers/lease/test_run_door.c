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

static void settles(struct inside_kit *k, const char *path, const char *want)
{
    char ask[256];
    snprintf(ask, sizeof ask, "{\"kind\":\"exec\",\"command\":[\"cat\",\"%s\"]}", path);
    WAIT_WHILE(strcmp(inside_kit_run(k, ask, "").out, want) != 0);
}

static void one_types_to_the_program_until_there_is_no_more(void **state)
{
    (void)state;
    struct inside_kit k;
    struct inside_ends one, two;
    struct err e = { 0 };
    inside_kit_start(&k, "cd /falaj/scratch; read a; echo $a >one; cat /dev/stdin >rest.new; mv rest.new rest; sleep 600",
                     ",\"takes_stdin\":true");
    WAIT_WHILE(inside_attach(k.held, &one, &e) != ERR_OK);
    assert_true(one.in >= 0 && one.out < 0 && one.err < 0);
    assert_int_equal(inside_attach(k.held, &two, &e), ERR_UPSTREAM);
    assert_non_null(strstr(e.msg, "somebody types to this program already"));
    assert_int_equal(write(one.in, "hello\nmo", 8), 8);
    settles(&k, "/falaj/scratch/one", "hello\n");
    inside_close(&one);                         /* who goes ends nothing */
    WAIT_WHILE(inside_attach(k.held, &two, &e) != ERR_OK);      /* the watcher has seen it go */
    assert_int_equal(write(two.in, "re", 2), 2);
    inside_no_more(&two);
    settles(&k, "/falaj/scratch/rest", "more");
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct str json;
    inside_kit_wait(two.socket);
    assert_int_equal(inside_ended(&two, a, &json, &e), ERR_OK);
    assert_true(str_eq_c(json, "{}"));
    inside_close(&two);
    assert_int_equal(inside_attach(k.held, &two, &e), ERR_UPSTREAM);
    assert_non_null(strstr(e.msg, "standard input was ended"));
    inside_kit_end(&k);
}

static void a_program_without_input_finds_its_end(void **state)
{
    (void)state;
    struct inside_kit k;
    struct inside_ends one;
    struct err e = { 0 };
    inside_kit_start(&k, "cat >/falaj/scratch/all; echo so >/falaj/scratch/ended; sleep 600", "");
    settles(&k, "/falaj/scratch/ended", "so\n");
    assert_int_equal(inside_attach(k.held, &one, &e), ERR_UPSTREAM);
    assert_non_null(strstr(e.msg, "did not ask for a standard input"));
    inside_kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_so_many_are_inside),
        cmocka_unit_test(one_types_to_the_program_until_there_is_no_more),
        cmocka_unit_test(a_program_without_input_finds_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
