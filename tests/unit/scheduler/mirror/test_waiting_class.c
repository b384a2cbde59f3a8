/* SPDX-License-Identifier: Apache-2.0 */
/* test_waiting_class.c - jobs that ask for the same share one wish; who asks for something else under the same number has
 * his own; what nobody asks for any more goes, its texts one statement later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/mirror/waiting_int.h"

static const struct snap_job plain = { .zone = { 0 }, .pool = { "default", 7 }, .queue = { "default", 7 }, .kind = { "noop", 4 },
                                       .data_class = { "public", 6 }, .cls = { "default", 7 }, .gpu_models = { "", 0 },
                                       .slots = 1, .shape = 5, .nodes = 1 };

static void test_wishes(void **state)
{
    (void)state;
    struct waiters *m = waiting_new();
    struct snap_job other = plain, later = plain;
    other.slots = 2;                                    /* numbered alike by an older function */
    later.shape = 9;
    struct wish *a = waiting_wish(m, &plain), *b = waiting_wish(m, &plain), *c = waiting_wish(m, &other),
                *d = waiting_wish(m, &later);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_ptr_equal(a->group, c->group);
    assert_ptr_not_equal(a->group, d->group);
    assert_int_equal(m->nshapes, 2);
    assert_int_equal(a->group->n, 3);
    assert_true(a->job.pool.ptr != plain.pool.ptr && str_eq(a->job.pool, plain.pool) && !a->job.zone.ptr);
    assert_int_equal(waiting_group_at(m, plain.tenant_id, 5), 0);
    assert_int_equal(waiting_group_at(m, plain.tenant_id, 6), 1);
    assert_int_equal(waiting_group_at(m, plain.tenant_id, 10), 2);
    waiting_unwish(m, d);
    assert_int_equal(m->nshapes, 1);
    assert_int_equal(m->ngroups, 1);
    assert_true(str_eq_c(d->job.pool, "default"));      /* a snapshot may show it still */
    waiting_bury(m);
    waiting_unwish(m, a);
    assert_ptr_equal(a->group->wishes->next, b);
    waiting_unwish(m, b);
    waiting_unwish(m, c);
    waiting_bury(m);
    assert_int_equal(m->ngroups, 0);
    assert_int_equal(m->bytes, 0);
    waiting_free(m);
}

/* An absent text is not an empty one, and each member counts. */
static void test_same(void **state)
{
    (void)state;
    struct waiters *m = waiting_new();
    const struct wish *w = waiting_wish(m, &plain);
    struct snap_job j[] = { plain, plain, plain, plain, plain, plain, plain, plain, plain, plain, plain, plain };
    j[0].zone = STR("");
    j[1].pool = STR("other");
    j[2].queue = STR("other");
    j[3].project_id.b[3] = 1;
    j[4].kind = STR("run");
    j[5].data_class = STR("secret");
    j[6].cls = STR("urgent");
    j[7].gpu_models = STR("X");
    j[8].gpus = 1;
    j[9].cpu_milli = 1;
    j[10].memory_bytes = 1;
    j[11].gpu_milli = 1;
    for (size_t i = 0; i < sizeof j / sizeof *j; i++)
        assert_false(waiting_wish_same(w, &j[i]));
    assert_true(waiting_wish_same(w, &plain));
    waiting_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_wishes), cmocka_unit_test(test_same) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
