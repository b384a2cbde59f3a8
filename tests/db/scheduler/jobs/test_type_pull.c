/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_pull.c - the job of a pull: what it says, where it runs, and that its credentials are a secret of that zone. */
#include "tests/db/scheduler/jobs/environment_kit.h"
#include "scheduler/jobs/job_prepare.h"
#include "tenants/access/authz.h"
#include "tenants/home/residency.h"

static enum errc make(struct pull_order *o, struct job_submission *s)
{
    *s = (struct job_submission){ 0 };
    e = (struct err){ 0 };
    return RUN_READ(&w, pull_job_make(&w, o, s, &e), &e);
}

static void it_says_which_image_and_runs_in_the_rows_zone(void **state)
{
    (void)state;
    struct job_submission s;
    begin();
    who->permissions = who->always = PERM_BIT(PERM_ENVIRONMENT_MANAGE);
    fixture_exec(&f, "INSERT INTO registry_host (registry_id, zone, host, reach, max_bytes, silent_s, changed_by)"
                     " VALUES (gen_random_uuid(), 'ae-dxb-1', 'hub.example', 'public', 1000, 9, gen_random_uuid())");
    struct pull_order o = { .name = STR("tiny"), .pool = STR("images"), .data_class = DC_PUBLIC,
                            .registry = str_fmt(arena, "docker://hub.example/a/b@%s", digest_a) };
    if (make(&o, &s) != ERR_OK)
        fail_msg("%s %s", e.field, e.msg);
    assert_true(str_eq_c(s.job.zone, "ae-dxb-1") && str_eq_c(s.job.data_class, "public") && str_eq_c(s.job.pool, "images"));
    assert_true(str_eq(o.from, str_fmt(arena, "hub.example/a/b@%s", digest_a)) && str_eq_c(o.digest, digest_a));
    assert_non_null(strstr(s.job.spec.text.ptr, "\"repository\":\"a/b\""));
    assert_int_equal(s.inputs.n, 0);
    o.registry = STR("hub.example/a/b:latest");
    assert_int_equal(make(&o, &s), ERR_INVALID);
    assert_string_equal(e.field, "/from/registry");
    o.registry = str_fmt(arena, "other.example/a/b@%s", digest_a);
    assert_int_equal(make(&o, &s), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "it allows hub.example."));
    o.registry = str_fmt(arena, "hub.example/a/b@%s", digest_a);
    o.credentials = STR("hub");
    assert_int_equal(make(&o, &s), ERR_FORBIDDEN);              /* it takes the right to use secrets */
    who->permissions = who->always = PERM_BIT(PERM_ENVIRONMENT_MANAGE) | PERM_BIT(PERM_SECRET_USE);
    assert_int_equal(make(&o, &s), ERR_NOT_FOUND);
    assert_string_equal(e.field, "/from/credentials");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_says_which_image_and_runs_in_the_rows_zone) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
