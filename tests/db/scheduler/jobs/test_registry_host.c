/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry_host.c - registries of a zone: who reads which, who may change them in the database itself, and that a lease is
 * told what the row says by then. */
#include "tests/db/scheduler/jobs/environment_kit.h"
#include "scheduler/jobs/registry_host.h"

static struct registry_host_new row = { .zone = { "ae-dxb-1", 8 }, .host = { "hub.example:5000", 16 }, .description = { "", 0 },
    .ca_pem = { "", 0 }, .reach = PULL_PRIVATE, .max_bytes = 1 << 20, .silent_s = 9 };

/* Staff: in the platform's scope. */
static void as_staff(void)
{
    begin();
    w.tenant_id = UUID_NIL;
    who->tenant_id = UUID_NIL;
}

static void as_tenant(void)
{
    w.tenant_id = who->tenant_id = f.tenant_a;
}

static void a_row_is_staffs_to_set_and_everybodys_to_read(void **state)
{
    (void)state;
    struct registry_host v, got;
    struct slice rows;
    as_staff();
    assert_int_equal(RUN_WRITE(&w, registry_host_add(&w, &row, &v, &e), &e), ERR_OK);
    assert_true(v.allowed && v.reach == PULL_PRIVATE && v.max_bytes == 1 << 20);
    assert_int_equal(RUN_WRITE(&w, registry_host_add(&w, &row, &got, &e), &e), ERR_EXISTS);
    as_tenant();
    assert_int_equal(RUN_READ(&w, registry_host_list(&w, STR_NULL, UUID_NIL, 10, &rows, &e), &e), ERR_OK);
    assert_int_equal(rows.n, 1);
    assert_int_equal(RUN_READ(&w, registry_host_find(&w, STR("ae-dxb-1"), STR("hub.example:5000"), &got, &e), &e), ERR_OK);
    assert_int_equal(RUN_READ(&w, registry_host_find(&w, STR("ae-dxb-1"), STR("hub.example"), &got, &e), &e), ERR_UNPROCESSABLE);
    assert_non_null(strstr(e.msg, "it allows hub.example:5000. The platform's staff"));
    row.host = STR("other.example");                    /* a tenant's transaction makes and changes none */
    assert_int_not_equal(RUN_WRITE(&w, registry_host_add(&w, &row, &got, &e), &e), ERR_OK);
    row.host = STR("hub.example:5000");
    (void)RUN_WRITE(&w, registry_host_remove(&w, v.registry_id, &e), &e);       /* it sees none to remove */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM registry_host WHERE allowed"), 1);
    arena_free(arena);
}

static void a_lease_is_told_what_the_row_says_by_then(void **state)
{
    (void)state;
    struct registry_host v;
    static const char told[] = "SELECT count(*) FROM (SELECT lease_pull('{\"registry\":\"hub.example:5000\","
                               "\"is_allowed\":false}', '%s') AS s) x WHERE %s";
    as_staff();
    struct slice rows;
    assert_int_equal(RUN_READ(&w, registry_host_list(&w, STR_NULL, UUID_NIL, 10, &rows, &e), &e), ERR_OK);
    v = *(struct registry_host *)rows.items;
    assert_int_equal(fixture_count(&f, told, "ae-dxb-1", "(s->>'is_allowed')::boolean AND s->>'reach' = 'private' AND"
                                   " (s->>'silent_s')::int = 9"), 1);
    assert_int_equal(fixture_count(&f, told, "elsewhere", "(s->>'is_allowed')::boolean"), 0);
    assert_int_equal(RUN_WRITE(&w, registry_host_allow(&w, v.registry_id, false, &v, &e), &e), ERR_OK);
    assert_int_equal(fixture_count(&f, told, "ae-dxb-1", "(s->>'is_allowed')::boolean OR s ? 'ca_pem'"), 0);
    assert_int_equal(RUN_WRITE(&w, registry_host_remove(&w, v.registry_id, &e), &e), ERR_OK);
    assert_int_equal(RUN_READ(&w, registry_host_get(&w, v.registry_id, &v, &e), &e), ERR_NOT_FOUND);
    as_tenant();
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_row_is_staffs_to_set_and_everybodys_to_read),
                                        cmocka_unit_test(a_lease_is_told_what_the_row_says_by_then) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
