/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_guards.c - what the database itself keeps of a job's row, whoever writes it: the edges, what never changes, the
 * shape. */
#include "tests/db/scheduler/fixture.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

/* A job of its own, as hex digits. */
static void job_text(char text[UUID_TEXT])
{
    struct uuid id;
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    uuid_text(id, text);
}

/* SQL that changes the job's row and reports by an exception what came otherwise than said. */
#define TRY_UPDATE(set)                                                                                                       \
    "    BEGIN UPDATE job SET " set " WHERE job_id = j; went := true;\n"                                                      \
    "    EXCEPTION WHEN sqlstate 'FJ409' OR check_violation THEN went := false; END;\n"

static void only_edges_lead_on(void **state)
{
    (void)state;
    char text[UUID_TEXT];
    job_text(text);
    fixture_exec(&f,
        "DO $$ DECLARE j uuid := '%s'; went boolean; a record; ends text[] := "
        "'{COMPLETED,FAILED,CANCELLED,TIMEOUT,DEADLINE,OUT_OF_MEMORY,NODE_FAIL,PREEMPTED,REJECTED}';\n"
        "BEGIN\n"
        "  FOR a IN SELECT x.s AS from_state, y.s AS to_state, steps, fences FROM\n"
        "      (SELECT DISTINCT from_state FROM job_edge UNION SELECT DISTINCT to_state FROM job_edge) x(s),\n"
        "      (SELECT DISTINCT from_state FROM job_edge UNION SELECT DISTINCT to_state FROM job_edge) y(s),\n"
        "      generate_series(0, 4) AS steps, generate_series(-1, 1) AS fences WHERE x.s <> y.s LOOP\n"
        "    SET LOCAL session_replication_role = replica;\n"
        "    UPDATE job SET state = a.from_state, queued = a.from_state = 'PENDING', version = 7, fence = 3,\n"
        "      finished_at = CASE WHEN a.from_state = ANY (ends) THEN now() END WHERE job_id = j;\n"
        "    SET LOCAL session_replication_role = origin;\n"
        TRY_UPDATE("state = a.to_state, queued = a.to_state = 'PENDING', version = 7 + a.steps, fence = 3 + a.fences,\n"
                   "      finished_at = CASE WHEN a.to_state = ANY (ends) THEN now() END")
        "    IF went <> (a.steps > 0 AND a.fences >= 0 AND (\n"
        "        EXISTS (SELECT FROM job_edge WHERE from_state = a.from_state AND to_state = a.to_state)\n"
        "        OR EXISTS (SELECT FROM job_edge e JOIN (VALUES ('ADMITTED', 'STARTING', 2), ('STARTING', 'RUNNING', 2),\n"
        "                                                        ('ADMITTED', 'RUNNING', 3)) p(s, by, least)\n"
        "                     ON p.s = a.from_state AND e.from_state = p.by AND a.steps >= p.least\n"
        "                   WHERE e.to_state = a.to_state)))\n"
        "    THEN RAISE EXCEPTION 'from %% to %% by %% versions and %% fences: %%', a.from_state, a.to_state, a.steps,\n"
        "      a.fences, went;\n"
        "    END IF;\n"
        "  END LOOP;\n"
        "END $$", text);
}

