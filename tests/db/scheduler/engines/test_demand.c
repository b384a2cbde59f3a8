/* SPDX-License-Identifier: Apache-2.0 */
/* test_demand.c - who gets an engine's places: one behind thousands that cannot be served is come to, a turn reads a bounded
 * number of rows however many wait, and a job on two machines that has waited long has free ones kept, as those behind it say. */
#include "engine_kit.h"
#include "core/db/stmt.h"

#include <stdlib.h>
#include <string.h>

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

enum { MANY = DEMAND_LOOK + 500 };

static struct engine g;

static void engine_up(const char *name, int64_t machines)
{
    const struct uuid id = kit_engine(&f, name, machines);
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    g = kit_engine_of(&w, id);
    kit_end(&w);
}

/* A turn of its own; how many runs are open after it. */
static int64_t serve(struct uuid *after)
{
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    OK(engine_demand_serve(&w, &g, after, e));
    kit_end(&w);
    return fixture_count(&f, "SELECT count(*) FROM engine_run WHERE state <> 'ENDED'");
}

static void forget(void)
{
    fixture_exec(&f, "DELETE FROM engine_run");
    fixture_exec(&f, "DELETE FROM engine");
    fixture_forget_jobs(&f);
}

/* Rows of jobs that one statement of a turn reads, however many wait. */
static void reads_few(void)
{
    const char *sql = NULL;
    for (size_t i = 0; engine_demand_stmts[i]; i++)
        if (strcmp(engine_demand_stmts[i]->name, "demand_wanted") == 0)
            sql = engine_demand_stmts[i]->sql;
    assert_non_null(sql);
    fixture_exec(&f, "DO $do$ DECLARE reads bigint; BEGIN"
                     " EXECUTE $q$%s$q$ USING 'many', '%08d-0000-0000-0000-000000000000'::uuid, %d::bigint, %d::bigint,"
                     "   (SELECT engine_id FROM engine), 'ae-dxb-1', 86400::bigint, 2::bigint, 32::bigint, 2::bigint,"
                     "   256::bigint, '{run}'::text[];"
                     " SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) INTO reads FROM pg_stat_xact_user_tables"
                     "  WHERE relid = 'job'::regclass;"
                     " IF reads < 8 OR reads > %d THEN RAISE EXCEPTION '%% rows read', reads; END IF; END $do$",
                 sql, 0, DEMAND_LOOK, DEMAND_LEAST, DEMAND_LOOK + 16);
}

static void one_behind_many_is_come_to_and_a_turn_reads_few(void **state)
{
    (void)state;
    struct uuid *ids = calloc(MANY, sizeof *ids), last, after = UUID_NIL;
    kit_jobs(&f, f.tenant_a, MANY, "many", ids);
    fixture_exec(&f, "UPDATE job SET max_runtime_s = 90000");       /* longer than it lends */
    kit_jobs(&f, f.tenant_a, 1, "many", &last);
    fixture_exec(&f, "ANALYZE job");
    engine_up("many", 2);
    int turns = 0;
    while (serve(&after) == 0 && turns++ < 10)
        ;
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine_run"), 1);
    assert_true(turns <= 1);
    reads_few();
    free(ids);
    forget();
}

static void free_machines_are_kept_for_a_gang_and_it_is_said(void **state)
{
    (void)state;
    struct uuid small[3], gang, of_b, after = UUID_NIL;
    char text[UUID_TEXT];
    kit_jobs(&f, f.tenant_b, 1, "kept", &gang);
    uuid_text(gang, text);
    fixture_exec(&f, "UPDATE job SET nodes = 2 WHERE job_id = '%s'", text);
    engine_up("kept", 1);
    fixture_exec(&f, "UPDATE job SET submitted_at = now() - interval '10 minutes'");
    kit_jobs(&f, f.tenant_a, 3, "kept", small);
    assert_int_equal(serve(&after), 1);                             /* one machine: it can never have two */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine_run WHERE cardinality(seats) = 1"), 1);
    fixture_exec(&f, "UPDATE engine SET machines = 2");
    g.machines = 2;
    assert_int_equal(serve(&after), 1);                             /* the second one is kept */
#define SAYS "SELECT count(*) FROM job WHERE reason = 'Engine' AND message LIKE 'Engine kept keeps its free machines until __:__"
    assert_int_equal(fixture_count(&f, SAYS " UTC at most for it; 1 of 2 are free' AND nodes = 2"), 1);
    assert_int_equal(fixture_count(&f, SAYS " UTC at most for a job on several%%'"), 2);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE message LIKE '%%%s%%'", text), 0);
    fixture_exec(&f, "UPDATE job SET submitted_at = now() - interval '75 minutes' WHERE nodes = 2");
    assert_int_equal(serve(&after), 2);                             /* its time is over: another's small one goes */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job WHERE message LIKE '%%keeps its free%%'"), 0);
    fixture_exec(&f, "UPDATE engine_run SET state = 'ENDED', ended_at = now() - interval '2 hours'");
    fixture_exec(&f, "UPDATE job SET submitted_at = now() - interval '10 minutes' WHERE nodes = 2");
    kit_jobs(&f, f.tenant_b, 1, "kept", &of_b);
    assert_int_equal(serve(&after), 1);                             /* both are free, and all of them are its */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine_run WHERE state <> 'ENDED' AND cardinality(seats) = 2"), 1);
    forget();
}

