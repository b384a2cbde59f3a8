/* SPDX-License-Identifier: Apache-2.0 */
/* test_cursor.c - a cursor comes back to its last bit; a member that is missing or odd is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workers/compute/train/cursor.h"

static struct ckpt ckpt_of(struct st_pair *pairs, size_t n)
{
    struct ckpt k = { .step = 9 };
    for (size_t i = 1; i < n; i++)          /* as a file has them: sorted */
        for (size_t j = i; j && str_cmp(pairs[j].key, pairs[j - 1].key) < 0; j--) {
            struct st_pair p = pairs[j];
            pairs[j] = pairs[j - 1];
            pairs[j - 1] = p;
        }
    k.file.meta = pairs;
    k.file.meta_count = n;
    return k;
}

static void test_every_member_comes_back(void **st)
{
    (void)st;
    struct err e;
    struct arena *a = arena_new(1 << 20);
    struct st_pair p[CKPT_PAIRS_MAX];
    struct cursor got, c = { .step = 9, .epoch = 1, .taken = 2, .rounds = 3, .items = INT64_MAX, .loss_sum = 0.1, .bad_epochs = 4,
                             .skipped = 5, .in_a_row = 6, .rollbacks = 7, .factor = 0.5, .grad_norm = (double)NAN,
                                 .seconds = 1e300, .joules = 1e-3,
                             .last = { .epoch = 8, .train_loss = -0.0, .holdout_loss = 1.0 / 3,
                                      .holdout_accuracy = (double)INFINITY },
                             .best = { .epoch = 9, .train_loss = 5e-324, .holdout_loss = 2, .holdout_accuracy = 1 } };
    size_t n = cursor_pairs(a, &c, p);
    struct ckpt k = ckpt_of(p, n);
    assert_int_equal(cursor_read(&k, &got, &e), ERR_OK);
    assert_memory_equal(&got, &c, sizeof c);
    for (size_t i = 0; i < n; i++) {
        struct str was = p[i].value;
        char name[64];
        p[i].value = STR("x");
        assert_int_equal(cursor_read(&k, &got, &e), ERR_DAMAGED);
        snprintf(name, sizeof name, " %.*s ", STR_ARG(p[i].key));
        assert_non_null(strstr(e.msg, name));
        p[i].value = was;
    }
    for (size_t i = 0; i < n; i++)              /* of a release before */
        if (str_eq_c(p[i].key, "joules"))
            p[i].key = STR("joulex");
    assert_int_equal(cursor_read(&k, &got, &e), ERR_OK);
    assert_true(got.joules == 0 && got.seconds == c.seconds);
    k.file.meta_count--;
    assert_int_equal(cursor_read(&k, &got, &e), ERR_DAMAGED);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_member_comes_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
