/* SPDX-License-Identifier: Apache-2.0 */
/* test_job.c - what a submission must be before the database is asked: spec by kind, zone, place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/json/decode.h"
#include "scheduler/jobs/job.h"
#include "tenants/access/principal.h"

static struct arena *arena;
static struct str zones[] = { STR("ae-dxb-1") };
static struct principal somebody = { .tenant_id = { { 1 } }, .user_id = { { 2 } }, .allowed_zones = { zones, 1 } };
static struct job job;
static struct err e;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(8 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static enum errc check(const char *body)
{
    struct job_create in = { 0 };
    e = (struct err){ 0 };
    TRY(json_decode(&job_create_schema, str_c(body), arena, &in, &e));
    return job_check(&in, &somebody, arena, 1000000, &job, &e);
}

static void defaults_are_filled_in(void **state)
{
    (void)state;
    assert_int_equal(check("{\"name\":\"a\",\"kind\":\"noop\"}"), ERR_OK);
    assert_int_equal(job.state, JOB_PENDING);
    assert_true(str_eq_c(job.reason, "Resources") && str_eq_c(job.pool, "default") && str_eq_c(job.spec.text, "{}"));
    assert_null(job.zone.ptr);
    assert_int_equal(job.slots, 1);
    assert_int_equal(job.gpus, 0);
    assert_int_equal(job.max_attempts, 3);
    assert_int_equal(job.max_runtime_s, 86400);
    assert_int_equal(job.version, 1);
    assert_int_equal(job.fence, 0);
    assert_true(uuid_eq(job.tenant_id, somebody.tenant_id) && uuid_eq(job.created_by, somebody.user_id) && !uuid_is_nil(job.job_id));
    assert_int_equal(job.submitted_at.us, 1000000);
}

struct bad { const char *body; enum errc code; const char *field; };

static void what_is_refused_and_where(void **state)
{
    (void)state;
#define TRAIN "{\"name\":\"a\",\"kind\":\"train\",\"spec\":{\"dataset_id\":\"dst_0192aabbccddeeff0192aabbccddeeff\""
    static const struct bad bad[] = {
        { "{\"kind\":\"noop\"}", ERR_MISSING_FIELD, "/name" },
        { "{\"name\":\"a\"}", ERR_MISSING_FIELD, "/kind" },
        { "{\"name\":\"a\",\"kind\":\"mine-bitcoin\"}", ERR_INVALID, "/kind" },
        { "{\"name\":\"a\",\"kind\":\"serve\"}", ERR_INVALID, "/kind" },
        { "{\"name\":\"\",\"kind\":\"noop\"}", ERR_INVALID, "/name" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"slots\":0}", ERR_INVALID, "/slots" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"gpus\":65}", ERR_INVALID, "/gpus" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"priority\":1001}", ERR_INVALID, "/priority" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"zone\":\"../etc\"}", ERR_INVALID, "/zone" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"state\":\"COMPLETED\"}", ERR_UNKNOWN_FIELD, "/state" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"spec\":{\"sleep_ms\":-1}}", ERR_INVALID, "/spec/sleep_ms" },
        { "{\"name\":\"a\",\"kind\":\"noop\",\"spec\":{\"nap\":1}}", ERR_UNKNOWN_FIELD, "/spec/nap" },
        { "{\"name\":\"a\",\"kind\":\"train\"}", ERR_MISSING_FIELD, "/spec/dataset_id" },
        { TRAIN ",\"epochs\":0}}", ERR_INVALID, "/spec/epochs" },
        { TRAIN ",\"hidden\":[64,0]}}", ERR_INVALID, "/spec/hidden/1" },
        { TRAIN ",\"learning_rate\":11}}", ERR_INVALID, "/spec/learning_rate" },
        { TRAIN ",\"holdout\":0.95}}", ERR_INVALID, "/spec/holdout" },
        { TRAIN ",\"optimizer\":\"magic\"}}", ERR_INVALID, "/spec/optimizer" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        enum errc rc = check(bad[i].body);
        if (rc != bad[i].code || strcmp(e.field, bad[i].field))
            fail_msg("%s: %s at %s (%s)", bad[i].body, err_row(rc)->name, e.field, e.msg);
    }
    assert_int_equal(check(TRAIN "}}"), ERR_OK);
    assert_int_equal(check("{\"name\":\"a\",\"kind\":\"noop\",\"zone\":\"ae-dxb-1\",\"spec\":{\"sleep_ms\":5}}"), ERR_OK);
}

static void the_platform_runs_no_jobs(void **state)
{
    (void)state;
    struct principal staff = somebody;
    struct job_create in = { .name = STR("a"), .kind = JOB_NOOP, .spec = { STR("{}") }, .slots = 1 };
    staff.tenant_id = UUID_NIL;
    assert_int_equal(job_check(&in, &staff, arena, 1, &job, &e), ERR_FORBIDDEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(defaults_are_filled_in), cmocka_unit_test(what_is_refused_and_where),
                                        cmocka_unit_test(the_platform_runs_no_jobs) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
