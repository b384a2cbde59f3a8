/* SPDX-License-Identifier: Apache-2.0 */
/* test_claims.c - what a claim keeps of a machine and of its tenant's quota, and that all of it comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/claims.h"

static struct uuid id_of(uint8_t n)
{
    return (struct uuid){ { n } };
}

static void test_keeps_and_gives_back(void **state)
{
    (void)state;
    static struct claims c;
    struct snap_node n = { .node_id = id_of(1), .slots = 8, .free_slots = 3, .gpus = 2, .free_gpus = 1, .held = STR("1:1:1000") };
    struct snap_tenant t = { .tenant_id = id_of(2), .slots_used = 5 };
    struct snapshot s = { .nodes = { &n, 1 }, .tenants = { &t, 1 } };
    const struct claim k = { .tenant_id = id_of(2), .job_id = id_of(3), .node_id = id_of(1), .until_us = 10,
                             .ask = { .slots = 4, .gpus = 2, .gpu_milli = 1000, .cpu_milli = 4000, .memory_bytes = 1 } };
    snapshot_fill(&s);
    const struct snap_node before = n;
    assert_true(claims_put(&c, &k) && c.n == 1);
    claims_take(claims_find(&c, id_of(2), id_of(3)), &s, 0);
    assert_true(n.free_slots == 0 && n.free_gpus == 0 && devices_whole(&n.devices) == 0 && t.slots_used == 9);
    claims_untake(&c, &s);
    assert_true(n.free_slots == 3 && n.free_gpus == 1 && n.free_cpu_milli == before.free_cpu_milli && t.slots_used == 5);
    assert_int_equal(devices_whole(&n.devices), 1);
    claims_untake(&c, &s);              /* once */
    assert_int_equal(n.free_slots, 3);
    assert_true(claims_put(&c, &k) && c.n == 1);        /* the same, longer */
    claims_end(&c, 9);
    assert_int_equal(c.n, 1);
    claims_end(&c, 10);
    assert_int_equal(c.n, 0);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim one = k;
        one.job_id.b[1] = (uint8_t)i;
        assert_true(claims_put(&c, &one));
    }
    struct claim more = k;
    more.job_id.b[2] = 1;
    assert_false(claims_put(&c, &more));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_keeps_and_gives_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
