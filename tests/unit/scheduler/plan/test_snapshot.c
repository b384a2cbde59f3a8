/* SPDX-License-Identifier: Apache-2.0 */
/* test_snapshot.c - jobs find their tenant by id; a job whose tenant is not there is dropped, the others keep their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scheduler/plan/snapshot.h"

static struct uuid id_of(uint8_t n)
{
    return (struct uuid){ { [15] = n } };
}

static void jobs_find_their_tenant(void **state)
{
    (void)state;
    struct snap_tenant tenants[] = { { .tenant_id = id_of(2) }, { .tenant_id = id_of(5) }, { .tenant_id = id_of(9) } };
    struct snap_job jobs[] = { { .tenant_id = id_of(9) }, { .tenant_id = id_of(3) }, { .tenant_id = id_of(2) }, { .tenant_id = id_of(10) },
                               { .tenant_id = id_of(5) } };
    struct snapshot s = { .tenants = { tenants, 3 }, .jobs = { jobs, 5 } };
    snapshot_link(&s);
    assert_int_equal(s.jobs.n, 3);
    assert_int_equal(s.jobs.items[0].tenant, 2);
    assert_int_equal(s.jobs.items[1].tenant, 0);
    assert_int_equal(s.jobs.items[2].tenant, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(jobs_find_their_tenant) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