static void what_never_changes_is_kept(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "name = ''", "name = repeat('x', 129)", "kind = 'dance'", "queue = ''", "queue = 'A'", "queue = '-a'",
        "queue = repeat('a', 64)", "slots = 0", "slots = 4097", "gpus = -1", "gpus = 65", "priority = -1001", "priority = 1001",
        "max_attempts = 0", "max_attempts = 101",
        "queued = false", "state = 'HELD', version = version + 1", "state = 'DANCING', queued = false, version = version + 1",
        "state = 'CANCELLED', queued = false, version = version + 1", "finished_at = now()" };
    static const char *const good[] = {
        "name = repeat('x', 128)", "kind = 'train'", "queue = repeat('a', 63)", "queue = 'a-0'", "slots = 4096", "gpus = 64",
        "priority = -1000", "priority = 1000", "max_attempts = 100", "state = 'HELD', queued = false, version = version + 1" };
    char text[UUID_TEXT];
    job_text(text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad + sizeof good / sizeof *good; i++) {
        bool is_good = i >= sizeof bad / sizeof *bad;
        const char *set = is_good ? good[i - sizeof bad / sizeof *bad] : bad[i];
        fixture_exec(&f,
            "DO $$ DECLARE j uuid := '%s'; went boolean; BEGIN\n"
            TRY_UPDATE("%s") "    IF went <> %s THEN RAISE EXCEPTION 'an update went otherwise'; END IF;\n"
            "    SET LOCAL session_replication_role = replica;\n"
            TRY_UPDATE("%s") "    IF went <> %s THEN RAISE EXCEPTION 'a replica went otherwise'; END IF;\n"
            "    SET LOCAL session_replication_role = origin;\n"
            "END $$",
            text, set, is_good ? "true" : "false", set, is_good ? "true" : "false");
        job_text(text);
    }
    fixture_exec(&f,
        "DO $$ DECLARE went boolean := false; BEGIN\n"
        "  BEGIN INSERT INTO job (tenant_id, job_id, name, kind, spec, created_by)\n"
        "    SELECT tenant_id, gen_random_uuid(), 'x', 'dance', '{}', created_by FROM job LIMIT 1; went := true;\n"
        "  EXCEPTION WHEN check_violation THEN NULL; END;\n"
        "  IF went THEN RAISE EXCEPTION 'a kind that nobody knows was inserted'; END IF; END $$");
}

#define WISHES                                                                                                                \
    "project_id, queue, kind, data_class, zone, pool, slots, gpus, class, cpu_milli, memory_bytes, gpu_milli, gpu_models"
#define SHAPES "SELECT count(DISTINCT shape) FROM job WHERE tenant_id = (SELECT tenant_id FROM job WHERE job_id = '%s')"

/* The number is the same whether the submission computed it or a trigger, and changes with what a job asks for. */
static void the_shape_is_what_a_job_asks_for(void **state)
{
    (void)state;
    static const char *const set[] = {
        "project_id = (SELECT project_id FROM project WHERE project.tenant_id = job.tenant_id LIMIT 1)", "queue = 'slow'",
        "kind = 'train'", "data_class = 'public'", "zone = 'nowhere'", "pool = 'other'", "slots = 2", "gpus = 3",
        "class = 'night'", "cpu_milli = 500",
        "memory_bytes = 1024", "gpu_milli = 250", "gpu_models = ',h100,'" };
    char text[UUID_TEXT];
    fixture_exec(&f, "DELETE FROM idempotency; DELETE FROM job; UPDATE quota SET used = 0, ended = 0; DELETE FROM job_end");
    job_text(text);
    fixture_exec(&f, "INSERT INTO project (tenant_id, project_id, name, created_by)"
                     " SELECT tenant_id, gen_random_uuid(), 'shaped', created_by FROM job WHERE job_id = '%s'", text);
    fixture_exec(&f, "INSERT INTO job (tenant_id, job_id, name, kind, spec, pool, data_class, created_by, max_attempts,"
                     " project_id) SELECT tenant_id, gen_random_uuid(), 'x', kind, '{}', pool, data_class, created_by, 5,"
                     " project_id FROM job WHERE job_id = '%s'", text);
    assert_int_equal(fixture_count(&f, SHAPES, text), 1);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        fixture_exec(&f, "UPDATE job SET %s WHERE job_id = '%s'", set[i], text);
        assert_int_equal(fixture_count(&f, SHAPES, text), 2);
        fixture_exec(&f, "UPDATE job SET (" WISHES ") = (SELECT " WISHES " FROM job WHERE max_attempts = 5)"
                         " WHERE job_id = '%s'", text);
        assert_int_equal(fixture_count(&f, SHAPES, text), 1);
    }
    fixture_exec(&f, "UPDATE job SET name = 'y', priority = 7, max_attempts = 4 WHERE job_id = '%s'", text);
    assert_int_equal(fixture_count(&f, SHAPES, text), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_edges_lead_on), cmocka_unit_test(what_never_changes_is_kept),
                                        cmocka_unit_test(the_shape_is_what_a_job_asks_for) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