/* None of what it lent within an hour has what computes the model: no machine is asked for that would leave unused. */
static void what_it_is_known_to_lack_is_not_asked_for(void **state)
{
    (void)state;
    struct machine m = { 0 };
    struct uuid job, after = UUID_NIL;
    kit_jobs(&f, f.tenant_a, 1, "known", &job);
    engine_up("known", 2);
    machine_up(&f, &m, "ae-dxb-1", "known-7", 4, 0);
    fixture_exec(&f, "UPDATE node SET pool = 'known', state = 'LOST', engines = 'other 1, onnxruntimes 2'"
                     " WHERE name = 'known-7'");
    fixture_exec(&f, "UPDATE job SET engine = 'onnxruntime' WHERE pool = 'known'");
    assert_int_equal(serve(&after), 0);
    fixture_exec(&f, "UPDATE node SET engines = 'other 1, onnxruntime 1.30.0' WHERE name = 'known-7'");
    assert_int_equal(serve(&after), 1);
    fixture_exec(&f, "DELETE FROM engine_run");
    fixture_exec(&f, "UPDATE node SET engines = '', last_seen_at = now() - interval '61 minutes' WHERE name = 'known-7'");
    assert_int_equal(serve(&after), 1);                             /* its operator may have mended it */
    fixture_exec(&f, "UPDATE node SET pool = 'default', name = 'other' WHERE name = 'known-7'");
    forget();
}

#define TOLD "SELECT count(*) FROM job WHERE reason = 'Engine' AND message LIKE '%%keeps its free%%'"

/* A gang of b that has two of two places kept, and a job of a behind it; one place is taken. */
static struct uuid told_gang(void)
{
    struct uuid gang, of_a[2], after = UUID_NIL;
    char text[UUID_TEXT];
    kit_jobs(&f, f.tenant_a, 2, "told", of_a);
    engine_up("told", 1);
    assert_int_equal(serve(&after), 1);
    fixture_exec(&f, "UPDATE engine SET machines = 2");
    g.machines = 2;
    kit_jobs(&f, f.tenant_b, 1, "told", &gang);
    uuid_text(gang, text);
    fixture_exec(&f, "UPDATE job SET nodes = 2, submitted_at = now() - interval '10 minutes' WHERE job_id = '%s'", text);
    kit_jobs(&f, f.tenant_a, 1, "told", of_a);
    assert_int_equal(serve(&after), 1);
    assert_int_equal(fixture_count(&f, TOLD), 3);
    return gang;
}

/* Each way by which the deal comes to another end, or to none. */
static void what_was_told_is_taken_back_when_it_holds_no_more(void **state)
{
    (void)state;
    struct uuid after = UUID_NIL;
    (void)told_gang();
    fixture_exec(&f, "UPDATE job SET not_before = now() + interval '1 hour' WHERE queued");
    (void)serve(&after);                                            /* nobody is looked at any more */
    assert_int_equal(fixture_count(&f, TOLD), 0);
    forget();
    (void)told_gang();
    fixture_exec(&f, "UPDATE engine_run SET seats = '{1,2}'");
    (void)serve(&after);                                            /* nothing is free */
    assert_int_equal(fixture_count(&f, TOLD), 0);
    forget();
    const struct uuid gang = told_gang();
    cancel_job(&f, f.tenant_b, gang);
    (void)serve(&after);
    assert_int_equal(fixture_count(&f, TOLD), 0);
    forget();
    (void)told_gang();
    fixture_exec(&f, "UPDATE engine_run SET state = 'ENDED', ended_at = now() - interval '2 hours'");
    (void)serve(&after);                                            /* it has its places */
    assert_int_equal(fixture_count(&f, TOLD), 0);
    forget();
    (void)told_gang();
    fixture_exec(&f, "DELETE FROM engine_run");
    fixture_exec(&f, "UPDATE engine SET enabled = false");
    struct work w = kit_begin(&f.scheduler, SCOPE_SYSTEM);
    g = kit_engine_of(&w, g.engine_id);                             /* still looked after, for their sake */
    kit_end(&w);
    w = kit_begin(&f.api, SCOPE_TENANT(UUID_NIL));
    struct engine gone;
    struct err why = { 0 };
    assert_int_equal(engine_remove(&w, g.engine_id, &gone, &why), ERR_CONFLICT);
    kit_end(&w);
    (void)serve(&after);
    assert_int_equal(fixture_count(&f, TOLD), 0);
    w = kit_begin(&f.api, SCOPE_TENANT(UUID_NIL));
    OK(engine_remove(&w, g.engine_id, &gone, e));
    kit_end(&w);
    forget();
}

