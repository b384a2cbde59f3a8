/* SPDX-License-Identifier: Apache-2.0 */
/* test_thing_name.c - names of things for a log's readers: their own tenant's alone, today's before deleted ones, and none of a
 * tenant that goes as a whole. */
#include "core/db/session.h"
#include "tests/db/audit/fixture.h"

static struct uuid add_set(struct uuid tenant, const char *name)
{
    char sql[512], t[UUID_TEXT], id[UUID_TEXT];
    struct uuid u = uuid_v7(clock_wall_us(&clock_system));
    uuid_text(tenant, t);
    uuid_text(u, id);
    snprintf(sql, sizeof sql, "INSERT INTO dataset (tenant_id, dataset_id, name, label_column, classes, created_by) VALUES"
             " ('%s', '%s', '%s', 'kind', 2, '%s')", t, id, name, id);
    pg_harness_exec(pg, DB, sql);
    return u;
}

static void remove_set(struct uuid u)
{
    char sql[128], id[UUID_TEXT];
    uuid_text(u, id);
    snprintf(sql, sizeof sql, "DELETE FROM dataset WHERE dataset_id = '%s'", id);
    pg_harness_exec(pg, DB, sql);
}

static size_t find(struct uuid tenant, const char *part, char names[8][160])
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant));
    struct audit_thing *things;
    size_t n;
    OK(audit_things_find(&u->w, tenant, str_c(part), 8, &things, &n, &e));
    for (size_t i = 0; i < n; i++)
        snprintf(names[i], sizeof names[i], "%.*s%s", STR_ARG(things[i].name), things[i].deleted ? " deleted" : "");
    unit_commit(u);
    return n;
}

static void resolves(const char *asked, struct uuid want)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct str got, id = id_text(u->w.arena, "dst", want);
    OK(audit_thing_resolve(&u->w, tenant_a, str_c(asked), &got, &e));
    assert_int_equal(got.len, id.len);
    assert_memory_equal(got.ptr, id.ptr, id.len);
    unit_commit(u);
}

static void is_refused(const char *asked, const char *word)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct str got;
    assert_int_equal(audit_thing_resolve(&u->w, tenant_a, str_c(asked), &got, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.field, "/resource");
    assert_non_null(strstr(e.msg, word));
    unit_commit(u);
}

static void a_name_is_of_one_thing_of_this_tenant(void **state)
{
    (void)state;
    char names[8][160];
    struct uuid mine = add_set(tenant_a, "palm-grove"), gone = add_set(tenant_a, "grove-old");
    add_set(tenant_b, "grove-theirs");
    remove_set(gone);
    assert_int_equal(find(tenant_a, "GROVE", names), 2);
    assert_string_equal(names[0], "grove-old deleted");     /* begins so */
    assert_string_equal(names[1], "palm-grove");
    resolves("Palm-Grove", mine);
    resolves("grove-old", gone);
    is_refused("grove", "Nothing is or was called grove");
    is_refused("grove-theirs", "Nothing is or was called");
    add_set(tenant_a, "grove-old");
    is_refused("grove-old", "(deleted)");
}

/* Named for people, it is found by that, and still so when it is deleted. */
static void names_for_people_are_known(void **state)
{
    (void)state;
    char names[8][160];
    struct uuid set = add_set(tenant_a, "q3-claims");
    pg_harness_exec(pg, DB, "UPDATE dataset SET display_name = 'Claims of the third quarter',"
                    " display_name_ar = 'مطالبات الربع الثالث' WHERE name = 'q3-claims'");
    assert_int_equal(find(tenant_a, "THIRD", names), 1);
    assert_int_equal(find(tenant_a, "الربع", names), 1);
    resolves("claims of the third quarter", set);
    resolves("مطالبات الربع الثالث", set);
    remove_set(set);
    assert_int_equal(find(tenant_a, "الربع", names), 1);
    assert_string_equal(names[0], "q3-claims deleted");
    resolves("مطالبات الربع الثالث", set);
}

static void a_tenant_that_goes_leaves_no_names(void **state)
{
    (void)state;
    char sql[160], t[UUID_TEXT], names[8][160];
    struct uuid set = add_set(tenant_b, "last-grove");
    uuid_text(tenant_b, t);
    snprintf(sql, sizeof sql, "UPDATE tenant SET state = 'DELETING', delete_after = now() WHERE tenant_id = '%s'", t);
    pg_harness_exec(pg, DB, sql);
    remove_set(set);
    assert_int_equal(find(tenant_b, "last-grove", names), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_of_one_thing_of_this_tenant),
        cmocka_unit_test(names_for_people_are_known),
        cmocka_unit_test(a_tenant_that_goes_leaves_no_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
