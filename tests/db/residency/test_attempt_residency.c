/* SPDX-License-Identifier: Apache-2.0 */
/* test_attempt_residency.c - the trigger lets in the attempts that the judge residency_zone_ok lets in, and no others, in every
 * world of two zones; it has a way of its own for the usual ones. */
#include "tests/db/scheduler/fixture.h"

static struct machine m;
static const char law[] = "INSERT INTO zone_rule (zone, version, n, regime, data_class, may_leave, countries, source_text,"
                          " valid_from) VALUES ('ae-dxb-1', 1, 1, 'strict', 'health', 'never', '{SA}', 's', '2020-01-01')";
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "w1", 8, 0), fixture_exec(&f, "%s", law)), NOTHING_MORE)

/* %s: the tenant. A world: where the tenant is at home, whether the other zone is allowed, which rows of its own it has, what
 * the zone of the machine takes, the job's class. One attempt is tried in each, and all of it undone. */
static const char worlds[] =
    "DO $$\n"
    "DECLARE\n"
    "  t uuid := '%s'; j uuid; is_let boolean; is_ok boolean; lets int := 0; refuses int := 0; h text; o text; z text; c text;\n"
    "  wide boolean; rows_ int; takes boolean; codes text[] := '{ae-dxb-1,ae-auh-1}';\n"
    "BEGIN\n"
    "  FOREACH h IN ARRAY codes LOOP FOREACH z IN ARRAY codes LOOP FOREACH c IN ARRAY '{internal,health}'::text[] LOOP\n"
    "  FOREACH wide IN ARRAY '{f,t}'::boolean[] LOOP FOREACH takes IN ARRAY '{f,t}'::boolean[] LOOP FOR rows_ IN 0..3 LOOP\n"
    "    BEGIN\n"
    "      o := CASE WHEN h = codes[1] THEN codes[2] ELSE codes[1] END;\n"
    "      UPDATE tenant SET home_zone = h, allowed_zones = CASE WHEN wide THEN codes ELSE ARRAY[h] END WHERE tenant_id = t;\n"
    "      INSERT INTO tenant_zone (tenant_id, data_class, zone)\n"
    "      SELECT t, CASE WHEN rows_ = 3 THEN 'personal' ELSE c END, CASE WHEN rows_ = 1 THEN h ELSE o END WHERE rows_ > 0;\n"
    "      UPDATE zone SET data_classes = CASE WHEN takes THEN data_classes() ELSE array_remove(data_classes(), c) END\n"
    "       WHERE code = z;\n"
    "      UPDATE node SET zone = z;\n"
    "      j := gen_random_uuid();\n"
    "      INSERT INTO job (tenant_id, job_id, name, kind, spec, data_class, created_by)\n"
    "      VALUES (t, j, 'j', 'noop', '{}', c, t);\n"
    "      is_ok := residency_zone_ok(t, c, z, job_purpose('noop'));\n"
    "      BEGIN\n"
    "        INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until)\n"
    "        SELECT t, j, j, 1, node_id, 1, 0, now() + interval '1 minute' FROM node;\n"
    "        is_let := true;\n"
    "      EXCEPTION WHEN insufficient_privilege THEN is_let := false;\n"
    "      END;\n"
    "      RAISE EXCEPTION USING ERRCODE = 'FJ000', MESSAGE = 'undo';\n"
    "    EXCEPTION WHEN SQLSTATE 'FJ000' THEN NULL;\n"
    "    END;\n"
    "    IF is_let IS DISTINCT FROM is_ok THEN\n"
    "      RAISE EXCEPTION 'home %%, machine %%, class %%, wide %%, takes %%, rows %%: let %%, judge %%', h, z, c, wide,\n"
    "        takes, rows_, is_let, is_ok;\n"
    "    END IF;\n"
    "    lets := lets + is_let::int;\n"
    "    refuses := refuses + (NOT is_let)::int;\n"
    "  END LOOP; END LOOP; END LOOP; END LOOP; END LOOP; END LOOP;\n"
    "  IF lets < 20 OR refuses < 20 THEN\n"
    "    RAISE EXCEPTION 'let in %%, refused %%', lets, refuses;\n"
    "  END IF;\n"
    "END $$";

static void the_trigger_lets_in_what_the_judge_lets_in(void **state)
{
    (void)state;
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    fixture_exec(&f, worlds, t);
}

/* A tenant or a job that is not there is nobody's, and one refused attempt refuses the statement. */
static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    char t[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    static const char tries[] =
        "DO $$\n"
        "DECLARE j uuid := gen_random_uuid(); u uuid := gen_random_uuid(); n bigint;\n"
        "BEGIN\n"
        "  INSERT INTO job (tenant_id, job_id, name, kind, spec, data_class, created_by)\n"
        "  VALUES ('%s', j, 'j', 'noop', '{}', 'internal', u);\n"
        "  BEGIN\n"
        "    INSERT INTO attempt (tenant_id, attempt_id, job_id, fence, node_id, slots, gpus, lease_until)\n"
        "    SELECT x.t, gen_random_uuid(), x.j, 1, node_id, 1, 0, now() FROM node, (VALUES %s) AS x(t, j);\n"
        "    RAISE EXCEPTION 'let in';\n"
        "  EXCEPTION WHEN insufficient_privilege THEN NULL;\n"
        "  END;\n"
        "  SELECT count(*) INTO n FROM attempt WHERE job_id = j;\n"
        "  ASSERT n = 0;\n"
        "END $$";
    char values[160];
    snprintf(values, sizeof values, "('%s'::uuid, j), ('%s', u)", t, t);
    fixture_exec(&f, tries, t, values);
    snprintf(values, sizeof values, "('%s'::uuid, j), (u, j)", t);
    fixture_exec(&f, tries, t, values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_trigger_lets_in_what_the_judge_lets_in), cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
