/* SPDX-License-Identifier: Apache-2.0 */
/* test_family.c - each family that a spec may name has a builder of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workers/compute/train/family.h"

static void test_every_name_has_a_builder(void **st)
{
    (void)st;
    for (int i = 0; job_family_names[i]; i++) {
        if (i == TRAIN_GBDT)        /* no net */
            continue;
        assert_non_null(family_of(i)->build);
        for (int k = 0; k < i; k++)
            assert_ptr_not_equal(family_of(i), family_of(k));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_name_has_a_builder) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
