/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_outputs.c - the outputs that successes name: visible with the success alone, within the quota together, of the right
 * fence. */
#include "tests/db/scheduler/fixture.h"

static struct machine m;
FIXTURE_GROUP(machine_up(&f, &m, "ae-dxb-1", "w1", 64, 0), NOTHING_MORE)

/* What tenants have of it together. */
static int64_t used(const char *resource)
{
    return fixture_count(&f, "SELECT sum(used)::bigint FROM quota WHERE resource = '%s'", resource);
}

static void outputs_become_visible_with_success_only(void **state)
{
    (void)state;
    struct uuid id, object = uuid_v7(5000000), other = uuid_v7(6000000);
    struct lease_grant g;
    char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT], x[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    uuid_text(object, o);
    uuid_text(other, x);
    for (int good = 1; good >= 0; good--) {
        submit(&f, f.tenant_a, 1, 1, 3, &id);
        plan(&f);
        assert_int_equal(take(&f, &m, 1, &g), 1);
        uuid_text(id, j);
        fixture_exec(&f, "INSERT INTO object (tenant_id, object_id, zone, kind, state, stored_bytes, sha256, stored_sha256)"
                         " VALUES"
                         " ('%s', '%s', 'ae-dxb-1', 'model', 'WRITING', 1000, %s, sha256('b'));"
                         "INSERT INTO job_object VALUES ('%s', '%s', 'output', 'model', '%s', 1)",
                     t, good ? o : x, good ? "sha256('a')" : "NULL", t, j, good ? o : x);
        struct lease_output out = { STR("model"), good ? object : other };
        struct lease_item item = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_SUCCEED,
                                   .message = STR(""),
                                   .outputs = { &out, 1 } };
        struct arena *a = arena_new(1 << 20);
        struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
        struct slice rows;
        OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
        OK(lease_report(&w, &m.node, NULL, &item, 1, 30000, &rows, e));
        OK(db_commit(w.tx, e));
        arena_free(a);
        assert_string_equal(state_of(&f, id), good ? "COMPLETED" : "FAILED");
    }
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM object WHERE state = 'COMMITTED'"), 1);
    assert_int_equal(used("stored_bytes"), 1000);
    assert_int_equal(used("objects"), 1);
    fixture_check(&f);
}

/* The first attempt wrote an output and was lost; the second may not end with it. */
static void outputs_of_an_older_fence_do_not_count(void **state)
{
    (void)state;
    struct uuid id, object = uuid_v7(9000000);
    struct lease_grant g;
    char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT];
    int64_t committed = fixture_count(&f, "SELECT count(*) FROM object WHERE state = 'COMMITTED'");
    uuid_text(f.tenant_a, t);
    uuid_text(object, o);
    submit(&f, f.tenant_a, 1, 1, 3, &id);
    uuid_text(id, j);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    fixture_exec(&f, "INSERT INTO object (tenant_id, object_id, zone, kind, state, stored_bytes, sha256, stored_sha256)"
                         " VALUES"
                     " ('%s', '%s', 'ae-dxb-1', 'model', 'WRITING', 1000, sha256('a'), sha256('b'));"
                     "INSERT INTO job_object VALUES ('%s', '%s', 'output', 'model', '%s', 1)", t, o, t, j, o);
    assert_int_equal(tell(&f, &m, &g, 1, LE_PREEMPT, NULL), 1);         /* back into the queue at once */
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(g.fence, 2);
    struct lease_output out = { STR("model"), object };
    struct lease_item item = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_SUCCEED,
                                   .message = STR(""),
                               .outputs = { &out, 1 } };
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
    struct slice rows;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(lease_report(&w, &m.node, NULL, &item, 1, 30000, &rows, e));
    OK(db_commit(w.tx, e));
    arena_free(a);
    assert_string_equal(state_of(&f, id), "FAILED");
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM object WHERE state = 'COMMITTED'"), committed);
    fixture_check(&f);
}