/* More of b's than a turn looks at go before the gang, which it then does not see: nobody's places are kept. */
static void a_gang_that_falls_out_of_the_window_says_nothing(void **state)
{
    (void)state;
    enum { BEFORE = DEMAND_MAX + 2 };
    static struct uuid ids[BEFORE];
    struct uuid after = UUID_NIL;
    kit_jobs(&f, f.tenant_b, BEFORE, "told", ids);
    fixture_exec(&f, "UPDATE job SET nodes = 2, not_before = now() + interval '1 hour' WHERE queued");
    (void)told_gang();
    fixture_exec(&f, "UPDATE job SET not_before = NULL WHERE not_before IS NOT NULL");
    (void)serve(&after);
    assert_int_equal(fixture_count(&f, TOLD " AND submitted_at < now() - interval '5 minutes'"), 0);
    forget();
}

/* Jobs on two machines of one tenant, more of them than a turn looks at, while one place is free. */
static void those_that_do_not_fit_hide_none_that_does(void **state)
{
    (void)state;
    enum { LARGE = DEMAND_MAX };
    static struct uuid ids[LARGE];
    struct uuid after = UUID_NIL, small;
    kit_jobs(&f, f.tenant_a, LARGE, "told", ids);
    fixture_exec(&f, "UPDATE job SET nodes = 2 WHERE queued");
    kit_jobs(&f, f.tenant_a, 1, "told", &small);
    engine_up("told", 2);
    fixture_exec(&f, "INSERT INTO engine_run (run_id, engine_id, for_tenant, for_job, seats, slots, cpus, gpus, memory_bytes,"
                     "                        minutes)"
                     " SELECT gen_random_uuid(), engine_id, gen_random_uuid(), gen_random_uuid(), '{1}', 1, 1, 0, 0, 1"
                     "   FROM engine");
    assert_int_equal(serve(&after), 2);
    forget();
}

enum { TENANTS = 3 * DEMAND_NEW_MAX };

/* Each of many tenants has jobs waiting, the first one many: nobody has a second place before each has one, though a turn gives
 * no more than a third of them any. */
static void of_many_tenants_each_comes_to_its_turn(void **state)
{
    (void)state;
    struct uuid after = UUID_NIL;
    static struct uuid ids[40];
    kit_jobs(&f, f.tenant_a, 40, "turns", ids);
    fixture_exec(&f, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones)"
                     " SELECT gen_random_uuid(), 'many' || i, 'x', 'ae-dxb-1', '{ae-dxb-1}'"
                     "   FROM generate_series(1, %d) i", TENANTS);
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, pool, reason, max_runtime_s, created_by)"
                     " SELECT t.tenant_id, gen_random_uuid(), 'x', j.kind, j.spec, j.pool, 'Resources', 60, j.created_by"
                     "   FROM tenant t, generate_series(1, 3), (SELECT * FROM job LIMIT 1) j WHERE t.name LIKE 'many%%'");
    engine_up("turns", TENANTS + 5);
    for (int64_t i = DEMAND_NEW_MAX; i <= TENANTS; i += DEMAND_NEW_MAX)
        assert_int_equal(serve(&after), i);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT for_tenant) FROM engine_run"), TENANTS);
    assert_int_equal(serve(&after), TENANTS + 5);
    assert_int_equal(fixture_count(&f, "SELECT count(DISTINCT for_tenant) FROM engine_run"), TENANTS + 1);
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_behind_many_is_come_to_and_a_turn_reads_few),
        cmocka_unit_test(free_machines_are_kept_for_a_gang_and_it_is_said),
        cmocka_unit_test(what_it_is_known_to_lack_is_not_asked_for),
        cmocka_unit_test(what_was_told_is_taken_back_when_it_holds_no_more),
        cmocka_unit_test(a_gang_that_falls_out_of_the_window_says_nothing),
        cmocka_unit_test(those_that_do_not_fit_hide_none_that_does),
        cmocka_unit_test(of_many_tenants_each_comes_to_its_turn),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
