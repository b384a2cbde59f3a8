/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_keep.c - the folder checkpoint goes from attempt to attempt; who keeps nothing is not run for ever. */
#include "run_kit.h"

static void what_it_keeps_the_next_attempt_finds(void **state)
{
    (void)state;
    static const char script[] = "cd /falaj/checkpoint; n=$(cat n 2>/dev/null || echo 0); echo was $n $(ls | tr '\\n' ' ')\n"
        "mkdir -p deep; echo $((n+1)) > n.tmp; mv n.tmp n; echo x > deep/half.tmp; echo y > deep/whole; ln -sf /etc/passwd l\n"
        "[ $n = 2 ] && exit 0; exit 75";
    static const char *const was[] = { "was 0\"", "was 1 deep n", "was 2 deep n" };
    struct fixture f;
    run_setup(&f, "x");
    for (int i = 0; i < 3; i++) {
        const char *r = run_to_end(&f, run_add(&f, 10 + i, script, ""));
        expect(r, was[i]);
        expect(r, i < 2 ? "\"event\":\"return\"" : "\"event\":\"succeed\"");
        struct lease_verdict v = { .attempt_id = kit_id(1), .verdict = STR("ok") };
        book_settle(f.book, &v, 1, 0);
    }
    assert_int_equal(f.store.n_ckpts, 2);
    teardown(&f);
}

static void who_asks_again_and_keeps_nothing_ends(void **state)
{
    (void)state;
    struct fixture f;
    run_setup(&f, "x");
    expect(run_to_end(&f, run_add(&f, 4, "exit 75", "")), "\"event\":\"fail\",\"exit_code\":75");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_keeps_the_next_attempt_finds),
        cmocka_unit_test(who_asks_again_and_keeps_nothing_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
