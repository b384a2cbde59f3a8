/* SPDX-License-Identifier: Apache-2.0 */
/* test_secret_use.c - the jobs that name a secret, each once with all its places, newest first; none of another tenant's. */
#include "tests/db/scheduler/jobs/submit_kit.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/secret_use.h"

static struct uuid secret, job[2];

static void make(void)
{
    char t[UUID_TEXT], s[UUID_TEXT], o[UUID_TEXT], j[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    uuid_text(secret = uuid_v7(1000), s);
    uuid_text(object, o);
    fixture_exec(&f, "INSERT INTO secret (tenant_id, secret_id, name, zone, latest_version, created_by)"
                     " VALUES ('%s', '%s', 'hub', 'ae-dxb-1', 2, '%s');"
                     "INSERT INTO secret_version (tenant_id, secret_id, version, object_id, created_by) VALUES ('%s', '%s', 2, "
                     "'%s', '%s')",
                 t, s, s, t, s, o, s);
    for (int i = 0; i < 2; i++) {
        uuid_text(job[i] = uuid_v7(2000000 + i * 1000000), j);
        fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by) VALUES ('%s', '%s', 'j%d', 'run', "
            "'{}', '%s');"
                         "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id) VALUES"
                         " ('%s', '%s', 'input', 'secret:env:A', '%s'), ('%s', '%s', 'input', 'secret:file:b', '%s')",
                     t, j, i, s, t, j, o, t, j, o);
    }
}

static enum errc uses(struct uuid tenant, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = tenant, .now_us = clock_wall_us(&clock_system) };
    return RUN_READ(&w, secret_uses(&w, secret, position, limit, ret, e), e);
}

static void each_job_is_told_once(void **state)
{
    (void)state;
    struct slice list;
    struct err e;
    arena = arena_new(64 << 20);
    make();
    assert_int_equal(uses(f.tenant_a, UUID_NIL, 10, &list, &e), ERR_OK);
    const struct secret_use *u = list.items;
    assert_int_equal(list.n, 2);
    assert_true(uuid_eq(u[0].job_id, job[1]) && uuid_eq(u[1].job_id, job[0]));
    assert_true(str_eq_c(u[0].job_name, "j1") && str_eq_c(u[0].target, "env:A, file:b") && u[0].value_version == 2);
    assert_int_equal(uses(f.tenant_a, job[1], 10, &list, &e), ERR_OK);
    assert_true(list.n == 1 && uuid_eq(((struct secret_use *)list.items)[0].job_id, job[0]));
    assert_int_equal(uses(f.tenant_b, UUID_NIL, 10, &list, &e), ERR_NOT_FOUND);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_job_is_told_once) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