/* Each of two outputs has room, both have not: one job fails, and what else the report says of others still counts. */
static void outputs_of_one_report_share_the_room(void **state)
{
    (void)state;
    struct uuid ids[3], objects[2] = { uuid_v7(7000000), uuid_v7(8000000) };
    struct lease_grant g[3];
    struct lease_output out[2];
    struct lease_item items[3];
    char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    submit(&f, f.tenant_a, 3, 1, 3, ids);
    plan(&f);
    assert_int_equal(take(&f, &m, 3, g), 3);
    for (int i = 0; i < 3; i++) {
        items[i] = (struct lease_item){ .tenant_id = g[i].tenant_id, .attempt_id = g[i].attempt_id, .fence = g[i].fence,
                                       .event = LE_SUCCEED,
                                        .message = STR("") };
        if (i == 2)
            break;
        out[i] = (struct lease_output){ STR("model"), objects[i] };
        items[i].outputs = (struct slice){ &out[i], 1 };
        uuid_text(objects[i], o);
        uuid_text(g[i].job_id, j);
        fixture_exec(&f, "INSERT INTO object (tenant_id, object_id, zone, kind, state, stored_bytes, sha256, stored_sha256)"
                         " VALUES"
                         " ('%s', '%s', 'ae-dxb-1', 'model', 'WRITING', 1000, sha256('a'), sha256('b'));"
                         "INSERT INTO job_object VALUES ('%s', '%s', 'output', 'model', '%s', 1)", t, o, t, j, o);
    }
    fixture_exec(&f, "UPDATE quota SET hard_limit = used + 1500 WHERE resource = 'stored_bytes'");
    int64_t before = used("stored_bytes");
    struct arena *a = arena_new(1 << 20);
    struct work w = { .app = &f.api, .arena = a, .now_us = 1 };
    struct slice rows;
    OK(db_begin(f.api.node_pool, SCOPE_SYSTEM, 0, a, &w.tx, e));
    OK(lease_report(&w, &m.node, NULL, items, 3, 30000, &rows, e));
    OK(db_commit(w.tx, e));
    arena_free(a);
    assert_string_equal(state_of(&f, g[0].job_id), "COMPLETED");
    assert_string_equal(state_of(&f, g[1].job_id), "FAILED");
    assert_string_equal(state_of(&f, g[2].job_id), "COMPLETED");
    assert_int_equal(used("stored_bytes"), before + 1000);
    fixture_exec(&f, "UPDATE quota SET hard_limit = 1000000000 WHERE resource = 'stored_bytes'");
    fixture_check(&f);
}

/* A training's report goes where the model alone has room; an output of that name of another kind does not. */
static void a_report_without_room_is_left_out(void **state)
{
    (void)state;
    for (int is_train = 1; is_train >= 0; is_train--) {
        struct uuid id, objects[2] = { uuid_v7(10000000 + is_train), uuid_v7(11000000 + is_train) };
        static const char *const names[2] = { "model", "report" };
        struct lease_grant g;
        struct lease_output out[2];
        char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT];
        uuid_text(f.tenant_a, t);
        submit(&f, f.tenant_a, 1, 1, 3, &id);
        uuid_text(id, j);
        plan(&f);
        assert_int_equal(take(&f, &m, 1, &g), 1);
        if (is_train)
            fixture_exec(&f, "UPDATE job SET kind = 'train' WHERE job_id = '%s'", j);
        for (int i = 0; i < 2; i++) {
            uuid_text(objects[i], o);
            out[i] = (struct lease_output){ str_c(names[i]), objects[i] };
            fixture_exec(&f, "INSERT INTO object (tenant_id, object_id, zone, kind, state, stored_bytes, sha256, stored_sha256)"
                             " VALUES ('%s', '%s', 'ae-dxb-1', '%s', 'WRITING', 1000, sha256('a'), sha256('b'));"
                             "INSERT INTO job_object VALUES ('%s', '%s', 'output', '%s', '%s', 1)",
                         t, o, i ? "artifact" : "model", t, j, names[i], o);
        }
        fixture_exec(&f, "UPDATE quota SET hard_limit = used + 1 WHERE resource = 'objects' AND tenant_id = '%s'", t);
        int64_t before = used("objects");
        struct lease_item item = { .tenant_id = g.tenant_id, .attempt_id = g.attempt_id, .fence = g.fence, .event = LE_SUCCEED,
                                   .message = STR(""), .outputs = { out, 2 } };
        assert_int_equal(say_all(&f, &m, &item, 1, NULL), 1);
        assert_string_equal(state_of(&f, id), is_train ? "COMPLETED" : "FAILED");
        assert_int_equal(used("objects"), before + is_train);
        assert_int_equal(fixture_count(&f, "SELECT count(*) FROM job_log WHERE job_id = '%s' AND stream = 'system'"
                                           " AND text LIKE 'warning: the output report is not kept: the tenant''s quota%%'", j),
                         is_train);
        fixture_exec(&f, "UPDATE quota SET hard_limit = 1000000 WHERE resource = 'objects'");
        fixture_check(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_become_visible_with_success_only), cmocka_unit_test(outputs_of_one_report_share_the_room),
        cmocka_unit_test(outputs_of_an_older_fence_do_not_count),
        cmocka_unit_test(a_report_without_room_is_left_out) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
