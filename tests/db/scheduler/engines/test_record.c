/* SPDX-License-Identifier: Apache-2.0 */
/* test_record.c - engines as operators name them: checked, bounded, and removed only when nothing of them is open. */
#include "engine_kit.h"

FIXTURE_GROUP(NOTHING_MORE, NOTHING_MORE)

static enum errc try_add(const struct engine_create *in, struct err *why)
{
    struct work w = kit_begin(&f.api, SCOPE_TENANT(UUID_NIL));
    struct engine g;
    const enum errc rc = engine_add(&w, in, &g, why);
    if (rc == ERR_OK)
        OK(db_commit(w.tx, e));
    else
        db_rollback(w.tx);
    arena_free(w.arena);
    return rc;
}

static void what_cannot_be_is_refused_with_its_place(void **state)
{
    (void)state;
    struct err why;
    struct engine_create in = kit_create("wrong", 1);
#define REFUSED(member, value, code, where)                     \
    in = kit_create("wrong", 1);                                \
    in.member = value;                                          \
    assert_int_equal(try_add(&in, &why), code);                 \
    assert_string_equal(why.field, where)
    REFUSED(kind, STR("nomad"), ERR_INVALID, "/kind");
    REFUSED(kind, STR("kubernetes"), ERR_INVALID, "/image");
    REFUSED(image, STR("x"), ERR_INVALID, "/image");
    REFUSED(node_selector, STR("a=b"), ERR_INVALID, "/node_selector");
    REFUSED(tolerations, STR("a:NoSchedule"), ERR_INVALID, "/tolerations");
    REFUSED(pool, STR("default"), ERR_INVALID, "/pool");
    REFUSED(zone, STR("zz-none-1"), ERR_NOT_FOUND, "/zone");
    REFUSED(address, STR("https://x"), ERR_INVALID, "/credential");
    REFUSED(credential, STR("token"), ERR_INVALID, "/account");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine"), 0);
}

static void one_that_has_open_runs_stays(void **state)
{
    (void)state;
    const struct uuid id = kit_engine(&f, "stays", 2);
    struct work w = kit_begin(&f.api, SCOPE_TENANT(UUID_NIL));
    struct engine g;
    struct err why;
    fixture_exec(&f, "INSERT INTO engine_run (run_id, engine_id, for_tenant, for_job, seats, slots, cpus, gpus, memory_bytes,"
                     " minutes) SELECT gen_random_uuid(), engine_id, gen_random_uuid(), gen_random_uuid(), '{1}', 1, 1, 0, 0, 9"
                     " FROM engine");
    OK(engine_get(&w, id, &g, e));
    assert_int_equal(g.runs, 1);
    assert_true(str_eq(g.pool, g.name) && g.enabled && str_eq_c(g.health, "UNKNOWN"));
    OK(engine_enable(&w, id, false, &g, e));
    assert_false(g.enabled);
    kit_end(&w);
    w = kit_begin(&f.api, SCOPE_TENANT(UUID_NIL));
    assert_int_equal(engine_remove(&w, id, &g, &why), ERR_CONFLICT);
    db_rollback(w.tx);
    arena_free(w.arena);
    fixture_exec(&f, "UPDATE engine_run SET state = 'ENDED', ended_at = now()");
    w = kit_begin(&f.api, SCOPE_TENANT(UUID_NIL));
    OK(engine_remove(&w, id, &g, e));
    kit_end(&w);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM engine_run") + fixture_count(&f, "SELECT count(*) FROM engine"), 0);
}

static void there_are_so_many_and_no_more(void **state)
{
    (void)state;
    char name[16];
    struct err why;
    for (int i = 0; i < ENGINES_MAX; i++) {
        snprintf(name, sizeof name, "e%d", i);
        (void)kit_engine(&f, name, 1);
    }
    const struct engine_create in = kit_create("last", 1);
    assert_int_equal(try_add(&in, &why), ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_is_refused_with_its_place), cmocka_unit_test(one_that_has_open_runs_stays),
        cmocka_unit_test(there_are_so_many_and_no_more),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
