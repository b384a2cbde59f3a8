/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside_sweep.c - sessions of several tenants that nobody holds: their rows go and the log has each end, without anybody
 * who enters; what is held stays. */
#include "core/db/run_tx.h"
#include "scheduler/jobs/inside_sweep.h"
#include "tests/db/scheduler/fixture.h"

FIXTURE_GROUP((void)0, (void)0)

static void session(struct uuid tenant, const char *silent)
{
    char hex[UUID_HEX];
    hex_encode(tenant.b, 16, hex);
    fixture_exec(&f, "INSERT INTO job_session (tenant_id, session_id, job_id, attempt_id, node_id, user_id, kind, ask,\n"
                     "                         heard_at)\n"
                     "VALUES ('%s', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),\n"
                     "        gen_random_uuid(), 'shell', '{}', clock_timestamp() - interval '%s')", hex, silent);
}

static int64_t left(void)
{
    return fixture_count(&f, "SELECT count(*) FROM job_session");
}

static int64_t noted(void)
{
    return fixture_count(&f, "SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%%job.leave%%'");
}

static void what_nobody_holds_ends_in_the_log_by_itself(void **state)
{
    (void)state;
    struct err e = { 0 };
    int64_t tenants = 0;
    session(f.tenant_a, "61 seconds");
    session(f.tenant_a, "2 hours");
    session(f.tenant_a, "1 second");
    session(f.tenant_b, "3 minutes");
    assert_int_equal(inside_sweep(&f.api, &tenants, &e), ERR_OK);
    assert_int_equal(tenants, 2);
    assert_int_equal(left(), 1);
    assert_int_equal(noted(), 3);
    tenants = 0;
    assert_int_equal(inside_sweep(&f.api, &tenants, &e), ERR_OK);
    assert_int_equal(tenants, 0);
    assert_int_equal(noted(), 3);
}

static void one_tenant_s_fault_holds_no_other_up(void **state)
{
    (void)state;
    static const char *const ids[] = { "(SELECT min(tenant_id::text) FROM job_session)",
                                       "(SELECT max(tenant_id::text) FROM job_session)" };
    for (int i = 0; i < 2; i++) {                       /* whichever comes first */
        struct err e = { 0 };
        int64_t tenants = 0;
            fixture_exec(&f, "DELETE FROM job_session");
        session(f.tenant_a, "61 seconds");
        session(f.tenant_b, "61 seconds");
        fixture_exec(&f, "CREATE OR REPLACE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''fault''; END';"
                         " DO $$ BEGIN EXECUTE format('CREATE TRIGGER fault BEFORE DELETE ON job_session FOR EACH ROW"
                         " WHEN (OLD.tenant_id::text = %%L) EXECUTE FUNCTION fault()', %s); END $$", ids[i]);
        assert_int_not_equal(inside_sweep(&f.api, &tenants, &e), ERR_OK);
        assert_int_equal(tenants, 1);
        assert_int_equal(left(), 1);
        fixture_exec(&f, "DROP TRIGGER fault ON job_session");
    }
}

/* Sixty-four of them are what one look at the tenants gives. */
static void many_that_fail_stand_before_nobody(void **state)
{
    (void)state;
    enum { FAILING = 70 };
    struct err e = { 0 };
    int64_t tenants = 0;
    fixture_exec(&f, "DELETE FROM job_session; ALTER TABLE job_session DROP CONSTRAINT job_session_tenant_id_fkey;"
                     " CREATE TRIGGER fault BEFORE DELETE ON job_session FOR EACH ROW"
                     " WHEN (OLD.tenant_id::text LIKE '00000000-0000-%%') EXECUTE FUNCTION fault()");
    for (int i = 1; i <= FAILING; i++)
        session((struct uuid){ { [15] = (uint8_t)(i + 1) } }, "2 hours");
    session(f.tenant_a, "61 seconds");
    session(f.tenant_b, "61 seconds");
    assert_int_not_equal(inside_sweep(&f.api, &tenants, &e), ERR_OK);
    assert_int_equal(tenants, 2);
    assert_int_equal(left(), FAILING);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_nobody_holds_ends_in_the_log_by_itself),
                                        cmocka_unit_test(one_tenant_s_fault_holds_no_other_up),
                                        cmocka_unit_test(many_that_fail_stand_before_nobody) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
